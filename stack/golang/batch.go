// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
)

// What is read at once, as each call of the kernel takes a while.
const (
	batchGoroutines = 256
	batchStacks     = 1 << 20 // bytes; what does not fit is read by itself
)

// ahead is what was read of a goroutine together with those of others.
type ahead struct {
	goruntime.Goroutine
	err  error
	late bool // it was read after the target had run on

	stack    []byte // from its stack pointer on, nil where that is not read yet
	complete bool   // all of it was copied while the target stood still
	still    bool   // it was as it is once its stack was read
}

// readAhead reads some goroutines and their stacks, and looks whether they have run
// meanwhile. The result is valid until the next call.
func (r *goroutineReader) readAhead(list []uint64) []ahead {
	s := r.objects.Snapshot()
	memory := snapshotMemory{s}
	r.ahead = r.ahead[:0]
	r.structures.Read(list, func(i int, g goruntime.Goroutine, err error) {
		r.ahead = append(r.ahead, ahead{Goroutine: g, err: err, late: s.Live && !memory.has(list[i])})
	})
	if r.room == nil {
		r.room = make([]byte, batchStacks)
	}
	room := r.room
	r.batch, r.reads = r.batch[:0], r.reads[:0]
	for i := range r.ahead {
		a := &r.ahead[i]
		if a.err != nil || !exists(&a.Goroutine) || r.threads[a.Address] != nil {
			continue
		}
		c, err := parkedAt(&a.Goroutine)
		n := min(a.StackHigh-c.SP, maxReadStack)
		if err != nil || n == 0 || n > uint64(len(room)) {
			continue
		}
		stack := room[:n:n]
		room = room[n:]
		copied := 0
		if !a.late { // or what was copied there can have been another's stack
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
		r.lookAgain()
	}
	return r.ahead
}

// readOf is a stack that is read in a batch.
type readOf struct {
	of    int // in goroutineReader.ahead
	stack []byte
}

// lookAgain finds which of the goroutines that were read ahead are as they were,
// now that their stacks are read.
func (r *goroutineReader) lookAgain() {
	r.again, r.of = r.again[:0], r.of[:0]
	for i := range r.ahead {
		if a := &r.ahead[i]; a.stack != nil && (a.late || !a.complete) {
			r.again, r.of = append(r.again, a.Address), append(r.of, i)
		}
	}
	r.structuresNow.Read(r.again, func(k int, now goruntime.Goroutine, err error) {
		a := &r.ahead[r.of[k]]
		a.still = err == nil && same(&a.Goroutine, &now)
	})
}

// exists reports whether a goroutine is one, and no place for one to come.
func exists(g *goruntime.Goroutine) bool {
	switch g.State {
	case goruntime.Idle, goruntime.Dead, goruntime.WaitingForCgo:
		return false
	}
	return true
}
