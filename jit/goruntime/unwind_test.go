// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/examples/forth"
)

// Goexit runs the deferred calls of the frames on both sides of the code.
func TestGoexit(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	var order []string
	call.SetHost(func(a uintptr) uintptr {
		defer func() { order = append(order, "inner") }()
		runtime.Goexit()
		return a
	})
	done := make(chan bool)
	go func() {
		defer close(done)
		defer func() { order = append(order, "outer") }()
		call.Code(e.entry, 1)
		order = append(order, "returned")
	}()
	<-done
	if got := strings.Join(order, " "); got != "inner outer" {
		t.Error(got)
	}
}

// A function that the code calls recovers a panic of its own, also one that passed other
// code, and the code continues.
func TestRecover(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	host := func(a uintptr) (result uintptr) {
		if a == 3 {
			panic(a)
		}
		defer func() {
			if r := recover(); r != nil {
				grow(200)
				runtime.GC()
				if a == 2 {
					panic(r)
				}
				result = r.(uintptr) + 1
			}
		}()
		return call.Code(e.entry, a+1)
	}
	for range 20 {
		if got := e.run(host, 0); got != 4 {
			t.Fatalf("the code returned %d", got)
		}
	}
}

// A fault at an address that is not nil, in a Go function that the code calls.
func TestPanicOnFault(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	page, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(page)
	host := func(a uintptr) (result uintptr) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if err, ok := recover().(runtime.Error); ok && strings.Contains(string(debug.Stack()), "engine.inner(") {
				result = uintptr(len(err.Error()))
			}
		}()
		return uintptr(*(*byte)(unsafe.Pointer(unsafe.SliceData(page))))
	}
	if got := e.run(host, 0); got == 0 {
		t.Errorf("the code returned %d", got)
	}
}

// Garbage collections ask the code to stop, by signals, which it must not do.
func TestNotPreempted(t *testing.T) {
	program, err := forth.Compile("busy.fth", []byte(busy), nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := forth.Load(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		if _, err := session.Call("work", 1_000_000); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-done
}

// A goroutine that a function started while the code was on the stack has it among its
// ancestors, also after it was withdrawn.
func TestAncestors(t *testing.T) {
	if os.Getenv("CLEW_TEST_ANCESTORS") != "" {
		e := newEngine(t)
		r := e.publish(t)
		withdrawn := make(chan bool)
		e.run(func(a uintptr) uintptr {
			go func() {
				<-withdrawn
				panic("on purpose")
			}()
			return a
		}, 1)
		if os.Getenv("CLEW_TEST_ANCESTORS") == "withdraw" {
			if err := r.Withdraw(); err != nil {
				t.Fatal(err)
			}
		}
		close(withdrawn)
		select {}
	}
	for kind, want := range map[string]string{"keep": "engine.inner(", "withdraw": "panic: on purpose"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAncestors$")
		cmd.Env = append(os.Environ(), "CLEW_TEST_ANCESTORS="+kind, "GODEBUG=tracebackancestors=5")
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip(err) // under qemu
		}
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "[originating from goroutine") {
			t.Errorf("%s: %v, no %q in\n%s", kind, err, want, out)
		}
	}
}

// A stack that garbage collections shrank while the code called Go has its size again when the code
// continues: call.Code on arm64 writes to its lowest word.
func TestShrunkStack(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	const waiting = 50
	entered, leave, done := make(chan bool), make(chan bool), make(chan uintptr)
	call.SetHost(func(a uintptr) uintptr {
		entered <- true
		<-leave
		return a + 1
	})
	for i := range uintptr(waiting) {
		go func() { done <- call.Code(e.entry, i) - i }()
	}
	for range waiting {
		<-entered
	}
	for range 10 { // each halves the stacks
		runtime.GC()
	}
	filled := make([][]uint64, 2000)
	for i := range filled {
		filled[i] = make([]uint64, 256)
	}
	close(leave)
	for range waiting {
		if got := <-done; got != 1 {
			t.Errorf("%d", got)
		}
	}
	for _, words := range filled {
		for _, w := range words {
			if w != 0 {
				t.Fatalf("memory has changed to %#x", w)
			}
		}
	}
}
