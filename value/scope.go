// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/spelling"
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

// block collects the variables of a function, inlined call or block. It returns the block or
// inlined call in it that covers the address.
func (s *scoper) block(n *node, scope *Scope, block *Block) (next *node, err error) {
	seen := make(map[object.DebugOffset]bool)
	if next, err = s.collect(n, scope, block, seen, 0); err != nil {
		return nil, err
	}
	// An instance has no entries for variables without code: the entries of its abstract
	// origin count.
	off, ok := n.Reference(dwarf.AttrAbstractOrigin)
	visited := [entry.MaxOrigins]object.DebugOffset{n.Offset}
	for k := 1; ok && k < entry.MaxOrigins && !slices.Contains(visited[:k], off); k++ {
		visited[k] = off
		abstract, err := s.info.body(off)
		if err != nil {
			return next, nil
		}
		s.inherit(abstract.root, scope, block, seen)
		off, ok = abstract.root.Reference(dwarf.AttrAbstractOrigin)
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
			hasRange, covers := false, false
			err := s.info.entries.EachRange(&c.DebugEntry, func(low, high uint64) {
				hasRange, covers = true, covers || s.pc >= low && s.pc < high
			})
			if err != nil {
				return nil, err
			}
			if covers && next == nil {
				next = c
			}
			if !hasRange && c.Tag != dwarf.TagInlinedSubroutine && !c.Has(dwarf.AttrRanges) {
				// The variables of a block without addresses belong to the outer block.
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
			_ = s.add(c, scope, block, false) // a variable that cannot be read is left out
		case dwarf.TagLexDwarfBlock:
			s.inherit(c, scope, block, seen)
		}
	}
}

// add adds the variable of an entry. It keeps the variable if the entry is the function's own:
// many functions share an abstract one.
func (s *scoper) add(n *node, scope *Scope, block *Block, own bool) error {
	v := n.Decoded.variable
	if v == nil || !own {
		var err error
		if v, err = s.info.variable(&n.DebugEntry, s.body); err != nil {
			return err
		}
		v.inlined = scope.Inlined
		if own {
			n.Decoded.variable = v
		}
	}
	switch {
	case v.Name == "" || v.external || v.compilerMade:
	case v.Argument && v.goResult && v.Name[0] == '~': // an unnamed result
	case v.Argument && !v.goResult:
		scope.Arguments = append(scope.Arguments, v)
	default:
		block.Variables = append(block.Variables, v)
	}
	return nil
}

// variableAt returns the variable of the entry at an offset. b is the function in whose frame it
// is read, or nil.
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
	var typeAt object.DebugOffset
	var last *object.DebugEntry
	for e := range i.entries.Origins(e) {
		last = e
		u := i.entries.UnitOf(e.Offset)
		if name, ok := e.Text(dwarf.AttrName); ok && v.Name == "" {
			v.Name = name
		}
		if off, ok := i.entries.TypeReference(e); ok && v.Type == nil {
			v.Type, typeAt = i.typeAt(off), off
		}
		if v.location.Kind == entry.AttributeAbsent && v.constant.Kind == entry.AttributeAbsent {
			v.location = i.entries.ValueOf(e, dwarf.AttrLocation, u)
			v.constant = i.entries.ValueOf(e, dwarf.AttrConstValue, u)
			v.unit = u
			if u != nil {
				_, _ = i.entries.Root(u) // sets the properties of u that locations depend on
			}
		}
		if line, ok := e.Number(dwarf.AttrDeclLine); ok && v.Line == 0 {
			v.Line = int(line)
		}
		v.External = v.External || e.Flag(dwarf.AttrExternal)
		v.Artificial = v.Artificial || e.Flag(dwarf.AttrArtificial)
		v.goResult = v.goResult || e.Flag(dwarf.AttrVarParam) && u != nil && u.Language == Go
	}
	if v.Name == "" && (i.unnamed == nil || v.offset < i.unnamedAt) {
		if err := i.originError(e, last); err != nil {
			i.unnamed, i.unnamedAt = err, v.offset
		}
	}
	if b == nil {
		if name := i.entries.NameOf(e); name != "" {
			v.Name = name
		}
	} else if u.Language == Go {
		i.decodeGoName(v, typeAt)
	}
	if v.Type == nil {
		v.Type = voidType(i.machine)
	}
	if u.Language == Ada {
		if v.compilerMade = v.Artificial && !v.Argument; !v.compilerMade {
			v.Name = AdaName(v.Name)
		}
	}
	v.external = declared && v.location.Kind == entry.AttributeAbsent && v.constant.Kind == entry.AttributeAbsent
	return v, nil
}

// originError returns why the chain of origins of an entry has no end, or nil if it has one. last is
// the last entry that could be read.
func (i *Info) originError(e, last *object.DebugEntry) error {
	off, ok := entry.Origin(last)
	if !ok {
		return nil
	}
	if _, err := i.entries.Read(off); err != nil {
		return fmt.Errorf("%v: no name: %w", e.Offset, err)
	}
	return fmt.Errorf("%v: no name: %w, or through more than %d entries", e.Offset, entry.ErrLoop, entry.MaxOrigins)
}

