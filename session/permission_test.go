// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/session/internal/worker"
	"golang.org/x/sys/unix"
)

// filtered runs f on a new thread with a seccomp filter that answers some system calls with an
// error, as filters of containers do.
func filtered(t *testing.T, calls []uint32, errno unix.Errno, f func() error) {
	t.Helper()
	failed := make(chan error)
	go func() {
		// The goroutine stays locked, so that the thread and its filter end with it.
		runtime.LockOSThread()
		filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // nr is first in struct seccomp_data
		for _, call := range calls {
			filter = append(filter,
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
		}
		filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
		}
		if err == nil {
			err = f()
		}
		failed <- err
	}()
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// If a filter refuses a system call that a session needs, the error says so.
func TestForbidden(t *testing.T) {
	for _, test := range []struct {
		name  string
		calls []uint32
		errno unix.Errno
		want  string
	}{
		{"ptrace", []uint32{unix.SYS_PTRACE}, unix.EPERM, "a seccomp filter forbids ptrace"},
		{"clone", []uint32{unix.SYS_CLONE, unix.SYS_CLONE3}, unix.EPERM, "a seccomp filter forbids to clone"},
		{"limit", []uint32{unix.SYS_CLONE, unix.SYS_CLONE3}, unix.EAGAIN, "limits of processes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			filtered(t, test.calls, test.errno, func() error {
				s, err := New(&Options{Locked: true})
				if s != nil || !errors.Is(err, ErrPermission) || !errors.Is(err, test.errno) || !strings.Contains(err.Error(), test.want) {
					return fmt.Errorf("%v, want %q", err, test.want)
				}
				return nil
			})
		})
	}
	if list := childProcesses(t); len(list) > 0 {
		t.Errorf("processes %v are left", list)
	}
}

// If a filter refuses a system call that has a substitute, there is no error.
func TestForbiddenButNotNeeded(t *testing.T) {
	i := newFunction(t, "sum")
	for _, test := range []struct {
		name  string
		calls []uint32
		errno unix.Errno
	}{
		{"clone3 is not known", []uint32{unix.SYS_CLONE3}, unix.ENOSYS},
		{"clone3 is refused", []uint32{unix.SYS_CLONE3}, unix.EPERM},
		{"process_vm_readv", []uint32{unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV}, unix.EPERM},
	} {
		t.Run(test.name, func(t *testing.T) {
			filtered(t, test.calls, test.errno, func() error { return useLocked(i) })
		})
	}
}

// useLocked uses a session on this thread.
func useLocked(i *Image) error {
	s, err := New(&Options{Images: []*Image{i}, Locked: true})
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Break(start(i), nil); err != nil {
		return err
	}
	stop, err := s.Call(start(i), 4)
	if err != nil || stop.Reason != AtBreakpoint {
		return fmt.Errorf("%v, %v", stop, err)
	}
	registers, _ := s.Registers()
	word := make([]byte, 8)
	for _, do := range []func([]byte, uint64) error{s.ReadMemory, s.WriteMemory} {
		if err := do(word, registers.SP()-8); err != nil {
			return err
		}
	}
	if err := s.ReadMemory(word, 8); !errors.As(err, new(*MemoryError)) {
		return fmt.Errorf("memory that is not there: %v", err)
	}
	if stop, err = s.Continue(); err != nil || stop.Reason != Returned || stop.Result != 10 {
		return fmt.Errorf("%v, %v", stop, err)
	}
	return s.Close()
}

func TestRefusal(t *testing.T) {
	const status, scope = "/proc/thread-self/status", "/proc/sys/kernel/yama/ptrace_scope"
	refused := &worker.PermissionError{Call: "ptrace", Err: unix.EPERM}
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"Yama 1", map[string]string{status: "Seccomp:\t0\n", scope: "1\n"}, "this system does not implement ptrace"},
		{"Yama 2", map[string]string{status: "Seccomp:\t2\n", scope: "2\n"}, "CAP_SYS_PTRACE"},
		{"Yama 3", map[string]string{scope: "3\n"}, "ptrace_scope is 3"},
		{"seccomp", map[string]string{status: "Name:\tx\nSeccomp:\t2\n"}, "--cap-add=SYS_PTRACE"},
		{"no files", nil, "this system does not implement ptrace"},
	} {
		got := refusal(refused, func(path string) ([]byte, error) {
			text, ok := test.files[path]
			if !ok {
				return nil, os.ErrNotExist
			}
			return []byte(text), nil
		})
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	was, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	got := refusal(refused, func(string) ([]byte, error) { return nil, os.ErrNotExist })
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(was), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "not dumpable") {
		t.Error(got)
	}
}
