// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package coderules

import (
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Limits of what a hostile file can cost. The largest of musl's functions has 6 KB, and
// 99.9% of libcrypto's have less than 16 KB.
const (
	maxFunction = 1 << 16 // bytes of code
	stepsPerByte,
	minSteps = 8, 1 << 12 // of one function; real functions need 2 per byte
	maxBytes     = 1 << 24 // of all functions, some seconds of work
	maxFunctions = 1 << 14
)

// Analyzer makes the rules of the functions of any number of files. Its methods may be called
// concurrently. The zero value is ready to use.
type Analyzer struct {
	mu        sync.Mutex
	files     map[*object.File]*file
	functions int
	bytes     uint64
}

var _ stack.CodeAnalyzer = (*Analyzer)(nil)

// file holds the functions of a file that were analysed.
type file struct {
	synthesizer *check.Synthesizer // nil for a machine without analysis
	functions   map[object.AddressRange]unwind.Source
}

// Rules returns the rules before the instruction at an address in a function of the file, both
// without load bias. It returns nil if the code does not determine them, or if the function
// is too large. The file must stay open during the call.
func (a *Analyzer) Rules(f *object.File, function object.AddressRange, pc uint64) *unwind.Rules {
	a.mu.Lock()
	defer a.mu.Unlock()
	table := a.table(f, function)
	if table == nil {
		return nil
	}
	rules, err := table.Rules(pc)
	if err != nil {
		return nil
	}
	for i := range rules.Registers {
		if r := &rules.Registers[i]; uint64(r.Column) == rules.ReturnAddress && r.Kind == cfi.Undefined {
			return nil // a gap
		}
	}
	return rules
}

// table returns the rules of a function, nil if there are none.
func (a *Analyzer) table(f *object.File, function object.AddressRange) unwind.Source {
	known := a.files[f]
	if known == nil {
		if a.files == nil {
			a.files = make(map[*object.File]*file)
		}
		known = &file{functions: make(map[object.AddressRange]unwind.Source)}
		// The error is check.ErrMachine.
		known.synthesizer, _ = check.NewSynthesizer(f.Machine(), check.Code{Memory: f}, nil)
		a.files[f] = known
	}
	if known.synthesizer == nil {
		return nil
	}
	table, ok := known.functions[function]
	if !ok && a.functions < maxFunctions {
		a.functions++
		known.functions[function] = nil // also if the file was truncated, which ends the walk by a panic
		table = a.analyse(known, f, function)
		known.functions[function] = table
	}
	return table
}

// analyse makes the rules of a function.
func (a *Analyzer) analyse(known *file, f *object.File, function object.AddressRange) unwind.Source {
	size := function.High - function.Low
	if size > maxFunction || a.bytes > maxBytes {
		return nil
	}
	a.bytes += size
	known.synthesizer.Work = minSteps + int64(size*stepsPerByte)
	made, err := known.synthesizer.Function(function.Low, size)
	if err != nil || made.Unwind == nil {
		return nil
	}
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: f.Machine(), Address: function.Low &^ 0xfff}
	if e.Program(made.Unwind, function.Low, size) != nil {
		return nil
	}
	return unwind.Compile(&cfi.Section{Name: "code of " + f.Name(), Data: e.Data, Address: e.Address, Machine: f.Machine()})
}
