// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"runtime"
	"sync"

	"github.com/clewdev/clew/object"
)

// locator finds lines before they are asked for, on all processors: while the stacks are
// walked, and while the frames of tail calls are looked for, which takes less time.
type locator struct {
	wait sync.WaitGroup

	mu      sync.Mutex
	queue   []locatedPlace
	running int
}

// locatedPlace is an address whose line is to be found.
type locatedPlace struct {
	object  *Object
	file    *object.File
	address uint64
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
	l.queue = append(l.queue, locatedPlace{in, f, address})
	if l.running < runtime.GOMAXPROCS(0) {
		l.running++
		l.wait.Go(l.run)
	}
}

// run locates until nothing is left.
func (l *locator) run() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.running--
			l.mu.Unlock()
			return
		}
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.mu.Unlock()
		_ = next.object.searchDebugFile(next.file) // which Name tells too
		_, _ = next.file.Locate(next.address)
	}
}

// end leaves what was not begun.
func (l *locator) end() {
	l.mu.Lock()
	l.queue = nil
	l.mu.Unlock()
	l.wait.Wait()
}
