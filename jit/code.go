// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Code is a batch of functions in one range of memory, or in several. Publishers read it only during Publish,
// and keep no reference to it. The caller may change it afterwards, but must not move or
// change the machine code until the batch is withdrawn.
type Code struct {
	// Name is the file name of the batch in tools that show files. Empty means "jit".
	Name string

	// Machine is the machine of the code. Nil means the machine of this program.
	Machine *arch.Machine

	// Text is the memory that holds the functions. Address is the address at which
	// its first byte runs. Bytes between functions belong to no function.
	Address uint64
	Text    []byte

	// Ranges are further ranges of memory, for functions whose Range is not 0: cold parts, or
	// memory that was added later. All ranges are disjoint, in ascending order, and not empty.
	Ranges []Range

	Functions []Function // in ascending order of Range and Offset

	// NameOf and LinesOf return the name and the lines of Functions[i]. They may be nil. They
	// run only for functions with an empty Name or with nil Lines, and only if a publisher needs
	// the result: with names alone for a perf map, never for the unwinders. They run on the
	// goroutine that calls Publish, before it returns, at least once for each publisher that
	// needs them. (gdb.Publisher.OnDemand is the exception: it says where and until when.)
	// They must neither publish nor withdraw. The lines must not change until Publish returns.
	//
	// If a result is invalid, the function is at fault for that publisher.
	NameOf  func(i int) string
	LinesOf func(i int) []Line

	checked bool // by Publish, on its own copy
}

// Range is memory that holds functions, as Code.Address and Code.Text.
type Range struct {
	Address uint64
	Text    []byte
}

// Function is one function of a Code, or another piece of code with a name.
type Function struct {
	Name string // not empty, unless Code.NameOf returns it; without NUL

	// The function is the Size bytes at Offset of the batch's Text. A function of several pieces
	// is a Function for each, which may have the same name. A function of Size 0 has
	// no code and no rows in any table: it keeps its index, is not checked, and is not published.
	Offset, Size uint64

	// Range is the memory of the function: 0 for Code.Text, n for Code.Ranges[n-1].
	Range int

	// Unwind is the unwind table: where the caller's registers are at each
	// instruction. Nil means unknown. Functions may share a table.
	Unwind *cfi.Program

	// SwitchesStack says that the function runs on, or returns to, another stack than its
	// caller's. See "Stacks that are switched" in the documentation of the package.
	SwitchesStack bool

	// Pointers are the words of the frame that contain pointers of Go, or nil, whenever the function
	// calls Go: their offsets from the CFA, bytes. Only jit/goruntime uses them.
	Pointers []int64

	// Lines maps instructions to source lines, in ascending order of Offset. It may be
	// empty. Nil means those of Code.LinesOf.
	Lines []Line
}

// Line is the source line of the instructions from Offset up to the next Line's Offset or the
// end of the function.
type Line struct {
	Offset uint64 // from the start of the function, bytes
	File   string // a path, preferably absolute; "" without source
	Line   int    // from 1; 0 without source; below 2^31
	Column int    // from 1; 0 if unknown; below 2^31

	// Inlined is the innermost inlined call that the instructions are part of: File and Line
	// are in the inlined function. Nil means the function itself. gdb and lldb show a frame for
	// each call; jitdumps have only the lines.
	Inlined *Call
}

// Call is a call that a compiler replaced by the code of the called function. Lines of one call
// share it.
type Call struct {
	Function string // the name of the called function; not empty, and without NUL
	File     string // the place of the call, as in a Line; both are needed
	Line     int
	Column   int
	Outer    *Call // the inlined call that made this one; nil if the function itself did
}

// maxCalls is the depth of inlined calls. Calls in a circle exceed it.
const maxCalls = 256

// Start returns the address at which a function of the batch starts.
func (c *Code) Start(f *Function) uint64 {
	if f.Range == 0 {
		return c.Address + f.Offset
	}
	return c.memory(f.Range).Address + f.Offset
}

// memory returns a range of the batch, or an empty one if it does not exist.
func (c *Code) memory(number int) Range {
	switch {
	case number == 0:
		return Range{c.Address, c.Text}
	case number < 0 || number > len(c.Ranges):
		return Range{}
	}
	return c.Ranges[number-1]
}

