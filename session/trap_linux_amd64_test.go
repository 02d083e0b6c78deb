// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"golang.org/x/sys/unix"
)

// newWritableCode is code that its program changes by itself.
func newWritableCode(t *testing.T, text string) (code []byte, i *Image) {
	t.Helper()
	code, address := page(t, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	code = code[:copy(code, text)]
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		t.Fatal(err)
	}
	i, err = NewImage(&jit.Code{Address: address, Text: code,
		Functions: []jit.Function{{Name: "writable", Size: uint64(len(code)), Unwind: unwind}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return code, i
}

// A program that changes its own code where a breakpoint has been, or is, finds
// it as it has written it: neither what was there runs, nor is it put back.
func TestCodeThatItsProgramChanges(t *testing.T) {
	const first, second = "\xb8\x01\x00\x00\x00\xc3", "\x6a\x07\x58\x90\x90\xc3" // mov eax, 1; push 7, pop rax
	for _, trapped := range []bool{false, true} {
		code, i := newWritableCode(t, first)
		s := newSession(t, i)
		b, err := s.Break(start(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if trapped {
			copy(code, second)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
		if !trapped {
			copy(code, second)
		}
		for range 2 {
			if b, err = s.Break(start(i), nil); err != nil {
				t.Fatal(err)
			}
			stop, err := s.Call(start(i))
			check(t, stop, err, AtBreakpoint)
			stop, err = s.Continue()
			if check(t, stop, err, Returned).Result != 7 {
				t.Error(stop)
			}
			if err := s.Remove(b.ID); err != nil {
				t.Fatal(err)
			}
		}
		if string(code) != second {
			t.Errorf("% x", code)
		}
	}
}

// A trap that the program puts where a breakpoint was is its own.
func TestOwnTrapWhereABreakpointWas(t *testing.T) {
	code, i := newWritableCode(t, "\x90\xc3")
	s := newSession(t, i)
	b, err := s.Break(start(i), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	code[0] = 0xcc
	stop, err := s.Call(start(i))
	check(t, stop, err, Trapped)
	stop, err = s.Continue()
	check(t, stop, err, Returned)
}
