// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Names are the names that a unit declares at file scope, in namespaces and in classes. Each
// is in them by its qualified name. Functions are also by their last name and their linkage
// name.
type Names struct {
	Functions   map[string][]object.DebugOffset
	Variables   map[string][]object.DebugOffset
	Types       map[string][]object.DebugOffset
	Enumerators map[string]object.DebugOffset // the enumeration
	Globals     []object.DebugOffset          // in the order of the unit
	Code        []CodeRange                   // by Low
	Constants   []GoConstant
	Imports     []Import
}

// CodeRange is a range of addresses of a function.
type CodeRange struct {
	Low, High uint64
	Entry     object.DebugOffset
}

// GoConstant is a constant of a package of Go that has a type of its own.
type GoConstant struct {
	Type  object.DebugOffset
	Name  string // with the package: "time.March"
	Value int64
}

// IndexAll indexes every unit. It returns the first error, and indexes all that can be read.
func (r *Reader) IndexAll() error {
	return r.Search(nil, func(*Unit) bool { return false })
}

// Search indexes first, unless it is nil, and all other units, and calls visit with each
// until visit returns true.
func (r *Reader) Search(first *Unit, visit func(u *Unit) bool) error {
	var problem error
	if first != nil {
		if problem = r.Index(first); visit(first) {
			return nil
		}
	}
	// The units that files share come last.
	linked := len(r.LinkedUnits())
	for k := 0; k < linked+len(r.shared); k++ {
		var u *Unit
		if k < linked {
			u = r.Code(r.linked[k])
		} else {
			u = r.shared[k-linked]
		}
		if k == linked-1 {
			r.sharedUnits()
		}
		if u == first {
			continue
		}
		problem = cmp.Or(problem, r.Index(u))
		if visit(u) {
			return nil
		}
	}
	return problem
}

// Index reads the names of a unit, once. Names after damage are missing.
func (r *Reader) Index(u *Unit) error {
	if u.indexed {
		return nil
	}
	u.indexed = true
	root, err := r.Root(u)
	if err != nil || !root.Children {
		return err
	}
	u.Names = Names{
		Functions: make(map[string][]object.DebugOffset), Variables: make(map[string][]object.DebugOffset),
		Types: make(map[string][]object.DebugOffset), Enumerators: make(map[string]object.DebugOffset),
	}
	x := indexer{reader: r, unit: u}
	if _, err = r.Read(u.First); err == nil {
		err = x.walk("", 0)
	}
	return cmp.Or(err, x.resolve())
}

// indexer reads the names of a unit.
type indexer struct {
	reader *Reader
	unit   *Unit
	entry  object.DebugEntry // read last
	// Their names may be in other entries: resolve, which moves the reader, comes after walk.
	functions, variables []object.DebugEntry
	fields               []object.DebugField // of both
	imports              []imported
}

