// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// End is a time after all records: Find returns the last function at an address.
// Records that a process adds after its threads were stopped can replace functions
// on their stacks only if it uses the memory again at once.
const End = math.MaxUint64

// Jitdump is the code that a jitdump describes, over time. Find returns nil where
// there is no function, and the methods that take a function accept nil. Find, Rules
// and Unwinds remember their results and are not safe for concurrent use; the other
// methods are.
type Jitdump struct {
	Path string

	// Machine is the code's machine, nil if it is unknown. The header does not
	// distinguish widths: this is the machine's usual one.
	Machine *arch.Machine

	// Counter says that times are of the processor's own counter, not of
	// CLOCK_MONOTONIC in nanoseconds.
	Counter bool

	// Err describes the parts that could not be read. It is nil if all could. An
	// incomplete last record is an error only if no process is known that may still
	// be writing it.
	Err error

	elf    elf.Machine
	dump   *perf.Jitdump
	index  *perf.Index
	tables map[uint32]table // by function
	any    int8             // result of Unwinds: 0 unknown, 1 true, -1 false
	recent [1 << 8]recent
}

// recent is the last function at an address.
type recent struct {
	pc uint64
	f  *perf.Function
}

// table is the unwind table of a function. Only the rows that a walk meets are
// compiled.
type table struct {
	sections *unwind.Sections
	err      error
}

// newJitdump parses a file's data. Damage is the error of reading the file.
func newJitdump(path string, data []byte, damage error) (*Jitdump, error) {
	dump, err := perf.ParseJitdump(path, data)
	if err != nil {
		return nil, errors.Join(damage, err)
	}
	order := elf.ELFDATA2LSB
	if dump.Order == binary.BigEndian {
		order = elf.ELFDATA2MSB
	}
	d := &Jitdump{Path: path, Machine: arch.Lookup(dump.Machine, elf.ELFCLASSNONE, order), Counter: dump.Flags&perf.FlagArchTimestamp != 0,
		elf: dump.Machine, dump: dump, index: dump.Index()}
	all, invalid := d.index.Damage()
	if all > 1 {
		invalid = fmt.Errorf("%s: %d invalid records: %w", path, all, invalid)
	}
	d.Err = errors.Join(damage, dump.Damage(), d.index.Cut(), invalid)
	return d, nil
}

// Fits returns an error if the code cannot belong to a process: it is for another machine,
// or the function code reports, for most of the dump's functions, that the process has no
// code at their addresses. If code is nil, only the machine is compared.
func (d *Jitdump) Fits(m *arch.Machine, code func(address uint64) bool) error {
	if d.elf != m.ELF {
		return fmt.Errorf("%s: code for %v, and the target is for %s", d.Path, d.elf, m.Name)
	}
	if code == nil {
		return nil
	}
	list := d.index.Functions()
	return fits(d.Path, len(list), func(i int) uint64 { return list[i].Address }, code)
}

// Find returns the function at an address at a time of the dump's clock, nil if there is
// none.
func (d *Jitdump) Find(pc, time uint64) *perf.Function {
	r := &d.recent[pc%uint64(len(d.recent))]
	if r.f != nil && r.pc == pc && time >= r.f.Time {
		return r.f
	}
	f, ok := d.index.Find(pc, time)
	if !ok {
		return nil
	}
	if last, ok := d.index.Find(pc, End); ok && last == f {
		*r = recent{pc, f}
	}
	return f
}

// Functions returns all functions by the times at which they were added, also those that
// were moved or replaced since. The caller must not change them.
func (d *Jitdump) Functions() []perf.Function { return d.index.Functions() }

// Last yields the functions that existed at the end.
func (d *Jitdump) Last() iter.Seq[*perf.Function] {
	return func(yield func(*perf.Function) bool) {
		list := d.index.Functions()
		for i := range list {
			if at, ok := d.index.Find(list[i].Address, End); ok && at == &list[i] && !yield(at) {
				return
			}
		}
	}
}

// Symbol returns the name and the extent of a function. The name is a part of the file's
// data.
func (d *Jitdump) Symbol(f *perf.Function) object.Symbol {
	return object.Symbol{Name: d.index.Name(f), Address: f.Address, Size: uint64(f.Size), Source: object.StaticSymbols}
}

// Lines yields the source lines of a function in the order of the dump.
func (d *Jitdump) Lines(f *perf.Function) iter.Seq[jit.Line] {
	return func(yield func(jit.Line) bool) {
		if f == nil {
			return
		}
		for l := range d.index.Lines(f) {
			if !yield(jit.Line{Offset: l.Offset, File: l.File, Line: max(l.Line, 0)}) {
				return
			}
		}
	}
}

// Locate returns the source line of an address in a function, as
// object.File.Locate does. It returns nil if the line is unknown.
func (d *Jitdump) Locate(f *perf.Function, pc uint64) []object.Location {
	// Writers list lines in ascending order, except V8 for inlined positions.
	var best jit.Line
	for l := range d.Lines(f) {
		if l.Offset <= pc-f.Address && (best.File == "" || l.Offset >= best.Offset) {
			best = l
		}
	}
	if best.File == "" || best.Line == 0 {
		return nil
	}
	return []object.Location{{Function: d.index.Name(f), File: best.File, Line: best.Line}}
}

// Code returns the machine code of a function, a part of the file's data.
func (d *Jitdump) Code(f *perf.Function) []byte {
	if f == nil {
		return nil
	}
	return d.index.Code(f)
}

// Frames returns the unwind table of a function at run-time addresses, nil if there is none.
func (d *Jitdump) Frames(f *perf.Function) (*cfi.Section, error) {
	if f == nil {
		return nil, nil
	}
	return d.index.EHFrame(f)
}

// maxTables bounds the tables that are kept, one for each function.
const maxTables = 1 << 12

// ErrNoTable is wrapped by the error of Rules for code without an unwind table. It
// wraps cfi.ErrNoFDE.
var ErrNoTable = fmt.Errorf("%w: the jitdump has no unwind table of the function", cfi.ErrNoFDE)

// Rules returns the rules for unwinding a function at an address.
func (d *Jitdump) Rules(f *perf.Function, pc uint64) (*unwind.Rules, error) {
	if f == nil {
		return nil, cfi.ErrNoFDE
	}
	t, ok := d.tables[f.Order]
	if !ok {
		section, err := d.index.EHFrame(f)
		switch {
		case err != nil:
			t.err = err
		case section == nil:
			t.err = ErrNoTable
		default:
			t.sections = &unwind.Sections{EHFrame: section}
		}
		if d.tables == nil || len(d.tables) >= maxTables {
			d.tables = make(map[uint32]table)
		}
		d.tables[f.Order] = t
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.sections.Rules(pc)
}

// Covers reports whether an address in a function has an unwind table. It keeps
// nothing, so that it can be called for every function of a dump.
func (d *Jitdump) Covers(f *perf.Function, pc uint64) bool {
	section, err := d.Frames(f)
	if err != nil || section == nil {
		return false
	}
	var fde cfi.FDE
	return section.Find(pc, &fde) == nil
}

// Unwinds reports whether any function has an unwind table.
func (d *Jitdump) Unwinds() bool {
	if d.any == 0 {
		d.any = -1
		list := d.index.Functions()
		for i := range list {
			if s, err := d.index.EHFrame(&list[i]); s != nil || err != nil {
				d.any = 1
				break
			}
		}
	}
	return d.any > 0
}
