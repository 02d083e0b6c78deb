// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/spelling"
)

// names is what a unit declares at file scope, in namespaces and in classes.
// Each is known under its qualified name, and functions under their last name
// and their linkage name too.
type names struct {
	functions   map[string][]object.DebugOffset
	variables   map[string][]object.DebugOffset
	types       map[string][]object.DebugOffset
	enumerators map[string]object.DebugOffset // the enumeration
	globals     []object.DebugOffset          // in the order of the unit
	code        []codeRange                   // by low
	constants   []constant                    // of Go
}

// codeRange is a range of addresses of a function.
type codeRange struct {
	low, high uint64
	entry     object.DebugOffset
}

// indexAll indexes every unit. The error is the first one; what could be read is
// in the indices.
func (i *Info) indexAll() error {
	return i.search(nil, func(*unit) bool { return false })
}

// index reads the names of a unit, once. What is behind damage is missing.
func (i *Info) index(u *unit) error {
	if u.indexed {
		return nil
	}
	u.indexed = true
	root, err := i.root(u)
	if err != nil || !root.Children {
		return err
	}
	u.names = names{
		functions: make(map[string][]object.DebugOffset), variables: make(map[string][]object.DebugOffset),
		types: make(map[string][]object.DebugOffset), enumerators: make(map[string]object.DebugOffset),
	}
	x := indexer{info: i, unit: u}
	if _, err = i.read(u.first); err == nil {
		err = x.walk("", 0)
	}
	return firstError(err, x.resolve())
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

type indexer struct {
	info  *Info
	unit  *unit
	entry object.DebugEntry // read last
	// Those whose names may stand elsewhere: resolving them moves the reader.
	functions, variables []object.DebugEntry
	fields               []object.DebugField // of both
}

// walk reads the entries up to the end of a list.
func (x *indexer) walk(prefix string, depth int) error {
	e := &x.entry
	for {
		ok, err := x.info.nextTo(e)
		if err != nil {
			return err
		}
		if !ok || e.Tag == 0 || e.Offset >= x.unit.end {
			return nil
		}
		if !x.info.retain(1) {
			return fmt.Errorf("%w: %v: more names than %#x bytes can hold", ErrDebugInfo, e.Offset, x.info.size())
		}
		name, _ := e.Text(dwarf.AttrName)
		n := &x.unit.names
		inner, within := "", false // the prefix of what stands in e, and whether that is looked at without one too
		switch e.Tag {
		case dwarf.TagSubprogram:
			x.functions = x.keep(x.functions)
		case dwarf.TagVariable, dwarf.TagConstant, dwarf.TagMember:
			if e.Tag == dwarf.TagMember && !isDeclaration(e) {
				break
			}
			if e.Tag == dwarf.TagConstant && x.unit.language == Go {
				x.constant(e, name)
			}
			x.variables = x.keep(x.variables)
		case dwarf.TagNamespace:
			if name == "" {
				name = "(anonymous namespace)"
			}
			inner = prefix + name + "::"
		case dwarf.TagModule:
			inner, within = prefix, true
			if x.unit.language != D && name != "" { // whose names are separated by other means, and stand in symbols
				inner += name + "::"
			}
		case dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagUnspecifiedType, dwarf.TagStructType, dwarf.TagClassType,
			dwarf.TagUnionType, dwarf.TagEnumerationType:
			if s := spell(name); e.Tag == dwarf.TagBaseType && s.base != "" {
				name = s.base
			}
			if name != "" {
				n.types[prefix+name] = append(n.types[prefix+name], e.Offset)
			}
			switch {
			case e.Tag == dwarf.TagEnumerationType && e.Children:
				inside := prefix
				if e.Flag(dwarf.AttrEnumClass) {
					inside = prefix + name + "::"
				}
				if err := x.enumerators(e.Offset, inside); err != nil {
					return err
				}
				continue
			case x.unit.language.hasScopes() && name != "":
				inner = prefix + name + "::"
			}
		}
		if (inner != "" || within) && e.Children {
			// A chain of names could take the square of their size.
			if depth == 64 || len(inner) > 1<<12 {
				return fmt.Errorf("%w: %v: nested deeper than 64", ErrDebugInfo, e.Offset)
			}
			err = x.walk(inner, depth+1)
		} else {
			err = x.info.skip(e, x.unit)
		}
		if err != nil {
			return err
		}
	}
}

// keep adds the entry that was read last to a list.
func (x *indexer) keep(list []object.DebugEntry) []object.DebugEntry {
	e := x.entry
	x.fields = e.KeepIn(x.fields)
	return append(list, e)
}

// enumerators reads those of an enumeration, whose entry was read last.
func (x *indexer) enumerators(enum object.DebugOffset, prefix string) error {
	e := &x.entry
	for {
		ok, err := x.info.nextTo(e)
		if err != nil || !ok || e.Tag == 0 || e.Offset >= x.unit.end {
			return err
		}
		if name, ok := e.Text(dwarf.AttrName); ok && e.Tag == dwarf.TagEnumerator && x.info.retain(1) {
			x.unit.names.enumerators[prefix+name] = enum
		}
		if err := x.info.skip(e, x.unit); err != nil {
			return err
		}
	}
}

// resolve finds the names and the code of functions and variables.
func (x *indexer) resolve() (problem error) {
	n := &x.unit.names
	for k := range x.functions {
		e := &x.functions[k]
		ranges, err := x.info.entryRanges(e)
		if err != nil {
			problem = firstError(problem, err)
			continue
		}
		if len(ranges) == 0 {
			continue
		}
		for _, r := range ranges {
			n.code = append(n.code, codeRange{r[0], r[1], e.Offset})
		}
		name := x.info.nameOf(e)
		known := []string{name, spelling.Last(name), x.info.linkageName(e)}
		for k, name := range known {
			if name != "" && slices.Index(known, name) == k && x.info.retain(1) {
				n.functions[name] = append(n.functions[name], e.Offset)
			}
		}
	}
	n.sortCode()
	for k := range x.variables {
		e := &x.variables[k]
		name := x.info.nameOf(e)
		if name == "" {
			continue
		}
		n.globals = append(n.globals, e.Offset)
		n.variables[name] = append(n.variables[name], e.Offset)
		// What stands in an unnamed namespace is used without it.
		if short := strings.ReplaceAll(name, "(anonymous namespace)::", ""); short != name {
			n.variables[short] = append(n.variables[short], e.Offset)
		}
	}
	return problem
}

func isDeclaration(e *object.DebugEntry) bool {
	return e.Flag(dwarf.AttrDeclaration)
}

// nameOf returns the qualified name of a function, variable or type.
func (i *Info) nameOf(e *object.DebugEntry) string {
	for e := range i.origins(e) {
		u := i.unitOf(e.Offset)
		if u == nil {
			return ""
		}
		if _, err := i.root(u); err != nil {
			return ""
		}
		name, named := e.Text(dwarf.AttrName)
		if name != "" && isDeclared(e) && (u.language.qualifies() || u.language == D && u.indexed) {
			if prefix := i.prefix(u, e); prefix != "" {
				return prefix + name
			}
		}
		if _, more := origin(e); more && e.Has(dwarf.AttrSpecification) {
			continue // the declaration tells in which class
		}
		if named {
			return name
		}
	}
	return ""
}

// isDeclared reports whether an entry is one whose name those of what it stands in can be
// a part of.
func isDeclared(e *object.DebugEntry) bool {
	switch e.Tag {
	case dwarf.TagSubprogram, dwarf.TagVariable, dwarf.TagConstant, dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagUnspecifiedType,
		dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType:
		return true
	case dwarf.TagMember:
		return isDeclaration(e)
	}
	return false
}

func (i *Info) linkageName(e *object.DebugEntry) string {
	for e := range i.origins(e) {
		for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, dw.AttrMIPSLinkageName} {
			if name, ok := e.Text(a); ok {
				return name
			}
		}
	}
	return ""
}

