// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// published is what the server has put into the program's list of symbol files,
// so that clients know the session's images: those that the program did not put
// there itself.
type published struct {
	publisher gdb.Publisher
	of        map[*session.Image][]jit.Registration // of all images, also those that needed none
	newest    uint64                                // entry that the list began with when it was looked at last
}

// update makes the list agree with the images of the session, and reports whether
// clients have anything to learn of it.
func (p *published) update(v *Server) (news bool, err error) {
	images := v.program.Images()
	if i := v.program.ReturnImage(); i != nil {
		images = append(images, i)
	}
	present := make(map[*session.Image]bool, len(images))
	var fresh []*session.Image
	for _, i := range images {
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
			news = true
		}
		delete(p.of, i)
	}
	list := p.read(v)
	if len(fresh) > 0 {
		starts := covered(list)
		for _, i := range fresh {
			errs = append(errs, p.publish(i, starts))
		}
		list = p.read(v)
	}
	newest := uint64(0)
	if len(list) > 0 {
		newest = list[0].Address
	}
	news = news || newest != p.newest
	p.newest = newest
	return news, errors.Join(errs...)
}

// read returns the program's list.
func (p *published) read(v *Server) []gdb.Entry {
	descriptor, _ := gdb.Own()
	if descriptor == 0 {
		return nil
	}
	lists, err := gdb.Read(&gdb.Space{Machine: jit.Host(), Memory: v.program,
		Symbols: func(string) iter.Seq[uint64] {
			return func(yield func(uint64) bool) { yield(descriptor) }
		}})
	if err != nil || len(lists) == 0 {
		return nil
	}
	return lists[0].Entries
}

// covered returns where the functions start that the list knows.
func covered(list []gdb.Entry) map[uint64]bool {
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
