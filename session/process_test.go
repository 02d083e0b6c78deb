// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// eventually waits for something that other processes do.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// processState returns the state letter of a process (proc(5)), or 0.
func processState(pid int) byte {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	if rest == "" {
		return 0
	}
	return rest[0]
}

// childProcesses returns the children of this process.
func childProcesses(t testing.TB) (list []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := bytes.Cut(text, []byte(") "))
		if fields := bytes.Fields(rest); len(fields) > 1 && string(fields[1]) == strconv.Itoa(os.Getpid()) {
			list = append(list, pid)
		}
	}
	return list
}

func TestExitOfProcess(t *testing.T) {
	s := newSession(t, load(t, "system.c"))
	for _, number := range []uint64{unix.SYS_EXIT, unix.SYS_EXIT_GROUP} {
		pid := s.PID()
		stop := call(t, s, "raw", number, 300)
		if stop.Reason != ExitedProcess || stop.ExitCode != 300&0xff || stop.Err != nil || stop.Signal != (Signal{}) {
			t.Errorf("%+v", stop)
		}
		if pid != 0 && processState(pid) != 0 {
			t.Errorf("process %d is there", pid)
		}
		stop, err := s.CallWith(symbol(t, s, "raw"), Arguments{Words: []uint64{number, 7}, StopAtEntry: true})
		for err == nil && stop.Reason.Kind() == KindBreakpoint {
			stop, err = s.StepInstruction()
		}
		if check(t, stop, err, ExitedProcess).ExitCode != 7 {
			t.Error(stop)
		}
	}
}

// cString returns a string of C. keep keeps it alive.
func cString(t testing.TB, s string) uint64 {
	t.Helper()
	p, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	copy(p, s)
	return address
}

func TestExec(t *testing.T) {
	s := newSession(t, load(t, "system.c"))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const noEntry = -2 // ENOENT
	stop := call(t, s, "raw", unix.SYS_EXECVE, cString(t, "/nowhere\x00"), 0, 0)
	if stop.Reason != Returned || int64(stop.Result) != noEntry {
		t.Error(stop)
	}
	pid := s.PID()
	for range 2 {
		stop = call(t, s, "raw", unix.SYS_EXECVE, cString(t, exe+"\x00"), 0, 0)
		if stop.Reason != ExitedProcess || stop.ExitCode != -1 || !errors.Is(stop.Err, errReplaced) {
			t.Errorf("%+v", stop)
		}
	}
	if processState(pid) != 0 {
		t.Errorf("process %d is there", pid)
	}
	returns(t, s, 0, "recurse", 0)
}

// A process that the code forks ends before it runs. The code sees it exit.
func TestFork(t *testing.T) {
	i := load(t, "system.c")
	_, stack := page(t, unix.PROT_READ|unix.PROT_WRITE)
	for _, tt := range []struct {
		name  string
		flags uint64
		child bool // of the worker, not a thread of it
	}{
		{"fork", uint64(unix.SIGCHLD), true},
		{"vfork", unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD), true},
		{"of the parent", unix.CLONE_PARENT | uint64(unix.SIGCHLD), false},
		{"thread", unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM, false},
		{"silent", unix.CLONE_VM, true},
	} {
		for _, step := range []bool{false, true} {
			for _, broken := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/%v", tt.name, step, broken), func(t *testing.T) {
					s := newSession(t, i)
					if broken {
						if _, err := s.Break(symbol(t, s, "call"), nil); err != nil {
							t.Fatal(err)
						}
					}
					before := childProcesses(t)
					a := Arguments{Words: []uint64{unix.SYS_CLONE, tt.flags, stack + 4000}, StopAtEntry: true}
					if tt.flags&unix.CLONE_VM == 0 {
						a.Words[2] = 0
					}
					stop, err := s.CallWith(symbol(t, s, "raw"), a)
					for err == nil && stop.PC != symbol(t, s, "call") {
						stop, err = s.StepInstruction()
					}
					if err != nil {
						t.Fatal(err)
					}
					if step {
						stop, err = s.StepInstruction()
						if check(t, stop, err, SteppedInstruction).PC != symbol(t, s, "after") {
							t.Fatalf("%v, want %#x", stop, symbol(t, s, "after"))
						}
					}
					stop, err = s.Continue()
					child := int(int64(check(t, stop, err, Returned).Result))
					if child <= 0 {
						t.Fatalf("clone returns %d", child)
					}
					if state := processState(child); state != 0 && (state != 'Z' || !tt.child) {
						t.Errorf("process %d is %c", child, state)
					}
					if after := childProcesses(t); len(after) != len(before) {
						t.Errorf("children %v, before %v", after, before)
					}
					if tt.child {
						_, status := page(t, unix.PROT_READ|unix.PROT_WRITE)
						const all = 0x40000000 // __WALL
						b := s.Breakpoints()
						for _, b := range b {
							s.Remove(b.ID)
						}
						returns(t, s, uint64(child), "raw", unix.SYS_WAIT4, uint64(child), status, all, 0)
						var word [4]byte
						s.ReadMemory(word[:], status)
						if word != [4]byte{} {
							t.Errorf("status %x", word)
						}
					}
					s.Close()
					eventually(t, "the child is gone", func() bool { return processState(child) == 0 })
				})
			}
		}
	}
}

// kill sends a signal to a session's worker.
func kill(t testing.TB, s *Session, number unix.Signal) {
	t.Helper()
	pid := s.PID()
	if pid == 0 {
		t.Error("there is no worker")
		return
	}
	if err := unix.Kill(pid, number); err != nil {
		t.Error(err)
	}
}

