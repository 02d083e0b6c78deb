// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

//go:noinline
func outside(p *[512]byte) int {
	var b [512]byte
	copy(b[:], p[:])
	return int(b[len(p)-1])
}

// TestStackOutside has a stack with the program's code between code of images. The code is not
// Go, because a Go function needs a goroutine, which the worker does not have.
func TestStackOutside(t *testing.T) {
	i := newFunction(t, "caller")
	s := newSession(t, i)
	function := uint64(reflect.ValueOf(outside).Pointer())
	stop, err := s.Call(function)
	if err == nil {
		t.Fatalf("%v: called", stop)
	}
	stop, err = s.Call(start(i), 0, function)
	check(t, stop, err, Signalled)
	stack, err := s.Stack(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(stack.Frames) < 1 || !strings.HasSuffix(stack.Frames[0].Function.Name, "session.outside") {
		t.Fatalf("%+v", stack)
	}
	f := &stack.Frames[0]
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if f.Image != nil || f.Object != program || len(f.Locations) == 0 || filepath.Base(f.Locations[len(f.Locations)-1].File) != "surroundings_test.go" {
		t.Errorf("%+v", f)
	}
}

// The objects around the images remain valid until the session resumes: another stack at the
// same stop does not open them again.
func TestSurroundingsStay(t *testing.T) {
	i := newCode(t, "nowhere", map[string]function{
		"amd64": instructions("31c0", "ffe0"),  // xor eax, eax; jmp rax
		"arm64": words(0xaa1f03e0, 0xd61f0000), // mov x0, xzr; br x0
	}[runtime.GOARCH].text)
	s := newSession(t, i)
	for range 2 {
		stop, err := s.Call(start(i))
		check(t, stop, err, Signalled)
		before := s.walker.around
		if _, err := s.Stack(0); err != nil || s.walker.around == nil || s.walker.around == before {
			t.Fatal("not looked at", err)
		}
		around := s.walker.around
		if _, err := s.Stack(0); err != nil || s.walker.around != around {
			t.Error("looked at twice", err)
		}
		if _, err := s.Abort(); err != nil {
			t.Fatal(err)
		}
	}
}
