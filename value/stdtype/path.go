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
