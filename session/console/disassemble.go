// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

func (c *Console) disassemble(args string) error {
	f, text, err := cutFormat(args)
	if err != nil {
		return err
	}
	raw, source := false, false
	for _, flag := range f.flags {
		switch flag {
		case 'r', 'b':
			raw = true
		case 's', 'm':
			source = true
		default:
			return fmt.Errorf("invalid modifier %q: /s adds source lines, /r bytes", string(flag))
		}
	}
	start, end, name, err := c.codeRange(text)
	if err != nil {
		return err
	}
	if name != "" {
		c.printf("Dump of assembler code for function %s:\n", name)
	} else {
		c.printf("Dump of assembler code from %#x to %#x:\n", start, end)
	}
	if err := c.dump(start, end, name != "", raw, source); err != nil {
		return err
	}
	c.printf("End of assembler dump.\n")
	return nil
}

// codeRange returns the range of addresses that disassemble shows, and the name of its
// function, or "" for an explicit range.
func (c *Console) codeRange(text string) (start, end uint64, name string, err error) {
	from, to, isRange := strings.Cut(text, ",")
	if isRange {
		if start, err = c.address(from); err != nil {
			return 0, 0, "", err
		}
		to, isSize := strings.CutPrefix(strings.TrimSpace(to), "+")
		if end, err = c.address(to); err != nil {
			return 0, 0, "", err
		}
		if isSize {
			end += start
		}
		if end < start || end-start > maxCount {
			return 0, 0, "", fmt.Errorf("invalid range: %#x to %#x (at most %d bytes)", start, end, maxCount)
		}
		return start, end, "", nil
	}
	address := uint64(0)
	if text == "" {
		f, err := c.selectedFrame()
		if err != nil {
			return 0, 0, "", errors.New("disassemble what? Name a function, an address, or START,END")
		}
		address = f.Physical.LookupPC
	} else if address, err = c.address(text); err != nil {
		return 0, 0, "", err
	}
	fn, ok := c.functionAround(address)
	if !ok {
		return 0, 0, "", fmt.Errorf("no function contains the address; \"x/10i %#x\" shows code anywhere", address)
	}
	return fn.Start, fn.Start + fn.Size, fn.Name, nil
}

// functionAround returns the function with known size that contains an address.
func (c *Console) functionAround(address uint64) (session.Function, bool) {
	image := c.session.Image(address)
	if image == nil {
		return session.Function{}, false
	}
	fn, ok := image.Function(address)
	return fn, ok && fn.Size > 0
}

func (c *Console) dump(start, end uint64, offsets, raw, source bool) error {
	pc := uint64(0)
	if f := c.current(); f != nil {
		pc = f.Physical.PC
	}
	line := 0
	for at := start; at < end; {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		list, err := c.session.Disassemble(at, 1)
		if len(list) == 0 {
			return err
		}
		i := list[0]
		if r := frontend.Row(c.session, at); source && r.Line > 0 && r.Line != line {
			if line == 0 {
				c.printf("%s:\n", c.source.shown(r.File))
			} else {
				c.printf("\n")
			}
			line = r.Line
			c.printf("%s\n", c.palette.Source.Text(c.source.numbered(r.File, line)))
		}
		c.printInstruction(&i, start, offsets, raw, i.Address == pc)
		at += uint64(max(len(i.Bytes), 1))
	}
	if source && line > 0 {
		c.printf("\n")
	}
	return nil
}

// printInstruction prints an instruction of the function at start. current marks it as the
// next one that runs.
func (c *Console) printInstruction(i *session.Instruction, start uint64, offsets, raw, current bool) {
	mark := "  "
	if current {
		mark = "=>"
	}
	label := c.angle(i.Address)
	if offsets {
		label = fmt.Sprintf(" <+%d>", i.Address-start)
	}
	bytes := ""
	if raw {
		bytes = fmt.Sprintf("\t% x", i.Bytes)
	}
	text := fmt.Sprintf("%s 0x%016x%s:%s\t%s", mark, i.Address, label, bytes, c.assembly(i.Text))
	if current {
		text = c.palette.Mark.Text(text)
	}
	c.printf("%s\n", text)
}

// offsetInHex and addressNote match offsets and notes in the text of package disasm.
var (
	offsetInHex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\+0x([0-9a-f]+)>`) })
	addressNote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`  # 0x([0-9a-f]+)$`) })
)

// assembly returns an instruction as gdb shows it: in columns, with decimal offsets and
// the names of addresses.
func (c *Console) assembly(text string) string {
	text = unscaled().ReplaceAllString(text, "$1,1)")
	text = offsetInHex().ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.ParseUint(s[3:len(s)-1], 16, 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf("+%d>", n)
	})
	text = addressNote().ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.ParseUint(s[6:], 16, 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf("        # %#x%s", n, c.angle(n))
	})
	name, operands, ok := strings.Cut(strings.TrimSpace(text), " ")
	if !ok {
		return name
	}
	if a := jit.Host().Assembler; a.Padding > 0 {
		return fmt.Sprintf("%-*s %s", a.Padding, name, operands)
	}
	// Package disasm omits spaces in brackets: [sp,#28].
	return name + "\t" + strings.ReplaceAll(operands, ",#", ", #")
}

// around prints up to n instructions of a function before and after an address.
func (c *Console) around(address uint64, n int) {
	fn, ok := c.functionAround(address)
	if !ok {
		return
	}
	after, _ := c.session.Disassemble(address, n+1)
	for _, i := range append(frontend.Before(c.session, address, n), after...) {
		if i.Address >= fn.Start && i.Address < fn.Start+fn.Size {
			c.printInstruction(&i, fn.Start, false, false, i.Address == address)
		}
	}
}

// Report prints the stack of the stopped call and the code around the stop. It describes a
// fault to users without a prompt.
func (c *Console) Report() error {
	f, err := c.frame(0)
	if err != nil {
		return err
	}
	c.printf("\n")
	if err := c.backtrace(strconv.Itoa(maxReported)); err != nil {
		return err
	}
	c.printf("\n")
	c.around(f.Physical.PC, 3)
	return nil
}

const maxReported = 40 // frames of a report

// unscaled matches an index register of x86 without its scale, which gdb prints.
var unscaled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\((?:%\w+)?,%\w+)\)`) })
