// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
)

// name names the places that were added since the last call, except those of generated code:
// they have names, which are dropped if they are wrong.
func (b *builder) name() {
	r := b.rec
	unnamed := r.places[b.named:]
	wrong := make(map[*stack.Object]bool) // perf maps of other processes
	for _, m := range b.maps {
		wrong[m.stackObject] = m.stackObject != nil && m.check() != nil
	}
	byObject := make(map[*stack.Object][]*stack.Code) // those that are not named yet
	for i := range unnamed {
		c := &unnamed[i].Code
		switch o := c.Object; {
		case o == nil:
		case wrong[o]:
			c.Object, c.Symbol = nil, object.Symbol{}
		case o.Generated == generated.None:
			byObject[o] = append(byObject[o], c)
		}
	}
	b.named = len(r.places)

	var wait sync.WaitGroup
	var mu sync.Mutex
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	for o, codes := range byObject {
		wait.Add(1)
		running <- struct{}{}
		go func() {
			defer func() { <-running; wait.Done() }()
			err := object.Guard(func() error { return b.nameObject(o, codes) })
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				b.noteError(err)
				if refused := (*object.RefusedError)(nil); errors.As(err, &refused) {
					b.complete = false
				}
			}
		}()
	}
	wait.Wait()
	b.shortenNames(unnamed)
}

// nameObject names the places in one object.
func (b *builder) nameObject(o *stack.Object, codes []*stack.Code) error {
	slices.SortStableFunc(codes, func(x, y *stack.Code) int { return cmp.Compare(x.LookupAddress(), y.LookupAddress()) })
	addresses := make([]uint64, len(codes))
	for i, c := range codes {
		addresses[i] = c.LookupAddress()
	}
	switch {
	case o == b.kernel.object:
		for i, s := range b.kernelSymbols(addresses) {
			codes[i].Symbol = s.Symbol
			if s.module != "" {
				codes[i].Object = b.moduleObject(s.module)
			}
		}
	case b.fileOf[o] != nil && b.fileOf[o].object != nil:
		return b.nameFile(b.fileOf[o], addresses, codes)
	}
	return nil
}

// nameFile names the places in a file.
func (b *builder) nameFile(f *file, addresses []uint64, codes []*stack.Code) error {
	var problems stack.Problems
	_, err := f.search.OpenDebugFile(f.object)
	problems.Add(err)
	symbols, err := f.object.FindSymbols(addresses)
	problems.Add(err)
	for i, c := range codes {
		c.Symbol = symbols[i]
		switch {
		case !b.opts.Lines:
			continue
		case i > 0 && addresses[i] == addresses[i-1]:
			c.Locations = codes[i-1].Locations
			continue
		}
		c.Locations, err = f.object.Locate(addresses[i])
		problems.Add(err)
		if n := len(c.Locations); b.opts.NoInline && n > 1 {
			c.Locations = c.Locations[n-1:]
		}
	}
	if b.opts.Live != nil && b.opts.Interval == nil && b.opts.Each == nil {
		problems.Add(f.object.Trim()) // nothing else is read from it
	}
	return errors.Join(problems.Errors...)
}

// shortenNames cuts long names of new places. The limit depends on the names of all places.
func (b *builder) shortenNames(places []stack.Frame) {
	for i := range places {
		b.nameLimit.Count(&places[i].Code)
	}
	for i := range places {
		b.nameLimit.Shorten(&places[i].Code)
	}
}
