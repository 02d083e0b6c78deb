// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/sigchld"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
)

// Options changes what Snapshot does. The zero value is valid.
type Options struct {
	// Threads are the IDs of the only threads to stop; nil for all.
	Threads []int

	// StackLimit is the maximum number of bytes copied of a thread's stack; 0 means 1 MiB. All
	// copies together have at most 64 MiB, or 16 KiB for each thread if that is more. Copies of
	// stacks that share a mapping with other data, as Go's do, have at most 2 MiB, or 64 KiB
	// for each thread. The total is at most 128 MiB. A thread with a stack that exceeds these
	// limits has an Err.
	StackLimit int

	// Goroutines asks for copies of goroutines that no thread runs, as many as a pause of a
	// millisecond allows. The runtime's data of goroutines that threads run is always copied.
	Goroutines bool

	// Search returns where to search for the process's files and debug files, given the
	// directory that their absolute paths are relative to (debugfile.Search.Root). Nil
	// stands for that directory alone. It is called before any thread is attached to.
	Search func(root string) debugfile.Search

	// Vectors also copies the threads' floating-point and vector registers, which can
	// contain variables.
	Vectors bool

	// Hold, if not nil, is called with the snapshot while the threads stand still. The threads
	// are released when it returns, so the memory that it reads matches the registers, and
	// the snapshot's Live is false. It is called on the goroutine of Snapshot, and not at all
	// if Snapshot fails. Goroutines that it starts must end before it returns. The snapshot's
	// Pause is set afterwards.
	Hold func(*snapshot.Snapshot)

	// Timeout is how long to wait for a thread in an uninterruptible wait in the kernel; 0
	// means 100 ms. The wait for a thread that only needs a processor is 20 times as long.
	// After that, the thread has an Err. The other threads stand still during the wait.
	Timeout time.Duration

	more []snapshot.Copy // to fill, by address; they do not overlap
}

const defaultTimeout = 100 * time.Millisecond

// Snapshot stops all threads of a process for a moment, together, and returns
// their registers, the copies of their stacks and the mappings. When it
// returns, the process runs as before. Threads that start meanwhile are part of
// the snapshot, those that end are not.
//
// The result's Memory is a *Memory, and reads the current memory of the process. Errors
// that concern one thread are in its Err; those that concern the process are
// an *Error and wrap one of the Err variables. Several goroutines may call Snapshot, but a
// process can have only one tracer at a time. Do not wait for a child of this program
// (os.Process.Wait) while its snapshot is taken: the wait would receive the stop.
func Snapshot(pid int, opts *Options) (*snapshot.Snapshot, error) {
	s, _, err := takeSnapshot(pid, opts, nil)
	return s, err
}

// Stacks takes a snapshot as Snapshot does, and walks the stacks of its threads. On more
// than one processor it walks them while threads are still being released.
//
// If a walk left the copies of its stack, as where a function has changed stacks, Stacks takes
// a second snapshot, which also contains the memory that the walk had to read. Its Pause is
// that of both.
func Stacks(pid int, opts *Options, walk stack.WalkOptions) (*stack.Walked, error) {
	pages, given := []uint64(nil), walk.LatePages
	walk.LatePages = func(list []uint64) { pages = append(pages, list...) }
	w, err := takeStacks(pid, opts, walk)
	if walk.LatePages = given; err != nil || len(pages) == 0 {
		return w, err
	}
	if given != nil {
		given(pages)
	}
	return again(w, opts, walk, pages), nil
}

func takeStacks(pid int, opts *Options, walk stack.WalkOptions) (*stack.Walked, error) {
	e := &early{options: walk}
	s, _, err := takeSnapshot(pid, opts, e)
	if err != nil {
		return nil, err
	}
	w := &stack.Walked{Snapshot: s, Objects: e.objects, Stacks: e.stacks}
	if w.Objects == nil {
		w.Objects = stack.NewObjects(s)
		w.Objects.Analyzer = walk.Analyzer
	}
	if w.Stacks == nil {
		w.Stacks = w.Objects.Walk(walk)
	}
	return w, nil
}

// early is the data that is read for Stacks before the snapshot is complete.
type early struct {
	options stack.WalkOptions
	objects *stack.Objects
	stacks  []stack.Stack
}

// drop closes the objects if they do not match the snapshot or are not needed.
func (e *early) drop() {
	if e != nil && e.objects != nil {
		e.objects.Close()
		e.objects, e.stacks = nil, nil
	}
}

