// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// body is the entry of a function that has code, with all entries below it.
type body struct {
	unit      *entry.Unit
	root      *node
	frameBase entry.Attribute // variables of inlined and nested functions use it too
	entry     uint64          // address of the first instruction

	sites []callSite // by return address; nil before they are read

	// names are those of the symbols at entry, without versions; nil before they are read.
	// See isSymbol.
	names atomic.Pointer[[]string]

	selfCallOnce sync.Once
	isSelfCaller bool // see callsItself
}

// bodyAt returns the function that covers an address.
func (i *Info) bodyAt(pc uint64) (*body, error) {
	u := i.entries.UnitAt(pc)
	if u == nil {
		return nil, fmt.Errorf("function at %#x: %w", pc, ErrNotFound)
	}
	if u.SplitErr != nil {
		return nil, fmt.Errorf("function at %#x: %w: %w", pc, ErrDebugInfo, u.SplitErr)
	}
	i.entries.Using, i.last = u.Language, u
	if off, ok := i.entries.FunctionAt(pc); ok {
		return i.body(off)
	}
	for _, index := range [...]func(*entry.Unit) error{i.entries.Index, i.indexNested} {
		problem := index(u)
		if off, ok := u.FunctionCovering(pc); ok {
			return i.body(off)
		}
		if problem != nil {
			return nil, fmt.Errorf("function at %#x: %w", pc, problem)
		}
	}
	return nil, fmt.Errorf("function at %#x: %w", pc, ErrNotFound)
}

// body reads the function at an offset of .debug_info.
func (i *Info) body(off object.DebugOffset) (*body, error) {
	if b := i.bodies[off]; b != nil {
		return b, nil
	}
	root, err := i.trees.Read(&i.entries, off)
	if err != nil {
		return nil, err
	}
	u := i.entries.UnitOf(off)
	if _, err := i.entries.Root(u); err != nil {
		return nil, err
	}
	b := &body{unit: u, root: root}
	for e := range i.entries.Origins(&root.DebugEntry) {
		if b.frameBase = i.entries.ValueOf(e, dwarf.AttrFrameBase, i.entries.UnitOf(e.Offset)); b.frameBase.Kind != entry.AttributeAbsent {
			break
		}
	}
	if low, ok := root.Address(dwarf.AttrLowpc); ok {
		b.entry = low
	} else if list, err := i.entries.Ranges(&root.DebugEntry); err == nil && len(list) > 0 {
		// gdb, too, takes the first range for the one of the entry.
		b.entry = list[0][0]
	}
	if entry, ok := root.Address(dwarf.AttrEntrypc); ok {
		b.entry = entry
	}
	size := root.Size()
	if i.retained += size; i.retained > i.entries.MostRetained() {
		clear(i.bodies)
		i.cacheMu.Lock()
		clear(i.parameters) // its values refer to bodies
		i.cacheMu.Unlock()
		i.retained = size
	}
	i.bodies[off] = b
	return b, nil
}

// indexNested adds the functions that are nested in functions of a unit: nested functions of
// GNU C, and members of local classes.
func (i *Info) indexNested(u *entry.Unit) error {
	if u.Nested {
		return nil
	}
	u.Nested = true
	for _, c := range slices.Clone(u.Names.Code) {
		b, err := i.body(c.Entry)
		if err != nil {
			return err
		}
		if err := i.addNested(u, b.root); err != nil {
			return err
		}
	}
	u.Names.SortCode()
	return nil
}

func (i *Info) addNested(u *entry.Unit, n *node) error {
	for k := range n.Below {
		c := &n.Below[k]
		if c.Tag != dwarf.TagSubprogram {
			continue
		}
		ranges, err := i.entries.Ranges(&c.DebugEntry)
		if err != nil {
			return err
		}
		name := i.entries.NameOf(&c.DebugEntry)
		for _, r := range ranges {
			u.Names.Code = append(u.Names.Code, entry.CodeRange{Low: r[0], High: r[1], Entry: c.Offset})
		}
		if len(ranges) > 0 && name != "" {
			u.Names.Functions[name] = append(u.Names.Functions[name], c.Offset)
		}
	}
	return nil
}

// localType returns the type with a name that is declared in a function, or nil.
func (i *Info) localType(b *body, s spelled) *Type {
	n := b.root.Find(func(n *node) bool {
		return isTypeTag(n.Tag) && n.IsText(dwarf.AttrName, s.name) && s.fits(i.typeAt(n.Offset))
	})
	if n == nil {
		return nil
	}
	return i.typeAt(n.Offset)
}

// localEnum returns the enumeration declared in a function that has an enumerator, or nil.
func (i *Info) localEnum(b *body, name string) *Type {
	n := b.root.Find(func(n *node) bool {
		if n.Tag != dwarf.TagEnumerationType {
			return false
		}
		for c := range n.Direct() {
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

// function returns the description of the function of an entry.
func (i *Info) function(n *node) (*Function, error) {
	if n.Decoded.function != nil {
		return n.Decoded.function, nil
	}
	fn := &Function{info: i, Name: i.entries.NameOf(&n.DebugEntry), LinkageName: i.entries.LinkageName(&n.DebugEntry), Type: i.typeAt(n.Offset)}
	if fn.LinkageName == fn.Name {
		fn.LinkageName = ""
	}
	if e, err := i.entries.Having(dwarf.AttrExternal, &n.DebugEntry); err == nil && e != nil {
		fn.External = e.Flag(dwarf.AttrExternal)
	}
	if e, err := i.entries.Having(dwarf.AttrDeclLine, &n.DebugEntry); err == nil && e != nil {
		line, _ := e.Number(dwarf.AttrDeclLine)
		fn.Line = int(line)
	}
	if u := i.entries.UnitOf(n.Offset); u != nil {
		fn.Language = u.Language
	}
	if fn.Language == Ada {
		fn.Name = AdaName(fn.Name)
	}
	ranges, err := i.entries.Ranges(&n.DebugEntry)
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
	n.Decoded.function = fn
	return fn, nil
}

// node is an entry of a body and all entries below it.
type node = entry.Node[decoded]

// decoded holds the decoded form of an entry, nil before it is decoded.
type decoded struct {
	variable *Variable
	function *Function
}
