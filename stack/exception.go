// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/unwind/ehabi"
)

// withExceptionTable returns a source that also reads the exception table of an arm file,
// if it has one.
func withExceptionTable(s unwind.Source, f *object.File) unwind.Source {
	index := f.Machine().UnwindIndex
	if index == elf.PT_NULL {
		return s
	}
	for _, p := range f.Segments() {
		if p.Type != index || p.Filesz > maxExceptionIndex {
			continue
		}
		table := make([]byte, p.Filesz)
		if f.ReadMemory(table, p.Vaddr) == nil {
			return exceptionSource{s, ehabi.New(table, p.Vaddr, f.Entry(), f.Machine(), f)}
		}
	}
	return s
}

// maxExceptionIndex exceeds the size of all known tables: libLLVM's has 0.4 MB.
const maxExceptionIndex = 16 << 20

type exceptionSource struct {
	unwind.Source
	table *ehabi.Table
}

func (s exceptionSource) Rules(pc uint64) (*unwind.Rules, error) {
	rules, err := s.Source.Rules(pc)
	if err == nil || !errors.Is(err, cfi.ErrNoFDE) {
		return rules, err
	}
	rules, tableErr := s.table.Rules(pc)
	if tableErr != nil {
		return nil, fmt.Errorf("%w; and %w", err, tableErr)
	}
	return rules, nil
}
