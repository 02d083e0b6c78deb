// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"errors"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot"
)

// Calls is what the runtime notes of the calls between Go and C code on a thread.
type Calls struct {
	System  uint64 // the thread's g0
	Current uint64 // the goroutine that the thread runs, 0 for none

	Count  uint64 // the calls of C code that the thread has begun
	Active int32  // those that have not returned
	InC    bool   // the thread runs C code that a goroutine called

	// Processor is the p that the thread uses, 0 for none. Its tick counts the returns to Go code on it.
	// Tick is the value of the tick when the thread last left Go code.
	Processor uint64
	Tick      uint32
}

// CallReader reads Calls, without allocating memory. It is not safe for concurrent use.
type CallReader struct {
	runtime *Runtime
	memory  cfi.Memory
	buffer  []byte
	batch   []snapshot.Copy
}

// Tick is the tick of a processor.
type Tick struct {
	Processor uint64 // a p
	Count     uint32
}

// maxTicks bounds the ticks that one call of Read reads.
const maxTicks = 8

// CallReader returns a CallReader, which reads memory that may change meanwhile. It returns nil if the
// version of Go does not have all of Calls.
func (r *Runtime) CallReader(mem cfi.Memory) *CallReader {
	l := r.Layout
	if l.Calls == 0 || l.ActiveCalls == 0 || l.InC == 0 || l.Processor == 0 || l.Tick == 0 || l.ProcessorTick == 0 {
		return nil
	}
	return &CallReader{runtime: r, memory: mem, buffer: make([]byte, l.callsSize()+l.size()+4*maxTicks), batch: make([]snapshot.Copy, 0, 2+maxTicks)}
}

// callsSize returns the number of bytes of an m that a CallReader reads.
func (l *Layout) callsSize() int {
	return int(max(l.Current, l.Calls, l.ActiveCalls, l.InC, l.Processor, l.Tick)) + pointerSize
}

// Read reads first ticks, of which it sets the counts, then the calls of the thread with an m, then the
// goroutine that the thread runs. expected is the address of that goroutine, if it is known. The Processor
// of a tick that cannot be read becomes 0. What is read belongs to one moment only if the thread
// did not run meanwhile.
func (c *CallReader) Read(thread, expected uint64, ticks []Tick) (calls Calls, current Goroutine, err error) {
	ticks = ticks[:min(len(ticks), maxTicks)]
	l, rest := c.runtime.Layout, c.buffer
	c.batch = c.batch[:0]
	add := func(address uint64, size int) {
		c.batch = append(c.batch, snapshot.Copy{Address: address, Bytes: rest[:size:size]})
		rest = rest[size:]
	}
	for _, t := range ticks {
		add(t.Processor+uint64(l.ProcessorTick), 4)
	}
	add(thread, l.callsSize())
	if expected != 0 {
		add(expected, l.size())
	}
	snapshot.ReadBatch(c.memory, c.batch)
	for i := range ticks {
		if b := c.batch[i].Bytes; b == nil {
			ticks[i].Processor = 0
		} else {
			ticks[i].Count = binary.LittleEndian.Uint32(b)
		}
	}
	b := c.batch[len(ticks)].Bytes
	if b == nil {
		return Calls{}, Goroutine{}, errNoThread
	}
	word := func(at uint16) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	calls = Calls{System: word(0), Current: word(l.Current), Count: word(l.Calls), Active: int32(word(l.ActiveCalls)),
		InC: b[l.InC] != 0, Processor: word(l.Processor), Tick: uint32(word(l.Tick))}
	switch {
	case calls.Current == 0:
	case calls.Current == expected && c.batch[len(c.batch)-1].Bytes != nil:
		current, err = l.decode(c.batch[len(c.batch)-1].Bytes, expected)
	default:
		current, err = c.Goroutine(calls.Current)
	}
	return calls, current, err
}

var errNoThread = errors.New("not a readable thread of the runtime")

// Goroutine reads the goroutine at an address.
func (c *CallReader) Goroutine(address uint64) (Goroutine, error) {
	b := c.buffer[:c.runtime.Layout.size()]
	if err := c.memory.ReadMemory(b, address); err != nil {
		return Goroutine{Address: address}, err
	}
	return c.runtime.Layout.decode(b, address)
}
