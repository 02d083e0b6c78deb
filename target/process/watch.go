// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/clewdev/clew/internal/sigchld"
	"github.com/clewdev/clew/target"
)

// Watch takes one snapshot of a process after the other. What does not change
// between them is read once: of the mappings only the text is read again. It is not
// safe for concurrent use.
type Watch struct {
	pid     int
	options Options
	memory  *Memory
	tasks   *taskDirectory
	s       *target.Snapshot

	maps   bytes.Buffer // as they were read last
	reader bytes.Buffer
	buffer []byte // that stacks are copied to
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
	return &Watch{pid: pid, options: *opts, memory: s.Memory.(*Memory), tasks: c.tasks, s: s}, nil
}

// Close lets go of the process's files. The snapshots' Memory is closed with it.
func (w *Watch) Close() error {
	w.tasks.close()
	return w.memory.Close()
}

// Target is what every Snapshot returns. Before the first one it has no threads.
func (w *Watch) Target() *target.Snapshot { return w.s }

// Snapshot does what the function Snapshot does, and returns the same
// target.Snapshot each time: its threads and their stacks are overwritten by the next
// call. Moved says that the mappings are others than before; what was made of them
// (target.Objects) has to be told, see target.Objects.Update. The error wraps
// ErrNoProcess once the process has exited or executed another program.
func (w *Watch) Snapshot() (s *target.Snapshot, moved bool, err error) {
	if moved, err = w.remap(); err != nil {
		return nil, false, err
	}
	c := newCapture(w.pid, w.s.Machine, w.tasks)
	c.only, c.vectors, c.patience = w.options.Threads, w.options.Vectors, w.options.Timeout
	if c.patience <= 0 {
		c.patience = defaultTimeout
	}
	c.stacks.limit, c.stacks.mappings = defaultStackLimit, w.s.Mappings
	if w.options.StackLimit > 0 {
		c.stacks.limit = uint64(w.options.StackLimit)
	}
	onTracerThread(func() (clean bool) {
		defer func() { clean = !c.unclean }()
		if _, err = c.attach(); err != nil {
			return
		}
		c.stacks.reuse(len(c.tracees), w.buffer)
		defer sigchld.Quiet()()
		defer hurry(&c.unclean)()
		c.stop()
		c.copy()
		c.detach()
		w.s.Pause = time.Since(c.started)
		return
	})
	w.buffer = c.stacks.buffer
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
		w.maps.Reset()
		moved = true
	}
	return w.s, moved, nil
}

// remap reads the mappings, and reports whether they have changed.
func (w *Watch) remap() (moved bool, err error) {
	// The open file belongs to the program that ran when it was opened, and reads
	// nothing once that is gone.
	var b [1]byte
	if len(w.s.Mappings) > 0 {
		if _, err := w.memory.mem.ReadAt(b[:], int64(w.s.Mappings[0].Start)); err == io.EOF {
			if s := threadState(w.pid, w.pid); s == 0 || s == 'Z' || s == 'X' {
				return false, exited(w.pid)
			}
			return false, &Error{PID: w.pid, Kind: ErrNoProcess, Reason: "it has executed another program"}
		}
	}
	f, err := os.Open("/proc/" + strconv.Itoa(addressSpace(w.pid)) + "/maps")
	if err != nil {
		return false, noProcess(w.pid, err)
	}
	defer f.Close()
	w.reader.Reset()
	if _, err := w.reader.ReadFrom(f); err != nil {
		return false, noProcess(w.pid, err)
	}
	if bytes.Equal(w.reader.Bytes(), w.maps.Bytes()) {
		return false, nil
	}
	mappings, err := parseMappings(w.reader.Bytes())
	if err != nil {
		return false, fmt.Errorf("process %d: mappings: %w", w.pid, err)
	}
	if len(mappings) == 0 {
		return false, exited(w.pid)
	}
	w.maps, w.reader = w.reader, w.maps
	w.s.Mappings = mappings
	return true, nil
}

// reuse is prepare with a buffer of before, which has no pages to be touched.
func (s *stackCopier) reuse(n int, buffer []byte) {
	if len(buffer) == 0 {
		s.prepare(n)
		return
	}
	s.prepareLists(n)
	s.buffer = buffer
}
