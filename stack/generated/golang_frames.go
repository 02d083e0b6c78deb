// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/unwind/golang"
)

// Bounds of the call frame information that is made for a Go function.
const (
	maxGoRows     = 1 << 12
	maxGoPrologue = 1 << 7 // bytes in which registers are saved; golang.Table looks at no more
)

// frames converts the rules of the function at an address to call frame information, for
// printing or extracting its unwind table.
func (c *goCode) frames(pc uint64) ([]*cfi.Section, error) {
	f, ok, err := c.module.FunctionAt(pc)
	if !ok {
		return nil, err
	}
	w := goFrames{function: f, at: f.Entry, Builder: cfi.NewBuilder(cfi.EntryCIE(c.snapshot.Machine))}
	if w.table, ok = c.tableOf(func(uint64) (object.GoFunction, bool) { return w.function, true }); !ok {
		return nil, nil
	}
	for at, depth := range c.module.Depths(pc) {
		w.rowsTo(at)
		w.function.Depth, w.at, w.started = depth, at, true
		w.row(at)
		if w.err != nil {
			break
		}
	}
	if w.rowsTo(f.End); w.err != nil || w.rows == 0 {
		return nil, w.err
	}
	program, err := w.Program()
	if err != nil {
		return nil, err
	}
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: c.snapshot.Machine, Address: f.Entry}
	if err := e.Program(program, f.Entry, f.End-f.Entry); err != nil {
		return nil, err
	}
	return []*cfi.Section{{Name: fmt.Sprintf("Go module at %#x", c.module.Address), Kind: e.Kind, Data: e.Data, Address: e.Address, Machine: c.snapshot.Machine}}, nil
}

// goFrames builds a CFI program from the rules of a function.
type goFrames struct {
	*cfi.Builder
	table    *golang.Table
	function object.GoFunction // with the depth from at on
	at       uint64
	started  bool

	last *unwind.Rules
	rows int
	err  error
}

// rowsTo adds the rows from the current address to end. The depth is the same for all;
// registers are saved in between.
func (w *goFrames) rowsTo(end uint64) {
	for ; w.started && w.at < min(end, w.function.Entry+maxGoPrologue) && w.err == nil; w.at++ {
		w.row(w.at)
	}
}

// row adds the row that starts at an address, if it differs from the previous row.
func (w *goFrames) row(address uint64) {
	rules, err := w.table.Rules(address)
	switch {
	case err != nil:
		w.err = err
	case w.last != nil && rules.CFA == w.last.CFA && slices.Equal(rules.Registers, w.last.Registers):
		return
	case w.rows == maxGoRows:
		w.err = fmt.Errorf("%s at %#x: its table has more than %d rows", w.function.Name, w.function.Entry, maxGoRows)
	}
	if w.err != nil {
		return
	}
	w.last = rules
	w.rows++
	w.At(address-w.function.Entry).DefCFA(uint64(rules.CFA.Register), rules.CFA.Offset)
	for _, r := range rules.Registers {
		switch r.Kind {
		case cfi.Offset:
			w.Offset(uint64(r.Column), r.Offset)
		case cfi.Undefined:
			w.Undefined(uint64(r.Column))
		default:
			w.SameValue(uint64(r.Column))
		}
	}
}
