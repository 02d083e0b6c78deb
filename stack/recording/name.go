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
)

// name names the places that have no names yet.
func (b *builder) name() {
	r := b.rec
	fresh := len(r.places)
	byObject := make(map[*stack.Object][]int32)
	for n := fresh; n < len(b.keys); n++ {
		key := &b.keys[n]
		r.places = append(r.places, stack.Code{Object: key.object, Address: key.address, Returns: key.returns})
		if key.object != nil {
			byObject[key.object] = append(byObject[key.object], int32(n))
		}
	}

	var wait sync.WaitGroup
	var mu sync.Mutex
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	modules := make(map[int32]string) // of places in the kernel
	for o, places := range byObject {
		if m, ok := b.codeOf[o].(*perfMap); ok && m.check() != nil {
			b.refuse(places)
			continue
		}
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
	b.shortenNames(r.places[fresh:])
	for n, module := range modules {
		o := b.moduleObject(module)
		b.keys[n].object, r.places[n].Object = o, o
	}
}

// nameObject names the places in one object.
func (b *builder) nameObject(o *stack.Object, places []int32, modules map[int32]string) error {
	r := b.rec
	slices.SortFunc(places, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.keys[x].lookup(), b.keys[y].lookup()), cmp.Compare(x, y))
	})
	addresses := make([]uint64, len(places))
	for i, n := range places {
		addresses[i] = b.keys[n].lookup()
	}
	switch {
	case o == b.kernel.object:
		for i, s := range b.kernelSymbols(addresses) {
			r.places[places[i]].Symbol = object.Symbol{Name: s.name, Address: s.address, Size: s.size}
			if s.module != "" {
				modules[places[i]] = s.module
			}
		}
	case b.codeOf[o] != nil:
		for _, n := range places {
			r.places[n].Symbol, r.places[n].Locations = b.codeOf[o].name(&b.keys[n], b.opts.Lines)
		}
	case b.fileOf[o] != nil && b.fileOf[o].object != nil:
		return b.nameFile(b.fileOf[o], addresses, places)
	}
	return nil
}

// lookup returns the address that identifies the place of a frame.
func (k *frameKey) lookup() uint64 {
	if k.returns {
		return k.address - 1
	}
	return k.address
}

// maxTold bounds how many things are told to be wrong with the lines of one file.
const maxTold = 8

// nameFile names the frames of a file.
func (b *builder) nameFile(f *file, addresses []uint64, frames []int32) error {
	r := b.rec
	_, debugErr := f.search.OpenDebugFile(f.object)
	symbols, err := f.object.FindSymbols(addresses)
	for i, n := range frames {
		r.places[n].Symbol = symbols[i]
	}
	errs := []error{debugErr, err}
	if b.opts.Lines {
		told := make(map[string]bool) // what is wrong with a unit is so at each of its addresses
		for i, n := range frames {
			if i > 0 && addresses[i] == addresses[i-1] {
				r.places[n].Locations = r.places[frames[i-1]].Locations
				continue
			}
			locations, err := f.object.Locate(addresses[i])
			if err != nil && !told[err.Error()] && len(told) < maxTold {
				told[err.Error()] = true
				errs = append(errs, err)
			}
			if b.opts.NoInline && len(locations) > 1 {
				locations = locations[len(locations)-1:]
			}
			r.places[n].Locations = locations
		}
	}
	return errors.Join(errs...) // which name the file, or its debug file
}