// moveGo selects, for each argument and result that a function of Go has moved to the heap, the
// variable that is valid at pc: the one on the heap, or the one with the original value. On the
// line of the declaration the move may not be done yet.
func (i *Info) moveGo(scopes []*Scope, pc uint64) {
	isMoved := func(v *Variable) bool { return v.escape != nil }
	var lines []object.Location // that of the innermost call first, like the scopes
	for k, s := range scopes {
		block := &s.Blocks[len(s.Blocks)-1]
		if !slices.ContainsFunc(block.Variables, isMoved) {
			continue
		}
		if lines == nil {
			lines, _ = i.object.Locate(pc) // without lines, no move is known to be done
		}
		if len(lines) != len(scopes) {
			return
		}
		for _, moved := range slices.Clone(block.Variables) {
			if !isMoved(moved) || moved.Line == lines[k].Line || lines[k].Line == 0 {
				continue
			}
			isOriginal := func(v *Variable) bool {
				return v != moved && v.Name == moved.Name && v.Line == moved.Line && (v.Argument || v.goResult)
			}
			block.Variables = slices.DeleteFunc(block.Variables, isOriginal)
			if at := slices.IndexFunc(s.Arguments, isOriginal); at >= 0 {
				s.Arguments[at] = moved
				block.Variables = slices.DeleteFunc(block.Variables, func(v *Variable) bool { return v == moved })
			}
		}
	}
}

// decodeGoName decodes the name of a local variable of Go. The compiler's own variables begin
// with a dot. The name &x is a pointer to a variable x that was moved to the heap. pointer is the
// offset of its type.
func (i *Info) decodeGoName(v *Variable, pointer object.DebugOffset) {
	v.compilerMade = strings.HasPrefix(v.Name, ".") || strings.HasPrefix(v.Name, "#")
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

// Function is a function, or an inlined instance of one. Goroutines share it: do not modify it.
type Function struct {
	Name        string // source name, qualified in C++: "ns::Class::f"
	LinkageName string // mangled, "" if it is Name
	Type        *Type  // of kind Func
	Entry       uint64 // address in the file of the first instruction; 0 without HasCode
	HasCode     bool
	External    bool
	Line        int // of the declaration, 0 if not known
	Language    Language

	info *Info
}

// Display returns the name as gdb shows it: with the types of template arguments in their usual
// spelling, "box<unsigned long>::get".
func (fn *Function) Display() string {
	if fn.Language == CPlusPlus {
		return spelling.Canonical(fn.Name)
	}
	return fn.Name
}

// Scope is a frame as gdb counts them: a function or an inlined call.
type Scope struct {
	Function *Function
	Inlined  bool // Function was inlined into the Function of the next Scope

	// Arguments are in the order of the declaration.
	Arguments []*Variable
	// Blocks contain the local variables, innermost block first. The last block is the
	// function's own. A name of an inner block hides that of an outer one.
	Blocks []Block
}

// Block is a lexical block.
type Block struct {
	Variables []*Variable // in the order of the declarations
}

// Lookup returns the local variable or argument with a name that is visible in s, or nil.
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

// Value returns the function as a value, in an object that is loaded with the bias of f.
func (fn *Function) Value(f Frame) Value {
	return At(fn.Type, fn.Entry+f.Bias(), f)
}

// TemplateParameter returns the value or the type of a template parameter of the function or of its
// class: N is 3 in a method of Box<3>. If neither has such a parameter, the results are nil.
func (f *Function) TemplateParameter(name string) (v *Variable, t *Type) {
	i := f.info
	_ = i.locked(func() error { // what cannot be read is not found
		own, err := i.entries.Read(f.Type.offset)
		if err != nil {
			return err
		}
		if v, t = i.templateParameter(own, name); v != nil || t != nil {
			return nil
		}
		for e := range i.entries.Origins(own) {
			around, err := i.entries.Enclosing(e)
			if err != nil {
				return err
			}
			if around == nil || around.Tag != dwarf.TagStructType && around.Tag != dwarf.TagClassType && around.Tag != dwarf.TagUnionType {
				continue
			}
			v, t = i.templateParameter(around, name)
			return nil
		}
		return nil
	})
	return v, t
}

// templateParameter is TemplateParameter for an entry.
func (i *Info) templateParameter(e *object.DebugEntry, name string) (*Variable, *Type) {
	children, err := i.entries.Children(e.Offset)
	if err != nil {
		return nil, nil
	}
	for k := range children {
		c := &children[k]
		if text, _ := c.Text(dwarf.AttrName); text != name {
			continue
		}
		switch c.Tag {
		case dwarf.TagTemplateValueParameter:
			if v, err := i.variable(c, nil); err == nil {
				v.Name = name
				return v, nil
			}
		case dwarf.TagTemplateTypeParameter:
			return nil, i.elemOf(c)
		}
	}
	return nil, nil
}

// Class returns the structure, class or union that a function is a member of, or nil.
func (f *Function) Class() (t *Type) {
	i := f.info
	_ = i.locked(func() error { // if its entry cannot be read, the class is not known
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
