// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package session

import (
	"errors"
	"testing"
)

// A breakpoint in a debug register stops at its first hit, also where calls return
// to, which is in no image; a call that was stopped there returns when it goes on.
func TestHardwareBreakpoint(t *testing.T) {
	// loop: add eax, edi; dec edi; jnz loop; ret
	i := newCode(t, "sum", []byte{0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xc3})
	s := newSession(t, i)
	end := s.ReturnImage().Ranges()[0].Start + 1
	if _, err := s.Break(end, nil); !errors.Is(err, ErrAddress) {
		t.Errorf("a trap outside of the images: %v", err)
	}
	for _, address := range []uint64{start(i) + 2, end} {
		if _, err := s.Break(address, &BreakpointOptions{Hardware: true}); err != nil {
			t.Fatal(err)
		}
	}
	stop, err := s.Call(start(i), 3)
	for range 3 {
		if check(t, stop, err, AtBreakpoint).PC != start(i)+2 {
			t.Fatal(stop)
		}
		stop, err = s.Continue()
	}
	if check(t, stop, err, AtBreakpoint).PC != end || s.State() != Stopped {
		t.Fatalf("%v, %v", stop, s.State())
	}
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != 6 {
		t.Error(stop)
	}
}
