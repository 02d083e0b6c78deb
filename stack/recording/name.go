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
	byObject := make(map[*stack.Object][]int32) // those that are not named yet
	for i := range unnamed {
		c := &unnamed[i].Code
		switch o := c.Object; {
		case o == nil:
		case wrong[o]:
			c.Object, c.Symbol = nil, object.Symbol{}
		case o.Generated == generated.None:
			byObject[o] = append(byObject[o], int32(b.named+i))
		}
	}
	b.named = len(r.places)

	var wait sync.WaitGroup
	var mu sync.Mutex
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	modules := make(map[int32]string) // of places in the kernel
	for o, places := range byObject {
		wait.Add(1)
		running <- struct{}{}
		go func() {
			defer func() { <-running; wait.Done() }()
			err := object.Guard(func() error { return b.nameObject(o, places, modules) })
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
	for n, module := range modules {
		r.places[n].Object = b.moduleObject(module)
	}
}

// nameObject names the places in one object.
func (b *builder) nameObject(o *stack.Object, places []int32, modules map[int32]string) error {
	r := b.rec
	slices.SortFunc(places, func(x, y int32) int {
		return cmp.Or(cmp.Compare(r.places[x].LookupAddress(), r.places[y].LookupAddress()), cmp.Compare(x, y))
	})
	addresses := make([]uint64, len(places))
	for i, n := range places {
		addresses[i] = r.places[n].LookupAddress()
	}
	switch {
	case o == b.kernel.object:
		for i, s := range b.kernelSymbols(addresses) {
			r.places[places[i]].Symbol = object.Symbol{Name: s.name, Address: s.address, Size: s.size}
			if s.module != "" {
				modules[places[i]] = s.module
			}
		}
	case b.fileOf[o] != nil && b.fileOf[o].object != nil:
		return b.nameFile(b.fileOf[o], addresses, places)
	}
	return nil
}

// nameFile names the places in a file.
func (b *builder) nameFile(f *file, addresses []uint64, places []int32) error {
	var problems stack.Problems
	_, err := f.search.OpenDebugFile(f.object)
	problems.Add(err)
	symbols, err := f.object.FindSymbols(addresses)
	problems.Add(err)
	for i, n := range places {
		c := &b.rec.places[n]
		c.Symbol = symbols[i]
		switch {
		case !b.opts.Lines:
			continue
		case i > 0 && addresses[i] == addresses[i-1]:
			c.Locations = b.rec.places[places[i-1]].Locations
			continue
		}
		c.Locations, err = f.object.Locate(addresses[i])
		problems.Add(err)
		if n := len(c.Locations); b.opts.NoInline && n > 1 {
			c.Locations = c.Locations[n-1:]
		}
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