// walk reads the entries up to the end of a list.
func (x *indexer) walk(prefix string, depth int) error {
	e := &x.entry
	for {
		ok, err := x.reader.NextTo(e)
		if err != nil {
			return err
		}
		if !ok || e.Tag == 0 || e.Offset >= x.unit.End {
			return nil
		}
		if !x.reader.Retain(1) {
			return fmt.Errorf("%w: %v: more names than %#x bytes can hold", ErrDamaged, e.Offset, x.reader.Size())
		}
		name, _ := e.Text(dwarf.AttrName)
		n := &x.unit.Names
		inner, isModule := "", false // the prefix of names in e, and whether e is read even if that is empty
		switch e.Tag {
		case dwarf.TagSubprogram:
			x.functions = x.keep(x.functions)
		case dwarf.TagVariable, dwarf.TagConstant, dwarf.TagMember:
			if e.Tag == dwarf.TagMember && !IsDeclaration(e) {
				break
			}
			if e.Tag == dwarf.TagConstant && x.unit.Language == Go {
				x.constant(e, name)
			}
			x.variables = x.keep(x.variables)
		case dwarf.TagNamespace:
			isOpen := name == "" || e.Has(dw.AttrExportSymbols) // unnamed or inline
			if name == "" {
				name = "(anonymous namespace)"
			}
			inner = prefix + name + "::"
			if isOpen && HasScopes(x.unit.Language) {
				n.Imports = append(n.Imports, Import{Name: prefix, Target: inner})
			}
		case dwarf.TagImportedDeclaration, dwarf.TagImportedModule:
			if target, ok := e.Reference(dwarf.AttrImport); ok && HasScopes(x.unit.Language) {
				x.imports = append(x.imports, imported{e.Offset, target, prefix})
			}
		case dwarf.TagModule:
			inner, isModule = prefix, true
			if x.unit.Language != D && name != "" { // a mangled name of D contains its modules
				inner += name + "::"
			}
		case dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagUnspecifiedType, dwarf.TagStructType, dwarf.TagClassType,
			dwarf.TagUnionType, dwarf.TagEnumerationType:
			if e.Tag == dwarf.TagBaseType {
				name = cmp.Or(spelling.Base(strings.Fields(name)), name)
			}
			if name != "" {
				n.Types[prefix+name] = append(n.Types[prefix+name], e.Offset)
				if short := withoutUnnamed(prefix); short != prefix {
					n.Types[short+name] = append(n.Types[short+name], e.Offset)
				}
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
			case HasScopes(x.unit.Language) && name != "":
				inner = prefix + name + "::"
			}
		}
		if (inner != "" || isModule) && e.Children {
			// The prefixes of nested names together could take the square of the names' size.
			if depth == 64 || len(inner) > 1<<12 {
				return fmt.Errorf("%w: %v: nested deeper than 64", ErrDamaged, e.Offset)
			}
			err = x.walk(inner, depth+1)
		} else {
			err = x.reader.Skip(e, x.unit)
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

// enumerators reads the enumerators of enum, the entry that was read last.
func (x *indexer) enumerators(enum object.DebugOffset, prefix string) error {
	e := &x.entry
	for {
		ok, err := x.reader.NextTo(e)
		if err != nil || !ok || e.Tag == 0 || e.Offset >= x.unit.End {
			return err
		}
		if name, ok := e.Text(dwarf.AttrName); ok && e.Tag == dwarf.TagEnumerator && x.reader.Retain(1) {
			x.unit.Names.Enumerators[prefix+name] = enum
		}
		if err := x.reader.Skip(e, x.unit); err != nil {
			return err
		}
	}
}

func (x *indexer) constant(e *object.DebugEntry, name string) {
	typ, isTyped := x.reader.TypeReference(e)
	n, isNumber := e.Number(dwarf.AttrConstValue)
	if isTyped && isNumber && name != "" && x.reader.Retain(1) {
		x.unit.Names.Constants = append(x.unit.Names.Constants, GoConstant{typ, name, n})
	}
}

// resolve finds the names and the code of functions and variables.
func (x *indexer) resolve() (problem error) {
	n := &x.unit.Names
	for k := range x.functions {
		e := &x.functions[k]
		ranges, err := x.reader.Ranges(e)
		if err != nil {
			problem = cmp.Or(problem, err)
			continue
		}
		if len(ranges) == 0 {
			continue
		}
		for _, r := range ranges {
			n.Code = append(n.Code, CodeRange{r[0], r[1], e.Offset})
		}
		name := x.reader.NameOf(e)
		known := []string{name, spelling.Last(name), x.reader.LinkageName(e)}
		for k, name := range known {
			if name != "" && slices.Index(known, name) == k && x.reader.Retain(1) {
				n.Functions[name] = append(n.Functions[name], e.Offset)
			}
		}
	}
	n.SortCode()
	for k := range x.variables {
		e := &x.variables[k]
		name := x.reader.NameOf(e)
		if name == "" {
			continue
		}
		n.Globals = append(n.Globals, e.Offset)
		n.Variables[name] = append(n.Variables[name], e.Offset)
		if short := withoutUnnamed(name); short != name {
			n.Variables[short] = append(n.Variables[short], e.Offset)
		}
	}
	for _, m := range x.imports {
		if i, ok := x.reader.importAt(m); ok && x.reader.Retain(1) {
			n.Imports = append(n.Imports, i)
		}
	}
	return problem
}

// withoutUnnamed returns a name in an unnamed namespace as the source has it.
func withoutUnnamed(name string) string {
	return strings.ReplaceAll(name, "(anonymous namespace)::", "")
}

// NameOf returns the qualified name of a function, variable or type.
func (r *Reader) NameOf(e *object.DebugEntry) string {
	for e := range r.Origins(e) {
		u := r.UnitOf(e.Offset)
		if u == nil {
			return ""
		}
		if _, err := r.Root(u); err != nil {
			return ""
		}
		name, named := e.Text(dwarf.AttrName)
		if name != "" && isDeclared(e) && (qualifies(u.Language) || u.Language == D && u.indexed) {
			if prefix := r.prefix(u, e); prefix != "" {
				return prefix + name
			}
		}
		if _, more := Origin(e); more && e.Has(dwarf.AttrSpecification) {
			continue // the declaration is in the class
		}
		if named {
			return name
		}
	}
	return ""
}

// isDeclared reports whether the qualified name of an entry can contain the names of the
// entries around it.
func isDeclared(e *object.DebugEntry) bool {
	switch e.Tag {
	case dwarf.TagSubprogram, dwarf.TagVariable, dwarf.TagConstant, dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagUnspecifiedType,
		dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType:
		return true
	case dwarf.TagMember:
		return IsDeclaration(e)
	}
	return false
}

// LinkageName returns the mangled name of a function or variable, or "".
func (r *Reader) LinkageName(e *object.DebugEntry) string {
	for e := range r.Origins(e) {
		for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, dw.AttrMIPSLinkageName} {
			if name, ok := e.Text(a); ok {
				return name
			}
		}
	}
	return ""
}

// SortCode sorts Code.
func (n *Names) SortCode() {
	slices.SortFunc(n.Code, func(a, b CodeRange) int { return cmp.Compare(a.Low, b.Low) })
}

// FunctionCovering returns the entry of the function of a unit that covers an address.
func (u *Unit) FunctionCovering(pc uint64) (object.DebugOffset, bool) {
	code := u.Names.Code
	k := sort.Search(len(code), func(k int) bool { return code[k].Low > pc })
	for n := k - 1; n >= 0 && n >= k-16; n-- {
		if pc < code[n].High {
			return code[n].Entry, true
		}
	}
	return 0, false
}

// FunctionAt returns the function that covers an address, where it is known without an index.
func (r *Reader) FunctionAt(pc uint64) (object.DebugOffset, bool) {
	return r.reader.FunctionAt(pc, r.lowest())
}

// fewFunctions is how many functions of a unit FunctionsNamed reads without an index.
const fewFunctions = 64

// FunctionsNamed returns the functions of u that have code and a name.
func (r *Reader) FunctionsNamed(name string, u *Unit) (list []object.DebugOffset) {
	if !u.indexed && !qualifies(u.Language) {
		if few, ok := r.reader.Functions(u.Header, r.lowest(), fewFunctions); ok {
			for _, off := range few {
				if e, err := r.Read(off); err == nil && name != "" && (r.NameOf(e) == name || r.LinkageName(e) == name) {
					list = append(list, off)
				}
			}
			return list
		}
	}
	_ = r.Index(u) // names that cannot be read are not found
	return u.Names.Functions[name]
}
