// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"cmp"
	"math"
	"slices"
)

// queueLimit is how many bytes may wait for their round to be finished, before
// the older half of the records is handed out.
const queueLimit = 32 << 20

// entry is a record that waits for its turn. It holds no pointer: there are many,
// which are moved and sorted.
type entry struct {
	time   uint64
	offset int64  // Record.Offset
	chunk  uint32 // index in pool.chunks
	pos    uint32 // in chunk.buf
	seq    uint32 // tells records of one time apart while they are sorted
}

const entrySize = 32

// queue puts records in the order of time; see the package comment.
type queue struct {
	entries []entry
	head    int // of the next to be handed out
	ready   int // entries[head:ready] can be handed out
	// newest is the highest time of all records so far; what is not newer than
	// limit is complete when the round is finished.
	newest, limit uint64
}

func (q *queue) push(e entry) {
	q.entries = append(q.entries, e)
	q.newest = max(q.newest, e.time)
}

// finish makes ready what a finished round completes.
func (q *queue) finish() {
	q.sort()
	q.ready, _ = slices.BinarySearchFunc(q.entries, q.limit, func(e entry, limit uint64) int {
		if e.time <= limit {
			return -1
		}
		return 1
	})
	q.limit = q.newest
}

// flush makes everything ready.
func (q *queue) flush() {
	q.sort()
	q.ready = len(q.entries)
}

// relieve makes the older half ready.
func (q *queue) relieve() {
	q.sort()
	q.ready = (len(q.entries) + 1) / 2
}

// sort sorts what waits. Nothing is ready when it is called.
func (q *queue) sort() {
	n := copy(q.entries, q.entries[q.head:])
	q.entries, q.head, q.ready = q.entries[:n], 0, 0
	sorted := true
	for i := range q.entries {
		q.entries[i].seq = uint32(i)
		sorted = sorted && (i == 0 || q.entries[i-1].time <= q.entries[i].time)
	}
	if !sorted {
		slices.SortFunc(q.entries, func(a, b entry) int {
			if c := cmp.Compare(a.time, b.time); c != 0 {
				return c
			}
			return cmp.Compare(a.seq, b.seq)
		})
	}
}

// first returns the time of the record that is to be handed out next.
func (q *queue) first() (time uint64, ok bool) {
	if q.head == q.ready {
		return math.MaxUint64, false
	}
	return q.entries[q.head].time, true
}

func (q *queue) pop() entry {
	q.head++
	return q.entries[q.head-1]
}

// waiting returns how many records wait.
func (q *queue) waiting() int { return len(q.entries) - q.head }