func (n *names) sortCode() {
	slices.SortFunc(n.code, func(a, b codeRange) int { return compare(a.low, b.low) })
}

// functionCovering returns the entry of the function of a unit that covers an
// address.
func (u *unit) functionCovering(pc uint64) (object.DebugOffset, bool) {
	code := u.names.code
	k := sort.Search(len(code), func(k int) bool { return code[k].low > pc })
	for n := k - 1; n >= 0 && n >= k-16; n-- {
		if pc < code[n].high {
			return code[n].entry, true
		}
	}
	return 0, false
}

// enclosure is an entry that others stand in: a namespace, a class, whose names are a
// part of theirs, or one that hides what is in it.
type enclosure struct {
	start, end uint32 // from the start of the unit, bytes; end is that of what is in it
	around     int32  // the enclosure that this one stands in, -1 for none
	hides      bool
}

// enclosures are those of a unit, by start.
type enclosures struct {
	list     []enclosure
	prefixes map[int32]string // of those that were asked for
}

// maxPrefix bounds what stands before a name, in bytes.
const maxPrefix = 1 << 12

// prefix returns what stands before the name of an entry of a unit, "ns::Class::", "" for
// nothing. What is behind damage is without.
func (i *Info) prefix(u *unit, e *object.DebugEntry) string {
	if u.enclosures == nil {
		u.enclosures = new(enclosures)
		x := encloser{info: i, unit: u}
		if root, err := i.root(u); err == nil && root.Children {
			if _, err = i.read(u.first); err == nil {
				err = x.walk(-1, 0)
			}
			if err != nil {
				x.cut(x.entry.Offset)
			}
		}
		x.end(u.end)
		u.enclosures.list = x.list
	}
	return i.prefixIn(u, u.enclosures.around(uint32(e.Offset-u.start)))
}