// Bytes returns the machine code of a function of the batch. It aliases Text.
func (c *Code) Bytes(f *Function) []byte {
	return c.memory(f.Range).Text[f.Offset : f.Offset+f.Size : f.Offset+f.Size]
}

// Check returns the faults of the description. If functions are at fault, and the rest is valid
// without them, they are FunctionErrors: functions that overlap, are out of order, lie
// outside of Text or have no name; unwind tables and lines past the end of the function,
// and instructions that do not decode. Otherwise the error wraps ErrCode. Publishers call Check before
// they register anything. It does not allocate unless it fails.
func (c *Code) Check() error {
	_, err := c.check()
	return err
}

// check also reports whether the batch has empty functions.
func (c *Code) check() (empty bool, err error) {
	if c.checked {
		return false, nil
	}
	for i := range len(c.Ranges) + 1 {
		m := c.memory(i)
		size := uint64(len(m.Text))
		if m.Address+size < m.Address {
			return false, fmt.Errorf("%w: %#x bytes at %#x pass the end of the address space", ErrCode, size, m.Address)
		}
		if i > 0 {
			if p := c.memory(i - 1); size == 0 || len(p.Text) == 0 || m.Address < p.Address+uint64(len(p.Text)) {
				return false, fmt.Errorf("%w: range %d, %#x bytes at %#x, is empty or not after range %d, %#x bytes at %#x",
					ErrCode, i, size, m.Address, i-1, len(p.Text), p.Address)
			}
		}
	}
	if strings.IndexByte(c.Name, 0) >= 0 {
		return false, fmt.Errorf("%w: the name %q contains a NUL", ErrCode, c.Name)
	}
	if len(c.Functions) == 0 {
		return false, fmt.Errorf("%w: it has no functions", ErrCode)
	}
	machine := c.Machine
	if machine == nil {
		machine = Host()
	}
	if machine == nil {
		return false, fmt.Errorf("%w: Machine is nil, and Clew does not know the machine of this program", ErrCode)
	}
	x := checker{code: c, machine: machine, previous: -1}
	var faults FunctionErrors
	for i := range c.Functions {
		if c.Functions[i].Size == 0 {
			empty = true
			continue
		}
		if err := x.function(i); err != nil {
			faults = append(faults, c.Fault(i, err))
			continue
		}
		x.previous = i
	}
	return empty, faults.Err()
}

// checker checks the functions of a batch in order.
type checker struct {
	code     *Code
	machine  *arch.Machine
	previous int          // index of the previous function without a fault, or -1
	valid    *cfi.CIE     // checked last
	table    *cfi.Program // likewise
}

func faultf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCode}, args...)...)
}

func (x *checker) function(i int) error {
	c := x.code
	f, size := &c.Functions[i], uint64(len(c.Text))
	if f.Range != 0 {
		if f.Range < 0 || f.Range > len(c.Ranges) {
			return faultf("it is in range %d of %d", f.Range, len(c.Ranges)+1)
		}
		size = uint64(len(c.Ranges[f.Range-1].Text))
	}
	switch {
	case f.Name == "" && c.NameOf == nil:
		return faultf("it has no name")
	case strings.IndexByte(f.Name, 0) >= 0:
		return faultf("its name contains a NUL")
	case f.Offset > size || f.Size > size-f.Offset:
		return faultf("it is %#x bytes at offset %#x, outside the %#x bytes of the batch's text", f.Size, f.Offset, size)
	}
	if x.previous >= 0 {
		switch p := &c.Functions[x.previous]; {
		case f.Range > p.Range:
		case f.Range < p.Range:
			return faultf("it is in range %d, before %s, which precedes it in the list", f.Range, nameFor(x.previous, p.Name))
		case f.Offset < p.Offset:
			return faultf("it starts at offset %#x, before %s, which precedes it in the list", f.Offset, nameFor(x.previous, p.Name))
		case f.Offset < p.Offset+p.Size:
			return faultf("it starts at offset %#x, inside %s, which ends at %#x", f.Offset, nameFor(x.previous, p.Name), p.Offset+p.Size)
		}
	}
	if f.Unwind != nil {
		if err := x.unwind(f); err != nil {
			return err
		}
	}
	return checkLines(f.Lines, f.Size)
}

