// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stackroom

import (
	"testing"
	"unsafe"
)

// deep calls itself so many times, with a KiB of variables each, and returns a sum that
// depends on where they are.
//
//go:noinline
func deep(calls int) uintptr {
	var a [1 << 10]byte
	a[calls] = 1
	if calls == 0 {
		return uintptr(unsafe.Pointer(&a))
	}
	return deep(calls-1) + uintptr(a[calls-1])
}

// Where a stack that had no room was copied to, its variables are elsewhere than before.
func TestTake(t *testing.T) {
	moved := func(take bool) (moved bool) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if take {
				Take()
			}
			var here byte
			before := uintptr(unsafe.Pointer(&here))
			deep(8)
			moved = before != uintptr(unsafe.Pointer(&here))
		}()
		<-done
		return moved
	}
	if moved(true) {
		t.Error("a stack with room was copied")
	}
	if !moved(false) {
		t.Error("a stack without room was not copied, so that this test tells nothing")
	}
}
