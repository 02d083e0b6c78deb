// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Functions returns the functions with a name that have code, by ascending entry. The name is
// the source name, "ns::f" or plain "f", or the linkage name. The error wraps ErrNotFound.
func (i *Info) Functions(name string) (list []*Function, err error) {
	err = i.locked(func() error {
		if err := i.entries.IndexAll(); err != nil {
			return err
		}
		seen := make(map[object.DebugOffset]bool)
		if strings.Contains(name, "<") {
			name = i.declared(name)
		}
		for _, u := range i.entries.Units {
			for _, off := range u.Names.Functions[name] {
				b, err := i.body(off)
				if err != nil || seen[off] {
					continue
				}
				seen[off] = true
				if fn, err := i.function(b.root); err == nil && fn.HasCode {
					list = append(list, fn)
				}
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b *Function) int { return cmp.Compare(a.Entry, b.Entry) })
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("function %q: %w", name, ErrNotFound)
	}
	return list, err
}

// Global returns the variable with a name at file scope that code at pc sees: first of the unit
// of pc, if there is one, then of all others. In C++ the namespaces and classes around the
// function at pc are searched. If there is only a declaration, it returns that. The error wraps
// ErrNotFound.
func (i *Info) Global(name string, pc uint64) (v *Variable, err error) {
	err = i.locked(func() error {
		var declaration *Variable
		err := i.entries.Search(i.entries.UnitAt(pc), func(u *entry.Unit) bool {
			for _, name := range i.qualifications(name, pc, u) {
				var d *Variable
				if v, d = i.variableNamed(u, name); v != nil {
					return true
				}
				declaration = cmp.Or(d, declaration)
			}
			return false
		})
		v = cmp.Or(v, declaration)
		if err == nil && v == nil {
			err = fmt.Errorf("variable %q: %w", name, ErrNotFound)
		}
		return err
	})
	return v, err
}

// variableNamed returns the first definition and the last declaration before it of the variable
// with a name at file scope of a unit, nil if there is none.
func (i *Info) variableNamed(u *entry.Unit, name string) (definition, declaration *Variable) {
	for _, off := range u.Names.Variables[name] {
		if v, err := i.variableAt(off, nil); err == nil && !v.external {
			return v, declaration
		} else if err == nil {
			declaration = v
		}
	}
	return nil, declaration
}

// qualifications returns the qualified names that a name can mean at pc: with the namespaces and
// classes of the function there, innermost first, without them, and through imports.
func (i *Info) qualifications(name string, pc uint64, u *entry.Unit) (names []string) {
	switch known := &i.qualified; {
	case u == nil || !entry.HasScopes(u.Language):
		names = []string{strings.TrimPrefix(name, "::")}
	case known.name == name && known.pc == pc && known.names != nil: // for another unit
		names = known.names
	default:
		if names = i.scopedNames(name, pc); i.entries.UnitAt(pc) != nil {
			names = i.throughImports(names, i.entries.UnitAt(pc), pc)
		}
		*known = qualified{name, pc, names}
	}
	if strings.Contains(name, "<") {
		names = slices.Clone(names)
		for k := range names {
			names[k] = i.declared(names[k])
		}
	}
	return names
}

// qualified are the qualifications of a name.
type qualified struct {
	name  string
	pc    uint64
	names []string
}

// scopedNames returns a name with the namespaces and classes of the function at pc, innermost first,
// and without them. Before "::name" it adds none.
func (i *Info) scopedNames(name string, pc uint64) (names []string) {
	if global, ok := strings.CutPrefix(name, "::"); ok {
		return []string{global}
	}
	if b, err := i.bodyAt(pc); err == nil {
		if fn, err := i.function(b.root); err == nil {
			for k := len(fn.Name) - 2; k > 0; k-- {
				if fn.Name[k] == ':' && fn.Name[k+1] == ':' {
					names = append(names, fn.Name[:k]+"::"+name)
				}
			}
		}
	}
	return append(names, name)
}

// Imported returns the qualified names that a name can mean in the code at pc because of using
// declarations, using directives, inline namespaces and aliases of namespaces of C++. The name can
// itself be qualified; "::name" is one in the global namespace.
func (i *Info) Imported(name string, pc uint64) (names []string) {
	_ = i.locked(func() error { // names that cannot be read are not found
		u := i.entries.UnitAt(pc)
		if u == nil || !entry.HasScopes(u.Language) {
			return nil
		}
		around := i.scopedNames(name, pc)
		names = i.throughImports(around, u, pc)[len(around):]
		return nil
	})
	return names
}

// throughImports appends to names those that imports visible at pc, in u, make of them.
func (i *Info) throughImports(names []string, u *entry.Unit, pc uint64) []string {
	_ = i.entries.Index(u) // imports that cannot be read have no effect
	imports := u.Names.Imports
	if b, err := i.bodyAt(pc); err == nil {
		imports = i.localImports(slices.Clip(imports), b.root, pc)
	}
	return entry.Through(names, imports)
}

// localImports appends the imports in the blocks of a function that cover pc.
func (i *Info) localImports(list []entry.Import, n *node, pc uint64) []entry.Import {
	for c := range n.Direct() {
		switch c.Tag {
		case dwarf.TagImportedDeclaration, dwarf.TagImportedModule:
			if m, ok := i.entries.ImportAt(c.Offset); ok {
				list = append(list, m)
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
			covers := false
			err := i.entries.EachRange(&c.DebugEntry, func(low, high uint64) { covers = covers || pc >= low && pc < high })
			if err == nil && covers {
				list = i.localImports(list, c, pc)
			}
		}
	}
	return list
}

// Globals returns the variables at file scope of the unit of pc, without declarations.
func (i *Info) Globals(pc uint64) (list []*Variable, err error) {
	err = i.locked(func() error {
		u := i.entries.UnitAt(pc)
		if u == nil {
			return fmt.Errorf("unit at %#x: %w", pc, ErrNotFound)
		}
		err := i.entries.Index(u)
		for _, off := range u.Names.Globals {
			if v, err := i.variableAt(off, nil); err == nil && !v.external {
				list = append(list, v)
			}
		}
		return err
	})
	return list, err
}

// Declaration is a variable or a type at file scope, in a namespace or in a class, and its place.
type Declaration struct {
	Name     string // qualified: "ns::count"
	Type     *Type
	Variable *Variable // nil for a type
	File     string    // path as compiled, "" if it is unknown
	Line     int       // 0 if it is unknown, as for a base type
}

// Variables returns the variables of all units, without declarations of other units' variables. The
// error is the first one; the list has all that can be read.
func (i *Info) Variables() (list []Declaration, err error) {
	err = i.locked(func() error {
		return i.entries.Search(nil, func(u *entry.Unit) bool {
			for _, off := range u.Names.Globals {
				if v, err := i.variableAt(off, nil); err == nil && !v.external {
					file, _ := i.declaredAt(u, off)
					list = append(list, Declaration{Name: v.Name, Type: v.Type, Variable: v, File: file, Line: v.Line})
				}
			}
			return false
		})
	})
	return list, err
}

// Types returns the types with names of all units, except incomplete ones. A type is in the list once
// for each unit that describes it. The error is the first one; the list has all that can be read.
func (i *Info) Types() (list []Declaration, err error) {
	err = i.locked(func() error {
		return i.entries.Search(nil, func(u *entry.Unit) bool {
			for name, offsets := range u.Names.Types {
				for _, off := range offsets {
					if t := i.typeAt(off); !t.partial && t.kind != Unknown {
						file, line := i.declaredAt(u, off)
						list = append(list, Declaration{Name: name, Type: t, File: file, Line: line})
					}
				}
			}
			return false
		})
	})
	return list, err
}

// declaredAt returns the place of the declaration of an entry. Without one, the file is that of
// the unit.
func (i *Info) declaredAt(u *entry.Unit, off object.DebugOffset) (file string, line int) {
	e, err := i.entries.Read(off)
	if err != nil {
		return "", 0
	}
	if n, ok := e.Number(dwarf.AttrDeclLine); ok {
		line = int(n)
	}
	if n, ok := e.Number(dwarf.AttrDeclFile); ok && n <= math.MaxInt32 {
		if file = i.entries.FileName(u, int(n)); file != "" {
			return file, line
		}
	}
	root, err := i.entries.Root(u)
	if err != nil {
		return "", line
	}
	file, _ = root.Text(dwarf.AttrName)
	if dir, ok := root.Text(dwarf.AttrCompDir); ok && file != "" && !path.IsAbs(file) {
		file = path.Join(dir, file)
	}
	return file, line
}

// Type returns the type with a name as C and C++ spell it: "int", "unsigned long",
// "struct node", "enum color", "node_t", "ns::Class". Types of the function and the unit at pc
// come first. Names with "*" are not found: see PointerTo. It returns base types of C even if
// the program does not use them. The error wraps ErrNotFound.
func (i *Info) Type(name string, pc uint64) (t *Type, err error) {
	spelled := spell(name)
	err = i.locked(func() error {
		if b, err := i.bodyAt(pc); err == nil {
			if t = i.localType(b, spelled); t != nil {
				return nil
			}
		}
		var declaration *Type
		err := i.entries.Search(i.entries.UnitAt(pc), func(u *entry.Unit) bool {
			for _, qualified := range i.qualifications(spelled.name, pc, u) {
				for _, off := range u.Names.Types[qualified] {
					found := i.typeAt(off)
					switch {
					case !spelled.fits(found):
					case found.partial:
						declaration = found
					default:
						t = found
						return true
					}
				}
			}
			// Base types are in many units: C's are made below.
			return spelled.base != ""
		})
		switch {
		case t != nil:
			return nil
		case spelled.base != "":
			t = Base(i.machine, spelled.base)
		default:
			t = declaration
		}
		if err == nil && t == nil {
			err = fmt.Errorf("type %q: %w", name, ErrNotFound)
		}
		return err
	})
	return t, err
}

// Enumerator returns the enumerator with a name as a value of its enumeration. Those of the
// function and the unit at pc come first. The error wraps ErrNotFound.
func (i *Info) Enumerator(name string, pc uint64) (Value, error) {
	var t *Type
	err := i.locked(func() error {
		if b, err := i.bodyAt(pc); err == nil {
			if t = i.localEnum(b, name); t != nil {
				return nil
			}
		}
		err := i.entries.Search(i.entries.UnitAt(pc), func(u *entry.Unit) bool {
			for _, qualified := range i.qualifications(name, pc, u) {
				if off, ok := u.Names.Enumerators[qualified]; ok {
					t = i.typeAt(off)
					return true
				}
			}
			return false
		})
		if err == nil && t == nil {
			err = fmt.Errorf("enumerator %q: %w", name, ErrNotFound)
		}
		return err
	})
	if err != nil {
		return Value{}, err
	}
	last := spelling.Last(name)
	for _, e := range t.Enumerators() {
		if e.Name == last {
			return IntValue(t, uint64(e.Value), nil), nil
		}
	}
	return Value{}, fmt.Errorf("enumerator %q: %w", name, ErrNotFound)
}

// Address returns the run-time address of a variable in memory whose location is an address or
// an offset from the frame base, as compilers write it for variables that stay in one place.
// It returns false for others: use Read. It allocates nothing, for conditions that are evaluated
// often.
func (v *Variable) Address(f Frame) (uint64, bool) {
	e := v.location.Bytes
	if v.location.Kind != entry.AttributeBlock || len(e) < 2 || v.constant.Kind != entry.AttributeAbsent || v.info == nil {
		return 0, false
	}
	m := v.info.machine
	switch cfi.Op(e[0]) {
	case cfi.OpAddr:
		if len(e) != 1+m.AddressSize || m.AddressSize > 8 {
			return 0, false
		}
		return number.Uint(m.Order, e[1:]) + f.Bias(), true
	case cfi.OpFbreg:
		offset, n, err := leb128.Int(e[1:])
		if err != nil || n != len(e)-1 || v.body == nil {
			return 0, false
		}
		base, ok := v.body.simpleBase(f)
		return base + uint64(offset), ok
	}
	return 0, false
}

// simpleBase returns the frame base of a function if that is the CFA or the value of a
// register.
func (b *body) simpleBase(f Frame) (uint64, bool) {
	e := b.frameBase.Bytes
	if b.frameBase.Kind != entry.AttributeBlock || len(e) != 1 {
		return 0, false
	}
	switch op := cfi.Op(e[0]); {
	case op == cfi.OpCallFrameCFA:
		return f.CFA()
	case op >= cfi.OpReg0 && op <= cfi.OpReg0+31:
		return f.Register(uint64(op - cfi.OpReg0))
	}
	return 0, false
}

// FileGlobal returns the variable with a name at file scope of a source file, given by its path
// or the last components of that. The error wraps ErrNotFound.
func (i *Info) FileGlobal(file, name string) (v *Variable, err error) {
	err = i.locked(func() error {
		err := i.entries.Search(nil, func(u *entry.Unit) bool {
			root, err := i.entries.Root(u)
			if err != nil {
				return false
			}
			path, _ := root.Text(dwarf.AttrName)
			if path == file || strings.HasSuffix(path, "/"+file) {
				v, _ = i.variableNamed(u, name)
			}
			return v != nil
		})
		if err == nil && v == nil {
			err = fmt.Errorf("variable %q of %s: %w", name, file, ErrNotFound)
		}
		return err
	})
	return v, err
}

// HasInstance reports whether there is an instance of a template of C++ with a name, "box<int>" or
// "ns::box<int>": a type or a function. In the code at pc the name can leave out the namespaces
// around that.
func (i *Info) HasInstance(name string, pc uint64) (found bool) {
	_ = i.locked(func() error { // names that cannot be read are not found
		i.declared(name) // builds the list at the first use
		for _, full := range i.qualifications(name, pc, i.entries.UnitAt(pc)) {
			if _, ok := i.instances[spelling.Canonical(full)]; ok {
				found = true
			}
		}
		return nil
	})
	return found
}

// declared returns a name with template arguments as the compiler spells it.
func (i *Info) declared(name string) string {
	if i.instances == nil {
		i.instances = make(map[string]string)
		_ = i.entries.IndexAll() // names that cannot be read are not found
		for _, u := range i.entries.Units {
			if u.Language != CPlusPlus && u.Language != Rust {
				continue
			}
			i.addInstances(u.Names.Types)
			i.addInstances(u.Names.Functions)
			i.addInstances(u.Names.Variables)
		}
	}
	if known, ok := i.instances[spelling.Canonical(name)]; ok {
		return known
	}
	return name
}

func (i *Info) addInstances(names map[string][]object.DebugOffset) {
	for name := range names {
		if strings.Contains(name, "<") && i.entries.Retain(1) {
			i.instances[spelling.Canonical(name)] = name
		}
	}
}
