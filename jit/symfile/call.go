// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/jit"
)

// Inlined calls are children of their function's entry, one for each run of instructions:
// DW_TAG_inlined_subroutine (DWARF 5 §3.3.8.2) with its own name, because there is no entry for the
// function itself that it could refer to. A zero byte ends the children of an entry.
const callSize = 1 + 4 + 8 + 4 + 4 + 4 + 4

// Offsets of the attributes of a call.
const (
	callName   = 1
	callLow    = callName + 4
	callHigh   = callLow + 8
	callFile   = callHigh + 4
	callLine   = callFile + 4
	callColumn = callLine + 4
)

// addCalls adds the names and files of the calls of a function, and returns their number, or
// less than the number of entries that they need.
func (e *encoder) addCalls(f *jit.Function) (n int) {
	var last *jit.Call
	for i := range f.Lines {
		if f.Lines[i].Inlined == last {
			continue
		}
		last = f.Lines[i].Inlined
		for c := last; c != nil; c = c.Outer {
			e.calls.add(c.Function)
			e.files.add(c.File)
			n++
		}
	}
	return n
}

// openCall is a call whose end is not known yet.
type openCall struct {
	call *jit.Call
	at   int // of its entry in dst
}

// putCalls appends the calls of a function and the end of its children.
func (e *encoder) putCalls(start uint64, f *jit.Function) {
	e.open = e.open[:0]
	for i := range f.Lines {
		l := &f.Lines[i]
		if i+1 < len(f.Lines) && f.Lines[i+1].Offset == l.Offset {
			continue // no instruction
		}
		e.chain = e.chain[:0]
		for c := l.Inlined; c != nil; c = c.Outer {
			e.chain = append(e.chain, c)
		}
		common := 0
		for common < len(e.open) && common < len(e.chain) && e.open[common].call == e.chain[len(e.chain)-1-common] {
			common++
		}
		e.closeCalls(common, start+l.Offset)
		for k := len(e.chain) - 1 - common; k >= 0; k-- {
			e.openCall(start+l.Offset, e.chain[k])
		}
	}
	e.closeCalls(0, start+f.Size)
	e.dst = append(e.dst, 0)
}

func (e *encoder) openCall(address uint64, c *jit.Call) {
	e.open = append(e.open, openCall{c, len(e.dst)})
	e.dst = append(e.dst, make([]byte, callSize)...)
	b := e.dst[len(e.dst)-callSize:]
	le := binary.LittleEndian
	b[0] = abbrevCall
	le.PutUint32(b[callName:], e.calls.offset(e.calls.add(c.Function)))
	le.PutUint64(b[callLow:], address)
	le.PutUint32(b[callFile:], e.files.add(c.File))
	le.PutUint32(b[callLine:], uint32(c.Line))
	le.PutUint32(b[callColumn:], uint32(c.Column))
}

// closeCalls ends all calls except the outermost n.
func (e *encoder) closeCalls(n int, address uint64) {
	for ; len(e.open) > n; e.open = e.open[:len(e.open)-1] {
		b := e.dst[e.open[len(e.open)-1].at:]
		binary.LittleEndian.PutUint32(b[callHigh:], uint32(address-binary.LittleEndian.Uint64(b[callLow:])))
		e.dst = append(e.dst, 0)
	}
}

// hasCalls reports whether instructions of a function are of inlined calls.
func hasCalls(f *jit.Function) bool {
	for i := range f.Lines {
		if f.Lines[i].Inlined != nil && (i+1 == len(f.Lines) || f.Lines[i+1].Offset != f.Lines[i].Offset) {
			return true
		}
	}
	return false
}

// entry returns the entry of a function at the start of units, and its calls with the end of its
// children.
func entry(units []byte) (function, calls []byte, ok bool) {
	if len(units) < functionSize || units[0] != abbrevFunction && units[0] != abbrevFunctionWithCalls {
		return nil, nil, false
	}
	function, calls = units[:functionSize], units[functionSize:]
	if function[0] == abbrevFunction {
		return function, nil, true
	}
	at := 0
	for depth := 1; depth > 0; {
		switch {
		case at < len(calls) && calls[at] == 0:
			depth--
			at++
		case at+callSize <= len(calls) && calls[at] == abbrevCall:
			depth++
			at += callSize
		default:
			return nil, nil, false
		}
	}
	return function, calls[:at], true
}

// takeCalls adds the names and files of the calls of a kept function.
func (e *encoder) takeCalls(s *source, start uint64, calls []byte) error {
	le := binary.LittleEndian
	for at := 0; at < len(calls); at++ {
		if calls[at] == 0 {
			continue
		}
		b := calls[at:][:callSize]
		name, ok := s.name(le.Uint32(b[callName:]))
		if number := le.Uint32(b[callFile:]); !ok || !e.takeFile(s, number) {
			return fmt.Errorf("%w: a call in the function at %#x is in file %d, of %d", ErrImage, start, number, s.fileCount)
		}
		if e.calls.addBytes(name); e.calls.bytes > e.bytes {
			return fmt.Errorf("%w: the names of its calls overlap", ErrImage)
		}
		at += callSize - 1
	}
	return nil
}

// copyCalls appends the calls of a function with the new offsets of names and numbers of files.
func (e *encoder) copyCalls(s *source, calls []byte) {
	le := binary.LittleEndian
	base := len(e.dst)
	e.dst = append(e.dst, calls...)
	calls = e.dst[base:]
	for at := 0; at < len(calls); at++ {
		if calls[at] == 0 {
			continue
		}
		b := calls[at:][:callSize]
		name, _ := s.name(le.Uint32(b[callName:]))
		le.PutUint32(b[callName:], e.calls.offset(e.calls.addBytes(name)))
		le.PutUint32(b[callFile:], e.numbers[s.firstFile+int(le.Uint32(b[callFile:]))])
		at += callSize - 1
	}
}
