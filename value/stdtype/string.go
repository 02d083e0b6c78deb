// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"iter"
	"strconv"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// undefinedString is the std::string that is presented even if it is only declared. With an
// allocator of another type the layout is different.
const undefinedString = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

// text presents a std::string: an address, and since GCC 5 the length. Compilers that know that the
// library has the instance for char, as clang does, omit its definition, or that of the inner class
// with the address. Both numbers are the first two words in the ABI.
func text(s instance) print.Presentation {
	t := s.Type().Strip()
	rejectIf(t.Incomplete() && len(t.TemplateTypes()) == 0 && t.Name() != undefinedString)
	elem := argument(t, 0)
	if elem == nil {
		elem = value.CharOf(t.Machine())
	}
	at, ok := s.Address()
	address, err := field(s.Value, "_M_dataplus._M_p").Uint()
	if err != nil && ok {
		address, err = word(s, at)
	}
	rejectIf(err != nil)
	length, err := s.FieldByName("_M_string_length").Uint()
	switch size := uint64(t.Machine().AddressSize); {
	case err == nil:
	case s.template == "std::basic_string": // before GCC 5, length, capacity and reference count precede the text
		length, err = word(s, address-3*size)
	case ok:
		length, err = word(s, at+size)
	}
	rejectIf(err != nil)
	return characters(s, elem, address, length)
}

// word reads a number with the size of an address.
func word(s instance, address uint64) (uint64, error) {
	m := s.Type().Machine()
	return value.At(value.IntOf(m, "size_t", m.AddressSize, false), address, s.Frame()).Uint()
}

func view(s instance) print.Presentation {
	n := uints(s.Value, "_M_str", "_M_len")
	return characters(s, s.FieldByName("_M_str").Type().Strip().Elem(), n[0], n[1])
}

func characters(s instance, elem *value.Type, address, length uint64) print.Presentation {
	kind, size := elem.Strip().Kind(), elem.Size()
	rejectIf(kind != value.Char && kind != value.Int || size != 1 && size != 2 && size != 4)
	return print.Presentation{String: &print.String{Elem: elem, Address: address, Length: length, Frame: s.Frame(), Whole: s.Type().Language() == value.Rust}}
}

// The kind of a path (std::filesystem::path::_Type) is in the low bits of a pointer. If the path has
// several parts, the pointer is to them.
const (
	pathParts = iota
	pathRootName
	pathRootDirectory
	pathKinds = 3 // the mask
)

// path presents a std::filesystem::path of the library since GCC 9.
func path(p instance) print.Presentation {
	parts, ok := pathList(p, p.Value)
	rejectIf(!ok)
	out := print.Presentation{Text: "filesystem::path ", Value: p.FieldByName("_M_pathname"), Children: func(func(print.Child) bool) {}}
	if kind := pathKind(parts); kind != "" {
		out.After = " [" + kind + "]"
	}
	if parts&pathKinds == pathParts && parts != 0 {
		out.Children = pathElements(p, parts)
	}
	return out
}

// pathList returns the pointer to the parts of a path. It reads the pointer from memory, because
// clang only declares its class.
func pathList(p instance, path value.Value) (parts uint64, ok bool) {
	at, ok := path.FieldByName("_M_cmpts").Address()
	if !ok || isMissing(path.FieldByName("_M_pathname")) || !isMissing(path.FieldByName("_M_type")) {
		return 0, false
	}
	parts, err := word(p, at)
	return parts, err == nil
}

// pathKind returns the kind of a path that consists of a root, or "" for another path.
func pathKind(parts uint64) string {
	switch parts & pathKinds {
	case pathRootDirectory:
		return "root-directory"
	case pathRootName:
		return "root-name"
	}
	return ""
}

// pathElements yields the parts of a path. path::_Impl contains their number and the capacity, as
// two int, and the parts, each a path and an offset.
func pathElements(p instance, at uint64) iter.Seq[print.Child] {
	t := p.Type().Strip()
	m := t.Machine()
	word := uint64(m.AddressSize)
	return func(yield func(print.Child) bool) {
		n, err := value.At(value.IntOf(m, "int", 4, false), at, p.Frame()).Uint()
		if err != nil {
			return
		}
		for i := range n {
			part := value.At(t, at+max(8, word)+i*(t.Size()+word), p.Frame())
			name := strconv.FormatUint(i, 10)
			if parts, ok := pathList(p, part); ok && pathKind(parts) != "" {
				name = pathKind(parts)
			}
			if !yield(print.Child{Name: "[" + name + "]", Value: part.FieldByName("_M_pathname")}) {
				return
			}
		}
	}
}
