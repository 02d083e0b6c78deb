// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/clewdev/clew/internal/sigchld"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
)

// Watch takes a series of snapshots of a process. It reads data that does not change only once,
// except the text of the mappings. It is not safe for concurrent use.
//
// It stops one thread at a time, until its registers and stack are copied, while the others
// run. The pause of a thread is therefore short even with many threads, which is important for
// a profile. The stacks of different threads are from different times.
type Watch struct {
	pid      int
	options  Options
	memory   *Memory
	tasks    *taskDirectory
	s        *snapshot.Snapshot
	runtimes []*goruntime.ThreadCopier
	programs []snapshot.Mapping // those in which runtimes were searched
	ids      map[int]uint64     // of threads in their own PID namespace

	maps   uint64 // a hash of the mappings' text at the last reading
	seed   maphash.Seed
	text   [4 << 10]byte // buffer for that text; the kernel gives a page at a time
	buffer []byte        // receives stacks
	pauses Pauses

	included map[int]*included // by thread; nil if there are none
	taken    int               // snapshots

	tracees []tracee // buffer
	tids    []int
}

// Pauses is how long threads stood still: each from when this process last saw it run until
// it continued.
type Pauses struct {
	Threads int // that were stopped
	Total   time.Duration
	Longest time.Duration // of one thread
}

// NewWatch returns a Watch of a process, which it does not stop yet. The options are those of
// Snapshot. The caller must close the Watch.
func NewWatch(pid int, opts *Options) (*Watch, error) {
	if opts == nil {
		opts = new(Options)
	}
	if err := check(pid); err != nil {
		return nil, err
	}
	c, s, err := prepare(pid, opts)
	if err != nil {
		return nil, err
	}
	return &Watch{pid: pid, seed: maphash.MakeSeed(), options: *opts, memory: s.Memory.(*Memory), tasks: c.tasks, s: s}, nil
}

// Close closes the Watch and the snapshots' Memory.
func (w *Watch) Close() error {
	w.tasks.close()
	return w.memory.Close()
}

// Select replaces Options.Threads: the next snapshots have these threads, which must be at least one.
func (w *Watch) Select(tids []int) { w.options.Threads = tids }

// Target returns the snapshot that every call of Snapshot returns. Before the first call it has
// no threads.
func (w *Watch) Target() *snapshot.Snapshot { return w.s }

// Pauses returns how long the threads stood still for the last snapshot.
func (w *Watch) Pauses() Pauses { return w.pauses }

// Snapshot is like the function Snapshot, but stops one thread at a time. It returns the same
// snapshot.Snapshot each time, and overwrites its threads and their stacks. Its Pause is the
// longest pause of a thread. Threads that start during the call are not part of it. Moved reports
// that the mappings have changed since the previous call: the caller then calls
// stack.Objects.Update. The error wraps ErrNoProcess after the process has exited or executed
// another program.
func (w *Watch) Snapshot() (s *snapshot.Snapshot, moved bool, err error) {
	if moved, err = w.remap(); err != nil {
		return nil, false, err
	}
	w.findRuntimes(moved)
	c := newCapture(w.pid, w.s.Machine, w.tasks, &w.options)
	c.stacks.mappings, c.tracees, c.tids = w.s.Mappings, w.tracees[:0], w.tids
	onTracerThread(func() (clean bool) {
		defer func() { clean = !c.unclean }()
		if _, err = c.list(); err != nil {
			return
		}
		w.begin(c)
		defer sigchld.Quiet()()
		defer hurry(&c.unclean)()
		c.stopEach()
		return
	})
	c.explainRefused(c.tracees)
	w.note(c)
	c.awaitRelease()
	if err != nil {
		return nil, false, noProcess(w.pid, err)
	}
	if err := c.failure(); err != nil {
		return nil, false, err
	}
	before := len(w.s.Mappings)
	c.finish(w.s)
	if len(w.s.Mappings) != before { // a mapping was added just before the stop
		w.maps = 0
		moved = true
	}
	return w.s, moved, nil
}

// begin prepares the buffers of a capture before it attaches to the first thread.
func (w *Watch) begin(c *capture) {
	if len(w.buffer) == 0 {
		c.stacks.prepare(len(c.tracees))
		w.buffer = c.stacks.buffer
	}
	c.prepareEach()
	c.stacks.free = w.buffer
	if w.taken++; w.taken%includedFor == 0 {
		w.included = nil
	}
	c.included = w.included
	c.runtimes, c.ids = w.runtimes, w.inner(c)
	if len(w.runtimes) == 0 {
		return
	}
	ids := make([]uint64, len(c.tracees))
	for i := range c.tracees {
		ids[i] = c.inner(c.tracees[i].tid)
	}
	for _, r := range w.runtimes {
		r.Begin(ids)
	}
}

