// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

// checkReleased fails unless no thread of a process is traced or stopped.
func checkReleased(t testing.TB, pid int) {
	t.Helper()
	held, err := heldThreads(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range held {
		t.Error(text)
	}
}

// heldThreads describes the threads that are stopped or traced. It fails if the process has ended.
func heldThreads(pid int) ([]string, error) {
	tids, err := listThreads(pid, nil)
	if err != nil {
		return nil, err
	}
	var held []string
	for _, tid := range tids {
		s, err := readStatus(tid)
		if err != nil {
			continue // has ended
		}
		if s.TracerPID != 0 || s.State == 't' || s.State == 'T' {
			held = append(held, fmt.Sprintf("thread %d: state %c, tracer %d", tid, s.State, s.TracerPID))
		}
	}
	return held, nil
}

func (c *child) number(line string) uint64 {
	c.t.Helper()
	n, err := strconv.ParseUint(c.ask(line), 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// Threads that start and end while they are stopped: the reported ones are complete, and all
// run again.
func TestThreadStorm(t *testing.T) {
	c := start(t, build(t, "storm"))
	threads := 0
	w := newWatch(t, c.pid, &Options{Timeout: time.Minute})
	for i := range rounds(200) {
		var s *snapshot.Snapshot
		var err error
		if i%2 == 0 {
			s, err = Snapshot(c.pid, &w.options)
		} else {
			s, _, err = w.Snapshot()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, th := range s.Threads {
			sp, _ := th.Registers.Get(uint64(s.Machine.StackPointer))
			switch {
			case th.Err != nil:
				t.Error(th.Err)
			case sp-th.StackAddress >= uint64(len(th.Stack)):
				t.Errorf("thread %d: stack pointer %#x is outside the copy %#x+%#x", th.ID, sp, th.StackAddress, len(th.Stack))
			}
		}
		threads += len(s.Threads)
	}
	if n := rounds(200); threads < 2*n {
		t.Errorf("%d threads in %d snapshots of a process that has at least 2", threads, n)
	}
	before := c.number("")
	eventually(t, "threads are started", func() bool { return c.number("") > before })
	checkReleased(t, c.pid)
}

// queue sends a real-time signal with a value.
func queue(pid int, signal unix.Signal, value int) error {
	info := struct {
		Signal, Errno, Code, _ int32
		PID                    int32
		UID                    uint32
		Value                  int64
		_                      [96]byte
	}{Signal: int32(signal), Code: -1 /* SI_QUEUE */, PID: int32(os.Getpid()), UID: uint32(os.Getuid()), Value: int64(value)}
	_, _, errno := unix.RawSyscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(signal), uintptr(unsafe.Pointer(&info)))
	if errno != 0 {
		return errno
	}
	return nil
}

const sigRTMin = unix.Signal(34) // glibc's

// countSignals sends signals and fails unless each arrives once, with its value: at least
// 4000, and while more returns true.
func countSignals(t *testing.T, c *child, more func() bool) {
	t.Helper()
	want := func(usr1, rt, sum int) string { return fmt.Sprintf("%d %d %d", usr1, rt, sum) }
	n, sum := 0, 0
	for i := 0; i < 4000 || more(); i++ {
		n++
		// The kernel holds a limited number of pending signals.
		for queue(c.pid, sigRTMin, i) != nil {
			time.Sleep(time.Millisecond)
		}
		sum += i
		if i%64 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	eventually(t, "all real-time signals arrive", func() bool { return c.ask("") == want(0, n, sum) })
	// SIGUSR1 is not queued: the next one is sent after the last one arrived.
	for i := range 200 {
		if err := unix.Kill(c.pid, unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		eventually(t, "SIGUSR1 arrives", func() bool { return c.ask("") == want(i+1, n, sum) })
	}
	time.Sleep(20 * time.Millisecond)
	if got := c.ask(""); got != want(200, n, sum) {
		t.Errorf("signals doubled: %s, sent %s", got, want(200, n, sum))
	}
}

func TestSignalsArriveOnce(t *testing.T) {
	c := start(t, build(t, "signals"))
	var wait sync.WaitGroup
	var done atomic.Bool
	snapshots, deliveries := 0, 0
	w := newWatch(t, c.pid, nil)
	wait.Go(func() {
		for ; !done.Load(); snapshots++ {
			if _, _, err := w.Snapshot(); err != nil {
				t.Error(err)
				return
			}
			p, s, err := prepare(c.pid, new(Options))
			if err != nil {
				t.Error(err)
				return
			}
			_ = s
			onTracerThread(func() bool {
				if _, err := p.attach(); err != nil {
					t.Error(err)
				}
				p.stacks.prepare(len(p.tracees))
				p.stop()
				p.copy()
				p.detach()
				return !p.unclean
			})
			p.tasks.close()
			for i := range p.tracees {
				if p.tracees[i].stop.delivery() != 0 {
					deliveries++
				}
			}
		}
	})
	countSignals(t, c, func() bool { return false })
	done.Store(true)
	wait.Wait()
	t.Logf("%d snapshots, %d threads were about to get a signal", snapshots, deliveries)
	if deliveries == 0 {
		t.Error("no snapshot met a signal: the test shows nothing")
	}
}

// If a tracer is killed at any time, the target continues.
func TestKilledTracer(t *testing.T) {
	c := start(t, build(t, "threads"), "16")
	for i := range rounds(60) {
		tracer := startCommand(t, asRole(self(t), []string{"snapshots", "watch"}[i%2], strconv.Itoa(c.pid)))
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		tracer.cmd.Process.Kill()
		tracer.cmd.Wait()
		eventually(t, "the kernel lets go", func() bool {
			s, err := readStatus(c.pid)
			return err == nil && s.TracerPID == 0
		})
		checkReleased(t, c.pid)
		if t.Failed() {
			t.Fatalf("after %d kills", i+1)
		}
	}
	before := c.number("")
	eventually(t, "the counters advance", func() bool { return c.number("") > before+100 })
}

// A signal that the tracer has seen and not yet passed on is not lost either.
func TestKilledTracerLosesNoSignal(t *testing.T) {
	c := start(t, build(t, "signals"))
	var wait sync.WaitGroup
	var done atomic.Bool
	var kills atomic.Int32
	wait.Go(func() {
		for i := 0; !done.Load(); i++ {
			cmd := asRole(self(t), []string{"snapshots", "watch"}[i%2], strconv.Itoa(c.pid))
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				kills.Store(1000)
				return
			}
			stdout.Read(make([]byte, 16)) // "ready"
			time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
			cmd.Process.Kill()
			cmd.Wait()
			kills.Add(1)
		}
	})
	countSignals(t, c, func() bool { return kills.Load() < int32(rounds(60)) })
	done.Store(true)
	wait.Wait()
	checkReleased(t, c.pid)
}

// A target that is stopped by a signal is captured and stays stopped.
func TestStoppedTarget(t *testing.T) {
	c := start(t, build(t, "threads"), "4")
	states := func(want byte) func() bool {
		return func() bool {
			tids, _ := listThreads(c.pid, nil)
			for _, tid := range tids {
				if threadState(c.pid, tid) != want {
					return false
				}
			}
			return len(tids) == 5
		}
	}
	if err := unix.Kill(c.pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all threads are stopped", states('T'))
	for range 20 {
		s, err := Snapshot(c.pid, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Threads) != 5 {
			t.Errorf("%d threads, expected 5", len(s.Threads))
		}
		for i := range s.Threads {
			checkThread(t, s, &s.Threads[i])
		}
	}
	time.Sleep(10 * time.Millisecond)
	eventually(t, "all threads are stopped again", states('T'))
	if err := unix.Kill(c.pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	before := c.number("")
	eventually(t, "the counters advance", func() bool { return c.number("") > before })
}

// A target notices a snapshot by the system calls that the kernel does not
// restart. The list is from signal(7), "Interruption of system calls and
// library functions by stop signals", and socket calls with a timeout.
func TestInterruptedSystemCalls(t *testing.T) {
	c := start(t, build(t, "syscalls"))
	// Until they all wait.
	eventually(t, "all threads wait", func() bool {
		tids, _ := listThreads(c.pid, nil)
		for _, tid := range tids {
			if threadState(c.pid, tid) != 'S' {
				return false
			}
		}
		return len(tids) == 16
	})
	time.Sleep(50 * time.Millisecond)
	if got := c.ask(""); got != "" {
		t.Fatalf("returned before any snapshot: %s", got)
	}
	for range 50 {
		if _, err := Snapshot(c.pid, nil); err != nil {
			t.Fatal(err)
		}
	}
	allowed := map[string]bool{"epoll_wait": true, "sigtimedwait": true, "semop": true, "inotify-read": true, "recv-with-timeout": true}
	got := c.ask("")
	t.Logf("returned: %s", got)
	for f := range strings.FieldsSeq(got) {
		name, number, _ := strings.Cut(f, "=")
		if !allowed[name] {
			t.Errorf("%s returned", name)
		}
		if number != strconv.Itoa(int(unix.EINTR)) {
			t.Errorf("%s returned error %s, expected EINTR", name, number)
		}
	}
}

// The first thread has ended: it is left out, the others are captured.
func TestEndedFirstThread(t *testing.T) {
	c := start(t, build(t, "odd"), "leader")
	eventually(t, "the first thread ends", func() bool { return threadState(c.pid, c.pid) == 'Z' })
	s, err := Snapshot(c.pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Threads) != 1 || s.Threads[0].ID == c.pid {
		t.Fatalf("threads %+v, expected the second one", s.Threads)
	}
	checkThread(t, s, &s.Threads[0])
	if got := c.ask(""); got != "runs" {
		t.Error(got)
	}
}

// A thread that waits in vfork cannot be stopped: it has an error, the others are captured,
// and it is released.
func TestUninterruptibleThread(t *testing.T) {
	c := start(t, build(t, "odd"), "vfork")
	eventually(t, "the first thread waits in vfork", func() bool { return threadState(c.pid, c.pid) == 'D' })
	s, err := Snapshot(c.pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Threads {
		th := &s.Threads[i]
		if th.ID != c.pid {
			checkThread(t, s, th)
		} else if th.Err == nil || !strings.Contains(th.Err.Error(), "uninterruptibly") {
			t.Errorf("error %v, expected one that says it waits uninterruptibly", th.Err)
		} else {
			t.Log(th.Err)
		}
	}
	if len(s.Threads) != 2 {
		t.Errorf("%d threads, expected 2", len(s.Threads))
	}
	eventually(t, "the thread is let go", func() bool {
		s, err := readStatus(c.pid)
		return err == nil && s.TracerPID == 0
	})
	if got := c.ask(""); got != "runs" {
		t.Error(got)
	}
}

// If a process exits meanwhile, the result is an error or a snapshot, and the test program's
// own child keeps its exit status.
func TestExitMeanwhile(t *testing.T) {
	program := build(t, "threads")
	for range 30 {
		c := start(t, program, "8")
		go func() {
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
			io.WriteString(c.stdin, "")
			c.stdin.Close() // ends it
		}()
		for {
			if _, err := Snapshot(c.pid, nil); err != nil {
				break
			}
		}
		if err := c.cmd.Wait(); err != nil {
			t.Fatalf("exit status lost: %v", err)
		}
	}
}
