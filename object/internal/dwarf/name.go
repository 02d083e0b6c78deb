// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/dw"
)

// maxHops bounds a chain of DW_AT_abstract_origin and DW_AT_specification.
const maxHops = 16

// functionName returns the linkage name, else the name, of the entry at an offset or of
// the entries that it refers to. For Go it prefers the name.
func (d *Data) functionName(offset uint64) string {
	name, ok := d.names[offset]
	if !ok {
		name = d.charge(d.readName(offset))
		d.names[offset] = name
	}
	return name
}

func (d *Data) readName(offset uint64) string {
	linkage, plain := "", ""
	u, last := d.eachName(offset, func(attribute uint32, name []byte) bool {
		if attribute != dw.AttrName {
			linkage = string(name)
			return false
		}
		if plain == "" {
			plain = string(name)
		}
		return true
	})
	if linkage != "" && d.language(offset) == dw.LangGo {
		// gccgo's linkage names are encoded.
		d.eachName(offset, func(attribute uint32, name []byte) bool {
			if attribute == dw.AttrName {
				linkage = string(name)
			}
			return attribute != dw.AttrName
		})
	}
	if linkage != "" || plain == "" {
		return linkage
	}
	return d.qualified(u, last, plain, d.language(offset))
}

// isCalled reports whether the entry of a function has a name: the linkage name, or the
// name in the source with or without its scopes.
func (d *Data) isCalled(offset uint64, name string) (ok bool) {
	if d.functionName(offset) == name {
		return true
	}
	d.eachName(offset, func(_ uint32, own []byte) bool {
		ok = string(own) == name
		return !ok
	})
	return ok
}

// eachName calls visit with the names of the entry at an offset, and of the entries that
// it refers to, until visit returns false. It returns the last of these entries with its
// unit.
func (d *Data) eachName(offset uint64, visit func(attribute uint32, name []byte) bool) (last *unit, at uint64) {
	for range maxHops {
		u := d.unitAt(offset)
		if u == nil {
			return last, at
		}
		last, at = u, offset
		c, table, a, err := d.declarationAt(u, offset)
		if err != nil {
			return last, at
		}
		var r root
		var known bool
		next := value{}
		for _, at := range table.of(a) {
			v := u.read(&c, at)
			if c.Err != nil {
				break
			}
			switch at.name {
			case dw.AttrLinkageName, dw.AttrMIPSLinkageName, dw.AttrName:
				if v.class == textIndex && !known {
					// Names of other classes do not need the unit's first entry.
					r, _ = d.readRoot(u)
					known = true
				}
				if text := d.text(u, &r, v); len(text) > 0 && !visit(at.name, text) {
					return last, offset
				}
			case dw.AttrAbstractOrigin, dw.AttrSpecification:
				if v.class == reference {
					next = v
				}
			}
		}
		if next.class != reference {
			return last, at
		}
		if next.u == offset {
			break
		}
		offset = next.u
	}
	if d.circle == nil {
		d.circle = fmt.Errorf("%v: no name: references lead in a circle, or through more than %d entries", Offset(at), maxHops)
	}
	return last, at
}

// hasScopes reports whether names in a language (DW_LANG_*) are relative to namespaces
// and classes: C++. Compilers write no linkage name for functions that are always inlined;
// the enclosing entries have the other parts of such a name.
func hasScopes(language uint64) bool {
	switch language {
	case dw.LangCPlusPlus, dw.LangCPlusPlus03, dw.LangCPlusPlus11, dw.LangCPlusPlus14, dw.LangCPlusPlus17,
		dw.LangCPlusPlus20, dw.LangCPlusPlus23:
		return true
	}
	return false
}

// qualified prefixes a name with the namespaces and classes around the entry at an
// offset. The language is the one of the referring unit, since shared partial units do not
// have it. If the entries around cannot be read, qualified returns the name unchanged.
func (d *Data) qualified(u *unit, offset uint64, name string, language uint64) string {
	r, err := d.readRoot(u)
	if err != nil || !hasScopes(language) {
		return name
	}
	w, err := d.walk(u, u.first)
	if err != nil {
		return name
	}
	var around []string // of each open entry
	for u.offset(w.c.Off) < offset && w.next() {
		if w.a == nil {
			continue
		}
		var scope, sibling value
		for _, at := range w.table.of(w.a) {
			switch v := u.read(&w.c, at); at.name {
			case dw.AttrName:
				scope = v
			case dw.AttrSibling:
				sibling = v
			}
		}
		if w.a.children && (sibling.u > offset || !w.skipTo(sibling)) {
			around = append(around[:w.depth], d.scopeName(u, &r, w.a.tag, scope))
			w.depth++
		}
	}
	if w.c.Err != nil || u.offset(w.c.Off) != offset {
		return name
	}
	scopes := slices.DeleteFunc(around[:w.depth], func(s string) bool { return s == "" })
	return strings.Join(append(scopes, name), "::")
}

// language returns the language of the unit with the entry at an offset.
func (d *Data) language(offset uint64) uint64 {
	u := d.unitAt(offset)
	if u == nil {
		return 0
	}
	if !u.rooted {
		r, _ := d.readRoot(u)
		u.language, u.rooted = r.language, true
	}
	return u.language
}

func (d *Data) scopeName(u *unit, r *root, tag uint32, name value) string {
	switch tag {
	case dw.TagNamespace:
		if s := d.text(u, r, name); len(s) > 0 {
			return string(s)
		}
		return "(anonymous namespace)"
	case dw.TagClassType, dw.TagStructureType, dw.TagUnionType:
		return string(d.text(u, r, name))
	}
	return ""
}
