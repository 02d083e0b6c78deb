// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// assembled is what the first instructions of a function in assembly do: assembly
// saves registers as it likes, and the table does not say where.
type assembled struct {
	saved    []savedRegister
	depth    int // bytes of stack that these instructions take
	prologue int // as depth, at the end of the instructions that make the frame itself
}

type savedRegister struct {
	column int
	offset int64 // from the CFA
}

// save notes the first place where a register is saved: later ones may hold what the
// function itself has put there.
func (a *assembled) save(column int, offset int64) {
	if !slices.ContainsFunc(a.saved, func(s savedRegister) bool { return s.column == column }) {
		a.saved = append(a.saved, savedRegister{column, offset})
	}
}

// maxPrologue is how many bytes of a function are looked at; crosscall2 of arm64
// saves all its registers in the first 80.
const maxPrologue = 128

// assembled looks at the code of a function from its entry to pc, as far as it runs
// straight on.
func (t *Table) assembled(fn *Function, pc uint64) *assembled {
	var code [maxPrologue]byte
	n := min(maxPrologue, pc-fn.Entry, fn.End-fn.Entry)
	a := new(assembled)
	if t.program.Code.ReadMemory(code[:n], fn.Entry) == nil {
		t.layout.scan(code[:n], a)
	}
	return a
}

func sorted(list []cfi.RegisterRule) []cfi.RegisterRule {
	slices.SortFunc(list, func(a, b cfi.RegisterRule) int { return cmp.Compare(a.Column, b.Column) })
	return list
}
