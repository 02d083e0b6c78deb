// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"math"
	"slices"
)

// queueLimit is the number of bytes that may wait for the end of their round. Beyond it,
// the older half of the records is returned.
const queueLimit = 32 << 20

// entry is a record that waits. It has no pointers, because many entries are moved and
// sorted.
type entry struct {
	time   uint64
	offset int64  // Record.Offset
	chunk  uint32 // index in pool.chunks
	pos    uint32 // in chunk.buf
}

// entrySize is the size of an entry in bytes: twice its own, for sorting, and the start of
// a run.
const entrySize = 2*24 + 8

// queue sorts records by time; see the package comment.
type queue struct {
	entries []entry
	head    int // of the next record to return
	ready   int // entries[head:ready] can be returned
	// newest is the highest time of all records so far. At the end of the round, records up
	// to limit are complete.
	newest, limit uint64

	spare []entry // for sort
	runs  []int   // for sort
}

func (q *queue) push(e entry) {
	q.entries = append(q.entries, e)
	q.newest = max(q.newest, e.time)
}

// finish makes the records ready that the end of a round completes.
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

// sort sorts the records that wait. Records of the same time keep the order of the
// recording. No record may be ready. perf writes a few ascending runs, one for each
// processor, which sort finds and merges.
func (q *queue) sort() {
	n := copy(q.entries, q.entries[q.head:])
	q.entries, q.head, q.ready = q.entries[:n], 0, 0
	runs := q.runs[:0]
	last := uint64(math.MaxUint64)
	for i := range q.entries {
		time := q.entries[i].time
		if time < last {
			runs = append(runs, i)
		}
		last = time
	}
	runs = append(runs, n)
	if len(runs) > 2 && cap(q.spare) < n {
		q.spare = make([]entry, cap(q.entries))
	}
	from, to := q.entries, q.spare[:cap(q.spare)]
	for len(runs) > 2 {
		k := 1
		for i := 0; i+1 < len(runs); i += 2 {
			low, middle, high := runs[i], runs[i+1], runs[min(i+2, len(runs)-1)]
			merge(to[low:high], from[low:middle], from[middle:high])
			runs[k] = high
			k++
		}
		runs = runs[:k]
		from, to = to[:n], from[:cap(from)]
	}
	q.entries, q.spare, q.runs = from, to, runs
}

// merge merges two runs. Records of a precede those of b with the same time.
func merge(to, a, b []entry) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].time < a[0].time {
			to[0], b = b[0], b[1:]
		} else {
			to[0], a = a[0], a[1:]
		}
		to = to[1:]
	}
	copy(to[copy(to, a):], b)
}

// first returns the time of the next record to return.
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
