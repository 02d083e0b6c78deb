// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// Sections looks addresses up in the sections of one module, and compiles only the FDEs that
// it needs. It is for programs that make few walks. It implements Source. It is not safe for
// concurrent use.
type Sections struct {
	// EHFrame is searched first, by binary search if Header is not nil. Either may be
	// nil.
	Header  *cfi.Header
	EHFrame *cfi.Section

	// DebugFrame returns the section for addresses that EHFrame does not cover. It is
	// called at most once, when first needed, because finding and decompressing the
	// section can take time. It may be nil, and may return nil.
	DebugFrame func() (*cfi.Section, error)

	ehIndex, debugIndex *cfi.Index
	debugErr            error
	met                 map[uint64]found
	x                   cfi.Interpreter
	f                   cfi.FDE
}

type found struct {
	rules *Rules
	err   error
}

// maxMet bounds the number of addresses that are remembered.
const maxMet = 1 << 16

// Rules returns the rules that hold at an address without load bias.
func (s *Sections) Rules(pc uint64) (*Rules, error) {
	if f, ok := s.met[pc]; ok {
		return f.rules, f.err
	}
	rules, err := s.find(pc)
	if s.met == nil || len(s.met) >= maxMet {
		s.met = make(map[uint64]found)
	}
	s.met[pc] = found{rules, err}
	return rules, err
}

// Function returns the start of the FDE that covers an address, both without load bias.
// It is the start of a function, or of a part of one that its compiler has moved
// elsewhere.
func (s *Sections) Function(pc uint64) (start uint64, ok bool) {
	if s.findFDE(pc) != nil {
		return 0, false
	}
	return s.f.Start, true
}

func (s *Sections) find(pc uint64) (*Rules, error) {
	if err := s.findFDE(pc); err != nil {
		return nil, err
	}
	row, err := s.x.RowAt(&s.f, pc)
	if err != nil {
		return nil, err
	}
	rules := newRules(row, s.f.CIE)
	return &rules, nil
}

// findFDE makes f the FDE that covers an address.
func (s *Sections) findFDE(pc uint64) error {
	err := cfi.ErrNoFDE
	if s.EHFrame != nil {
		err = s.findEH(pc)
	}
	if s.DebugFrame != nil && errors.Is(err, cfi.ErrNoFDE) {
		debug, failed := s.DebugFrame()
		s.DebugFrame = nil
		if debug != nil {
			s.debugIndex = debug.Index()
		}
		s.debugErr = failed
	}
	if s.debugIndex != nil && errors.Is(err, cfi.ErrNoFDE) {
		err = s.debugIndex.Find(pc, &s.f)
	} else if s.debugErr != nil && errors.Is(err, cfi.ErrNoFDE) {
		err = fmt.Errorf("%w; and .debug_frame: %w", err, s.debugErr)
	}
	return err
}

// findEH finds the FDE in .eh_frame. It ignores a header without a table, a header that
// would be read from its start each time, and a header with an entry that does not lead
// to an FDE.
func (s *Sections) findEH(pc uint64) error {
	if h := s.Header; h != nil && h.Searchable() {
		e, ok := h.Find(pc)
		if !ok {
			return cfi.ErrNoFDE
		}
		if s.EHFrame.FDEAt(e.FDE-s.EHFrame.Address, &s.f) == nil {
			if s.f.Start <= pc && pc < s.f.End {
				return nil
			}
			return cfi.ErrNoFDE
		}
	}
	if s.ehIndex == nil {
		s.ehIndex = s.EHFrame.Index()
	}
	return s.ehIndex.Find(pc, &s.f)
}
