// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/object"
)

// A function that changes a preserved register without saving it has a wrong row by the
// psABI. This is not a defect if no caller relies on the register: if all callers have saved it
// themselves, as those of assembly language's local functions, or if the register is a
// global variable of the program, as r14 and r15 in php. Such instructions are undecided. Functions
// that do not return to their caller have no convention with it.

// minGlobal is the number of functions that change a register, and no other one, from which
// on the register counts as a global variable.
const minGlobal = 20

// conventions finds the functions with a convention of their own, and checks them again.
func (c *checker) conventions() {
	lost := map[int]uint64{} // by FDE: the columns that it changes without saving them
	for i := range c.results {
		for k := range c.results[i].findings {
			if f := &c.results[i].findings[k]; f.unsaved && c.results[i].returns {
				lost[c.fdeAt(f.Function)] |= 1 << c.abi.Number(uint64(f.Column))
			}
		}
	}
	if len(lost) == 0 {
		return
	}
	c.findGlobals(lost)
	c.findPrivate(lost)
	for _, i := range slices.Sorted(maps.Keys(lost)) { // what one finds, later ones use
		if c.conventionOf(i) != 0 {
			c.check(i, false)
		}
	}
}

// follow makes the convention of a function that of the comparisons.
func (c *checker) follow(index int) {
	c.ignored = c.conventionOf(index)
	c.none = c.keepsNone != nil && c.keepsNone(c.fdes[index].Start)
}

// conventionOf returns the columns that need not be preserved by a function.
func (c *checker) conventionOf(index int) uint64 {
	if c.keepsNone != nil && c.keepsNone(c.fdes[index].Start) {
		return c.abi.PreservedSet
	}
	return c.globals | c.private[index]
}

// findGlobals finds the registers that are variables of the program.
func (c *checker) findGlobals(lost map[int]uint64) {
	for range 2 { // programs have one or two
		for _, column := range c.abi.Preserved {
			alone, more := 0, 0
			for _, set := range lost {
				switch set |= c.globals; {
				case set == c.globals|1<<column:
					alone++
				case set>>column&1 != 0:
					more++
				}
			}
			minimum := minGlobal
			if c.globals != 0 {
				minimum = 2 // a program with such registers
			}
			if alone >= minimum && more*10 < alone {
				c.globals |= 1 << column
			}
		}
	}
}

// findPrivate finds the functions all of whose callers have saved what the functions change.
func (c *checker) findPrivate(lost map[int]uint64) {
	type call struct {
		caller, callee int
		relied         uint64 // columns that the caller's row leaves in their registers
	}
	var calls []call
	starts := map[uint64]int{}
	for _, i := range slices.Sorted(maps.Keys(lost)) {
		starts[c.fdes[i].Start] = i
	}
	var code []byte
	var rows []row
	for i, r := range c.fdes {
		if r.End-r.Start > maxUnitSize {
			continue
		}
		code = resize(code, int(r.End-r.Start))
		if c.memory.ReadMemory(code, r.Start) != nil {
			continue
		}
		rows = rows[:0]
		c.machine.Calls(code, r.Start, func(pc, target uint64) {
			callee, ok := starts[target]
			if !ok || c.section.FDEAt(r.FDE, &c.fde) != nil {
				return
			}
			if len(rows) == 0 {
				c.rules = c.rules[:0]
				rows = c.rows(rows, &c.fde)
			}
			if k := rowAt(rows, pc, -1); k >= 0 {
				calls = append(calls, call{i, callee, rows[k].unchanged(c.abi)})
			}
		})
	}
	c.private = map[int]uint64{}
	for _, e := range calls {
		c.private[e.callee] = lost[e.callee]
	}
	// A caller that has the same convention relies on nothing, but only if it has.
	for changed := true; changed; {
		changed = false
		for _, e := range calls {
			if set := c.private[e.callee] &^ (e.relied &^ c.private[e.caller]); set != c.private[e.callee] {
				c.private[e.callee], changed = set, true
			}
		}
	}
}

// unchanged returns the preserved columns whose values are in their registers.
func (r *row) unchanged(m *lift.ABI) (set uint64) {
	for i, rule := range r.rules {
		if rule.Kind == cfi.Unspecified || rule.Kind == cfi.SameValue {
			set |= 1 << m.Preserved[i]
		}
	}
	return set
}

// keepsNone returns a function that reports whether the function at an address of a file is one of Go
// or OCaml, which preserve no register for their callers.
func keepsNone(f *object.File) func(start uint64) bool {
	ocaml := ocamlCode(f)
	return func(start uint64) bool {
		if _, ok := f.GoFunctionAt(start); ok {
			return true
		}
		n, _ := slices.BinarySearchFunc(ocaml, start, func(r object.AddressRange, at uint64) int {
			if r.Low <= at {
				return -1
			}
			return 1
		})
		return n > 0 && start < ocaml[n-1].High
	}
}

// ocamlCode returns the code that ocamlopt has compiled, and that of its runtime in assembly language,
// by address. Each module has two symbols around its code, which programs export.
func ocamlCode(f *object.File) (list []object.AddressRange) {
	const begin, end = "__code_begin", "__code_end"
	if !slices.ContainsFunc([]string{"caml_startup", "caml_shared_startup", "caml_system"}, func(module string) bool {
		_, ok := f.Symbol(module + begin)
		return ok
	}) {
		return nil
	}
	starts, ends := make(map[string]uint64), make(map[string]uint64)
	for s := range f.Symbols() {
		if !strings.HasPrefix(s.Name, "caml") {
			continue
		}
		if module, ok := strings.CutSuffix(s.Name, begin); ok {
			starts[module] = s.Address
		} else if module, ok := strings.CutSuffix(s.Name, end); ok {
			ends[module] = s.Address
		}
	}
	for module, start := range starts {
		if end := ends[module]; end > start {
			list = append(list, object.AddressRange{Low: start, High: end})
		}
	}
	slices.SortFunc(list, func(a, b object.AddressRange) int {
		return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High))
	})
	return list
}
