// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/unwind/golang"
)

// goSource is the source of a program with Go functions. The call frame information of Go
// describes every function as if it had been called, also those at which a stack starts or
// the runtime changes stacks. A walk past them would read memory outside the stack.
// goSource therefore uses Go's own table for Go functions.
type goSource struct {
	unwind.Source
	file  *object.File
	table *golang.Table // nil for machines that package golang does not support
	start *unwind.Rules
}

func newGoSource(s unwind.Source, f *object.File) goSource {
	table, _ := golang.New(golang.Program{
		Machine: f.Machine(),
		Function: func(address uint64) (golang.Function, bool) {
			fn, ok := f.GoFunctionAt(address)
			return golang.Function(fn), ok
		},
		Named: func(name string) (golang.Function, bool) {
			fn, ok := f.GoFunctionNamed(name)
			return golang.Function(fn), ok
		},
		Code: f,
	})
	return goSource{s, f, table, golang.Start(f.Machine())}
}

func (s goSource) Rules(pc uint64) (*unwind.Rules, error) {
	fn, ok := s.file.GoFunctionAt(pc)
	switch {
	case !ok:
		return s.Source.Rules(pc)
	case s.table != nil:
		return s.table.Rules(pc)
	case golang.StartsIn(fn.Name) || fn.Name == "runtime.mcall":
		return s.start, nil
	case golang.SwitchesIn(fn.Name):
		return nil, fmt.Errorf("%w: %s, at %#x: %w", cfi.ErrNoFDE, fn.Name, pc, unwind.ErrMovesStack)
	}
	return s.Source.Rules(pc)
}
