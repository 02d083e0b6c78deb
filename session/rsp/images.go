// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// published has the images that the server has added to the program's list of symbol files, so that
// clients know them: those that the program itself has not added. Only the driving goroutine uses it.
type published struct {
	publisher     gdb.Publisher
	registrations map[*session.Image][]jit.Registration // nil for an image that the program has added

	changes uint64           // gdb.Changes at the last read of the list
	known   map[uint64]entry // the list at that time, by address
	events  []event          // changes that the client has not received
}

// entry distinguishes an entry of the list from a later one at its address.
type entry struct {
	symfile, size uint64
	hash          uint64
}

var seed = maphash.MakeSeed()

// event is a change of the list. A debugger receives changes one by one.
type event struct {
	action uint32 // as in struct jit_descriptor
	entry  uint64 // address
}

// Actions of struct jit_descriptor (GDB manual, "JIT Declarations").
const (
	jitRegister   = 1
	jitUnregister = 2
)

// update updates the list to the images of the session, and records its changes.
func (p *published) update(v *Server) error {
	images := v.program.Images()
	if i := v.program.ReturnImage(); i != nil {
		images = append(images, i)
	}
	images = slices.DeleteFunc(images, v.scratch.owns)
	present := make(map[*session.Image]bool, len(images))
	for _, i := range images {
		present[i] = true
	}
	var errs []error
	for i, registrations := range p.registrations {
		if present[i] {
			continue
		}
		for _, r := range registrations {
			errs = append(errs, r.Withdraw())
		}
		delete(p.registrations, i)
	}
	fresh := slices.DeleteFunc(images, func(i *session.Image) bool {
		_, ok := p.registrations[i]
		return ok
	})
	if len(fresh) > 0 {
		starts := covered(p.read(v))
		for _, i := range fresh {
			errs = append(errs, p.publish(i, starts))
		}
	}
	if changes := gdb.Changes(); changes != p.changes {
		p.changes = changes
		p.compare(p.read(v))
	}
	return errors.Join(errs...)
}

// compare records the changes of the list as events.
func (p *published) compare(list []registry.Entry) {
	now := make(map[uint64]entry, len(list))
	for _, e := range list {
		now[e.Address] = entry{symfile: e.Symfile, size: e.Size, hash: maphash.Bytes(seed, e.Image)}
	}
	for address, e := range p.known {
		if now[address] != e {
			p.events = append(p.events, event{jitUnregister, address})
		}
	}
	for _, e := range slices.Backward(list) { // in the order in which they were added
		if p.known[e.Address] != now[e.Address] {
			p.events = append(p.events, event{jitRegister, e.Address})
		}
	}
	p.known = now
}

// overlay changes memory that was read at an address to the descriptor of the event. The real
// descriptor is that of the last change.
func (e event) overlay(p []byte, address uint64) {
	descriptor, _ := gdb.Own()
	if e.entry == 0 || descriptor == 0 {
		return
	}
	// struct jit_descriptor: version, action, relevant entry, first entry.
	var fields [16]byte
	binary.NativeEndian.PutUint32(fields[0:], 1)
	binary.NativeEndian.PutUint32(fields[4:], e.action)
	binary.NativeEndian.PutUint64(fields[8:], e.entry)
	for i, b := range fields {
		if at := descriptor + uint64(i) - address; at < uint64(len(p)) {
			p[at] = b
		}
	}
}

// read returns the program's list.
func (p *published) read(v *Server) []registry.Entry {
	descriptor, _ := gdb.Own()
	if descriptor == 0 {
		return nil
	}
	lists, err := registry.Read(&registry.Space{Machine: jit.Host(), Memory: v.program,
		Symbols: func(string) iter.Seq[uint64] {
			return func(yield func(uint64) bool) { yield(descriptor) }
		}})
	if err != nil || len(lists) == 0 {
		return nil
	}
	return lists[0].Entries
}

// covered returns the start addresses of the functions in the list.
func covered(list []registry.Entry) map[uint64]bool {
	starts := make(map[uint64]bool)
	for _, e := range list {
		if e.Image == nil {
			continue
		}
		f, err := object.NewFile(bytes.Clone(e.Image), "symbol file")
		if err != nil {
			continue
		}
		for s := range f.Symbols() {
			starts[s.Address] = true
		}
	}
	return starts
}

// publish adds the files of an image to the list, unless the list has all its functions.
func (p *published) publish(i *session.Image, covered map[uint64]bool) error {
	if p.registrations == nil {
		p.registrations = make(map[*session.Image][]jit.Registration)
	}
	p.registrations[i] = nil
	functions := i.Functions()
	if len(functions) > 0 && !slices.ContainsFunc(functions, func(f session.Function) bool { return !covered[f.Start] }) {
		return nil
	}
	// If the program has a second list, of an LLVM in it, clients see both.
	p.publisher.AllowSecond = true
	for _, file := range i.ELF() {
		r, err := p.publisher.PublishImage(file)
		if err != nil {
			return fmt.Errorf("symbols of %s: %w", i.Name(), err)
		}
		p.registrations[i] = append(p.registrations[i], r)
	}
	return nil
}

// withdraw removes all images from the list.
func (p *published) withdraw() {
	for _, registrations := range p.registrations {
		for _, r := range registrations {
			_ = r.Withdraw() // it never fails for a registered image
		}
	}
	p.registrations = nil
}
