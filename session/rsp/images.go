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

// published is what the server has put into the program's list of symbol files,
// so that clients know the session's images: those that the program did not put
// there itself. It is the driving goroutine's.
type published struct {
	publisher gdb.Publisher
	of        map[*session.Image][]jit.Registration // of all images, also those that needed none

	changes uint64           // of the list, when it was read
	known   map[uint64]entry // what was in it then, by address
	events  []event          // what clients have not been told
}

// entry is what tells an entry of the list from a later one at its address.
type entry struct {
	symfile, size uint64
	hash          uint64
}

var seed = maphash.MakeSeed()

// event is a change of the list that debuggers are told of one by one.
type event struct {
	action uint32 // as struct jit_descriptor has it
	entry  uint64 // address
}

// Actions of struct jit_descriptor (GDB manual, "JIT Declarations").
const (
	jitRegister   = 1
	jitUnregister = 2
)

// update makes the list agree with the images of the session, and notes what has
// changed in it.
func (p *published) update(v *Server) error {
	images := v.program.Images()
	if i := v.program.ReturnImage(); i != nil {
		images = append(images, i)
	}
	present := make(map[*session.Image]bool, len(images))
	var fresh []*session.Image
	for _, i := range images {
		if v.scratch.owns(i) {
			continue
		}
		present[i] = true
		if _, ok := p.of[i]; !ok {
			fresh = append(fresh, i)
		}
	}
	var errs []error
	for i, registrations := range p.of {
		if present[i] {
			continue
		}
		for _, r := range registrations {
			errs = append(errs, r.Withdraw())
		}
		delete(p.of, i)
	}
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

// compare notes what is another in the list than before.
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
	for _, e := range slices.Backward(list) { // as they came
		if p.known[e.Address] != now[e.Address] {
			p.events = append(p.events, event{jitRegister, e.Address})
		}
	}
	p.known = now
}

// overlay makes memory that was read at an address what it is while debuggers are
// told of a change: the list's own descriptor is that of the last one.
func (e event) overlay(p []byte, address uint64) {
	descriptor, _ := gdb.Own()
	if e.entry == 0 || descriptor == 0 {
		return
	}
	// struct jit_descriptor: version, action, relevant entry, first entry.
	var told [16]byte
	binary.NativeEndian.PutUint32(told[0:], 1)
	binary.NativeEndian.PutUint32(told[4:], e.action)
	binary.NativeEndian.PutUint64(told[8:], e.entry)
	for i, b := range told {
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

// covered returns where the functions start that the list knows.
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

// publish puts the files of an image into the list that are not there.
func (p *published) publish(i *session.Image, covered map[uint64]bool) error {
	if p.of == nil {
		p.of = make(map[*session.Image][]jit.Registration)
	}
	p.of[i] = nil
	if functions := i.Functions(); len(functions) > 0 {
		all := true
		for _, f := range functions {
			all = all && covered[f.Start]
		}
		if all {
			return nil
		}
	}
	// A program that has a second list (an LLVM in it) has clients see both.
	p.publisher.AllowSecond = true
	for _, file := range i.ELF() {
		r, err := p.publisher.PublishImage(file)
		if err != nil {
			return fmt.Errorf("symbols of %s: %w", i.Name(), err)
		}
		p.of[i] = append(p.of[i], r)
	}
	return nil
}

// withdraw takes everything out of the list again.
func (p *published) withdraw() {
	for _, registrations := range p.of {
		for _, r := range registrations {
			_ = r.Withdraw() // it fails for no image
		}
	}
	p.of = nil
}
