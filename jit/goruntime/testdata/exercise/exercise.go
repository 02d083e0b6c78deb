// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Package exercise publishes and runs generated code, for tests that build programs in several ways.
package exercise

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/goruntime"
	"github.com/clewdev/clew/jit/goruntime/internal/engine"
)

// Run runs generated code for a while, with garbage collections, stack growth, panics and
// withdrawals. In each round it calls beside, unless that is nil, from a function that the code
// calls. It ends with a panic there if crash is true.
func Run(beside func(), crash bool) error {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	m, err := jit.NewMemory(4096)
	if err != nil {
		return err
	}
	e, err := engine.New(m)
	if err != nil {
		return err
	}
	other := *e.Code
	other.Functions = e.Code.Functions[1:]
	inner := *e.Code
	inner.Functions = e.Code.Functions[:1]
	if _, err := goruntime.Default.Publish(&inner); err != nil {
		return err
	}
	for start, round := time.Now(), 0; round < 20 || time.Since(start) < 200*time.Millisecond; round++ {
		outer, err := goruntime.Default.Publish(&other)
		if err != nil {
			return err
		}
		trace := ""
		call.SetHost(func(a uintptr) uintptr {
			grow(100)
			if beside != nil {
				beside()
			}
			if crash {
				panic("on purpose")
			}
			runtime.GC()
			trace = string(debug.Stack())
			if round%2 > 0 {
				panic(a + 1)
			}
			return a + 1
		})
		done := make(chan uintptr)
		go func() {
			defer func() {
				if r := recover(); r != nil {
					done <- r.(uintptr)
				}
			}()
			done <- call.Code(e.Entry, uintptr(round))
		}()
		if got := <-done; got != uintptr(round)+1 {
			return fmt.Errorf("the code returned %d in round %d", got, round)
		}
		rest := trace
		for _, want := range []string{"call.goHost(", "engine.inner(", "/src/b.src:20", "jit.outer(", "call.Code("} {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				return fmt.Errorf("no %q after those before it in\n%s", want, trace)
			}
			rest = after
		}
		if err := outer.Withdraw(); err != nil {
			return err
		}
	}
	return nil
}

func grow(n int) byte {
	var b [2048]byte
	b[n%len(b)] = byte(n)
	if n == 0 {
		return 0
	}
	return grow(n-1) + b[n%len(b)]
}
