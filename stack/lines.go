// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"sync"

	"github.com/clewdev/clew/internal/stackgrow"
	"github.com/clewdev/clew/object"
)

// locator finds lines in the background, while stacks are walked and tail calls are
// searched. Each object has at most one goroutine, because one goroutine at a time can
// read a file.
type locator struct {
	wait sync.WaitGroup

	mu      sync.Mutex              // also guards pending and locating of the objects
	running int                     // goroutines
	then    func(ended func() bool) // called by the last of them
	ended   bool
}

// requestLines starts to find the lines at an address of an object, once for each address.
func (o *Objects) requestLines(in *Object, address uint64) {
	if in == nil || in.code != nil {
		return
	}
	if _, ok := in.requested[address]; ok {
		return
	}
	f, err := in.File()
	if err != nil {
		return // Name reports the error
	}
	if in.requested == nil {
		in.requested = make(map[uint64]struct{})
	}
	in.requested[address] = struct{}{}
	l := &o.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	in.pending = append(in.pending, address)
	if !in.locating {
		in.locating = true
		l.running++
		l.wait.Go(func() { l.locate(in, f) })
	}
}

// after calls a function, on another goroutine, once all requested addresses are located.
func (l *locator) after(f func(ended func() bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running > 0 {
		l.then = f
	} else {
		l.wait.Go(func() { f(l.hasEnded) })
	}
}

func (l *locator) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// locate locates the pending addresses of an object.
func (l *locator) locate(in *Object, f *object.File) {
	stackgrow.Grow()
	_ = in.searchDebugFile(f) // Name reports the error
	for {
		address, ok := l.next(in)
		if !ok {
			break
		}
		_, _ = f.Locate(address)
	}
	l.mu.Lock()
	var then func(ended func() bool)
	if l.running--; l.running == 0 && !l.ended {
		then, l.then = l.then, nil
	}
	l.mu.Unlock()
	if then != nil {
		then(l.hasEnded)
	}
}

// next takes a pending address of an object.
func (l *locator) next(in *Object) (address uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || len(in.pending) == 0 {
		in.locating = false
		return 0, false
	}
	address, in.pending = in.pending[0], in.pending[1:]
	return address, true
}

// end drops the pending addresses and waits for the goroutines.
func (l *locator) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wait.Wait()
}
