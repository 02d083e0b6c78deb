// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"iter"
	"slices"
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

// node is an entry with all below it.
type node struct {
	object.DebugEntry
	below []node // in the order of the entries: each before what is below it

	// What was made of the entry, nil before.
	variable *Variable
	function *Function
}

// children returns the nodes directly below one.
func (n *node) children() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for rest := n.below; len(rest) > 0; rest = rest[1+len(rest[0].below):] {
			if !yield(&rest[0]) {
				return
			}
		}
	}
}

// find returns the first node below n, in the order of the entries, that is
// wanted.
func (n *node) find(wanted func(*node) bool) *node {
	for k := range n.below {
		if wanted(&n.below[k]) {
			return &n.below[k]
		}
	}
	return nil
}

// size counts the entries of a tree and their attributes.
func (n *node) size() int {
	size := 2 + n.Len()
	for k := range n.below {
		size += 2 + n.below[k].Len()
	}
	return size
}

// maxNesting bounds how deep the entries of one tree nest.
const maxNesting = 256

// tree reads the entry at an offset and all below it.
func (i *Info) tree(off object.DebugOffset) (*node, error) {
	u := i.unitOf(off)
	e, err := i.read(off)
	if err != nil {
		return nil, err
	}
	if !e.Children {
		return &node{DebugEntry: *e}, nil
	}
	r := &i.room
	defer r.shrink()
	if r.nodes == nil {
		r.nodes, r.below, r.fields = make([]node, 0, 64), make([]int32, 0, 64), make([]object.DebugField, 0, 256)
	}
	r.nodes, r.below = append(r.nodes[:0], node{DebugEntry: *e}), append(r.below[:0], 0)
	r.fields, r.open = r.fields[:0], append(r.open[:0], 0)
	for size := 0; len(r.open) > 0; {
		k := len(r.nodes)
		r.nodes, r.below = append(r.nodes, node{}), append(r.below, 0)
		n := &r.nodes[k]
		var ok bool
		if r.fields, ok, err = i.nextIn(&n.DebugEntry, r.fields); err != nil {
			return nil, err
		}
		if ok {
			if size += 2 + n.Len(); size > i.mostRetained() {
				return nil, fmt.Errorf("%w: %v: more attributes below it than %#x bytes can hold", ErrDebugInfo, off, i.size())
			}
		}
		switch {
		case !ok || n.Tag != 0 && n.Offset >= u.end: // the lists are not closed
			for r.drop(k); len(r.open) > 0; {
				r.end()
			}
		case n.Tag == 0:
			r.drop(k)
			r.end()
		case n.Children:
			if len(r.open) == maxNesting {
				return nil, fmt.Errorf("%w: %v: nested deeper than %d", ErrDebugInfo, n.Offset, maxNesting)
			}
			r.open = append(r.open, k)
		}
	}
	return r.tree(), nil
}

// treeRoom is where a tree is read to: how large it is turns out at its end.
type treeRoom struct {
	nodes  []node
	below  []int32 // how many are below each
	fields []object.DebugField
	open   []int // those of nodes whose lists have not ended
}

// maxTreeRoom is how many nodes there is room for that is used again.
const maxTreeRoom = 1 << 12

// drop forgets the nodes from the k-th on.
func (r *treeRoom) drop(k int) { r.nodes, r.below = r.nodes[:k], r.below[:k] }

// end ends the list that was begun last.
func (r *treeRoom) end() {
	last := len(r.open) - 1
	k := r.open[last]
	r.below[k], r.open = int32(len(r.nodes)-k-1), r.open[:last]
}

// tree returns what was read, which no longer is in r.
func (r *treeRoom) tree() *node {
	count := 0
	for k := range r.nodes {
		count += r.nodes[k].Len()
	}
	fields := make([]object.DebugField, 0, count)
	nodes := slices.Clone(r.nodes)
	for k := range nodes {
		n := &nodes[k]
		fields = n.KeepIn(fields)
		end := k + 1 + int(r.below[k])
		n.below = nodes[k+1 : end : end]
	}
	return &nodes[0]
}

// shrink gives up room that is larger than most trees need.
func (r *treeRoom) shrink() {
	if cap(r.nodes) > maxTreeRoom || cap(r.fields) > 8*maxTreeRoom {
		*r = treeRoom{}
	}
}

// children reads the entries directly below one.
func (i *Info) children(off object.DebugOffset) ([]object.DebugEntry, error) {
	u := i.unitOf(off)
	e, err := i.read(off)
	if err != nil || !e.Children {
		return nil, err
	}
	var list []object.DebugEntry
	var fields []object.DebugField
	for {
		var e object.DebugEntry
		var ok bool
		if fields, ok, err = i.nextIn(&e, fields); err != nil {
			return list, err
		}
		if !ok || e.Tag == 0 || e.Offset >= u.end {
			return list, nil
		}
		list = append(list, e)
		if err := i.skip(&e, u); err != nil {
			return list, err
		}
	}
}
