// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

// Readers find functions that stay, while the modules with them are split, joined and replaced.
func TestReaders(t *testing.T) {
	const pages = 64
	text := textMemory(t, pages*codePage)
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(text))))
	var stay, move []int
	for i := range pages {
		if i%3 == 1 {
			stay = append(stay, 128*i)
		} else {
			move = append(move, 128*i, 128*i+5)
		}
	}
	defer publish(t, leaves(t, text, "stay", stay...)).Withdraw()
	var stop atomic.Bool
	done := make(chan bool)
	for range 2 {
		go func() {
			for i := 0; !stop.Load(); i++ {
				at := stay[i%len(stay)]
				if got, want := name(base+uint64(at)*32), fmt.Sprintf("stay.f%d", at); got != want {
					t.Errorf("%q, expected %q", got, want)
					break
				}
			}
			done <- true
		}()
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		r := publish(t, leaves(t, text, "move", move...))
		for range len(move) / 2 {
			if err := r.WithdrawFunctions(random.IntN(len(move))); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	<-done
	<-done
}

// Goroutines wait in functions that the code calls, and their stacks are scanned and walked, while
// other functions in the page of the code come and go.
func TestParked(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	const waiting = 20
	entered, leave, done := make(chan bool), make(chan bool), make(chan uintptr)
	call.SetHost(func(a uintptr) uintptr {
		grow(int(a) % 10)
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
	var stop atomic.Bool
	collected := make(chan bool)
	go func() {
		buffer := make([]byte, 64<<10)
		for !stop.Load() {
			runtime.GC()
			if n := runtime.Stack(buffer, true); n < len(buffer) && bytes.Count(buffer[:n], []byte("engine.inner(")) != waiting {
				t.Errorf("%d of %d goroutines", bytes.Count(buffer[:n], []byte("engine.inner(")), waiting)
				break
			}
		}
		close(collected)
	}()
	for round := range 3000 {
		var at []int
		for i := 40 + round%7; i < 128; i += 1 + round%5 {
			at = append(at, i)
		}
		r := publish(t, leaves(t, e.code.Text, "other", at...))
		if err := r.WithdrawFunctions(round%len(at), 0); err != nil {
			t.Fatal(err)
		}
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	<-collected
	close(leave)
	for range waiting {
		if got := <-done; got != 1 {
			t.Errorf("%d", got)
		}
	}
}

// Rounds of publishing, running and withdrawing at the same addresses, while garbage collections
// scan the stack with the code on it, and other goroutines read the tables. Memory does not grow.
func TestChurn(t *testing.T) {
	rounds := 3000
	if os.Getenv("CLEW_FULL") == "1" {
		rounds = 100_000
	}
	e := newEngine(t)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // unless go test -cpuprofile
		defer pprof.StopCPUProfile()
	}
	var stop atomic.Bool
	done := make(chan bool)
	for range 2 {
		go func() {
			defer func() { done <- true }()
			var kept []*runtime.Func
			for i := 0; !stop.Load(); i++ {
				if f := runtime.FuncForPC(e.entry); f != nil {
					kept = append(kept[max(0, len(kept)-50):], f)
				}
				for _, f := range kept {
					_ = f.Name()
					f.FileLine(e.entry)
					f.Entry()
				}
				buffer := make([]byte, 4096)
				runtime.Stack(buffer, i%10 == 0)
			}
		}()
	}
	names := *e.code
	memory := 0
	for i := range rounds {
		c := names
		c.Functions = append([]jit.Function{}, names.Functions...)
		// The code at an address differs from round to round, and its tables with it.
		c.Functions[i%2].Lines = []jit.Line{{File: "/src/a.src", Line: i}, {Offset: 8, File: "/src/b.src", Line: i + 1}}
		c.Functions[1-i%2].Name = fmt.Sprintf("engine.name%d", i%100)
		r, err := Default.Publish(&c)
		if err != nil {
			t.Fatal(err)
		}
		result := e.run(func(a uintptr) uintptr {
			if i%16 == 0 {
				runtime.GC()
				grow(20)
			}
			list := stack()
			p := new(uintptr)
			*p = a + 1
			if len(list) < 8 {
				t.Errorf("round %d: %q", i, list)
			}
			return *p
		}, uintptr(i))
		if result != uintptr(i)+1 {
			t.Fatalf("round %d: the code returned %d", i, result)
		}
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
		if i == 2000 {
			memory = Default.Stats().Memory
		}
	}
	stop.Store(true)
	<-done
	<-done
	s := Default.Stats()
	t.Logf("%d rounds: %+v", rounds, s)
	// The tables are not reused, but the system gets their pages back: they count as accessible.
	if s.Retired > 2*maxRetired || s.Memory-memory > 200*rounds {
		t.Errorf("%+v; after 2000 rounds %d bytes", s, memory)
	}
}
