// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stackgrow

import (
	"testing"
	"unsafe"
)

// deep is a recursion with 1 KiB of variables a call. It returns a sum that depends on their
// addresses.
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

// The addresses of variables change when a stack is copied to a larger one.
func TestGrow(t *testing.T) {
	moved := func(grow bool) (moved bool) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if grow {
				Grow()
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
		t.Error("a stack of sufficient size was copied")
	}
	if !moved(false) {
		t.Error("a small stack was not copied, so this test shows nothing")
	}
}
