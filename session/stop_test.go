// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/session/internal/worker"
)

func TestStopString(t *testing.T) {
	failed := errors.New("no such file")
	for _, test := range []struct {
		stop Stop
		want string
	}{
		{Stop{Reason: Returned, Result: 10}, "returned 0xa"},
		{Stop{Reason: AtBreakpoint, PC: 0x1000}, "breakpoint at 0x1000"},
		{Stop{Reason: HostFailed, PC: 0x1000, Err: failed}, "host function failed at 0x1000: no such file"},
		{Stop{Reason: Signalled, PC: 0x1000, Signal: Signal{11, 1, 8}}, "SIGSEGV at 0x1000, code 1, address 0x8"},
		{Stop{Reason: Signalled, PC: 0x1000, Signal: Signal{8, 1, 0x1000}}, "SIGFPE at 0x1000, code 1"},
		{Stop{Reason: Signalled, PC: 0x1000, Signal: Signal{40, -6, 0}}, "signal 40 at 0x1000, code -6"},
		{Stop{Reason: Trapped, PC: 0x1000, Signal: Signal{5, 128, 0}}, "SIGTRAP at 0x1000, code 128"},
		{Stop{Reason: ExitedProcess, ExitCode: 3}, "exited with code 3"},
		{Stop{Reason: ExitedProcess, ExitCode: -1, Err: errReplaced}, "exited: the code called execve; its process was ended"},
		{*ended(worker.Event{Kind: worker.Killed, Signal: 9}), "killed by SIGKILL"},
		{*ended(worker.Event{Kind: worker.Killed, Signal: 31}), "killed by SIGSYS"},
		{Stop{Reason: Aborted}, "aborted"},
	} {
		if got := test.stop.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// Code traps if it calls a host function of an image that its session does not have, and the
// stop has the reason. With the image it runs.
func TestForeignHost(t *testing.T) {
	host, err := NewHost("library", HostFunction{"twice", func(c *HostCall) error { c.Return(2 * c.Word(0)); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	caller := newFunction(t, "caller")
	s := newSession(t, caller)
	stub := host.Functions()[0].Start
	stop, err := s.Call(start(caller), 7, stub)
	check(t, stop, err, Trapped)
	if !errors.Is(stop.Err, ErrNotFound) || !strings.Contains(stop.String(), "host function twice") || !strings.Contains(stop.String(), "library") {
		t.Errorf("%v", stop)
	}
	if _, err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := s.AddImage(host); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Call(start(caller), 7, stub)
	check(t, stop, err, Returned)
	if stop.Result != 15 {
		t.Error(stop)
	}
	if err := s.RemoveImage(host); err != nil {
		t.Fatal(err)
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := foreignHost(stub); err != nil {
		t.Errorf("a closed image: %v", err)
	}
}

// The text of an error is a sentence, and errors.Is finds its kind.
func TestErrorTexts(t *testing.T) {
	store := newFunction(t, "store")
	s := newSession(t, store)
	_, missing := s.Locate("nothing")
	_, address := s.Call(8)
	_, watch := s.Watch(3, 8, Write, nil)
	for _, test := range []struct {
		err, kind error
		want      string
	}{
		{missing, ErrNotFound, "function nothing is in no image of the session"},
		{address, ErrAddress, "0x8 is in no image of the session"},
		{watch, ErrAddress, "cannot watch 8 bytes at 0x3: a watchpoint has 1, 2, 4 or 8 bytes, at a multiple of their number"},
		{s.Remove(99), ErrNotFound, "there is no breakpoint 99"},
		{s.AddImage(store), ErrInUse, "image store was added already"},
		{store.Close(), ErrInUse, "1 sessions have image store"},
	} {
		if !errors.Is(test.err, test.kind) || test.err.Error() != test.want {
			t.Errorf("%v, want %s", test.err, test.want)
		}
	}
}
