// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

// identifiers are unique names in source code for the functions of a listing.
type identifiers struct {
	format  Format
	machine *arch.Machine     // of the listing, nil if it has no functions
	kinds   map[cfi.Kind]bool // of its sections
	changed map[place]string  // identifiers that had to be changed, by entry
}

// place identifies an entry.
type place struct {
	section *cfi.Section
	offset  uint64
}

func newIdentifiers(format Format, list *table.Listing) *identifiers {
	ids := &identifiers{format: format, kinds: make(map[cfi.Kind]bool), changed: make(map[place]string)}
	taken := make(map[string]int) // by plain identifier: number of functions
	for f := range list.All() {
		if ids.machine == nil {
			ids.machine = f.FDE.CIE.Section.Machine
		}
		ids.kinds[f.FDE.CIE.Section.Kind] = true
		taken[ids.plain(&f)]++
	}
	last := make(map[string]int) // by plain identifier: last used number
	for f := range list.All() {
		id := ids.plain(&f)
		if taken[id] == 1 {
			continue
		}
		if last[id]++; last[id] == 1 {
			continue // the first function keeps the plain identifier
		}
		for taken[ids.number(id, last[id])] > 0 {
			last[id]++
		}
		changed := ids.number(id, last[id])
		taken[changed] = 1
		ids.changed[place{f.FDE.CIE.Section, f.FDE.Offset}] = changed
	}
	return ids
}

// of returns the identifier of a function.
func (ids *identifiers) of(f *table.Function) string {
	if id, ok := ids.changed[place{f.FDE.CIE.Section, f.FDE.Offset}]; ok {
		return id
	}
	return ids.plain(f)
}

// number returns an identifier with a number appended.
func (ids *identifiers) number(id string, n int) string {
	if ids.format == Go && (id[len(id)-1] < '0' || id[len(id)-1] > '9') {
		return id + strconv.Itoa(n)
	}
	return id + "_" + strconv.Itoa(n)
}

// maxIdentifier is the maximum number of bytes of a name that become part of an identifier.
const maxIdentifier = 80

// plain returns the identifier of a function before it is made unique. It starts with a letter
// or "_", and contains only letters, "_", digits and, in assembly, dots.
func (ids *identifiers) plain(f *table.Function) string {
	symbol := f.Symbol
	if base, version, _ := strings.Cut(symbol, "@"); version != "plt" {
		symbol = base
	}
	if ids.format == Asm && f.Offset == 0 && ids.isLabel(symbol) {
		return symbol
	}
	name := f.Name()
	if f.Symbol != "" {
		if name = style.Demangle(symbol); name != symbol {
			if short := style.WithoutParameters(name); short != "" {
				name = short
			}
		}
		if f.Offset != 0 {
			name += "+0x" + strconv.FormatUint(f.Offset, 16)
		}
	}
	id := clean(name)
	if ids.format == Go {
		id = camel(id)
	}
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = "f" + id
	}
	if ids.format == Asm && !ids.isLabel(id) {
		id += "_function"
	}
	return id
}

// isLabel reports whether a name can be a label in gas without changes: it has no dot at the
// start, which would make it local, and is not the name of a register.
func (ids *identifiers) isLabel(name string) bool {
	if name == "" || len(name) > maxIdentifier || name[0] == '.' || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	if strings.ContainsFunc(name, func(c rune) bool { return c > unicode.MaxASCII || !isWord(byte(c)) && c != '.' }) {
		return false
	}
	_, register := ids.machine.Column(strings.ToLower(name))
	return !register
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// clean returns a name with "_" instead of characters that are not allowed in identifiers.
func clean(name string) string {
	var b strings.Builder
	gap := false
	for i := range len(name) {
		switch c := name[i]; {
		case !isWord(c):
			gap = b.Len() > 0
		case b.Len() >= maxIdentifier:
			return b.String()
		default:
			if gap {
				b.WriteByte('_')
				gap = false
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// camel returns an identifier in the style of Go: parseNumber for "parse_number".
func camel(id string) string {
	var b strings.Builder
	up := false
	for i := range len(id) {
		c := id[i]
		switch {
		case c == '_':
			up = b.Len() > 0
			continue
		case up && c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}
