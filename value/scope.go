// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// scopesOf returns the scopes at an address of a function.
func (i *Info) scopesOf(b *body, pc uint64) ([]*Scope, error) {
	s := scoper{info: i, body: b, pc: pc}
	fn, err := i.function(b.root)
	if err != nil {
		return nil, err
	}
	current := &Scope{Function: fn}
	list := []*Scope{current}
	for n := b.root; n != nil; {
		var block Block
		next, err := s.block(n, current, &block)
		if err != nil {
			return nil, err
		}
		current.Blocks = append([]Block{block}, current.Blocks...)
		if next != nil && next.Tag == dwarf.TagInlinedSubroutine {
			fn, err := i.function(next)
			if err != nil {
				return nil, err
			}
			current = &Scope{Function: fn, Inlined: true}
			list = append([]*Scope{current}, list...)
		}
		n = next
	}
	if b.unit != nil && b.unit.Language == Go {
		i.moveGo(list, pc)
	}
	return list, nil
}

// scoper finds the variables of the blocks around an address.
type scoper struct {
	info *Info
	body *body
	pc   uint64
}

// block collects the variables of a function, inlined call or block, and
// returns the block or inlined call in it that covers the address.
func (s *scoper) block(n *node, scope *Scope, block *Block) (next *node, err error) {
	seen := make(map[object.DebugOffset]bool)
	if next, err = s.collect(n, scope, block, seen, 0); err != nil {
		return nil, err
	}
	// An instance has no entry of its own for variables that no code is left
	// of: their entries in what it is an instance of count.
	off, ok := n.Reference(dwarf.AttrAbstractOrigin)
	met := [entry.MaxOrigins]object.DebugOffset{n.Offset}
	for k := 1; ok && k < entry.MaxOrigins && !slices.Contains(met[:k], off); k++ {
		met[k] = off
		abstract, err := s.info.abstract(off)
		if err != nil {
			return next, nil
		}
		s.inherit(abstract, scope, block, seen)
		off, ok = abstract.Reference(dwarf.AttrAbstractOrigin)
	}
	return next, nil
}

func (s *scoper) collect(n *node, scope *Scope, block *Block, seen map[object.DebugOffset]bool, depth int) (next *node, err error) {
	for c := range n.Direct() {
		if off, ok := c.Reference(dwarf.AttrAbstractOrigin); ok {
			seen[off] = true
		}
		switch c.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter, dwarf.TagConstant:
			if err := s.add(c, scope, block, true); err != nil {
				return nil, err
			}
		case dw.TagGNUTemplateParameterPack, dwarf.TagCommonDwarfBlock:
			if _, err := s.collect(c, scope, block, seen, depth); err != nil {
				return nil, err
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
			some, covers := false, false
			err := s.info.entries.EachRange(&c.DebugEntry, func(low, high uint64) {
				some, covers = true, covers || s.pc >= low && s.pc < high
			})
			if err != nil {
				return nil, err
			}
			if covers && next == nil {
				next = c
			}
			if !some && c.Tag != dwarf.TagInlinedSubroutine && !c.Has(dwarf.AttrRanges) {
				// A block without addresses is not a block of its own.
				inner, err := s.collect(c, scope, block, seen, depth+1)
				if err != nil {
					return nil, err
				}
				if next == nil {
					next = inner
				}
			}
		}
	}
	return next, nil
}

// inherit adds the variables of an abstract instance that were not seen.
func (s *scoper) inherit(abstract *node, scope *Scope, block *Block, seen map[object.DebugOffset]bool) {
	for c := range abstract.Direct() {
		if seen[c.Offset] {
			continue
		}
		switch c.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter, dwarf.TagConstant:
			_ = s.add(c, scope, block, false) // what cannot be read is not there
		case dwarf.TagLexDwarfBlock:
			s.inherit(c, scope, block, seen)
		}
	}
}

// add adds the variable of an entry, which is kept where the entry is the
// function's own: abstract ones are many functions'.
func (s *scoper) add(n *node, scope *Scope, block *Block, own bool) error {
	v := n.Made.variable
	if v == nil || !own {
		var err error
		if v, err = s.info.variable(&n.DebugEntry, s.body); err != nil {
			return err
		}
		v.inlined = scope.Inlined
		if own {
			n.Made.variable = v
		}
	}
	switch {
	case v.Name == "" || v.external || v.made:
	case v.Argument && v.result:
		// What Go calls a result is nothing that it was called with.
		if v.Name[0] != '~' {
			block.Variables = append(block.Variables, v)
		}
	case v.Argument:
		scope.Arguments = append(scope.Arguments, v)
	default:
		block.Variables = append(block.Variables, v)
	}
	return nil
}

// abstract returns the tree of an abstract instance, of which one is kept: a
// function is often inlined many times in a row.
func (i *Info) abstract(off object.DebugOffset) (*node, error) {
	b, err := i.body(off)
	if err != nil {
		return nil, err
	}
	return b.root, nil
}