// Signals from outside do not reach the code.
func TestSignalsFromOutside(t *testing.T) {
	i := load(t, "system.c")
	s := newSession(t, i)
	stopped := make(chan *Stop)
	run := func(f func() (*Stop, error)) {
		stop, err := f()
		if err != nil {
			t.Error(err)
		}
		stopped <- stop
	}
	turns := func() uint64 {
		var b [8]byte
		if err := s.ReadMemory(b[:], symbolOf(t, i, "turns")); err != nil {
			t.Error(err)
		}
		return binary.LittleEndian.Uint64(b[:])
	}
	go run(func() (*Stop, error) { return s.Call(symbolOf(t, i, "spin")) })
	waitState(t, s, Running)
	for _, number := range []unix.Signal{unix.SIGSTOP, unix.SIGCONT, unix.SIGTSTP, unix.SIGINT, unix.SIGTERM, unix.SIGHUP,
		unix.SIGUSR1, unix.SIGALRM, unix.SIGCHLD, unix.SIGSTOP, unix.SIGTTIN, 34, 64} {
		kill(t, s, number)
		before := turns()
		eventually(t, "it runs on", func() bool { return turns() > before+1000 })
	}
	for range 3 {
		if err := s.Interrupt(); err != nil {
			t.Fatal(err)
		}
		if stop := <-stopped; stop.Reason != Interrupted {
			t.Fatal(stop)
		}
		kill(t, s, unix.SIGSTOP) // while it is stopped
		kill(t, s, unix.SIGINT)
		before := turns()
		go run(s.Continue)
		eventually(t, "it runs on", func() bool { return turns() > before+1000 })
	}
	if err := s.WriteMemory([]byte{1}, symbolOf(t, i, "stop")); err != nil {
		t.Fatal(err)
	}
	if stop := <-stopped; stop.Reason != Returned || stop.Result != turns() {
		t.Error(stop)
	}
}

// A killed worker has ended, in every state.
func TestKilledFromOutside(t *testing.T) {
	i := load(t, "system.c")
	s := newSession(t, i)
	killed := func(stop *Stop, err error) {
		t.Helper()
		if check(t, stop, err, ExitedProcess); stop.Signal.Number != int(unix.SIGKILL) || stop.ExitCode != -1 || !errors.Is(stop.Err, errKilled) || stop.Err.Error() != "killed by SIGKILL" {
			t.Errorf("%+v", stop)
		}
		if s.State() != Exited || s.PID() != 0 {
			t.Errorf("%v, worker %d", s.State(), s.PID())
		}
	}
	dies := func() {
		t.Helper()
		kill(t, s, unix.SIGKILL)
		eventually(t, "the worker is dead", func() bool { return processState(s.PID()) == 'Z' })
	}
	dies()
	killed(s.Call(symbol(t, s, "recurse"), 1))
	go func() {
		waitState(t, s, Running)
		eventually(t, "there is a worker", func() bool { return s.PID() != 0 })
		kill(t, s, unix.SIGKILL)
	}()
	killed(s.Call(symbol(t, s, "spin")))
	for _, resume := range []func() (*Stop, error){s.Continue, s.StepInstruction, s.StepLine, s.NextLine, func() (*Stop, error) { return s.StepOut(0) }} {
		stop, err := s.CallWith(symbol(t, s, "recurse"), Arguments{StopAtEntry: true, Words: []uint64{1}})
		check(t, stop, err, AtEntry)
		dies()
		if _, err := s.Register("pc"); err != nil {
			t.Error(err)
		}
		if _, err := s.Stack(0); err != nil {
			t.Error(err)
		}
		for _, r := range s.RegisterInfos() {
			s.Register(r.Name) // an error or what was read before
		}
		killed(resume())
	}
	stop, err := s.CallWith(symbol(t, s, "recurse"), Arguments{StopAtEntry: true})
	check(t, stop, err, AtEntry)
	dies()
	stop, err = s.Abort()
	check(t, stop, err, Aborted)
	killed(s.Call(symbol(t, s, "recurse"), 1))
	returns(t, s, 0, "recurse", 0)
	dies()
}

// A stack overflow is a fault in the guard, for any size of frames.
func TestStackGuard(t *testing.T) {
	for _, size := range []int{0, 4096, 1 << 20, 16 << 20} {
		s, err := New(&Options{Images: []*Image{load(t, "system.c", "-O0")}, StackSize: size})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"recurse", "large"} {
			low, _ := s.worker.Stack()
			stop := call(t, s, name, 1<<30)
			if stop.Reason != Signalled || stop.Signal.Number != int(unix.SIGSEGV) || stop.Signal.Code != 2 || low-stop.Signal.Address > 1<<20 {
				t.Fatalf("%+v, the stack's end is %#x", stop, low)
			}
			if f, err := s.Frame(); err != nil || f.Function.Name != name {
				t.Error(f, err)
			}
			stack, err := s.Stack(20)
			if err != nil || size > 1<<18 && len(stack.Frames) != 20 && name == "recurse" {
				t.Errorf("%d frames, %v", len(stack.Frames), err)
			}
			check(t, stop, nil, Signalled)
			if _, err := s.Abort(); err != nil {
				t.Fatal(err)
			}
			if size > 100<<10 {
				returns(t, s, 0, name, 0)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := New(&Options{StackSize: -1}); !errors.Is(err, ErrArguments) {
		t.Error(err)
	}
}
