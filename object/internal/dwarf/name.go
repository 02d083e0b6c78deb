// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"

	"github.com/clewdev/clew/internal/dw"
)

// maxHops bounds a chain of DW_AT_abstract_origin and DW_AT_specification.
const maxHops = 16

// functionName returns the linkage name, else the name, of the entry at an
// offset of .debug_info or of those that it refers to; of Go the name.
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

// isCalled reports whether the entry of a function has a name: as linkers, as
// the source, or as the source of another scope has it.
func (d *Data) isCalled(offset uint64, name string) (ok bool) {
	if d.functionName(offset) == name {
		return true
	}
	d.eachName(offset, func(_ uint32, this []byte) bool {
		ok = ok || string(this) == name
		return !ok
	})
	return ok
}

// eachName calls visit with the names that the entry at an offset of
// .debug_info has, and those that it refers to, until it returns false. It
// returns the last of these entries, with its unit.
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
					// Only then does the name depend on the unit's first entry.
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
