// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// place caches facts about an address of an object, because many threads have frames at the
// same few addresses. The first goroutine that needs a fact finds it. A search for one fact
// does not block the use of others.
type place struct {
	reader  *Reader
	object  *stack.Object
	address uint64

	open  sync.Once
	known *opened

	enter  sync.Once
	inside []*value.Scope

	leave   sync.Once
	leaving *unwind.Rules

	unitRead  sync.Once
	language  value.Language
	endsLists bool
}

// findPlaces sets the places of the frames that are in objects. The caller holds the lock.
func (r *Reader) findPlaces(frames []Frame) {
	var object *stack.Object // of the previous frame
	var places map[uint64]*place
	for k := range frames {
		f := frames[k].frame()
		if f.Object == nil {
			continue
		}
		if f.Object != object {
			object, places = f.Object, r.places[f.Object]
			if places == nil {
				places = make(map[uint64]*place)
				r.places[object] = places
			}
		}
		p := places[f.Address]
		if p == nil {
			p = &place{reader: r, object: object, address: f.Address}
			places[f.Address] = p
		}
		frames[k].place = p
	}
}

// info returns the debugging information of the object, nil if it has none.
func (p *place) info() *value.Info {
	if p == nil {
		return nil
	}
	p.open.Do(func() {
		p.reader.mu.Lock()
		defer p.reader.mu.Unlock()
		p.known = p.reader.open(p.object)
		p.known.walked = true
	})
	return p.known.info
}

// scopes returns the scopes at the address, nil if none are known.
func (p *place) scopes() []*value.Scope {
	info := p.info()
	if info == nil {
		return nil
	}
	p.enter.Do(func() {
		var err error
		if p.inside, err = info.Scopes(p.address); err != nil {
			p.reader.mu.Lock()
			defer p.reader.mu.Unlock()
			p.known.fail(err)
		}
	})
	return p.inside
}

// rules returns the unwind rules at the address, nil if there are none.
func (p *place) rules() *unwind.Rules {
	p.leave.Do(func() {
		r, pc := p.reader, p.address+p.object.Bias
		r.mu.Lock()
		defer r.mu.Unlock()
		m, _ := r.objects.Modules.Find(pc)
		if m == nil || m.Source == nil {
			return
		}
		err := object.Guard(func() (err error) {
			p.leaving, err = m.Source.Rules(pc - m.Bias)
			return err
		})
		if err != nil {
			p.leaving = nil
		}
	})
	return p.leaving
}

// preserves reports whether the rules at the address keep a register unchanged.
func (p *place) preserves(column uint64) bool {
	if p == nil {
		return false
	}
	rules := p.rules()
	if rules == nil {
		return false
	}
	for i := range rules.Registers {
		if r := &rules.Registers[i]; uint64(r.Column) == column {
			return r.Kind == cfi.SameValue
		}
	}
	return true
}

// unit sets the facts about the unit that contains the address.
func (p *place) unit() {
	p.unitRead.Do(func() {
		info := p.info()
		p.language = info.Language(p.address)
		p.endsLists = info.ListsEndAtCalls(p.address)
	})
}

// isGo reports whether the function at the address is a Go function.
func (p *place) isGo() bool {
	switch {
	case p == nil || !p.object.Go:
		return false
	case p.info() == nil:
		return true
	}
	p.unit()
	return p.language == value.Go
}

// listsEndAtCalls returns value.Info.ListsEndAtCalls for the address.
func (p *place) listsEndAtCalls() bool {
	if p.info() == nil {
		return false
	}
	p.unit()
	return p.endsLists
}
