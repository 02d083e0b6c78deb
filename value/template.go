// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"debug/elf"
	"math/bits"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

// voidParameter stands for a parameter that is void, which has no entry.
const voidParameter = ^object.DebugOffset(0)

// readTemplate reads a parameter of the template that a structure is an instance of.
func (t *Type) readTemplate(e *object.DebugEntry) {
	list := []object.DebugEntry{*e}
	if e.Tag == dw.TagGNUTemplateParameterPack {
		list, _ = t.info.children(e.Offset) // the parameters that are taken together, as far as they can be read
	}
	for k := range list {
		off := object.DebugOffset(0)
		if list[k].Tag == dwarf.TagTemplateTypeParameter {
			var ok bool
			if off, ok = t.info.typeReference(&list[k]); !ok && !list[k].Has(dwarf.AttrType) {
				off = voidParameter
			}
		}
		if t.info.retain(1) {
			t.template = append(t.template, off)
		}
	}
}

// TemplateTypes returns the types that a structure, class or union of C++ or Rust is made
// with, by their places in the list of its template's parameters: nil for a parameter that
// is no type (DWARF 5 §2.23). The parameters of a pack stand in its place. The slice is the
// caller's.
func (t *Type) TemplateTypes() (list []*Type) {
	t = t.Strip()
	t.load()
	if len(t.template) == 0 {
		return nil
	}
	list = make([]*Type, len(t.template))
	_ = t.info.locked(func() error { // what cannot be read is an unknown type
		for k, off := range t.template {
			switch off {
			case 0:
			case voidParameter:
				list[k] = t.info.voidType()
			default:
				list[k] = t.info.typeAt(off)
			}
		}
		return nil
	})
	return list
}

// Align returns the address that a value of the type lies at a multiple of, as far as the
// debugging information tells: what it says of structures that are aligned otherwise than
// their members, and else the size of a number, as far as the machine's psABI has that in a
// structure.
func (t *Type) Align() uint64 {
	left := maxMembers
	return t.alignment(0, &left)
}

// maxMembers bounds how many members the alignment of a type is looked for in.
const maxMembers = 1000

func (t *Type) alignment(depth int, left *int) uint64 {
	t = t.Strip()
	if *left--; *left < 0 || depth > maxChain {
		return 1
	}
	switch t.kind {
	case Array:
		return t.Elem().alignment(depth+1, left)
	case Struct, Class, Union:
		t.load()
		most := max(t.align, 1)
		for k := range t.fields {
			if t.fields[k].Static == nil {
				most = max(most, t.fields[k].Type.alignment(depth+1, left))
			}
		}
		return most
	}
	most := uint64(16)
	switch t.machine.ELF {
	case elf.EM_386:
		most = 4
	case elf.EM_68K:
		most = 2
	}
	size := t.Size()
	if t.kind == Complex {
		size /= 2 // as its parts
	}
	size = min(size, most)
	if size == 0 {
		return 1
	}
	return 1 << (bits.Len64(size) - 1)
}
