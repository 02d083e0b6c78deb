// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/dw"
)

// hasScopes reports whether names in a language (DW_LANG_*) are relative to namespaces
// and classes: C++. Compilers write no linkage name for functions that are inlined
// everywhere; the enclosing entries have the rest of such a name.
func hasScopes(language uint64) bool {
	switch language {
	case dw.LangCPlusPlus, dw.LangCPlusPlus03, dw.LangCPlusPlus11, dw.LangCPlusPlus14, dw.LangCPlusPlus17,
		dw.LangCPlusPlus20, dw.LangCPlusPlus23:
		return true
	}
	return false
}

// qualified prefixes a name with the namespaces and classes around the entry at an
// offset. The language is that of the referring unit, since shared partial units have
// none. If the entries around cannot be read, it returns the name unchanged.
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
