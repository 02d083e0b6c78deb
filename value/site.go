// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// callSite is a call that a function makes (DWARF 5 §3.4). The frames of many
// threads return to the same few: what an entry says is read once.
type callSite struct {
	back uint64 // the address that it returns to
	node *node
	read bool // what follows

	to         *program // computes where an indirect call leads to; nil for another
	parameters []siteParameter

	callee *body // that leads was found out for, nil before
	leads  bool
}

// siteParameter is what a call passes for a parameter.
type siteParameter struct {
	entries [2]object.DebugOffset // of the parameter, where named
	named   [2]bool
	place   parameter // where located
	located bool

	value, data siteValue // of the parameter, and of what it leads to
	hasData     bool
}

// siteValue is a value that a call passes.
type siteValue struct {
	entry.Attribute
	program *program // of an expression that was asked for
}

// siteOf returns the call of a function that returns to an address, nil where its
// entries have none.
func (i *Info) siteOf(b *body, back uint64) *callSite {
	if b.sites == nil {
		b.sites = sitesOf(b.root)
		i.held += len(b.sites)
	}
	k, ok := slices.BinarySearchFunc(b.sites, back, func(s callSite, back uint64) int { return cmp.Compare(s.back, back) })
	if !ok {
		return nil
	}
	site := &b.sites[k]
	if !site.read {
		i.readSite(site, b.unit)
	}
	return site
}

// sitesOf returns the calls of a function by the address that they return to; of several
// that return to one, the first entry's comes first.
func sitesOf(root *node) []callSite {
	count := 0
	for k := range root.Below {
		if _, ok := callReturn(&root.Below[k]); ok {
			count++
		}
	}
	list := make([]callSite, 0, count)
	for k := range root.Below {
		n := &root.Below[k]
		if back, ok := callReturn(n); ok {
			list = append(list, callSite{back: back, node: n})
		}
	}
	slices.SortStableFunc(list, func(a, b callSite) int { return cmp.Compare(a.back, b.back) })
	return list
}

// callReturn returns the address that a call returns to.
func callReturn(n *node) (uint64, bool) {
	switch n.Tag {
	case dwarf.TagCallSite:
		at, ok := n.Address(dwarf.AttrCallReturnPC)
		return at, ok
	case dw.TagGNUCallSite:
		at, ok := n.Address(dwarf.AttrLowpc)
		return at, ok
	}
	return 0, false
}

func (i *Info) readSite(site *callSite, u *entry.Unit) {
	site.read = true
	if target := i.firstValue(site.node, u, dwarf.AttrCallTarget, dw.AttrGNUCallSiteTarget); target.Kind == entry.AttributeBlock {
		site.to = i.decode(target.Bytes, u.ReferenceWidth())
		i.held += len(site.to.operations)
	}
	for c := range site.node.Direct() {
		if c.Tag != dwarf.TagCallSiteParameter && c.Tag != dw.TagGNUCallSiteParameter {
			continue
		}
		var p siteParameter
		for k, a := range []dwarf.Attr{dwarf.AttrCallParameter, dwarf.AttrAbstractOrigin} {
			p.entries[k], p.named[k] = c.Reference(a)
		}
		if location, _ := c.Block(dwarf.AttrLocation); len(location) > 0 {
			p.place, p.located = i.parameterOf(bytes.Clone(location))
		}
		p.value.Attribute = i.firstValue(c, u, dwarf.AttrCallValue, dw.AttrGNUCallSiteValue)
		p.data.Attribute = i.firstValue(c, u, dwarf.AttrCallDataValue, dw.AttrGNUCallSiteDataValue)
		p.hasData = c.Has(dwarf.AttrCallDataValue) || c.Has(dw.AttrGNUCallSiteDataValue)
		site.parameters = append(site.parameters, p)
	}
	i.held += 4 * len(site.parameters)
}

// firstValue returns the first of some attributes that an entry has.
func (i *Info) firstValue(n *node, u *entry.Unit, attrs ...dwarf.Attr) (value entry.Attribute) {
	for _, a := range attrs {
		if value = i.entries.ValueOf(&n.DebugEntry, a, u); value.Kind != entry.AttributeAbsent {
			break
		}
	}
	return value
}

// is reports whether c is what a call passes for p.
func (c *siteParameter) is(p parameter) bool {
	switch {
	case p.kind == parameterEntry:
		return c.named[0] && c.entries[0] == p.entry || c.named[1] && c.entries[1] == p.entry
	case !c.located:
		return false
	case p.kind == parameterMemory:
		return c.place.kind == parameterRegister && c.place.column == p.column && p.offset == 0
	}
	return p.kind == c.place.kind && p.column == c.place.column && p.offset == c.place.offset
}

// calls reports whether a call site calls the function that e's frame is in: a
// jump at the end of what it calls may have led here instead.
func (i *Info) calls(site *callSite, e *evaluator) bool {
	n := site.node
	for _, a := range []dwarf.Attr{dwarf.AttrCallOrigin, dwarf.AttrAbstractOrigin} {
		off, ok := n.Reference(a)
		switch {
		case !ok:
			continue
		case site.callee == e.body:
		case i == e.info:
			site.callee, site.leads = e.body, i.isFunction(off, e.body)
		default:
			site.callee, site.leads = e.body, e.isSymbol(i.publicName(off))
		}
		return site.leads
	}
	return n.Has(dwarf.AttrCallTarget) || n.Has(dw.AttrGNUCallSiteTarget)
}

// isSymbol reports whether the function that e's frame is in has a name for other
// objects; it can have several.
func (e *evaluator) isSymbol(name string) bool {
	if name == "" {
		return false
	}
	b := e.body
	names := b.names.Load()
	if names == nil {
		// What is called by its name is found by that.
		if s, ok := e.info.object.Symbol(name); ok && s.Address == b.entry {
			return true
		}
		names = new([]string)
		for _, s := range e.info.object.SymbolsAt(b.entry) {
			plain, _, _ := strings.Cut(s.Name, "@")
			*names = append(*names, plain)
		}
		b.names.Store(names)
	}
	return slices.Contains(*names, name)
}

// publicName returns the name by which a function of any object is called that is
// declared at an offset, "" where it is one of the unit's own.
func (i *Info) publicName(off object.DebugOffset) string {
	e, err := i.entries.Read(off)
	if err != nil || !isExternal(e) {
		return ""
	}
	return i.symbolName(e)
}

// symbolName returns the name that an entry has in a symbol table.
func (i *Info) symbolName(e *object.DebugEntry) string {
	if name := i.entries.LinkageName(e); name != "" {
		return name
	}
	return i.entries.NameOf(e)
}
