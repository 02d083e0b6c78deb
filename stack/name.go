// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
)

// NameOptions changes what Name does.
type NameOptions struct {
	Lines bool // also find source lines, inlined calls and tail calls

	// Meanwhile, if not nil and with Lines, is called on another goroutine when the lines
	// of the frames are found that were there before, while Name does the rest. It may
	// still run when Name returns. Close waits for it, and has ended return true. It may
	// use Object.File and must not use what Name changes: of the frames that were there
	// before, Symbol and Locations. Of several that wait the last one is called.
	Meanwhile func(ended func() bool)
}

// Name finds the symbols of all frames of some stacks, and with Lines where in
// the source they are, for each address once; with Lines it also inserts the
// frames of tail calls, see Frame.TailCall. Names of more than 16 KiB are cut, and where
// those of all frames take more than 32 MiB, names of more than 256 bytes; a cut name
// ends in "…". The error says what could not be read, object by object; what was found
// is kept.
func (o *Objects) Name(stacks []Stack, opts NameOptions) error {
	w := wanted{objects: o, of: make(map[*Object]*addresses), places: make([][]int32, len(stacks))}
	for i := range stacks {
		w.add(i, stacks[i].Frames, opts)
	}
	if opts.Lines {
		if opts.Meanwhile != nil {
			o.ahead.after(opts.Meanwhile)
		}
		w.findSymbols() // lines are read meanwhile, which tail calls are found by
		tail := o.newTailCalls()
		for i := range stacks {
			if frames := tail.insert(stacks[i].Frames); len(frames) > len(stacks[i].Frames) {
				stacks[i].Frames = frames
				w.add(i, frames, opts)
			}
		}
	}
	w.findSymbols()
	errs := slices.Clone(o.generated.skipped)
	for object, a := range w.of {
		if opts.Lines {
			a.findLocations(object)
		}
		errs = append(errs, a.errs...)
	}
	w.shortenNames(stacks)
	for i := range stacks {
		w.tell(i, stacks[i].Frames)
	}
	return errors.Join(errs...)
}

// wanted is what is to be found, object by object.
type wanted struct {
	objects *Objects
	of      map[*Object]*addresses
	places  [][]int32 // of the frames of each stack, in the list of their object's addresses

	// Most frames are of the same object as the one before.
	last     *Object
	lastWant *addresses
}

func (w *wanted) addresses(o *Object) *addresses {
	if o == w.last {
		return w.lastWant
	}
	a := w.of[o]
	if a == nil {
		a = &addresses{index: make(map[uint64]int32)}
		w.of[o] = a
	}
	w.last, w.lastWant = o, a
	return a
}

// add adds the addresses of the frames of a stack.
func (w *wanted) add(stack int, frames []Frame, opts NameOptions) {
	places := slices.Grow(w.places[stack][:0], len(frames))[:len(frames)]
	w.places[stack] = places
	for i := range frames {
		f := &frames[i]
		if f.Object == nil {
			continue
		}
		a := w.addresses(f.Object)
		known := len(a.list)
		places[i] = a.add(f.Address)
		if opts.Lines && len(a.list) > known {
			w.objects.locateAhead(f.Object, f.Address)
		}
	}
}

// findSymbols finds the symbols of the addresses that were added since it was called last.
func (w *wanted) findSymbols() {
	for object, a := range w.of {
		a.findSymbols(object)
	}
}

// tell tells the frames of a stack what was found.
func (w *wanted) tell(stack int, frames []Frame) {
	for i := range frames {
		f := &frames[i]
		if f.Object == nil {
			continue
		}
		a, n := w.addresses(f.Object), w.places[stack][i]
		if int(n) < len(a.symbols) {
			f.Symbol = a.symbols[n]
		}
		if a.locations != nil {
			f.Locations = a.locations[n]
		}
	}
}

// addresses are the distinct addresses of one object's frames, and what is
// found about them.
type addresses struct {
	index     map[uint64]int32
	list      []uint64
	symbols   []object.Symbol // of the first in the list
	locations [][]object.Location
	errs      []error         // name the object, or the file that they are of
	told      map[string]bool // the texts of these, and their lines
}

// add returns the index of an address in the list.
func (a *addresses) add(address uint64) int32 {
	n, ok := a.index[address]
	if !ok {
		n = int32(len(a.list))
		a.index[address] = n
		a.list = append(a.list, address)
	}
	return n
}

// findSymbols finds the symbols of the addresses that were added since it was called last.
func (a *addresses) findSymbols(o *Object) {
	added := a.list[len(a.symbols):]
	if len(added) == 0 {
		return
	}
	if o.code != nil {
		for _, address := range added {
			symbol, _ := o.code.function(address)
			a.symbols = append(a.symbols, symbol)
		}
		return
	}
	f, err := o.File()
	if o.notELF {
		return // no source names the code, and nothing is wrong with the file
	}
	if err != nil {
		a.fail(err)
		return
	}
	if !o.Loaded {
		a.fail(f.Whole())
	}
	a.fail(o.searchDebugFile(f))
	symbols, err := f.FindSymbols(added)
	a.fail(err)
	a.symbols = append(a.symbols, symbols...)
}

// findLocations finds where in the source the addresses are.
func (a *addresses) findLocations(o *Object) {
	a.locations = make([][]object.Location, len(a.list))
	for i, address := range a.list {
		var err error
		a.locations[i], err = o.locate(address)
		a.fail(err)
	}
}

// locate finds where in the source an address is. The error names the object, or the file
// that it is of.
func (o *Object) locate(address uint64) ([]object.Location, error) {
	if o.code != nil {
		list, err := o.code.locate(address)
		if err != nil {
			err = fmt.Errorf("%s: %w", o.Name, err)
		}
		return list, err
	}
	f, err := o.File()
	if o.notELF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.Locate(address)
}

// maxTold bounds how many things are told to be wrong with one object.
const maxTold = 8

// fail notes what is wrong, line by line and each once: a unit is wrong at each of its
// addresses, a table at each pass over it.
func (a *addresses) fail(err error) {
	if err == nil || len(a.errs) == maxTold {
		return
	}
	text := err.Error()
	if a.told[text] {
		return
	}
	lines := printable.Lines(err)
	fresh := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return a.told[line] })
	if a.told == nil {
		a.told = make(map[string]bool)
	}
	for _, line := range append(lines, text) {
		a.told[line] = true
	}
	switch {
	case len(fresh) == len(lines):
		a.errs = append(a.errs, err)
	case len(fresh) > 0:
		for _, line := range fresh {
			a.errs = append(a.errs, errors.New(line))
		}
	}
}
