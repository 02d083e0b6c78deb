// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/clewdev/clew/jit"
)

// encoders keeps the buffers of an encoder for the next one.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// Append appends to dst the image of a batch, which it checks first (see [jit.Code.Check]),
// and returns the longer slice. The image does not refer to c, and may be copied to any
// address. On an error dst is returned unchanged. The error wraps [jit.ErrCode],
// [ErrTooLarge], or [errors.ErrUnsupported] for a machine that is not 64-bit and
// little-endian.
//
// Append allocates only if dst has to grow, usually at most once. It may be called
// concurrently.
func Append(dst []byte, c *jit.Code) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	m := c.Machine
	if m == nil {
		m = jit.Host()
	}
	if err := supported(m); err != nil {
		return dst, err
	}
	c, err := c.Resolve(true)
	if err != nil {
		return dst, err
	}
	d, index := dense(c)
	if len(d.Functions) == 0 {
		return dst, fmt.Errorf("%w: all its functions are empty", jit.ErrCode)
	}
	e := encoders.Get().(*encoder)
	base := len(dst)
	e.dst, e.machine = dst, m
	err = e.batch(d)
	image := e.end()
	encoders.Put(e)
	if err != nil {
		if faults, ok := err.(jit.FunctionErrors); ok && index != nil {
			for _, f := range faults {
				f.Index = index[f.Index]
			}
		}
		return image[:base], err
	}
	return image, nil
}

// batch appends the image of a batch.
func (e *encoder) batch(c *jit.Code) error {
	var faults jit.FunctionErrors
	name := c.Name
	if name == "" {
		name = defaultName
	}
	names, frames, rows, calls, switches := 0, 0, 0, 0, 0
	for i := range c.Functions {
		f := &c.Functions[i]
		names += len(f.Name) + 1
		if f.SwitchesStack {
			switches++
		}
		if f.Unwind != nil {
			// With pointers of eight bytes.
			frames += (25+len(f.Unwind.Instructions)+7)&^7 + 8
		}
		if file, _, ok := origin(f); ok {
			if f.Size > math.MaxUint32 {
				faults = append(faults, c.Fault(i, fmt.Errorf("%w: a function of %#x bytes", ErrTooLarge, f.Size))) // DW_AT_high_pc has four
				continue
			}
			e.files.units++
			e.files.add(file)
			rows += len(f.Lines)
			inlined := false
			for k := range f.Lines {
				l := &f.Lines[k]
				if l.Line > 0 && l.File != "" {
					e.files.add(l.File)
				}
				inlined = inlined || l.Inlined != nil
			}
			if inlined {
				calls += e.addCalls(f)
			}
		}
	}
	if len(faults) > 0 {
		return faults
	}
	size := longestHeader + len(name) + names + symbolSize*(len(c.Functions)+switches) + frames + e.files.size(rows) + e.calls.bytes + calls*(callSize+1) + (sectionSize+16)*len(c.Ranges)
	e.texts = append(e.texts, textRange{c.Address, c.Address + uint64(len(c.Text))})
	for _, r := range c.Ranges {
		e.texts = append(e.texts, textRange{r.Address, r.Address + uint64(len(r.Text))})
	}
	if err := e.begin(e.dst, e.machine, size); err != nil {
		return err
	}
	unit := uint32(e.strings)
	first := unit + uint32(len(name)) + 1
	e.strings = int(first)

	e.putSymbols(c, switches)
	if frames > 0 {
		e.beginFrames(uint64(frames))
		for i := range c.Functions {
			if f := &c.Functions[i]; f.Unwind != nil {
				if err := e.frame(f.Unwind, c.Start(f), f.Size); err != nil {
					faults = append(faults, c.Fault(i, err))
				}
			}
		}
		if len(faults) > 0 {
			return faults
		}
		if err := e.endFrames(); err != nil {
			return err
		}
	}
	if e.files.units > 0 {
		e.files.place(e.strings)
		e.calls.place(e.strings + e.files.bytes)
		e.debug(unit, c, first)
	}

	start := e.here()
	e.dst = append(e.dst, sectionNames...)
	e.dst = append(append(e.dst, name...), 0)
	for i := range c.Functions {
		if i == 0 || c.Functions[i].Name != c.Functions[i-1].Name {
			e.dst = append(append(e.dst, c.Functions[i].Name...), 0)
		}
	}
	e.dst = e.calls.appendNames(e.files.appendNames(e.dst))
	if switches > 0 {
		e.dst = append(e.dst, morestack+"\x00"...)
	}
	return e.finish(start)
}

// dense returns a batch without its empty functions, and the indexes of the others if there
// are empty ones.
func dense(c *jit.Code) (*jit.Code, []int) {
	if !slices.ContainsFunc(c.Functions, func(f jit.Function) bool { return f.Size == 0 }) {
		return c, nil
	}
	d, index := *c, []int(nil)
	d.Functions = nil
	for i := range c.Functions {
		if c.Functions[i].Size > 0 {
			d.Functions = append(d.Functions, c.Functions[i])
			index = append(index, i)
		}
	}
	return &d, index
}

// defaultName is the name of a batch without one.
const defaultName = "jit"

// name puts the name of function i into the string table; functions in a row with the
// same name share it.
func (e *encoder) name(list []jit.Function, i int) uint32 {
	if i > 0 && list[i].Name == list[i-1].Name {
		return uint32(e.strings - len(list[i].Name) - 1)
	}
	at := uint32(e.strings)
	e.strings += len(list[i].Name) + 1
	return at
}
