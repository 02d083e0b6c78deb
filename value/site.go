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

// callSite is a call in a function (DWARF 5 §3.4). The frames of many threads return to the same
// few: each is decoded once.
type callSite struct {
	back    uint64 // return address
	node    *node
	decoded bool // the fields below are valid

	target     *program // computes the target of an indirect call, nil for a direct one
	parameters []siteParameter

	callee      *body // callsCallee was computed for it, nil before
	callsCallee bool
}

// siteParameter is the value that a call passes for a parameter.
type siteParameter struct {
	entries [2]object.DebugOffset // of the parameter, if named
	named   [2]bool
	place   parameter // if located
	located bool

	value, data siteValue // of the parameter, and at the address in it
	hasData     bool
}

// siteValue is a value that a call passes.
type siteValue struct {
	entry.Attribute
	program *program // of an expression; nil before it is needed
}

// siteOf returns the call of a function that returns to an address, or nil.
func (i *Info) siteOf(b *body, back uint64) *callSite {
	if b.sites == nil {
		b.sites = sitesOf(b.root)
		i.retained += len(b.sites)
	}
	k, ok := slices.BinarySearchFunc(b.sites, back, func(s callSite, back uint64) int { return cmp.Compare(s.back, back) })
	if !ok {
		return nil
	}
	site := &b.sites[k]
	if !site.decoded {
		i.decodeSite(site, b.unit)
	}
	return site
}

// sitesOf returns the calls of a function by return address. Calls with the same address
// have the order of their entries.
func sitesOf(root *node) []callSite {
	list := []callSite{} // not nil
	for k := range root.Below {
		n := &root.Below[k]
		if back, ok := callReturn(n); ok {
			list = append(list, callSite{back: back, node: n})
		}
	}
	list = slices.Clip(list)
	slices.SortStableFunc(list, func(a, b callSite) int { return cmp.Compare(a.back, b.back) })
	return list
}

// callReturn returns the return address of a call.
func callReturn(n *node) (uint64, bool) {
	switch n.Tag {
	case dwarf.TagCallSite:
		return n.Address(dwarf.AttrCallReturnPC)
	case dw.TagGNUCallSite:
		return n.Address(dwarf.AttrLowpc)
	}
	return 0, false
}

func (i *Info) decodeSite(site *callSite, u *entry.Unit) {
	site.decoded = true
	if target := i.firstValue(site.node, u, dwarf.AttrCallTarget, dw.AttrGNUCallSiteTarget); target.Kind == entry.AttributeBlock {
		site.target = i.decode(target.Bytes, u.ReferenceWidth())
		i.retained += len(site.target.operations)
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
	i.retained += 4 * len(site.parameters)
}

// firstValue returns the first of several attributes that an entry has.
func (i *Info) firstValue(n *node, u *entry.Unit, attrs ...dwarf.Attr) (value entry.Attribute) {
	for _, a := range attrs {
		if value = i.entries.ValueOf(&n.DebugEntry, a, u); value.Kind != entry.AttributeAbsent {
			break
		}
	}
	return value
}

// is reports whether c is the value of p.
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

// calls reports whether a call site calls the function of e's frame. If it calls another one,
// that may have jumped here.
func (i *Info) calls(site *callSite, e *evaluator) bool {
	n := site.node
	for _, a := range []dwarf.Attr{dwarf.AttrCallOrigin, dwarf.AttrAbstractOrigin} {
		off, ok := n.Reference(a)
		switch {
		case !ok:
			continue
		case site.callee == e.body:
		case i == e.info:
			site.callee, site.callsCallee = e.body, i.isFunction(off, e.body)
		default:
			site.callee, site.callsCallee = e.body, e.isSymbol(i.publicName(off))
		}
		return site.callsCallee
	}
	return n.Has(dwarf.AttrCallTarget) || n.Has(dw.AttrGNUCallSiteTarget)
}

// isSymbol reports whether the function of e's frame has a symbol with a name. It can have
// several.
func (e *evaluator) isSymbol(name string) bool {
	if name == "" {
		return false
	}
	b := e.body
	names := b.names.Load()
	if names == nil {
		// Usually the symbol with the name is the function's.
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

// publicName returns the symbol name of the function that is declared at an offset, or "" if the
// function is local to its unit.
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
