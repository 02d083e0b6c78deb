// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
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
	return print.Presentation{String: &print.String{Elem: elem, Address: address, Length: length, Frame: s.Frame()}}
}
