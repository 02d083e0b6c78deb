// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"sync"

	"github.com/clewdev/clew/internal/stackgrow"
	"github.com/clewdev/clew/object"
)

// locator finds lines before they are asked for: while the stacks are walked, and while
// the frames of tail calls are looked for, which takes less time. Each object is located
// in by one goroutine, as a file is read by one at a time.
type locator struct {
	wait sync.WaitGroup

	mu      sync.Mutex              // held for the queues of the objects too
	running int                     // goroutines
	then    func(ended func() bool) // what the last of them is to do
	ended   bool
}

// locateAhead begins to find what Name is to find of the lines at an address of an object;
// once for each.
func (o *Objects) locateAhead(in *Object, address uint64) {
	if in == nil || in.code != nil {
		return
	}
	if _, ok := in.ahead[address]; ok {
		return
	}
	f, err := in.File()
	if err != nil {
		return // which Name tells
	}
	if in.ahead == nil {
		in.ahead = make(map[uint64]struct{})
	}
	in.ahead[address] = struct{}{}
	l := &o.ahead
	l.mu.Lock()
	defer l.mu.Unlock()
	in.queue = append(in.queue, address)
	if !in.locating {
		in.locating = true
		l.running++
		l.wait.Go(func() { l.locate(in, f) })
	}
}

// after has a function called once what has been asked for is located.
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

// locate locates what is in the queue of an object.
func (l *locator) locate(in *Object, f *object.File) {
	stackgrow.Grow()
	_ = in.searchDebugFile(f) // which Name tells too
	for {
		address, ok := l.next(in)
		if !ok {
			break
		}
		_, _ = f.Locate(address)
	}
	if then := l.rest(); then != nil {
		then(l.hasEnded)
	}
}

// rest ends a goroutine, and returns what is to be done by it yet.
func (l *locator) rest() (then func(ended func() bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 && !l.ended {
		then, l.then = l.then, nil
	}
	return then
}

// next takes an address from the queue of an object.
func (l *locator) next(in *Object) (address uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || len(in.queue) == 0 {
		in.locating = false
		return 0, false
	}
	address, in.queue = in.queue[0], in.queue[1:]
	return address, true
}

// end leaves what was not begun.
func (l *locator) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wait.Wait()
}
