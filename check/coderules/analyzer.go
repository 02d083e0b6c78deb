// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package coderules

import (
	"sort"
	"sync"
	"time"

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
	maxSteps     = 1 << 22           // of all functions, about two seconds; real ones of 5 MB need them
	refill       = 200 * time.Second // until the Analyzer may take maxSteps again: 1% of a processor
	bytesPerStep = 4                 // bytes that are read and decoded in the time of a step
	stepsPerRow  = 4
	maxFunctions = 1 << 14
)

// Analyzer makes the rules of the functions of any number of files. Its methods may be called
// concurrently. The zero value is ready to use.
type Analyzer struct {
	mu        sync.Mutex
	files     map[*object.File]*file
	functions int
	steps     int64
	counted   time.Time // when steps was lowered
}

var _ stack.CodeAnalyzer = (*Analyzer)(nil)

// file holds the functions of a file that were analysed.
type file struct {
	synthesizer *check.Synthesizer // nil for a machine without analysis
	functions   map[object.AddressRange][]row
}

// row holds the rules at the addresses [start, end).
type row struct {
	start, end uint64
	rules      unwind.Rules
}

// Rules returns the rules before the instruction at an address in a function of the file, both
// without load bias. It returns nil if the code does not determine them, or if the function
// is too large. The file must stay open during the call.
func (a *Analyzer) Rules(f *object.File, function object.AddressRange, pc uint64) *unwind.Rules {
	a.mu.Lock()
	defer a.mu.Unlock()
	rows := a.rows(f, function)
	n := sort.Search(len(rows), func(i int) bool { return rows[i].end > pc })
	if n == len(rows) || pc < rows[n].start {
		return nil
	}
	return &rows[n].rules
}

// rows returns the rows of a function, by ascending address. There may be none.
func (a *Analyzer) rows(f *object.File, function object.AddressRange) []row {
	known := a.files[f]
	if known == nil {
		if a.functions == maxFunctions {
			return nil
		}
		if a.files == nil {
			a.files = make(map[*object.File]*file)
		}
		known = &file{functions: make(map[object.AddressRange][]row)}
		// The error is check.ErrMachine.
		known.synthesizer, _ = check.NewSynthesizer(f.Machine(), check.Code{Memory: f}, nil)
		a.files[f] = known
	}
	if known.synthesizer == nil {
		return nil
	}
	rows, ok := known.functions[function]
	if !ok && a.functions < maxFunctions {
		a.functions++
		known.functions[function] = nil // also if the file was truncated, which ends the walk by a panic
		rows = a.analyse(known, f, function)
		known.functions[function] = rows
	}
	return rows
}

// Forget drops what the Analyzer holds of a file, which will be closed.
func (a *Analyzer) Forget(f *object.File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.files[f]; known != nil {
		a.functions -= len(known.functions)
		delete(a.files, f)
	}
}

// analyse makes the rows of a function.
func (a *Analyzer) analyse(known *file, f *object.File, function object.AddressRange) []row {
	size := function.High - function.Low
	now := time.Now()
	if passed := now.Sub(a.counted); passed < refill {
		a.steps = max(0, a.steps-int64(passed)*maxSteps/int64(refill))
	} else {
		a.steps = 0
	}
	a.counted = now
	if size > maxFunction || a.steps > maxSteps {
		return nil
	}
	known.synthesizer.Work = minSteps + int64(size*stepsPerByte)
	section := &cfi.Section{Name: "code of " + f.Name(), Machine: f.Machine()}
	made, err := known.synthesizer.Rows(function.Low, size, section)
	a.steps += known.synthesizer.Steps() + int64(size)/bytesPerStep + int64(len(made)*stepsPerRow)
	if err != nil {
		return nil
	}
	rows := make([]row, len(made))
	for i := range made {
		r := &made[i]
		rows[i] = row{r.Start, r.End, unwind.Rules{CFA: r.CFA, Registers: r.Registers, Signed: r.Signed,
			ReturnAddress: uint64(section.Machine.ReturnAddress), Section: section}}
	}
	return rows
}