// inner returns the IDs of threads in their own PID namespace, nil if they are the same in that
// of this process.
func (w *Watch) inner(c *capture) map[int]uint64 {
	if len(w.runtimes) == 0 || w.s.Process == nil || w.s.Process.IDs[0] == w.pid {
		return nil
	}
	known := w.ids
	w.ids = make(map[int]uint64, len(c.tracees))
	for i := range c.tracees {
		tid := c.tracees[i].tid
		id := known[tid]
		if id == 0 {
			if p, err := snapshot.RunningProcess(tid); err == nil {
				id = uint64(p.IDs[0])
			}
		}
		w.ids[tid] = id
	}
	return w.ids
}

// note takes the pauses of the threads from a capture, and the data that the next capture can
// use.
func (w *Watch) note(c *capture) {
	w.pauses = Pauses{}
	for i := range c.tracees {
		t := &c.tracees[i]
		slices.SortFunc(t.copies, func(a, b snapshot.Copy) int { return cmp.Compare(a.Address, b.Address) })
		if stood := t.stood; stood > 0 {
			w.pauses.Threads++
			w.pauses.Total += stood
			w.pauses.Longest = max(w.pauses.Longest, stood)
		}
	}
	w.s.Pause = w.pauses.Longest
	w.tracees, w.tids = c.tracees, c.tids
	if taken := c.stacks.taken; taken > len(w.buffer) {
		c.stacks.touch(taken + taken/4)
		w.buffer = c.stacks.buffer
	}
}

// findRuntimes finds the Go runtimes again if other files are mapped.
func (w *Watch) findRuntimes(moved bool) {
	if !moved && w.programs != nil {
		return
	}
	programs := make([]snapshot.Mapping, 0, len(w.programs))
	for _, m := range w.s.Mappings {
		if m.Executable && m.Path != "" {
			programs = append(programs, m)
		}
	}
	if !slices.EqualFunc(programs, w.programs, func(a, b snapshot.Mapping) bool { return a.Start == b.Start && a.End == b.End && a.Path == b.Path }) {
		objects := stack.NewObjects(w.s)
		defer objects.Close()
		w.runtimes = golang.ThreadCopiers(objects)
	}
	w.programs = programs
}

// gone returns the reason why the watched program has no memory any more. A process that
// exits has no mappings, even before it is a zombie; a new program has some from its start.
func (w *Watch) gone() error {
	f, err := openMaps(w.pid)
	if err == nil {
		defer f.Close()
		_, err = f.Read(make([]byte, 1))
	}
	if s := threadState(w.pid, w.pid); err != nil || s == 0 || s == 'Z' || s == 'X' {
		return exited(w.pid)
	}
	return &Error{PID: w.pid, Kind: ErrNoProcess, Reason: "it has executed another program"}
}

// remap reads the mappings, and reports whether they have changed.
func (w *Watch) remap() (moved bool, err error) {
	// The open file belongs to the program that ran when it was opened. After its end,
	// reads return io.EOF.
	var b [1]byte
	if len(w.s.Mappings) > 0 {
		if _, err := w.memory.mem.ReadAt(b[:], int64(w.s.Mappings[0].Start)); err == io.EOF {
			return false, w.gone()
		}
	}
	f, err := openMaps(w.pid)
	if err != nil {
		return false, noProcess(w.pid, err)
	}
	defer f.Close()
	var now maphash.Hash
	now.SetSeed(w.seed)
	for err == nil {
		var n int
		n, err = f.Read(w.text[:])
		now.Write(w.text[:n])
	}
	if err != io.EOF {
		return false, noProcess(w.pid, err)
	}
	if now.Sum64() == w.maps {
		return false, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, noProcess(w.pid, err)
	}
	now.Reset()
	mappings, err := snapshot.ParseMappings(io.TeeReader(f, &now))
	if err != nil {
		return false, fmt.Errorf("process %d: mappings: %w", w.pid, err)
	}
	if len(mappings) == 0 {
		return false, exited(w.pid)
	}
	w.maps = now.Sum64()
	w.s.Mappings = mappings
	return true, nil
}