func takeSnapshot(pid int, opts *Options, early *early) (*snapshot.Snapshot, phases, error) {
	if opts == nil {
		opts = new(Options)
	}
	if err := check(pid); err != nil {
		return nil, phases{}, err
	}
	c, err := begin(pid, opts)
	if err != nil {
		return nil, phases{}, err
	}
	defer c.tasks.close()
	described, copied, held := make(chan bool, 1), make(chan bool, 2), make(chan bool, 1)
	released := startTracerThread(func() (clean bool) {
		if err = c.holdTogether(described, copied, held); err == nil && c.names == nil {
			c.readNames()
		}
		copied <- false // received if holdTogether failed
		return !c.unclean
	})
	// The tracer thread ends first, even after a panic of this goroutine.
	defer func() { <-released }()
	defer close(held)
	defer close(described)

	s, failed := c.describe(opts)
	if failed != nil {
		return nil, phases{}, failed
	}
	objects := stack.NewObjects(s)
	c.goroutines = golang.Copiers(objects, opts.Goroutines)
	if c.early = early; early != nil {
		early.objects, objects.Analyzer = objects, early.options.Analyzer
	} else {
		objects.Close()
	}
	if opts.Hold == nil {
		held <- true
	}
	described <- true
	// Wait until everything is copied, because the threads need a processor to stop.
	walk := early != nil && runtime.GOMAXPROCS(0) > 1
	if (walk || opts.Hold != nil) && <-copied {
		c.fillSnapshot(s)
		if walk {
			early.stacks = objects.Walk(early.options)
		}
		if opts.Hold != nil {
			c.hold(s, opts.Hold)
			held <- true
		}
	}
	<-released
	c.awaitRelease()
	if err == nil {
		err = c.failure()
	} else {
		err = noProcess(pid, err)
	}
	if err != nil {
		early.drop()
		return nil, phases{}, err
	}
	s.Pause, s.Clock = c.pause, c.clock
	if opts.Hold == nil {
		c.finish(s)
	}
	return s, c.phases, nil
}

// hold calls a function with the snapshot, if that has a thread.
func (c *capture) hold(s *snapshot.Snapshot, f func(*snapshot.Snapshot)) {
	if c.failure() != nil {
		return
	}
	c.finish(s)
	s.Live = false
	defer func() { s.Live = true }()
	f(s)
}

// errNotDescribed ends the tracer thread after an error of describe.
var errNotDescribed = errors.New("not described")

// holdTogether stops the threads of a process together, copies their registers and stacks, and
// sends to copied. It releases the threads after it receives from held. It attaches to threads
// only after it receives from described, because an attached thread stops for any signal.
func (c *capture) holdTogether(described <-chan bool, copied chan<- bool, held <-chan bool) error {
	if _, err := c.list(); err != nil {
		return err
	}
	c.stacks.prepare(len(c.tracees))
	if !<-described {
		return errNotDescribed
	}
	c.seizeAll(c.tracees)
	defer sigchld.Quiet()()
	defer hurry(&c.unclean)()
	c.stop()
	c.copyRuntimes()
	c.copy()
	c.copyMore()
	c.copyGoroutines()
	copied <- true
	<-held
	c.detach()
	c.pause, c.clock = time.Since(c.started), monotonic(c.pid)
	return nil
}

// prepare returns a capture of a process, and a snapshot with the data that is read while the
// process runs.
func prepare(pid int, opts *Options) (*capture, *snapshot.Snapshot, error) {
	c, err := begin(pid, opts)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.describe(opts)
	if err != nil {
		c.tasks.close()
		return nil, nil, err
	}
	return c, s, nil
}

// begin returns a capture of a process.
func begin(pid int, opts *Options) (*capture, error) {
	m, err := machine(pid)
	if err != nil {
		return nil, err
	}
	tasks, err := openTasks(pid)
	if err != nil {
		return nil, noProcess(pid, err)
	}
	return newCapture(pid, m, tasks, opts), nil
}

// describe returns a snapshot without threads.
func (c *capture) describe(opts *Options) (*snapshot.Snapshot, error) {
	memory, err := OpenMemory(c.pid)
	if err != nil {
		return nil, err
	}
	mappings, err := Mappings(c.pid)
	if err != nil {
		return nil, err
	}
	c.stacks.mappings = mappings
	search := debugfile.Search{Root: root(c.pid)}
	s := &snapshot.Snapshot{PID: c.pid, Machine: c.machine, Mappings: mappings, Memory: memory, Live: true, Search: search, Process: owner(c.pid),
		Open: func(m *snapshot.Mapping) (*os.File, error) { return openMapping(c.pid, m, &search) }}
	if opts.Search != nil {
		s.Search = opts.Search(search.Root)
	}
	return s, nil
}

