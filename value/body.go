// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/object"
)

// body is the entry of a function that has code, with all below it.
type body struct {
	unit *unit
	root *node
	// The variables that were inlined or nested read the frame base of the
	// function that holds them.
	frameBase attribute
	entry     uint64 // address of the first instruction

	sites []callSite // by the address that they return to; nil before they are read

	// Of the symbols at entry, without versions; nil before they are looked for: see isSymbol.
	names atomic.Pointer[[]string]

	reach    sync.Once
	isItself bool // see callsItself
}

// bodyAt returns the function that covers an address.
func (i *Info) bodyAt(pc uint64) (*body, error) {
	u := i.unitAt(pc)
	if u == nil {
		return nil, fmt.Errorf("function at %#x: %w", pc, ErrNotFound)
	}
	if u.splitErr != nil {
		return nil, fmt.Errorf("function at %#x: %w: %w", pc, ErrDebugInfo, u.splitErr)
	}
	i.using, i.last = u.language, u
	if off, ok := i.reader.FunctionAt(pc, i.lowest()); ok {
		return i.body(off)
	}
	problem := i.index(u)
	if off, ok := u.functionCovering(pc); ok {
		return i.body(off)
	}
	if problem == nil {
		problem = i.indexNested(u)
		if off, ok := u.functionCovering(pc); ok {
			return i.body(off)
		}
	}
	if problem != nil {
		return nil, fmt.Errorf("function at %#x: %w", pc, problem)
	}
	return nil, fmt.Errorf("function at %#x: %w", pc, ErrNotFound)
}

// body reads the function at an offset of .debug_info.
func (i *Info) body(off object.DebugOffset) (*body, error) {
	if b := i.bodies[off]; b != nil {
		return b, nil
	}
	root, err := i.tree(off)
	if err != nil {
		return nil, err
	}
	u := i.unitOf(off)
	if _, err := i.root(u); err != nil {
		return nil, err
	}
	b := &body{unit: u, root: root}
	for e := range i.origins(&root.DebugEntry) {
		if b.frameBase = i.valueOf(e, dwarf.AttrFrameBase, i.unitOf(e.Offset)); b.frameBase.kind != attributeAbsent {
			break
		}
	}
	if low, ok := root.Address(dwarf.AttrLowpc); ok {
		b.entry = low
	} else if list, err := i.entryRanges(&root.DebugEntry); err == nil && len(list) > 0 {
		// gdb, too, takes the first range for the one of the entry.
		b.entry = list[0][0]
	}
	if entry, ok := root.Address(dwarf.AttrEntrypc); ok {
		b.entry = entry
	}
	size := root.size()
	if i.held += size; i.held > i.mostRetained() {
		clear(i.bodies)
		i.known.Lock()
		clear(i.passed) // which has bodies too
		i.known.Unlock()
		i.held = size
	}
	i.bodies[off] = b
	return b, nil
}

// indexNested adds the functions that stand in functions of a unit: those that
// gcc compiles for nested ones of GNU C, and members of local classes.
func (i *Info) indexNested(u *unit) error {
	if u.nested {
		return nil
	}
	u.nested = true
	for _, c := range append([]codeRange(nil), u.names.code...) {
		b, err := i.body(c.entry)
		if err != nil {
			return err
		}
		if err := i.addNested(u, b.root); err != nil {
			return err
		}
	}
	u.names.sortCode()
	return nil
}

func (i *Info) addNested(u *unit, n *node) error {
	for k := range n.below {
		c := &n.below[k]
		if c.Tag != dwarf.TagSubprogram {
			continue
		}
		ranges, err := i.entryRanges(&c.DebugEntry)
		if err != nil {
			return err
		}
		name := i.nameOf(&c.DebugEntry)
		for _, r := range ranges {
			u.names.code = append(u.names.code, codeRange{r[0], r[1], c.Offset})
		}
		if len(ranges) > 0 && name != "" {
			u.names.functions[name] = append(u.names.functions[name], c.Offset)
		}
	}
	return nil
}

// localType returns the type of a name that is declared in a function.
func (i *Info) localType(b *body, s spelled) *Type {
	n := b.root.find(func(n *node) bool {
		return isTypeTag(n.Tag) && n.IsText(dwarf.AttrName, s.name) && s.fits(i.typeAt(n.Offset))
	})
	if n == nil {
		return nil
	}
	return i.typeAt(n.Offset)
}

// localEnum returns the enumeration with an enumerator that is declared in a
// function.
func (i *Info) localEnum(b *body, name string) *Type {
	n := b.root.find(func(n *node) bool {
		if n.Tag != dwarf.TagEnumerationType {
			return false
		}
		for c := range n.children() {
			if c.IsText(dwarf.AttrName, name) {
				return true
			}
		}
		return false
	})
	if n == nil {
		return nil
	}
	return i.typeAt(n.Offset)
}

func isTypeTag(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType:
		return true
	}
	return false
}

// function describes the function of an entry.
func (i *Info) function(n *node) (*Function, error) {
	if n.function != nil {
		return n.function, nil
	}
	fn := &Function{info: i, Name: i.nameOf(&n.DebugEntry), LinkageName: i.linkageName(&n.DebugEntry), Type: i.typeAt(n.Offset)}
	if fn.LinkageName == fn.Name {
		fn.LinkageName = ""
	}
	if e, err := i.having(dwarf.AttrExternal, &n.DebugEntry); err == nil && e != nil {
		fn.External = e.Flag(dwarf.AttrExternal)
	}
	if e, err := i.having(dwarf.AttrDeclLine, &n.DebugEntry); err == nil && e != nil {
		line, _ := e.Number(dwarf.AttrDeclLine)
		fn.Line = int(line)
	}
	if u := i.unitOf(n.Offset); u != nil {
		fn.Language = u.language
	}
	if fn.Language == Ada {
		fn.Name = AdaName(fn.Name)
	}
	ranges, err := i.entryRanges(&n.DebugEntry)
	if err != nil {
		return nil, err
	}
	if n.Tag == dwarf.TagSubprogram && len(ranges) > 0 {
		b, err := i.body(n.Offset)
		if err != nil {
			return nil, err
		}
		fn.HasCode, fn.Entry = true, b.entry
	}
	n.function = fn
	return fn, nil
}
