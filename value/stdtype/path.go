// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"strconv"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// Kinds of std::filesystem::path::_Type, which stand in the low bits of a pointer. A path
// to the parts, where there are several.
const (
	pathParts = iota
	pathRootName
	pathRootDirectory
	pathKinds = 3 // the mask
)

// path presents a std::filesystem::path, of the library since GCC 9.
func path(p instance) (print.Presentation, bool) {
	to, ok := pathList(p, p.Value)
	if !ok {
		return print.Presentation{}, false
	}
	out := print.Presentation{Text: "filesystem::path ", Value: p.FieldByName("_M_pathname"), Children: func(func(print.Child) bool) {}}
	if kind := pathKind(to); kind != "" {
		out.After = " [" + kind + "]"
	}
	if to&pathKinds == pathParts && to != 0 {
		out.Children = pathElements(p, to)
	}
	return out, true
}

// pathList returns the pointer to the parts of a path. It is in a class that clang declares
// only.
func pathList(p instance, path value.Value) (to uint64, ok bool) {
	at, ok := path.FieldByName("_M_cmpts").Address()
	if !ok || isMissing(path.FieldByName("_M_pathname")) || !isMissing(path.FieldByName("_M_type")) {
		return 0, false
	}
	to, err := word(p, at)
	return to, err == nil
}

// pathKind returns what a path of one part is that is not a name, "" for a name.
func pathKind(parts uint64) string {
	switch parts & pathKinds {
	case pathRootDirectory:
		return "root-directory"
	case pathRootName:
		return "root-name"
	}
	return ""
}

// pathElements yields the parts of a path: path::_Impl is their number and how many it has
// space for, as two int, and the parts, of which each is a path and an offset.
func pathElements(p instance, at uint64) func(yield func(print.Child) bool) {
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
			if to, ok := pathList(p, part); ok && pathKind(to) != "" {
				name = pathKind(to)
			}
			if !yield(print.Child{Name: "[" + name + "]", Value: part.FieldByName("_M_pathname")}) {
				return
			}
		}
	}
}