// nameFor returns the name of a function for messages.
func nameFor(index int, name string) string {
	if name == "" {
		return fmt.Sprintf("function %d", index)
	}
	return strconv.Quote(name)
}

// Resolve calls NameOf, and with lines also LinesOf, and returns a batch that has their
// results. Without such functions to call it returns c. The error is FunctionErrors. It is for
// publishers; the batch must be valid.
func (c *Code) Resolve(lines bool) (*Code, error) {
	lines = lines && c.LinesOf != nil
	if c.NameOf == nil && !lines {
		return c, nil
	}
	d := *c
	d.Functions = slices.Clone(c.Functions)
	d.NameOf = nil
	if lines {
		d.LinesOf = nil
	}
	var faults FunctionErrors
	for i := range d.Functions {
		f := &d.Functions[i]
		if f.Size == 0 {
			continue
		}
		if f.Name == "" {
			f.Name = c.NameOf(i)
		}
		var err error
		switch {
		case f.Name == "":
			err = faultf("it has no name")
		case strings.IndexByte(f.Name, 0) >= 0:
			err = faultf("its name contains a NUL")
		case lines && f.Lines == nil:
			f.Lines = c.LinesOf(i)
			err = checkLines(f.Lines, f.Size)
		}
		if err != nil {
			faults = append(faults, d.Fault(i, err))
		}
	}
	return &d, faults.Err()
}

func (x *checker) unwind(f *Function) error {
	p := f.Unwind
	switch {
	case p == x.table && p.End <= f.Size:
		return nil
	case p.CIE == nil || p.CIE.Section == nil:
		return faultf("its unwind table has no CIE; a cfi.Builder makes complete tables")
	case p.CIE.Section.Machine != x.machine:
		return faultf("its unwind table is not for %s", x.machine.Name)
	case p.End > f.Size:
		return faultf("its unwind table has a row at +%#x, past its %#x bytes of code", p.End, f.Size)
	}
	if p.CIE != x.valid {
		d := p.CIE.Decode()
		var ins cfi.Instruction
		for d.Next(&ins) {
		}
		if err := d.Err(); err != nil {
			return faultf("the instructions of its CIE: %w", err)
		}
		x.valid = p.CIE
	}
	if err := p.Check(); err != nil {
		return faultf("the instructions of its unwind table: %w", err)
	}
	x.table = p
	return nil
}

func checkLines(lines []Line, size uint64) error {
	var previous uint64
	var valid *Call // checked last
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Offset >= size:
			return faultf("a line at +%#x, past its %#x bytes of code", l.Offset, size)
		case l.Offset < previous:
			return faultf("the line at +%#x follows one at +%#x", l.Offset, previous)
		case l.Line < 0 || l.Column < 0:
			return faultf("a negative line or column at +%#x", l.Offset)
		case int64(l.Line) > math.MaxInt32 || int64(l.Column) > math.MaxInt32:
			// gdb and jitdumps would truncate it silently.
			return faultf("line %d, column %d at +%#x, more than 31 bits", l.Line, l.Column, l.Offset)
		case strings.IndexByte(l.File, 0) >= 0:
			return faultf("the file name %q contains a NUL", l.File)
		}
		if l.Inlined != valid {
			if err := l.Inlined.check(); err != nil {
				return faultf("the line at +%#x: %w", l.Offset, err)
			}
			valid = l.Inlined
		}
		previous = l.Offset
	}
	return nil
}

// check returns the first fault of a call and of those around it.
func (c *Call) check() error {
	depth := 0
	for ; c != nil; c = c.Outer {
		switch depth++; {
		case depth > maxCalls:
			return fmt.Errorf("more than %d inlined calls in each other", maxCalls)
		case c.Function == "" || strings.IndexByte(c.Function, 0) >= 0:
			return fmt.Errorf("an inlined call of %q, expected a name without NUL", c.Function)
		case c.File == "" || strings.IndexByte(c.File, 0) >= 0 || c.Line <= 0 || c.Column < 0 ||
			int64(c.Line) > math.MaxInt32 || int64(c.Column) > math.MaxInt32:
			return fmt.Errorf("the inlined call of %q is at %q, line %d, column %d, expected a file and a line from 1 on", c.Function, c.File, c.Line, c.Column)
		}
	}
	return nil
}
