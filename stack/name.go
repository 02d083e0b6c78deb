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

	// Meanwhile may be nil. With Lines, it is called on another goroutine once the lines
	// of the given frames are found, while Name continues. It may still run when Name
	// returns; Close makes ended return true and waits for it. It may use Object.File. It
	// must not use the fields that Name changes: Symbol and Locations of the given frames.
	// If several functions wait, only the last one is called.
	Meanwhile func(ended func() bool)
}

// Name finds the symbols of all frames of some stacks, and with Lines their places in the
// source, once for each address. With Lines it also inserts the frames of tail calls: see
// Frame.TailCall. It cuts long names as NameLimit does. The error says what could not be
// read of each object. Name keeps everything else that it found.
func (o *Objects) Name(stacks []Stack, opts NameOptions) error {
	w := wanted{objects: o, of: make(map[*Object]*addresses), codes: make([][]*Code, len(stacks))}
	for i := range stacks {
		w.add(i, stacks[i].Frames, opts)
	}
	if opts.Lines {
		if opts.Meanwhile != nil {
			o.lines.after(opts.Meanwhile)
		}
		w.findSymbols() // the locator reads lines meanwhile, which tail calls need
		finder := o.newTailCalls()
		for i := range stacks {
			if frames := insertTailCalls(finder, stacks[i].Frames); len(frames) > len(stacks[i].Frames) {
				stacks[i].Frames = frames
				w.add(i, frames, opts)
			}
		}
	}
	w.findSymbols()
	errs := slices.Clone(o.generated.Skipped())
	for object, a := range w.of {
		if opts.Lines {
			a.findLocations(object)
		}
		errs = append(errs, a.errs.Errors...)
	}
	w.shortenNames()
	for i := range stacks {
		w.setNames(i, stacks[i].Frames, opts)
	}
	return errors.Join(errs...)
}

// wanted is the addresses to name, by object.
type wanted struct {
	objects *Objects
	of      map[*Object]*addresses
	codes   [][]*Code // of the frames of each stack; nil for frames without an object

	// Most frames are of the same object as the previous one.
	last     *Object
	lastWant *addresses
}

func (w *wanted) addresses(o *Object) *addresses {
	if o == w.last {
		return w.lastWant
	}
	a := w.of[o]
	if a == nil {
		a = &addresses{index: make(map[uint64]*Code)}
		w.of[o] = a
	}
	w.last, w.lastWant = o, a
	return a
}

// add adds the addresses of the frames of a stack.
func (w *wanted) add(stack int, frames []Frame, opts NameOptions) {
	codes := slices.Grow(w.codes[stack][:0], len(frames))[:len(frames)]
	w.codes[stack] = codes
	for i := range frames {
		f := &frames[i]
		if f.Object == nil {
			codes[i] = nil
			continue
		}
		a := w.addresses(f.Object)
		known := len(a.list)
		codes[i] = a.add(f.Address)
		if opts.Lines && len(a.list) > known {
			w.objects.requestLines(f.Object, f.Address)
		}
	}
}

// findSymbols finds the symbols of the addresses that were added since its last call.
func (w *wanted) findSymbols() {
	for object, a := range w.of {
		a.findSymbols(object)
	}
}

// shortenNames cuts long names. The limit depends on the names of all frames.
func (w *wanted) shortenNames() {
	var limit NameLimit
	for _, codes := range w.codes {
		for _, c := range codes {
			if c != nil {
				limit.Count(c)
			}
		}
	}
	for _, a := range w.of {
		for _, c := range a.codes {
			limit.Shorten(c)
		}
	}
}

// setNames sets the names of the frames of a stack.
func (w *wanted) setNames(stack int, frames []Frame, opts NameOptions) {
	for i, c := range w.codes[stack] {
		if c == nil {
			continue
		}
		frames[i].Symbol = c.Symbol
		if opts.Lines {
			frames[i].Locations = c.Locations
		}
	}
}

// addresses are the distinct addresses of one object's frames, with their names.
type addresses struct {
	index map[uint64]*Code
	list  []uint64
	codes []*Code // at the addresses of the list
	named int     // how many of them have their symbols
	errs  Problems
}

// add returns the code at an address.
func (a *addresses) add(address uint64) *Code {
	c := a.index[address]
	if c == nil {
		c = &Code{Address: address}
		a.index[address] = c
		a.list, a.codes = append(a.list, address), append(a.codes, c)
	}
	return c
}

// findSymbols finds the symbols of the addresses that were added since its last call.
func (a *addresses) findSymbols(o *Object) {
	added, codes := a.list[a.named:], a.codes[a.named:]
	if len(added) == 0 {
		return
	}
	a.named = len(a.list)
	if o.code != nil {
		for _, c := range codes {
			c.Symbol, _ = o.code.Function(c.Address)
		}
		return
	}
	f, err := o.File()
	if o.notELF {
		return // no source names the code, which is not an error
	}
	if err != nil {
		a.errs.Add(err)
		return
	}
	if !o.Loaded {
		a.errs.Add(f.Whole())
	}
	a.errs.Add(o.searchDebugFile(f))
	symbols, err := f.FindSymbols(added)
	a.errs.Add(err)
	for i := range symbols {
		codes[i].Symbol = symbols[i]
	}
}

// findLocations finds the places of the addresses in the source.
func (a *addresses) findLocations(o *Object) {
	for _, c := range a.codes {
		var err error
		c.Locations, err = o.locate(c.Address)
		a.errs.Add(err)
	}
}

// locate finds the place of an address in the source. The error names the object or a file
// of it.
func (o *Object) locate(address uint64) ([]object.Location, error) {
	if o.code != nil {
		list, err := o.code.Locate(address)
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

// maxProblems bounds the errors that are reported of one object.
const maxProblems = 8

// Problems collects the errors of one object: the first eight, and each line of them once. A
// damaged unit gives the same error for each of its addresses, and a damaged table for each
// pass.
type Problems struct {
	Errors []error // name the object, or the file of the error

	known map[string]bool // the texts of Errors, and their lines
}

// Add adds an error, which may be nil. If only some of its lines are new, it adds those.
func (p *Problems) Add(err error) {
	if err == nil || len(p.Errors) == maxProblems {
		return
	}
	text := err.Error()
	if p.known[text] {
		return
	}
	lines := printable.Lines(err)
	added := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return p.known[line] })
	if p.known == nil {
		p.known = make(map[string]bool)
	}
	for _, line := range append(lines, text) {
		p.known[line] = true
	}
	if len(added) == len(lines) {
		p.Errors = append(p.Errors, err)
		return
	}
	for _, line := range added {
		p.Errors = append(p.Errors, errors.New(line))
	}
}
