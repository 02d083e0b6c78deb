// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/unwind"
)

// tracee is a thread to stop.
type tracee struct {
	tid       int
	state     traceeState
	stop      stop // why it stands still
	err       error
	registers unwind.Registers
	vectors   []byte // nil if they are not requested
	start     uint64 // address of stack
	end       uint64 // end of the copy
	ownStack  bool   // the range to copy contains nothing after the stack
	stack     []byte

	// For threads that are stopped one by one:
	ran    time.Time       // when it was last seen running
	stood  time.Duration   // the upper bound of its pause
	copies []snapshot.Copy // besides its stack
}

type traceeState uint8

const (
	running traceeState = iota // attached, not stopped yet
	stopped                    // registers and, without err, stack are valid
	gone                       // ended, or another thread of its process executed a program
	stuck                      // attached, did not stop in time
	refused                    // could not be attached to, err says why
)

// capture stops the threads of a process together and copies their registers and stacks. Its
// methods run on the tracer thread. It allocates before the stop if sizes are known.
type capture struct {
	pid      int
	machine  *arch.Machine
	tasks    *taskDirectory
	only     []int         // the requested threads, nil for all
	patience time.Duration // how long to wait for a thread to stop
	traced   bool          // this tracer is already attached to the threads
	vectors  bool          // copy the vector registers too

	tracees []tracee
	tids    []int // buffer for a listing
	buffer  [maxRegisters]byte
	seen    map[int]bool

	stacks     stackCopier
	goroutines []*goruntime.Copier
	runtimes   []*goruntime.ThreadCopier // for threads that are stopped one by one
	ids        map[int]uint64            // of threads in their own namespace, nil if they are the same
	copies     []snapshot.Copy
	more       []snapshot.Copy   // to copy besides stacks
	included   map[int]*included // likewise, with the stack of a thread
	each       each

	early  *early   // may be nil
	filled bool     // the snapshot holds the captured data
	names  []string // of the tracees; nil before they are read

	started time.Time     // of the first stop
	pause   time.Duration // until the last release
	clock   time.Duration // the process's monotonic clock at the last release
	phases  phases
	unclean bool // a thread stays attached until the tracer thread ends
}

// phases are the parts of a pause.
type phases struct{ stop, copy, release time.Duration }

func newCapture(pid int, m *arch.Machine, tasks *taskDirectory, opts *Options) *capture {
	c := &capture{pid: pid, machine: m, tasks: tasks, only: opts.Threads, vectors: opts.Vectors, patience: opts.Timeout, more: opts.more,
		seen: make(map[int]bool), stacks: stackCopier{left: maxCopied, limit: defaultStackLimit}}
	if c.patience <= 0 {
		c.patience = defaultTimeout
	}
	if opts.StackLimit > 0 {
		c.stacks.limit = uint64(opts.StackLimit)
	}
	return c
}

// attach attaches to new threads, and returns how many it found. Attaching does not stop a
// thread.
func (c *capture) attach() (found int, err error) {
	before := len(c.tracees)
	if found, err = c.list(); err != nil || c.traced {
		return found, err
	}
	c.seizeAll(c.tracees[before:])
	return found, nil
}

func (c *capture) seizeAll(list []tracee) {
	for i := range list {
		c.seize(&list[i])
	}
	c.explainRefused(list)
}

// list adds new threads to the tracees, and returns how many it found.
func (c *capture) list() (found int, err error) {
	tids := c.only
	if tids == nil {
		if tids, err = c.tasks.list(c.tids[:0]); err != nil {
			return 0, err
		}
		c.tids = tids
	}
	c.tracees = slices.Grow(c.tracees, len(tids)-min(len(tids), len(c.seen)))
	for _, tid := range tids {
		if c.seen[tid] {
			continue
		}
		c.seen[tid] = true
		found++
		t := tracee{tid: tid}
		if c.vectors {
			t.vectors = make([]byte, maxVectors)
		}
		if c.only != nil && threadState(c.pid, tid) == 0 {
			t.state = gone // or it belongs to another process
		}
		c.tracees = append(c.tracees, t)
	}
	return found, nil
}