// variableAt returns the variable whose entry is at an offset; b is the
// function whose frame it is read in, or nil.
func (i *Info) variableAt(off object.DebugOffset, b *body) (*Variable, error) {
	e, err := i.entries.Read(off)
	if err != nil {
		return nil, err
	}
	return i.variable(e, b)
}

func (i *Info) variable(e *object.DebugEntry, b *body) (*Variable, error) {
	u := i.entries.UnitOf(e.Offset)
	if _, err := i.entries.Root(u); err != nil {
		return nil, err
	}
	v := &Variable{info: i, offset: e.Offset, unit: u, body: b, Argument: e.Tag == dwarf.TagFormalParameter}
	declared := entry.IsDeclaration(e)
	var typed bool
	var typeAt object.DebugOffset
	var last *object.DebugEntry
	for e := range i.entries.Origins(e) {
		last = e
		u := i.entries.UnitOf(e.Offset)
		if name, ok := e.Text(dwarf.AttrName); ok && v.Name == "" {
			v.Name = name
		}
		if off, ok := i.entries.TypeReference(e); ok && !typed {
			v.Type, typed, typeAt = i.typeAt(off), true, off
		}
		if v.location.Kind == entry.AttributeAbsent && v.constant.Kind == entry.AttributeAbsent {
			v.location = i.entries.ValueOf(e, dwarf.AttrLocation, u)
			v.constant = i.entries.ValueOf(e, dwarf.AttrConstValue, u)
			v.unit = u
			if u != nil {
				_, _ = i.entries.Root(u) // which says how locations are written
			}
		}
		if line, ok := e.Number(dwarf.AttrDeclLine); ok && v.Line == 0 {
			v.Line = int(line)
		}
		if e.Flag(dwarf.AttrExternal) {
			v.External = true
		}
		if e.Flag(dwarf.AttrVarParam) && u != nil && u.Language == Go {
			v.result = true
		}
		if e.Flag(dwarf.AttrArtificial) {
			v.Artificial = true
		}
	}
	if v.Name == "" && (i.nameless == nil || v.offset < i.namelessAt) {
		if err := i.astray(e, last); err != nil {
			i.nameless, i.namelessAt = err, v.offset
		}
	}
	if b == nil {
		if name := i.entries.NameOf(e); name != "" {
			v.Name = name
		}
	} else if u.Language == Go {
		i.takeGo(v, typeAt)
	}
	if !typed {
		v.Type = i.voidType()
	}
	if u.Language == Ada {
		if v.made = v.Artificial && !v.Argument; !v.made {
			v.Name = AdaName(v.Name)
		}
	}
	v.external = declared && v.location.Kind == entry.AttributeAbsent && v.constant.Kind == entry.AttributeAbsent
	return v, nil
}

// astray says where the entries that an entry refers to as its origin do not end, of
// which the last is known; nil where they do.
func (i *Info) astray(e, last *object.DebugEntry) error {
	off, ok := entry.Origin(last)
	if !ok {
		return nil
	}
	if _, err := i.entries.Read(off); err != nil {
		return fmt.Errorf("%v: no name: %w", e.Offset, err)
	}
	return fmt.Errorf("%v: no name: %w, or through more than %d entries", e.Offset, entry.ErrLoop, entry.MaxOrigins)
}

// moveGo leaves of what functions of Go were called with, and of their results, those that
// are in force at an address where they have put them on the heap: the others are as they
// were when they were called. On the line that declares them they may not be there yet.
func (i *Info) moveGo(scopes []*Scope, pc uint64) {
	isMoved := func(v *Variable) bool { return v.escape != nil }
	var lines []object.Location // of the innermost call first, as the scopes are
	for k, s := range scopes {
		block := &s.Blocks[len(s.Blocks)-1]
		if !slices.ContainsFunc(block.Variables, isMoved) {
			continue
		}
		if lines == nil {
			lines, _ = i.object.Locate(pc) // without lines, nothing is known to be in force
		}
		if len(lines) != len(scopes) {
			return
		}
		for _, moved := range slices.Clone(block.Variables) {
			if !isMoved(moved) || moved.Line == lines[k].Line || lines[k].Line == 0 {
				continue
			}
			before := func(v *Variable) bool {
				return v != moved && v.Name == moved.Name && v.Line == moved.Line && (v.Argument || v.result)
			}
			block.Variables = slices.DeleteFunc(block.Variables, before)
			if at := slices.IndexFunc(s.Arguments, before); at >= 0 {
				s.Arguments[at] = moved
				block.Variables = slices.DeleteFunc(block.Variables, func(v *Variable) bool { return v == moved })
			}
		}
	}
}

// takeGo reads out of the name of a local variable of Go's what the compiler says
// with it: a dot begins what it made itself, and a variable that it has put on the
// heap is at the pointer &name, whose type is at an offset.
func (i *Info) takeGo(v *Variable, pointer object.DebugOffset) {
	v.made = strings.HasPrefix(v.Name, ".") || strings.HasPrefix(v.Name, "#")
	name, escaped := strings.CutPrefix(v.Name, "&")
	if !escaped || v.Type == nil || v.Type.kind != Pointer {
		return
	}
	e, err := i.entries.Read(pointer)
	if err != nil {
		return
	}
	if off, ok := i.entries.TypeReference(e); ok {
		v.Name, v.escape, v.Type = name, v.Type, i.typeAt(off)
	}
}