// failure returns an error if no thread was captured.
func (c *capture) failure() error {
	var first error
	for i := range c.tracees {
		switch t := &c.tracees[i]; t.state {
		case stopped, stuck:
			return nil
		case refused:
			if first == nil {
				first = t.err
			}
		}
	}
	if first != nil {
		return first
	}
	if c.only != nil {
		return &Error{PID: c.pid, Kind: ErrNoThread, Reason: strings.Trim(fmt.Sprint(c.only), "[]")}
	}
	return exited(c.pid)
}

// fillSnapshot fills the snapshot with the captured data, except for the threads' names.
func (c *capture) fillSnapshot(s *snapshot.Snapshot) {
	c.filled = true
	s.Threads, s.Copies = c.threads(), c.copies
	slices.SortFunc(s.Copies, func(a, b snapshot.Copy) int { return cmp.Compare(a.Address, b.Address) })
}

// finish completes the snapshot after the copies.
func (c *capture) finish(s *snapshot.Snapshot) {
	if !c.filled {
		c.fillSnapshot(s)
	}
	c.setNames(s)
	if !c.mapped() {
		// A mapping was added between the listing and the stop. Merge it from a second
		// listing.
		c.early.drop()
		if later, err := Mappings(c.pid); err == nil {
			s.Mappings = merge(later, s.Mappings)
		}
	}
}

// mapped reports whether every stopped thread's program counter and stack
// pointer lie in known mappings.
func (c *capture) mapped() bool {
	for i := range c.tracees {
		t := &c.tracees[i]
		if t.state != stopped || t.err != nil || c.machine.StackPointer < 0 {
			continue
		}
		sp, _ := t.registers.Get(uint64(c.machine.StackPointer))
		for _, addr := range []uint64{t.registers.PC, sp} {
			if snapshot.FindMapping(c.stacks.mappings, addr) == nil {
				return false
			}
		}
	}
	return true
}

// merge adds to a the mappings of b that overlap none of a.
func merge(a, b []snapshot.Mapping) []snapshot.Mapping {
	merged := slices.Clone(a)
	for _, m := range b {
		i, _ := slices.BinarySearchFunc(a, m.Start, func(x snapshot.Mapping, start uint64) int {
			if x.End <= start {
				return -1
			}
			return 1
		})
		if i == len(a) || a[i].Start >= m.End {
			merged = append(merged, m)
		}
	}
	slices.SortFunc(merged, func(x, y snapshot.Mapping) int { return cmp.Compare(x.Start, y.Start) })
	return merged
}

// machine returns the machine that the process's program was built for.
func machine(pid int) (*arch.Machine, error) {
	name := "/proc/" + strconv.Itoa(addressSpace(pid)) + "/exe"
	f, err := untrusted.OpenNamed(name)
	if err != nil {
		return nil, explainOpen(pid, err)
	}
	defer f.Close()
	var header [20]byte // up to e_machine
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return nil, fmt.Errorf("%s: ELF header: %w", name, err)
	}
	if string(header[:4]) != elf.ELFMAG {
		return nil, fmt.Errorf("%s: ELF header: % x: %w", name, header[:4], errNotELF)
	}
	data := elf.Data(header[elf.EI_DATA])
	var order binary.ByteOrder = binary.LittleEndian
	if data == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	return arch.Lookup(elf.Machine(order.Uint16(header[18:])), elf.Class(header[elf.EI_CLASS]), data), nil
}

var errNotELF = errors.New("no ELF magic number")

// addressSpace returns the ID of a thread of process pid that still has an address space under
// /proc. The first thread has none if it ended before the others.
func addressSpace(pid int) int {
	if s := threadState(pid, pid); s != 'Z' && s != 'X' {
		return pid
	}
	return cmp.Or(liveThread(pid), pid)
}

// liveThread returns a thread of a process that has not ended, 0 if there is none.
func liveThread(pid int) int {
	tids, _ := listThreads(pid, nil)
	for _, tid := range tids {
		if s := threadState(pid, tid); s != 0 && s != 'Z' && s != 'X' {
			return tid
		}
	}
	return 0
}
