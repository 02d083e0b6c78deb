// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Import is a using declaration, a using directive or an alias of a namespace (DWARF 5 §3.2.3, §3.2.5).
type Import struct {
	Name   string // the qualified name that it declares; of a directive, the prefix of all names: "" or "ns::"
	Target string // the qualified name that it means; of a directive, the prefix of that: "ns::"
}

// imported is an Import whose target has not been read.
type imported struct {
	entry, target object.DebugOffset
	prefix        string
}

// ImportAt returns the import of an entry in a block of a function.
func (r *Reader) ImportAt(off object.DebugOffset) (i Import, ok bool) {
	e, err := r.Read(off)
	if err != nil {
		return i, false
	}
	target, ok := e.Reference(dwarf.AttrImport)
	if !ok {
		return i, false
	}
	return r.importAt(imported{off, target, ""})
}

func (r *Reader) importAt(m imported) (i Import, ok bool) {
	e, err := r.Read(m.entry)
	if err != nil {
		return i, false
	}
	name, _ := e.Text(dwarf.AttrName)
	isDirective := e.Tag == dwarf.TagImportedModule
	if e, err = r.Read(m.target); err != nil {
		return i, false
	}
	i.Target = r.NameOf(e)
	if u := r.UnitOf(e.Offset); u != nil && e.Tag == dwarf.TagNamespace {
		i.Target = r.prefix(u, e) + i.Target
	}
	if i.Target == "" {
		return i, false
	}
	if isDirective {
		return Import{Name: m.prefix, Target: i.Target + "::"}, true
	}
	i.Name = m.prefix + cmp.Or(name, spelling.Last(i.Target))
	return i, i.Name != i.Target
}

// maxImported bounds the names that a name can mean because of imports.
const maxImported = 64

// Through appends to qualified names those that imports make of them.
func Through(names []string, imports []Import) []string {
	for k := 0; k < len(names) && len(names) < maxImported; k++ {
		for _, m := range imports {
			rest, ok := strings.CutPrefix(names[k], m.Name)
			switch {
			case !ok:
				continue
			case !strings.HasSuffix(m.Target, "::"): // not a directive
				if rest != "" && !strings.HasPrefix(rest, "::") {
					continue
				}
			case strings.HasPrefix(rest, strings.TrimPrefix(m.Target, m.Name)):
				continue // ns::inner::x is not ns::inner::inner::x
			}
			if full := m.Target + rest; !slices.Contains(names, full) {
				names = append(names, full)
			}
		}
	}
	return names
}
