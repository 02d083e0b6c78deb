// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"errors"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// Present returns what stands for a value of a type that the package knows, false for
// others. It may be called from several goroutines.
func Present(v value.Value) (print.Presentation, bool) { return present(v, 0) }

// maxDepth bounds how many values are presented in the place of one that they are in, of
// which damaged debugging information can say that it is in itself.
const maxDepth = 16

func present(v value.Value, depth int) (print.Presentation, bool) {
	if v.Type() == nil || v.Frame() == nil || depth > maxDepth {
		return print.Presentation{}, false
	}
	t := v.Type().Strip()
	qualified, arguments, ok := strings.Cut(t.Name(), "<")
	switch t.Language() {
	case value.Rust:
		if present := rustPresenter(qualified); present != nil {
			return present(instance{v, lastOf(qualified), depth})
		}
		return print.Presentation{}, false
	case value.CPlusPlus:
	default:
		return print.Presentation{}, false
	}
	if !isSTD(qualified) {
		return print.Presentation{}, false
	}
	if present := classPresenter(unqualified(qualified)); present != nil && !ok {
		return present(instance{v, qualified, depth})
	}
	present := presenter(unqualified(qualified))
	if present == nil {
		return print.Presentation{}, false
	}
	if ok {
		if _, rest, ok := split(arguments); !ok || rest != "" {
			return print.Presentation{}, false // a class within one
		}
	} else if len(t.TemplateTypes()) == 0 { // its name can be without them (-gsimple-template-names)
		return print.Presentation{}, false
	}
	return present(instance{v, qualified, depth})
}

// isSTD reports whether a name is one of the library's.
func isSTD(name string) bool {
	return strings.HasPrefix(name, "std::") || strings.HasPrefix(name, "__gnu_")
}

// unqualified returns a name of the library's without its namespaces, and as it is where
// that is not in one that is known.
func unqualified(name string) string {
	for _, namespace := range []string{"std::", "__gnu_cxx::", "__gnu_debug::", "__cxx11::", "__debug::", "__cxx1998::", "__8::"} {
		name = strings.TrimPrefix(name, namespace)
	}
	return name
}

// instance is a value of an instance of a template.
type instance struct {
	value.Value
	template string // "std::vector"; of Rust "Vec"
	depth    int    // of values in whose place this one is presented
}

// present presents a value in the place of the instance.
func (i instance) present(v value.Value) (print.Presentation, bool) { return present(v, i.depth+1) }

// presenter returns what presents the instances of a template, by its name in std; nil of
// one that is not known.
func presenter(template string) func(instance) (print.Presentation, bool) {
	switch template {
	case "basic_string":
		return text
	case "basic_string_view":
		return view
	case "vector":
		return vector
	case "deque":
		return deque
	case "list":
		return list
	case "forward_list":
		return forwardList
	case "initializer_list":
		return initializerList
	case "span":
		return span
	case "bitset":
		return bitset
	case "map", "multimap", "set", "multiset":
		return tree
	case "unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset":
		return hashTable
	case "pair":
		return pair
	case "tuple":
		return tuple
	case "optional":
		return optional
	case "variant":
		return variant
	case "atomic":
		return atomic
	case "stack", "queue", "priority_queue":
		return adaptor
	case "unique_ptr":
		return uniquePointer
	case "shared_ptr", "weak_ptr":
		return sharedPointer
	case "_Rb_tree_iterator", "_Rb_tree_const_iterator":
		return treeIterator
	case "__normal_iterator":
		return normalIterator
	case "_Safe_iterator":
		return safeIterator
	}
	return nil
}

// classPresenter returns the presenter of a class that is not a template, nil of one that is not
// known.
func classPresenter(class string) func(instance) (print.Presentation, bool) {
	switch class {
	case "any":
		return anyValue
	case "filesystem::path", "filesystem::__cxx11::path":
		return path
	case "error_code", "error_condition":
		return errorCode
	}
	return nil
}

// isMissing reports whether a value is a member that there is none of.
func isMissing(v value.Value) bool { return v.Type() == nil || errors.Is(v.Err(), value.ErrNotFound) }

// argument returns the type that an instance is made with at a place, nil where there is
// none.
func argument(t *value.Type, place int) *value.Type {
	if types := t.TemplateTypes(); place < len(types) {
		return types[place]
	}
	return nil
}

// uints reads the numbers that fields of a value are, each of them named by a path.
func uints(v value.Value, paths ...string) (numbers []uint64, ok bool) {
	for _, path := range paths {
		n, err := field(v, path).Uint()
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// field returns a field of a value by the names on the way to it, with points between.
func field(v value.Value, path string) value.Value {
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(name)
	}
	return v
}

// alignedAfter returns the first address for a value of type t after size bytes at address.
func alignedAfter(address, size uint64, t *value.Type) uint64 {
	align := t.Align()
	return address + (size+align-1)/align*align
}