// around returns the innermost enclosure of what stands at an offset from the start of
// the unit, -1 where there is none.
func (n *enclosures) around(offset uint32) int32 {
	k := int32(sort.Search(len(n.list), func(k int) bool { return n.list[k].start >= offset })) - 1
	for k >= 0 && n.list[k].end <= offset {
		k = n.list[k].around
	}
	return k
}

// prefixIn returns what stands before the names in an enclosure of a unit.
func (i *Info) prefixIn(u *unit, k int32) string {
	if k < 0 || u.enclosures.list[k].hides {
		return ""
	}
	known, ok := u.enclosures.prefixes[k]
	if ok {
		return known
	}
	in := &u.enclosures.list[k]
	e, err := i.read(u.start + object.DebugOffset(in.start))
	if err != nil {
		return ""
	}
	name, _ := e.Text(dwarf.AttrName)
	if e.Tag == dwarf.TagNamespace && name == "" {
		name = "(anonymous namespace)"
	}
	prefix := i.prefixIn(u, in.around)
	if in.around >= 0 && u.enclosures.list[in.around].hides {
		in.hides = true
		return ""
	}
	if !(e.Tag == dwarf.TagModule && u.language == D) && name != "" { // D separates them by other means, and they stand in symbols
		prefix += name + "::"
	}
	if len(prefix) > maxPrefix {
		in.hides = true
		return ""
	}
	if u.enclosures.prefixes == nil {
		u.enclosures.prefixes = make(map[int32]string)
	}
	u.enclosures.prefixes[k] = prefix
	return prefix
}

// encloser finds the enclosures of a unit.
type encloser struct {
	info  *Info
	unit  *unit
	entry object.DebugEntry // read last
	list  []enclosure
	open  []int32 // those of which the end is not known yet, and that the reader has left
}

// end says that what was left ends at an offset.
func (x *encloser) end(at object.DebugOffset) {
	for _, k := range x.open {
		x.list[k].end = uint32(at - x.unit.start)
	}
	x.open = x.open[:0]
}

// cut says that nothing is known from an offset on: what has not ended there ends there.
func (x *encloser) cut(at object.DebugOffset) {
	x.end(at)
	for k := range x.list {
		in := &x.list[k]
		in.end = min(in.end, uint32(max(at, x.unit.start)-x.unit.start))
	}
}

// maxEnclosed is how deep names are looked for.
const maxEnclosed = 64

// walk reads the entries up to the end of a list, which stands in an enclosure.
func (x *encloser) walk(around int32, depth int) error {
	e := &x.entry
	for {
		ok, err := x.info.nextTo(e)
		if err != nil {
			return err
		}
		if x.end(e.Offset); !ok || e.Tag == 0 || e.Offset >= x.unit.end {
			return nil
		}
		if !e.Children {
			continue
		}
		isScope, hides := x.kind()
		hides = hides && around >= 0 // or it has no prefix anyway
		if !isScope && !hides {
			if err := x.info.skip(e, x.unit); err != nil {
				return err
			}
			continue
		}
		offset := e.Offset - x.unit.start
		if depth == maxEnclosed || !x.info.retain(1) || uint64(x.unit.end-x.unit.start) > 1<<32-1 {
			return fmt.Errorf("%w: %v: more names than can be held", ErrDebugInfo, e.Offset)
		}
		k := int32(len(x.list))
		x.list = append(x.list, enclosure{start: uint32(offset), end: uint32(x.unit.end - x.unit.start), around: around, hides: hides})
		if isScope {
			err = x.walk(k, depth+1)
		} else {
			err = x.info.skip(e, x.unit)
		}
		if err != nil {
			return err
		}
		x.open = append(x.open, k)
	}
}

// kind reports whether the entry that was read last is one whose name is a part of those
// in it, or one that hides them: of functions those that may have types of their own.
func (x *encloser) kind() (isScope, hides bool) {
	e := &x.entry
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagModule:
		return true, false
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		isScope = x.unit.language.hasScopes() && e.Has(dwarf.AttrName)
		return isScope, !isScope
	case dwarf.TagSubprogram:
		return false, !isDeclaration(e)
	case dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
		return false, false
	}
	return false, true
}

// Class returns the structure, class or union that a function is a member of, nil where it
// is of none.
func (f *Function) Class() (t *Type) {
	i := f.info
	_ = i.locked(func() error { // what cannot be read is a member of nothing
		own, err := i.read(f.Type.offset)
		if err != nil {
			return err
		}
		for e := range i.origins(own) {
			u := i.unitOf(e.Offset)
			i.prefix(u, e)
			k := u.enclosures.around(uint32(e.Offset - u.start))
			if k < 0 {
				continue
			}
			around, err := i.read(u.start + object.DebugOffset(u.enclosures.list[k].start))
			if err != nil {
				return err
			}
			switch around.Tag {
			case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
				t = i.typeAt(around.Offset)
				return nil
			}
		}
		return nil
	})
	return t
}
