// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// goSource is the source of a Go program. The program's call frame information,
// if it has any, describes every function as if it had been called, also those
// at which a stack starts or where the runtime changes stacks; past them a walk
// would read what is none of the stack's.
type goSource struct {
	unwind.Source
	file  *object.File
	start *unwind.Rules
}

func newGoSource(s unwind.Source, f *object.File) goSource {
	return goSource{s, f, stackStart(f.Machine())}
}

// stackStart are the rules of an outermost frame.
func stackStart(m *arch.Machine) *unwind.Rules {
	ra := uint32(m.ReturnAddress)
	return &unwind.Rules{
		CFA:           cfi.Rule{Kind: cfi.Register, Register: uint32(m.StackPointer)},
		Registers:     []cfi.RegisterRule{{Column: ra, Rule: cfi.Rule{Kind: cfi.Undefined}}},
		ReturnAddress: uint64(ra),
	}
}

func (s goSource) Rules(pc uint64) (*unwind.Rules, error) {
	switch s.file.GoBoundaryAt(pc) {
	case object.GoStackStart:
		return s.start, nil
	case object.GoStackSwitch:
		return nil, fmt.Errorf("%w: the Go runtime changes stacks in the function at %#x", cfi.ErrNoFDE, pc)
	}
	return s.Source.Rules(pc)
}
