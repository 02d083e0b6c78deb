// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// deep samples threads whose stacks are longer than the copies that the event makes of all stacks. Each gets
// an event of its own, with larger copies, while it needs it. The first event still samples the thread, since
// that part of it which the thread has inherited cannot be closed. These samples are dropped.
type deep struct {
	event   event  // with the larger copies
	base    uint64 // size of the copies of the first event, bytes
	limit   int    // on open files
	files   int
	threads map[uint32]*deepThread // by TID
	owned   map[uint64]struct{}    // IDs of events of these threads
}

// deepThread is a thread with an event of its own, on each processor. That event counts from since to until,
// and the first one before and after that.
type deepThread struct {
	pid          uint32
	fds          []int
	ids          []uint64
	since, until uint64    // as now()
	needed       time.Time // when the stack was last longer than the copies of the first event
	missed       int       // dropped samples since the last sample of the thread's own event
	rounds       int       // of looks at the buffers since until
}

const (
	// deepFor is how long a thread keeps its event without need.
	deepFor = 2 * time.Second
	// maxDeep bounds the threads with an event of their own.
	maxDeep = 512
	// maxMissed is how many samples of the first event show that the other one has ended.
	maxMissed = 64
)

// newDeep returns nil if copies do not get larger: they have the largest size, or one that was asked for.
func newDeep(s *sampler, offCPU bool) *deep {
	e := *s.event
	buffer := math.MaxInt
	for _, r := range s.rings {
		if r != nil {
			buffer = min(buffer, len(r.data))
		}
	}
	base := uint64(e.attr.Sample_stack_user)
	size := deepSize(buffer, e.rate())
	if !e.sized || offCPU || size <= base {
		return nil
	}
	e.attr.Sample_stack_user = uint32(size)
	// The first event has these records. Without inheritance, threads that start later do not need to be found.
	e.attr.Bits &^= unix.PerfBitInherit | unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitMmapData | unix.PerfBitComm |
		unix.PerfBitCommExec | unix.PerfBitTask | bitNamespaces | bitKsymbol
	d := &deep{event: e, base: base, threads: make(map[uint32]*deepThread), owned: make(map[uint64]struct{})}
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		d.limit = int(min(files.Cur/4, 1<<16))
	}
	return d
}

// deepSize returns the size of the larger copies in bytes, of which a buffer holds those of an eighth of a
// second. The first event has a quarter of it, see adaptTo: usually few threads have deep stacks.
func deepSize(buffer int, rate uint64) uint64 {
	return min(8*uint64(buffer)/max(rate, 1), MaxStackSize) &^ 7
}

// counts reports whether a sample counts: a thread with an event of its own is sampled twice.
func (d *deep) counts(record []byte) bool {
	if d == nil || len(d.owned) == 0 || len(record) < 40 {
		return true
	}
	// header, IDENTIFIER, IP, PID, TID, TIME
	t := d.threads[order.Uint32(record[28:])]
	_, own := d.owned[order.Uint64(record[8:])]
	if t == nil {
		return !own
	}
	time := order.Uint64(record[32:])
	if inside := time >= t.since && time <= t.until; own {
		t.missed = 0
		return inside && order.Uint32(record[24:]) == t.pid // the TID can be that of a new thread
	} else if inside {
		t.missed++
		return false
	}
	return true
}

// update opens and closes events for threads with walked stacks.
func (d *deep) update(s *sampler, stacks map[uint32]walked) {
	if d == nil {
		return
	}
	at := time.Now()
	for tid, stack := range stacks {
		if stack.most <= d.base {
			continue
		}
		if t := d.threads[tid]; t != nil {
			t.needed = at
		} else if len(d.threads) < maxDeep {
			t = &deepThread{pid: stack.pid, since: math.MaxUint64, until: math.MaxUint64, needed: at}
			d.threads[tid] = t
			d.open(s, t, int(tid))
		}
	}
	for tid, t := range d.threads {
		switch {
		case t.until != math.MaxUint64:
			if t.rounds++; t.rounds > 2 { // samples that were written before until have been read
				for _, id := range t.ids {
					delete(d.owned, id)
				}
				delete(d.threads, tid)
			}
		case at.Sub(t.needed) > deepFor || t.missed > maxMissed:
			t.until = now()
			d.closeThread(t)
		}
	}
}

// open opens the event of a thread on each processor. If that fails, the first event remains.
func (d *deep) open(s *sampler, t *deepThread, tid int) {
	if d.files+len(s.cpus) > d.limit {
		return
	}
	for i, cpu := range s.cpus {
		if s.rings[i] == nil {
			continue
		}
		fd, err := d.event.open(tid, cpu, 0)
		if err == unix.ENODEV { // the processor is offline
			continue
		}
		if err != nil {
			d.closeThread(t)
			return
		}
		t.fds = append(t.fds, fd)
		d.files++
		id, err := idOf(fd)
		if err == nil {
			err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, s.rings[i].fd)
		}
		if err == nil {
			t.ids = append(t.ids, id)
			d.owned[id] = struct{}{}
			err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0)
		}
		if err != nil {
			d.closeThread(t)
			return
		}
	}
	t.since = now()
}

// exit closes the event of a thread that has ended.
func (d *deep) exit(tid uint32) {
	if d == nil {
		return
	}
	if t := d.threads[tid]; t != nil && t.until == math.MaxUint64 {
		t.until = now()
		d.closeThread(t)
	}
}

func (d *deep) closeThread(t *deepThread) {
	for _, fd := range t.fds {
		unix.Close(fd)
	}
	d.files -= len(t.fds)
	t.fds = nil
}

func (d *deep) close() {
	if d == nil {
		return
	}
	for _, t := range d.threads {
		d.closeThread(t)
	}
}
