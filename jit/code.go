// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// ErrCode is wrapped by the error for an invalid Code. That error names the function and the
// fault.
var ErrCode = errors.New("invalid description of generated code")

// Code is a batch of functions in one range of memory. Publishers read it only during Publish,
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

	Functions []Function // in ascending order of Offset
}

// Function is one function of a Code, or another piece of code with a name.
type Function struct {
	Name string // not empty, and without NUL

	// The function is the Size bytes at Offset of the batch's Text. Size is not 0.
	Offset, Size uint64

	// Unwind is the unwind table: where the caller's registers are at each
	// instruction. Nil means unknown. Functions may share a table.
	Unwind *cfi.Program

	// Lines maps instructions to source lines, in ascending order of Offset. It may be
	// empty.
	Lines []Line
}

// Line is the source line of the instructions from Offset up to the next Line's Offset or the
// end of the function.
type Line struct {
	Offset uint64 // from the start of the function, bytes
	File   string // a path, preferably absolute; "" without source
	Line   int    // from 1; 0 without source; below 2^31
	Column int    // from 1; 0 if unknown; below 2^31
}

// Start returns the address at which a function of the batch starts.
func (c *Code) Start(f *Function) uint64 { return c.Address + f.Offset }

// Bytes returns the machine code of a function of the batch. It aliases Text.
func (c *Code) Bytes(f *Function) []byte {
	return c.Text[f.Offset : f.Offset+f.Size : f.Offset+f.Size]
}

// Check returns an error that wraps ErrCode for the first fault of the
// description: no functions; functions that overlap, are out of order, lie outside
// of Text or have no name; unwind tables and lines past the end of the function.
// Publishers call it before they register anything. It does not allocate unless it
// fails.
func (c *Code) Check() error {
	size := uint64(len(c.Text))
	if c.Address+size < c.Address {
		return fmt.Errorf("%w: %#x bytes at %#x pass the end of the address space", ErrCode, size, c.Address)
	}
	if strings.IndexByte(c.Name, 0) >= 0 {
		return fmt.Errorf("%w: the name %q contains a NUL", ErrCode, c.Name)
	}
	if len(c.Functions) == 0 {
		return fmt.Errorf("%w: it has no functions", ErrCode)
	}
	machine := c.Machine
	if machine == nil {
		machine = Host()
	}
	if machine == nil {
		return fmt.Errorf("%w: Machine is nil, and Clew does not know the machine of this program", ErrCode)
	}
	var end uint64
	for i := range c.Functions {
		f := &c.Functions[i]
		switch {
		case f.Name == "":
			return c.errorf(f, "it has no name")
		case strings.IndexByte(f.Name, 0) >= 0:
			return c.errorf(f, "its name contains a NUL")
		case f.Size == 0:
			return c.errorf(f, "it has no code")
		case f.Offset > size || f.Size > size-f.Offset:
			return c.errorf(f, "it is %#x bytes at offset %#x, outside the %#x bytes of the batch's text", f.Size, f.Offset, size)
		case i > 0 && f.Offset < c.Functions[i-1].Offset:
			return c.errorf(f, "it starts at offset %#x, before %q, which precedes it in the list", f.Offset, c.Functions[i-1].Name)
		case f.Offset < end:
			return c.errorf(f, "it starts at offset %#x, inside %q, which ends at %#x", f.Offset, c.Functions[i-1].Name, end)
		}
		end = f.Offset + f.Size
		if p := f.Unwind; p != nil {
			if p.CIE == nil || p.CIE.Section == nil {
				return c.errorf(f, "its unwind table has no CIE; a cfi.Builder makes complete tables")
			}
			if p.CIE.Section.Machine != machine {
				return c.errorf(f, "its unwind table is not for %s", machine.Name)
			}
			if p.End > f.Size {
				return c.errorf(f, "its unwind table has a row at +%#x, past its %#x bytes of code", p.End, f.Size)
			}
		}
		if err := c.checkLines(f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Code) checkLines(f *Function) error {
	var previous uint64
	for i := range f.Lines {
		l := &f.Lines[i]
		switch {
		case l.Offset >= f.Size:
			return c.errorf(f, "a line at +%#x, past its %#x bytes of code", l.Offset, f.Size)
		case l.Offset < previous:
			return c.errorf(f, "the line at +%#x follows one at +%#x", l.Offset, previous)
		case l.Line < 0 || l.Column < 0:
			return c.errorf(f, "a negative line or column at +%#x", l.Offset)
		case int64(l.Line) > math.MaxInt32 || int64(l.Column) > math.MaxInt32:
			// gdb and jitdumps would truncate it silently.
			return c.errorf(f, "line %d, column %d at +%#x, more than 31 bits", l.Line, l.Column, l.Offset)
		case strings.IndexByte(l.File, 0) >= 0:
			return c.errorf(f, "the file name %q contains a NUL", l.File)
		}
		previous = l.Offset
	}
	return nil
}

func (c *Code) errorf(f *Function, format string, args ...any) error {
	return fmt.Errorf("%w: function %q at %#x: %s", ErrCode, f.Name, c.Start(f), fmt.Sprintf(format, args...))
}
