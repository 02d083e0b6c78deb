// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"runtime"
	"testing"
)

// Break refuses an address in the middle of an instruction where it can. Instructions of arm64
// are at multiples of four.
func TestBreakInside(t *testing.T) {
	add := newFunction(t, "add") // 48 8d 04 37: lea (%rdi,%rsi,1),%rax, and without its prefix of %eax
	s := newSession(t, add)
	b, err := s.Break(start(add)+1, nil)
	if runtime.GOARCH == "arm64" {
		if !errors.Is(err, ErrAddress) {
			t.Error(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	if stop, err := s.Call(start(add), 2, 3); err != nil || stop.Result != 5 {
		t.Errorf("%v, %v", stop, err)
	}
}