// seize attaches to a thread that is not gone. A failure is explained later, by
// explainRefused, because that takes a while and other threads may stand still.
func (c *capture) seize(t *tracee) {
	if t.state != running {
		return
	}
	if errno := ptrace(unix.PTRACE_SEIZE, t.tid, 0, 0); errno != 0 {
		t.state, t.err = refused, errno
	}
}

// explainRefused sets the errors of threads that could not be attached to.
func (c *capture) explainRefused(list []tracee) {
	for i := range list {
		t := &list[i]
		errno, unexplained := t.err.(unix.Errno)
		if t.state != refused || !unexplained {
			continue
		}
		t.err = explainSeize(c.pid, t.tid, errno)
		// The kernel refuses a thread that is ending with EPERM.
		if s := threadState(c.pid, t.tid); errno == unix.ESRCH || s == 0 || s == 'Z' || s == 'X' {
			t.state = gone
		}
	}
}

// stop stops all threads and reads their registers. It also stops threads that start
// meanwhile: once every known thread stands still and a listing shows no other, no thread is
// left that could start one.
func (c *capture) stop() {
	c.started = time.Now()
	begin, next := c.started, 0
	for attempt := 0; ; attempt++ {
		for ; next < len(c.tracees); next++ {
			// Fails for a thread that has ended, which the sweep finds.
			ptrace(unix.PTRACE_INTERRUPT, c.tracees[next].tid, 0, 0)
		}
		if c.sweep() > 0 {
			if waited := time.Since(begin); waited < c.patience || c.giveUp(waited) > 0 {
				pause(attempt)
				continue
			}
		}
		if c.only != nil || time.Since(c.started) > 2*starved*c.patience {
			break
		}
		if found, err := c.attach(); err != nil || found == 0 {
			break
		}
		begin, attempt = time.Now(), 0
	}
	c.phases.stop = time.Since(c.started)
}

// sweep checks which threads have stopped, and returns how many have not.
func (c *capture) sweep() (waiting int) {
	var info waitInfo
	for i := range c.tracees {
		if t := &c.tracees[i]; t.state == running && !c.look(t, &info) {
			waiting++
		}
	}
	return waiting
}

// look checks whether a thread has stopped or ended. It overwrites info.
func (c *capture) look(t *tracee, info *waitInfo) bool {
	switch errno := peek(t.tid, info); {
	case errno != 0: // ECHILD: no traced thread has this ID any more
		t.state = gone
	case info.PID == 0:
		return false
	case info.exited():
		t.state = gone
		if t.tid != c.pid {
			reap(t.tid)
		} else {
			c.unclean = true
		}
	default:
		t.stop = info.stop()
		c.readRegisters(t)
	}
	return true
}

func (c *capture) readRegisters(t *tracee) {
	buffer := &c.buffer
	n, errno := registerSet(t.tid, ntPRStatus, buffer[:])
	if errno == unix.ESRCH {
		// Only SIGKILL takes a thread out of its stop.
		t.state = gone
		return
	}
	t.state = stopped
	if errno != 0 {
		t.err = fmt.Errorf("thread %d: PTRACE_GETREGSET: %w", t.tid, errno)
		return
	}
	if err := snapshot.GeneralRegisters(&t.registers, c.machine, buffer[:n]); err != nil {
		t.err = fmt.Errorf("thread %d: %w", t.tid, err)
	}
	if t.vectors != nil {
		n, errno := registerSet(t.tid, ntPRFPReg, t.vectors)
		if errno != 0 {
			n = 0 // the thread reports them as missing
		}
		t.vectors = t.vectors[:n]
		if c.machine.ThreadRegister != 0 {
			if n, errno := registerSet(t.tid, ntARMTLS, buffer[:]); errno == 0 {
				snapshot.ThreadPointer(&t.registers, c.machine, buffer[:n])
			}
		}
	}
}

