// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"math"
	"sync"
)

// walks collects which parts of stacks the reader of the samples needs, for the goroutine that copies
// them.
type walks struct {
	mu      sync.Mutex
	threads map[uint32]walked // by TID, since take was called last
}

// walked is what the walks of a thread have needed.
type walked struct {
	pid  uint32
	most uint64 // of a stack, bytes
	end  uint64 // the end of what the last walk needed, an address
	same int    // successive whole walks with this end
}

// maxWalked bounds walks.threads, and the threads whose copies are limited.
const maxWalked = 1 << 12

func newWalks() walks { return walks{threads: make(map[uint32]walked)} }

func (w *walks) add(pid, tid uint32, sp, end uint64, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, known := w.threads[tid]
	if !known && len(w.threads) >= maxWalked {
		return
	}
	if t.pid = pid; end >= sp {
		t.most = max(t.most, end-sp)
	}
	switch {
	case !whole:
		t.same, t.end = 0, 0
	case known && t.end != end:
		t.same, t.end = 0, end // of two ends, both do not count
	default:
		t.same, t.end = t.same+1, end
	}
	w.threads[tid] = t
}

// take exchanges what was collected for an empty map.
func (w *walks) take(empty map[uint32]walked) map[uint32]walked {
	clear(empty)
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.threads
	w.threads = empty
	return taken
}

// limits are the addresses up to which the stacks of threads are copied to the reader. A thread has one if its
// outermost frame has been the same for a while, as it is unless the thread changes its stack like Go's do.
type limits map[uint32]*limit // by TID

type limit struct {
	end      uint64
	same     int // successive walks with this end
	required int // before end counts
}

const (
	minSame = 8
	// beyondEnd is how many bytes after the stack pointer of the outermost frame are copied: walking reads no
	// more to find out that it is the outermost.
	beyondEnd = 512
)

// update follows the walks of some threads.
func (l limits) update(threads map[uint32]walked) {
	for tid, w := range threads {
		t := l[tid]
		if t == nil {
			l.makeSpace()
			t = &limit{required: minSame}
			l[tid] = t
		}
		if w.end == 0 || w.end != t.end && t.end != 0 {
			// Each mistake doubles the time without a limit.
			t.same, t.required = 0, min(2*t.required, 1<<20)
		}
		if t.end = w.end; w.end != 0 {
			t.same += w.same
		}
	}
}

// makeSpace removes the limit of any thread if there are too many. Usually that thread has ended: its last
// walks come later than its end.
func (l limits) makeSpace() {
	if len(l) < maxWalked {
		return
	}
	for tid := range l {
		delete(l, tid)
		return
	}
}

// of returns the limit of a thread, or the highest address.
func (l limits) of(tid uint32) uint64 {
	if t := l[tid]; t != nil && t.same >= t.required {
		return t.end + beyondEnd
	}
	return math.MaxUint64
}
