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

// Watch takes a series of snapshots of a process. It reads unchanged data once;
// of the mappings it reads only the text again. It is not safe for concurrent use.
//
// It stops one thread at a time: a thread stands still until its own registers and
// stack are copied, and the others run. The pause of a thread is thus short even
// with many threads, as a profile needs it. The stacks of different threads are
// from different times.
type Watch struct {
	pid      int
	options  Options
	memory   *Memory
	tasks    *taskDirectory
	s        *snapshot.Snapshot
	runtimes []*goruntime.ThreadCopier
	programs []snapshot.Mapping // that runtimes were looked for in
	ids      map[int]uint64     // of threads in their own PID namespace

	maps   uint64 // a hash of the mappings' text as it was read last
	seed   maphash.Seed
	text   [4 << 10]byte // for reading it; the kernel gives a page at a time
	buffer []byte        // that stacks are copied to
	pauses Pauses

	tracees []tracee // buffer
	tids    []int
}

// Pauses is for how long threads stood still, each as seen from this process: from when
// it was last seen not to until it went on.
type Pauses struct {
	Threads int // that did
	Total   time.Duration
	Longest time.Duration // of a thread
}

// NewWatch begins to watch a process, which it does not stop yet. The options are
// those of Snapshot. The Watch must be closed.
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

// Close lets go of the process's files. The snapshots' Memory is closed with it.
func (w *Watch) Close() error {
	w.tasks.close()
	return w.memory.Close()
}

// Target is what every Snapshot returns. Before the first one it has no threads.
func (w *Watch) Target() *snapshot.Snapshot { return w.s }

// Pauses returns for how long the threads stood still for the last snapshot.
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
	c := newCapture(w.pid, w.s.Machine, w.tasks)
	c.only, c.vectors, c.patience = w.options.Threads, w.options.Vectors, w.options.Timeout
	if c.patience <= 0 {
		c.patience = defaultTimeout
	}
	c.stacks.limit, c.stacks.mappings = defaultStackLimit, w.s.Mappings
	if w.options.StackLimit > 0 {
		c.stacks.limit = uint64(w.options.StackLimit)
	}
	c.tracees, c.tids = w.tracees[:0], w.tids
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
	if len(w.s.Mappings) != before { // something was mapped just before the stop
		w.maps = 0
		moved = true
	}
	return w.s, moved, nil
}

// begin prepares what a capture's threads are copied to, before the first of them is
// attached to.
func (w *Watch) begin(c *capture) {
	if len(w.buffer) == 0 {
		c.stacks.prepare(len(c.tracees))
		w.buffer = c.stacks.buffer
	}
	c.prepareEach()
	c.stacks.free = w.buffer
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

// inner returns the IDs that threads have in their own PID namespace, nil where they are
// those that this process knows them by.
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

// findRuntimes finds the Go runtimes again where other files are mapped.
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

// gone says what became of the program that was watched, once its memory is none any
// more. A process that exits has no mappings then, also while the kernel still frees its
// memory and it is neither dead nor a zombie; another program has some from its start.
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
	// The open file belongs to the program that ran when it was opened, and reads
	// nothing once that is gone.
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
