// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/clewdev/clew/internal/x86"
	"github.com/clewdev/clew/jit"
)

// inlinedCall describes an inlined call (runtime.inlinedCall).
type inlinedCall struct {
	_      uint32 // funcID
	name   int32
	parent int32 // offset of an address whose file and line are the place of the call
	_      int32 // startLine
}

// callPlace is an inlined call and its inlinedCall.parent.
type callPlace struct {
	call *jit.Call
	at   uint64 // offset in the function
	// own means that no line has the place. Then, on amd64, an address in the middle of an
	// instruction gets a line with it: such an address is never a program counter, nor a return
	// address minus one.
	own bool
}

// place is a place of a call, in the function or in the inlined call outer.
type place struct {
	file  string
	line  int
	outer *jit.Call
}

// inlined returns the inlined calls of the lines from d.start to d.end that the runtime can show.
// It adds lines for places that no instruction has.
func (d *describer) inlined() (calls []callPlace) {
	if !slices.ContainsFunc(d.lines, func(l jit.Line) bool { return l.Inlined != nil }) {
		return nil
	}
	places := make(map[place]uint64)
	for i := range d.lines {
		l := &d.lines[i]
		p := place{l.File, l.Line, l.Inlined}
		if _, ok := places[p]; !ok && d.covers(i) {
			places[p] = max(l.Offset, d.start)
		}
	}
	seen := make(map[*jit.Call]bool)
	var without []*jit.Call
	for i := range d.lines {
		if !d.covers(i) {
			continue
		}
		for c := d.lines[i].Inlined; c != nil && !seen[c]; c = c.Outer {
			seen[c] = true
			if at, ok := places[place{c.File, c.Line, c.Outer}]; ok {
				calls = append(calls, callPlace{c, at, false})
			} else {
				without = append(without, c)
			}
		}
	}
	for i, at := range d.between(len(without)) {
		calls = append(calls, callPlace{without[i], at, true})
	}
	d.addLines(calls)
	return calls
}

// covers reports whether a line has code of the part.
func (d *describer) covers(i int) bool {
	at := d.lines[i].Offset
	return at < d.end && (i+1 == len(d.lines) || d.lines[i+1].Offset > max(at, d.start))
}

// between returns up to n offsets inside of instructions, neither of the first nor of the last
// byte. Instructions of arm64 have none.
func (d *describer) between(n int) (offsets []uint64) {
	var ins x86.Instruction
	for i := 0; i < len(d.lines) && len(offsets) < n && runtime.GOARCH == "amd64"; i++ {
		l, end := &d.lines[i], min(d.end, uint64(len(d.code)))
		if i+1 < len(d.lines) {
			end = min(end, d.lines[i+1].Offset)
		}
		if l.File == "" || l.Offset < d.start {
			continue // perhaps data, or from the middle of an instruction on
		}
		for at := l.Offset; at < end && ins.Decode(d.code[at:end]) == nil; at += uint64(len(ins.Code)) {
			for k := at + 1; k+1 < at+uint64(len(ins.Code)) && len(offsets) < n; k++ {
				offsets = append(offsets, k)
			}
		}
	}
	return offsets
}

// addLines adds the lines of places that no instruction has.
func (d *describer) addLines(calls []callPlace) {
	var added []jit.Line
	for _, c := range calls {
		if !c.own {
			continue
		}
		i, _ := slices.BinarySearchFunc(d.lines, c.at+1, func(l jit.Line, at uint64) int { return int(l.Offset) - int(at) })
		after := d.lines[i-1]
		after.Offset = c.at + 1
		added = append(added, jit.Line{Offset: c.at, File: c.call.File, Line: c.call.Line, Inlined: c.call.Outer}, after)
	}
	if len(added) == 0 {
		return
	}
	// Where two places are next to each other, the line after the first is the second.
	all := append(slices.Clone(d.lines), added...)
	slices.SortStableFunc(all, func(a, b jit.Line) int { return int(a.Offset) - int(b.Offset) })
	d.lines = all
}

// tree writes the calls and the table of their indexes.
func (d *describer) tree(calls []callPlace) (index, offset uint32, err error) {
	numbers := make(map[*jit.Call]int32)
	for i, c := range calls {
		numbers[c.call] = int32(i)
	}
	size := len(calls) * int(unsafe.Sizeof(inlinedCall{}))
	at, err := d.modules.lists.alloc(uint64(size))
	if err != nil {
		return 0, 0, err
	}
	d.part.calls = table{uint32(at), size}
	tree := unsafe.Slice((*inlinedCall)(d.modules.lists.at(at)), len(calls))
	for i, c := range calls {
		name, err := d.modules.names.add(goName(c.call.Function))
		if err != nil {
			return 0, 0, err
		}
		tree[i] = inlinedCall{name: int32(name), parent: int32(c.at - d.start)}
	}
	index, err = d.values(ownCalls, func(l *jit.Line) (int32, error) {
		for c := l.Inlined; c != nil; c = c.Outer {
			if n, ok := numbers[c]; ok {
				return n, nil
			}
		}
		return -1, nil
	})
	return index, uint32(at), err
}
