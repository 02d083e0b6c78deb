// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
)

// Goroutines are read in batches, because each system call is expensive.
const (
	batchGoroutines = 256
	batchStacks     = 1 << 20 // bytes; other stacks are read one by one
)

// ahead is a goroutine that was read in a batch.
type ahead struct {
	goruntime.Goroutine
	err  error
	late bool // read after the target continued to run

	stack     []byte // from its stack pointer on, nil if not read yet
	complete  bool   // the whole stack was copied while the target stood still
	unchanged bool   // the goroutine did not run until its stack was read
}

// readAhead reads some goroutines and their stacks, and checks whether they ran meanwhile.
// The result is valid until the next call.
func (r *goroutineReader) readAhead(list []uint64) []ahead {
	s := r.objects.Snapshot()
	memory := snapshotMemory{s}
	r.ahead = r.ahead[:0]
	r.structures.Read(list, func(i int, g goruntime.Goroutine, err error) {
		r.ahead = append(r.ahead, ahead{Goroutine: g, err: err, late: s.Live && !memory.has(list[i])})
	})
	if r.stackBuffer == nil {
		r.stackBuffer = make([]byte, batchStacks)
	}
	unused := r.stackBuffer
	r.batch, r.reads = r.batch[:0], r.reads[:0]
	for i := range r.ahead {
		a := &r.ahead[i]
		if a.err != nil || !exists(&a.Goroutine) || r.threads[a.Address] != nil {
			continue
		}
		c, err := parkedAt(&a.Goroutine)
		n := min(a.StackHigh-c.SP, maxReadStack)
		if err != nil || n == 0 || n > uint64(len(unused)) {
			continue
		}
		stack := unused[:n:n]
		unused = unused[n:]
		copied := 0
		if !a.late { // for a late one, the copy can be of another goroutine's stack
			copied = s.ReadCopies(stack, c.SP)
		}
		if copied == len(stack) {
			a.stack, a.complete = stack, c.SP+n == a.StackHigh
		} else {
			r.batch = append(r.batch, snapshot.Copy{Address: c.SP + uint64(copied), Bytes: stack[copied:]})
			r.reads = append(r.reads, readOf{i, stack})
		}
	}
	if s.Memory == nil {
		return r.ahead
	}
	snapshot.ReadBatch(s.Memory, r.batch)
	for k, read := range r.reads {
		if r.batch[k].Bytes != nil {
			r.ahead[read.of].stack = read.stack
		}
	}
	if s.Live {
		r.checkUnchanged()
	}
	return r.ahead
}

// readOf is a stack that is read in a batch.
type readOf struct {
	of    int // index into goroutineReader.ahead
	stack []byte
}

// checkUnchanged reads goroutines again, to find those that did not run while their stacks
// were read.
func (r *goroutineReader) checkUnchanged() {
	r.rechecked, r.recheckedOf = r.rechecked[:0], r.recheckedOf[:0]
	for i := range r.ahead {
		if a := &r.ahead[i]; a.stack != nil && (a.late || !a.complete) {
			r.rechecked, r.recheckedOf = append(r.rechecked, a.Address), append(r.recheckedOf, i)
		}
	}
	r.structuresNow.Read(r.rechecked, func(k int, now goruntime.Goroutine, err error) {
		a := &r.ahead[r.recheckedOf[k]]
		a.unchanged = err == nil && same(&a.Goroutine, &now)
	})
}

// exists reports whether a goroutine has started and not ended: the runtime reuses its
// structures.
func exists(g *goruntime.Goroutine) bool {
	switch g.State {
	case goruntime.Idle, goruntime.Dead, goruntime.WaitingForCgo:
		return false
	}
	return true
}
