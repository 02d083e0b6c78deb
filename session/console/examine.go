// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// examined is the state of x: the next address, the format and the count.
type examined struct {
	next         uint64
	last         uint64 // the address of the last value, string or instruction
	known        bool   // next is valid
	letter, size byte
	count        int // 0 before the first x
}

var sizes = [256]int{'b': 1, 'h': 2, 'w': 4, 'g': 8}

// perLine is the number of values in a line, by their size.
var perLine = [256]int{'b': 8, 'h': 8, 'w': 4, 'g': 2}

func (c *Console) examine(args string) error {
	f, text, err := cutFormat(args)
	if err != nil {
		return err
	}
	e := &c.examined
	if e.letter == 0 {
		e.letter, e.size = 'x', 'w'
	}
	if f.letter != 0 {
		if strings.IndexByte(formats+"i", f.letter) < 0 {
			return fmt.Errorf("undefined format letter %q; expected one of x d u o t z c a f s i", f.letter)
		}
		e.letter = f.letter
		switch {
		case f.letter == 'a' && f.size == 0:
			e.size = 'g'
		case f.letter == 'c' && f.size == 0:
			e.size = 'b'
		case f.letter == 'f' && f.size == 0 && e.size != 'w':
			e.size = 'g'
		}
	}
	switch {
	case e.letter == 's':
		e.size = cmp.Or(f.size, 'b')
	case f.size != 0:
		e.size = f.size
	}
	switch {
	case text != "":
		if e.next, err = c.address(text); err != nil {
			return err
		}
		e.known = true
	case !e.known:
		return errors.New("x at which address? \"x/4xg $sp\", \"x/s text\", \"x/3i $pc\"")
	}
	c.repeatAs = "x"
	if args != "" || e.count == 0 { // as in gdb, x alone repeats the count
		e.count = max(f.count, 1)
	}
	if f.zero {
		return nil
	}
	if err := c.examineAt(e, e.count); err != nil {
		return err
	}
	if e.letter == 's' {
		e.size = 'b' // as in gdb, for the next x
	}
	return c.setExamined(e)
}

// setExamined sets $_ to the address that x examined last, and $__ to the value there, as gdb does.
func (c *Console) setExamined(e *examined) error {
	bits := 8 * sizes[e.size]
	name := map[int]string{8: "int8_t", 16: "int16_t", 32: "int32_t", 64: "int64_t"}[bits]
	if e.letter == 's' || e.letter == 'i' {
		name, bits = "int8_t", 8
	}
	t := value.Base(jit.Host(), name)
	if t == nil {
		t = value.IntOf(jit.Host(), name, bits/8, true)
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], e.last)
	p := value.PointerTo(t)
	frame := c.values.Frame(c.current())
	if err := c.values.Set("_", value.Constant(p, word[:], frame)); err != nil {
		return err
	}
	return c.values.Set("__", value.At(t, e.last, frame))
}

// setNext sets the address that x without an argument examines, and $_, as gdb's info line does.
func (c *Console) setNext(address uint64) {
	c.examined.next, c.examined.known = address, true
	t := value.PointerTo(value.Base(jit.Host(), "void"))
	delete(c.values.Convenience, "__")
	_ = c.values.Set("_", value.Constant(t, binary.LittleEndian.AppendUint64(nil, address), c.values.Outside())) // fails if there are too many
}

// address evaluates an expression as an address. For an aggregate or a function it is the
// object's address, otherwise the value.
func (c *Console) address(text string) (uint64, error) {
	v, err := c.evaluate(text)
	if err != nil {
		return 0, err
	}
	switch v.Type().Strip().Kind() {
	case value.Array, value.Struct, value.Class, value.Union, value.Func:
		if address, ok := v.Address(); ok {
			return address, nil
		}
	}
	return v.Decay().Uint()
}

func (c *Console) examineAt(e *examined, count int) error {
	switch e.letter {
	case 'i':
		return c.examineInstructions(e, count)
	case 's':
		return c.examineStrings(e, count)
	}
	size := sizes[e.size]
	p := make([]byte, size)
	for n := range count {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		if err := c.session.ReadMemory(p, e.next); err != nil {
			if n%perLine[e.size] != 0 {
				c.printf("\n")
			}
			return fmt.Errorf("cannot access memory at address %#x", e.next)
		}
		if n%perLine[e.size] == 0 {
			if n > 0 {
				c.printf("\n")
			}
			c.printf("%#x%s:", e.next, c.angle(e.next))
		}
		c.printf("\t%s", c.examinedText(e, p))
		e.last = e.next
		e.next += uint64(size)
	}
	c.printf("\n")
	return nil
}

// examinedText returns one value in the format of x, which pads with zeros.
func (c *Console) examinedText(e *examined, p []byte) string {
	n, shift, letter := frontend.Word(p), 64-8*len(p), e.letter
	if letter == 'f' && len(p) < 4 {
		letter = 'd' // gdb too shows 1 and 2 bytes as an integer
	}
	switch letter {
	case 'x', 'z':
		return fmt.Sprintf("0x%0*x", 2*len(p), n)
	case 'd':
		return fmt.Sprint(int64(n<<shift) >> shift)
	case 'u':
		return fmt.Sprint(n)
	case 'o':
		return fmt.Sprintf("%#o", n)
	case 't':
		return fmt.Sprintf("%0*b", 8*len(p), n)
	case 'a':
		n = uint64(int64(n<<shift) >> shift)
		return fmt.Sprintf("%#x%s", n, c.angle(n))
	}
	name := map[int]string{1: "signed char", 2: "short", 4: "int", 8: "long"}[len(p)]
	if letter == 'f' {
		name, letter = map[int]string{4: "float", 8: "double"}[len(p)], 0
	}
	return c.printer(letter).Text(value.Constant(value.Base(jit.Host(), name), bytes.Clone(p), nil))
}

func (c *Console) examineInstructions(e *examined, count int) error {
	pc := c.programCounter()
	list, err := c.session.Disassemble(e.next, count)
	for _, i := range list {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		mark := "  "
		if i.Address == pc && c.current() != nil {
			mark = "=>"
		}
		c.printf("%s %#x%s:\t%s\n", mark, i.Address, c.angle(i.Address), c.assembly(i.Text))
		e.last, e.next = i.Address, i.Address+uint64(len(i.Bytes))
	}
	return err
}

const shownString = 200 // bytes of a string that x/s shows at once, as in gdb

func (c *Console) examineStrings(e *examined, count int) error {
	element, size := value.Base(jit.Host(), "char"), 1
	switch e.size {
	case 'h':
		element, size = value.IntOf(jit.Host(), "char16_t", 2, false), 2
	case 'w':
		element, size = value.IntOf(jit.Host(), "char32_t", 4, false), 4
	}
	for range count {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		var text []byte
		ended := false
		for len(text) < shownString*size && !ended {
			p := make([]byte, size)
			if err := c.session.ReadMemory(p, e.next+uint64(len(text))); err != nil {
				if len(text) > 0 {
					break
				}
				c.printf("%#x%s:\t<error: Cannot access memory at address %#x>\n", e.next, c.angle(e.next), e.next)
				return nil
			}
			text = append(text, p...)
			ended = frontend.Word(p) == 0
		}
		v := value.Constant(value.ArrayOf(element, uint64(len(text)/size)), text, nil)
		suffix := ""
		if !ended {
			suffix = "..."
		}
		c.printf("%#x%s:\t%s%s\n", e.next, c.angle(e.next), c.printer(0).Text(v), suffix)
		e.last = e.next
		e.next += uint64(len(text))
	}
	return nil
}