const (
	maxRegisters = 512 // exceeds the size in bytes of the general registers of any machine
	maxVectors   = 576 // exceeds that of the floating-point registers: 512 on amd64, 528 on arm64
)

// starved is how many times longer to wait for a thread that only needs a processor to stop.
// The machine can be busy, or the quota of its control group can be used up.
const starved = 20

// giveUp gives up threads that have not stopped and wait for something other than a
// processor. It returns how many other threads have not stopped. The kernel cancels the
// request to stop when the tracer thread ends.
func (c *capture) giveUp(waited time.Duration) (others int) {
	for i := range c.tracees {
		t := &c.tracees[i]
		if t.state != running {
			continue
		}
		state := threadState(c.pid, t.tid)
		reason := "it got no processor"
		if state == 'D' {
			reason = "it waits uninterruptibly in the kernel"
			if at := readLine(taskFile(c.pid, t.tid, "wchan")); at != "" && at != "0" {
				reason += ", in " + at
			}
		} else if waited < starved*c.patience {
			others++
			continue
		}
		t.state = stuck
		c.unclean = true
		t.err = fmt.Errorf("thread %d did not stop within %v: state %c, %s", t.tid, waited.Round(time.Millisecond), state, reason)
	}
	return others
}

func (c *capture) detach() {
	begin := time.Now()
	for i := range c.tracees {
		if t := &c.tracees[i]; t.state == stopped {
			c.release(t)
		}
	}
	c.phases.release = time.Since(begin)
}

// release releases a thread with its pending signal. The thread stays stopped if a signal has
// stopped its process (__ptrace_unlink).
func (c *capture) release(t *tracee) {
	if errno := ptrace(unix.PTRACE_DETACH, t.tid, 0, uintptr(t.stop.delivery())); errno != 0 {
		c.unclean = true // it was killed meanwhile
	}
}

// awaitRelease waits until the kernel has released the threads that detach could not
// release. The kernel does so shortly after the tracer thread ends.
func (c *capture) awaitRelease() {
	if !c.unclean {
		return
	}
	for i := range c.tracees {
		t := &c.tracees[i]
		if t.state != stuck && t.tid != c.pid {
			continue
		}
		for range 2000 {
			// The status names the tracing thread, not its process.
			s, err := readStatus(t.tid)
			if err != nil || s.TracerPID == 0 || threadState(os.Getpid(), s.TracerPID) == 0 {
				break
			}
			time.Sleep(time.Millisecond / 2)
		}
	}
}

// threads returns the captured threads by ascending ID, without names.
func (c *capture) threads() []snapshot.Thread {
	order := make([]int, 0, len(c.tracees)) // a Thread is large
	for i := range c.tracees {
		if c.tracees[i].state != gone {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return c.tracees[a].tid - c.tracees[b].tid })
	threads := make([]snapshot.Thread, 0, len(order))
	for _, i := range order {
		t := &c.tracees[i]
		threads = append(threads, snapshot.Thread{
			ID:           t.tid,
			Registers:    t.registers,
			Vectors:      t.vectors,
			Stack:        t.stack,
			StackAddress: t.start,
			Copies:       t.copies,
			Err:          t.err,
		})
	}
	return threads
}

func (c *capture) readNames() {
	c.names = make([]string, len(c.tracees))
	for i := range c.tracees {
		if t := &c.tracees[i]; t.state != gone {
			c.names[i] = c.tasks.name(t.tid)
		}
	}
}

// setNames sets the names of the snapshot's threads.
func (c *capture) setNames(s *snapshot.Snapshot) {
	if c.names == nil {
		c.readNames()
	}
	names := make(map[int]string, len(c.names))
	for i, name := range c.names {
		names[c.tracees[i].tid] = name
	}
	for i := range s.Threads {
		s.Threads[i].Name = names[s.Threads[i].ID]
	}
}
