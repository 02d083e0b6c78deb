// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
)

// withoutEvents runs f on a thread with a seccomp filter that forbids perf_event_open, as those of
// containers do.
func withoutEvents(t *testing.T, errno unix.Errno, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		// The goroutine stays locked, so that the thread and its filter end with it.
		runtime.LockOSThread()
		filter := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // nr is first in struct seccomp_data
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PERF_EVENT_OPEN, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// checkStops checks what a recording by ptrace says about itself.
func checkStops(t *testing.T, rec *recording.Recording) {
	t.Helper()
	note := rec.Notes[len(rec.Notes)-1]
	for _, want := range []string{"a seccomp filter", "--cap-add=PERFMON", "ptrace stopped threads", " on average"} {
		if !strings.Contains(note, want) {
			t.Errorf("the note lacks %q: %s", want, note)
		}
	}
	t.Log(note)
}

// Without perf events, running processes are sampled by ptrace.
func TestStopped(t *testing.T) {
	first, second := testprogram.Start(t, build(t), "1", "0"), testprogram.Start(t, build(t), "2", "0")
	withoutEvents(t, unix.EPERM, func() {
		ctx, options := until(t, 100, first.PID, second.PID)
		var raw bytes.Buffer
		rec, err := record.Run(ctx, record.Options{Targets: []int{first.PID, second.PID}, Frequency: 199, Raw: &raw, Recording: options})
		if err != nil {
			t.Error(err)
			return
		}
		checkStops(t, rec)
		counts := spent(t, rec)
		for pid, n := range counts {
			t.Logf("process %d: %v", pid, n)
			checkShares(t, n)
		}
		if len(counts) != 2 || !first.Running() || !second.Running() {
			t.Errorf("samples of %d processes; they run: %v, %v", len(counts), first.Running(), second.Running())
		}
		for i := range rec.Threads {
			if name := filepath.Base(rec.Threads[i].Process); name != "shares" {
				t.Errorf("a process is named %q", name)
			}
		}
		testRaw(t, raw.Bytes(), rec)
	})
}

// A command, its child and the program that it executes are sampled by ptrace.
func TestStoppedCommand(t *testing.T) {
	withoutEvents(t, unix.ENOSYS, func() {
		cmd := exec.Command(build(t), "1", "700", "fork")
		rec, err := record.Run(context.Background(), record.Options{Command: cmd, Frequency: 199})
		if err != nil || !cmd.ProcessState.Success() {
			t.Errorf("%v; the command ends with %v", err, cmd.ProcessState)
			return
		}
		checkStops(t, rec)
		counts := spent(t, rec)
		if len(counts) != 2 {
			t.Errorf("samples of %d processes, expected 2", len(counts))
		}
		for _, n := range counts {
			checkShares(t, n)
		}
	})
}

// Each refusal names the policy and the way out.
func TestRefusals(t *testing.T) {
	withoutEvents(t, unix.EPERM, func() {
		for _, opts := range []record.Options{
			{All: true, OffCPU: true},
			{All: true, Wall: true},
			{All: true, Event: "page-faults"},
			{Targets: []int{os.Getpid()}},
		} {
			_, err := record.Run(context.Background(), opts)
			if !errors.Is(err, record.ErrRefused) || !strings.Contains(err.Error(), "seccomp filter") || !strings.Contains(err.Error(), "--cap-add=PERFMON") {
				t.Errorf("%+v: %v", opts, err)
			}
		}
	})
}

// What needs events says which recording does not.
func TestWithoutEventsAdvice(t *testing.T) {
	for _, opts := range []record.Options{{Wall: true}, {OffCPU: true}, {Event: "page-faults"}} {
		withoutEvents(t, unix.EPERM, func() {
			opts.Targets = []int{os.Getpid()}
			_, err := record.Run(context.Background(), opts)
			if !errors.Is(err, record.ErrRefused) || !strings.Contains(err.Error(), "ptrace, which needs no events") {
				t.Errorf("%+v: %v", opts, err)
			}
		})
	}
}