// Variable is a variable, an argument, or a constant with a name. It is shared
// between goroutines and must not be changed.
type Variable struct {
	Name       string // qualified where it is a global of C++: "ns::count"
	Type       *Type
	Argument   bool
	Artificial bool // the compiler made it: this
	External   bool // visible outside of its unit
	Line       int  // of the declaration, 0 where it is not known

	info     *Info
	offset   object.DebugOffset // of its entry
	unit     *entry.Unit
	body     *body // of the function that it is local to; nil for globals
	location entry.Attribute
	constant entry.Attribute // DW_AT_const_value
	result   bool            // of a function of Go
	made     bool            // by the compiler of Go, for itself
	escape   *Type           // of the pointer that the location has, where Go put the variable on the heap
	external bool            // a declaration of what is defined elsewhere
	inlined  bool            // of a call that was inlined

	enter sync.Once  // of what follows
	entry *parameter // see passed

	called lastPassed // see entryBy

	count    sync.Once // of what follows: see isGoNumber
	isNumber bool

	look  sync.Once // of what follows: see asPlain
	plain plain

	located atomic.Pointer[[]located] // see program
}

// located is what a variable's location is at an address of the file.
type located struct {
	pc      uint64
	program *program // nil for nothing
}

// maxLocated is at how many addresses a variable's location is kept beside it: the frames
// of a function are at a few.
const maxLocated = 4

// program returns the program of the expression that the location is at the address of an
// evaluator's frame, nil where there is none.
func (v *Variable) program(e *evaluator) (*program, error) {
	if v.location.Kind != entry.AttributeList {
		return v.programAt(e, 0)
	}
	pc, lookup := e.frame.ProgramCounter()
	if v.unit.GoPlain && pc != lookup {
		// What came in registers was put in its place before anything was called, and is
		// said to be there from the first return on.
		if p, err := v.programAt(e, pc); p != nil || err != nil {
			return p, err
		}
	}
	return v.programAt(e, lookup)
}

// programAt is program at a run-time address, which counts for a location list.
func (v *Variable) programAt(e *evaluator, pc uint64) (*program, error) {
	if v.location.Kind == entry.AttributeList {
		pc -= e.frame.Bias()
	}
	var known []located
	if list := v.located.Load(); list != nil {
		known = *list
	}
	for k := range known {
		if known[k].pc == pc {
			return known[k].program, nil
		}
	}
	p, err := e.expressionAt(&v.location, pc)
	if p != nil && v.isGoList() {
		p = v.goProgram(p)
	}
	if err == nil && len(known) < maxLocated && p.isSmall() {
		more := append(known[:len(known):len(known)], located{pc, p})
		v.located.Store(&more) // without what others found meanwhile, which they find again
	}
	return p, err
}

// Declared reports whether the variable is only declared here, and defined in another
// object: Read fails.
func (v *Variable) Declared() bool { return v.external }

// Function is a function, or an instance of it that was inlined into another. It
// is shared between goroutines and must not be changed.
type Function struct {
	Name        string // as in the source, qualified in C++: "ns::Class::f"
	LinkageName string // mangled, "" where it is Name
	Type        *Type  // of kind Func
	Entry       uint64 // address in the file of the first instruction; 0 and !HasCode without code
	HasCode     bool
	External    bool
	Line        int // of the declaration, 0 where it is not known
	Language    Language

	info *Info
}

// Scope is what one frame has by gdb's count: a function, or an inlined call.
type Scope struct {
	Function *Function
	Inlined  bool // Function was inlined into that of the next Scope

	// Arguments are in the order of the declaration.
	Arguments []*Variable
	// Blocks hold the local variables, innermost block first; the last is the
	// function's own. A name of an inner block hides that of an outer one.
	Blocks []Block
}

// Block is a lexical block.
type Block struct {
	Variables []*Variable // in the order of the declarations
}

// Lookup returns the local variable or argument that a name means in s, nil
// where it means none.
func (s *Scope) Lookup(name string) *Variable {
	for _, b := range s.Blocks {
		for _, v := range b.Variables {
			if v.Name == name {
				return v
			}
		}
	}
	for _, v := range s.Arguments {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Value returns the function as a value, in an object that is loaded with the
// bias of f.
func (fn *Function) Value(f Frame) Value {
	return At(fn.Type, fn.Entry+f.Bias(), f)
}

// Class returns the structure, class or union that a function is a member of, or nil.
func (f *Function) Class() (t *Type) {
	i := f.info
	_ = i.locked(func() error { // a function whose class cannot be read has none
		own, err := i.entries.Read(f.Type.offset)
		if err != nil {
			return err
		}
		for e := range i.entries.Origins(own) {
			around, err := i.entries.Enclosing(e)
			if err != nil {
				return err
			}
			if around == nil {
				continue
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
