// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
)

// name names the frames that have no names yet.
func (b *builder) name() {
	r := b.rec
	r.frames = append(r.frames, make([]Frame, len(b.keys)-len(r.frames))...)
	byObject := make(map[int32][]int32)
	for n := b.named; n < len(b.keys); n++ {
		key := &b.keys[n]
		r.frames[n] = Frame{Kind: key.kind, Code: stack.Code{Address: key.address}, Returns: key.returns}
		if key.object >= 0 {
			byObject[key.object] = append(byObject[key.object], int32(n))
		}
	}
	first := b.named
	b.named = len(b.keys)

	var wait sync.WaitGroup
	var mu sync.Mutex
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	modules := make(map[int32]string) // of frames of the kernel
	for index, frames := range byObject {
		if m, ok := b.codeOf[index].(*perfMap); ok && m.check() != nil {
			b.refuse(frames)
			continue
		}
		wait.Add(1)
		room <- struct{}{}
		go func() {
			defer func() { <-room; wait.Done() }()
			err := object.Guard(func() error { return b.nameObject(index, frames, modules) })
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
	b.shortenNames(r.frames[first:])

	for n, module := range modules {
		k := &b.kernel
		index, ok := k.modules[module]
		if !ok {
			if k.modules == nil {
				k.modules = make(map[string]int32)
			}
			index = b.object(Object{Name: "[" + module + "]", File: b.objects[k.object].File})
			k.modules[module] = index
		}
		b.keys[n].object = index
	}
	// Objects are appended to no more until the next call, which sets all anew.
	r.Objects = b.objects
	for n := range r.frames {
		if index := b.keys[n].object; index >= 0 {
			r.frames[n].Object = &r.Objects[index]
		}
	}
}

// nameObject names the frames of one object.
func (b *builder) nameObject(index int32, frames []int32, modules map[int32]string) error {
	r := b.rec
	slices.SortFunc(frames, func(x, y int32) int {
		switch a, c := b.keys[x].lookup(), b.keys[y].lookup(); {
		case a < c:
			return -1
		case a > c:
			return 1
		}
		return int(x - y)
	})
	addresses := make([]uint64, len(frames))
	for i, n := range frames {
		addresses[i] = b.keys[n].lookup()
	}
	switch {
	case index == b.kernel.object:
		for i, s := range b.kernelSymbols(addresses) {
			r.frames[frames[i]].Symbol = object.Symbol{Name: s.name, Address: s.address, Size: s.size}
			if s.module != "" {
				modules[frames[i]] = s.module
			}
		}
	case b.codeOf[index] != nil:
		for _, n := range frames {
			r.frames[n].Symbol, r.frames[n].Locations = b.codeOf[index].name(&b.keys[n], b.opts.Lines)
		}
	case b.byIndex[index] != nil && b.byIndex[index].object != nil:
		return b.nameFile(b.byIndex[index], addresses, frames)
	}
	return nil
}

// lookup returns the address that tells where a frame is.
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
		r.frames[n].Symbol = symbols[i]
	}
	errs := []error{debugErr, err}
	if b.opts.Lines {
		told := make(map[string]bool) // what is wrong with a unit is so at each of its addresses
		for i, n := range frames {
			if i > 0 && addresses[i] == addresses[i-1] {
				r.frames[n].Locations = r.frames[frames[i-1]].Locations
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
			r.frames[n].Locations = locations
		}
	}
	return errors.Join(errs...) // which name the file, or its debug file
}
