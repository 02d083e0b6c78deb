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

// Present returns the presentation of a value of a known type, and false for others. Several
// goroutines may call it.
func Present(v value.Value) (print.Presentation, bool) { return present(v, 0) }

// maxDepth bounds the number of values that are presented instead of the value that contains them:
// in damaged debugging information a type can contain itself.
const maxDepth = 16

func present(v value.Value, depth int) (p print.Presentation, ok bool) {
	if v.Type() == nil || v.Frame() == nil || depth > maxDepth {
		return p, false
	}
	i := instance{Value: v, present: func(v value.Value) (print.Presentation, bool) { return present(v, depth+1) }}
	known := i.presenter()
	if known == nil {
		return p, false
	}
	defer func() {
		if r := recover(); r != nil && r != (rejected{}) {
			panic(r)
		}
	}()
	return known(i), true
}

// rejected is the panic value of a presenter for a value that is not valid.
type rejected struct{}

// rejectIf rejects the value if a condition is true.
func rejectIf(invalid bool) {
	if invalid {
		panic(rejected{})
	}
}

// presenter returns the presenter of an instance, or nil, and sets the name of its template.
func (i *instance) presenter() presenter {
	t := i.Type().Strip()
	name, arguments, isTemplate := strings.Cut(t.Name(), "<")
	i.template = name
	switch t.Language() {
	case value.Rust:
		i.template = lastOf(name)
		switch {
		case strings.HasPrefix(name, "&"):
			return reference
		case strings.HasPrefix(name, "core::num::nonzero::NonZero"): // NonZeroU32 before Rust 1.79
			return rustNonZero
		}
		return rustTypes[name]
	case value.CPlusPlus:
	default:
		return nil
	}
	if !strings.HasPrefix(name, "std::") && !strings.HasPrefix(name, "__gnu_") {
		return nil
	}
	if known := classes[unqualified(name)]; known != nil && !isTemplate {
		return known
	}
	if isTemplate {
		if _, rest, ok := split(arguments); !ok || rest != "" {
			return nil // a class in an instance of a template
		}
	} else if len(t.TemplateTypes()) == 0 { // with -gsimple-template-names an instance has no "<" either
		return nil
	}
	return templates[unqualified(name)]
}

// unqualified returns a name of the library without its known namespaces.
func unqualified(name string) string {
	for _, namespace := range []string{"std::", "__gnu_cxx::", "__gnu_debug::", "__cxx11::", "__debug::", "__cxx1998::", "__8::"} {
		name = strings.TrimPrefix(name, namespace)
	}
	return name
}

// instance is a value of an instance of a template.
type instance struct {
	value.Value
	template string // "std::vector"; in Rust "Vec"

	// present presents a value instead of the instance.
	present func(value.Value) (print.Presentation, bool)
}

// presenter presents the values of one type. It panics with rejected if a value is not valid.
type presenter func(instance) print.Presentation

// templates are the presenters of templates by their names in std.
var templates = map[string]presenter{
	"basic_string": text, "basic_string_view": view,
	"vector": vector, "deque": deque, "list": list, "forward_list": forwardList, "initializer_list": initializerList, "span": span, "bitset": bitset,
	"map": tree, "multimap": tree, "set": tree, "multiset": tree,
	"unordered_map": hashTable, "unordered_multimap": hashTable, "unordered_set": hashTable, "unordered_multiset": hashTable,
	"pair": pair, "tuple": tuple, "optional": optional, "variant": variant, "atomic": atomic,
	"stack": adaptor, "queue": adaptor, "priority_queue": adaptor,
	"unique_ptr": uniquePointer, "shared_ptr": sharedPointer, "weak_ptr": sharedPointer,
	"_Rb_tree_iterator": treeIterator, "_Rb_tree_const_iterator": treeIterator,
	"_List_iterator": listIterator, "_List_const_iterator": listIterator,
	"_Deque_iterator":   dequeIterator,
	"__normal_iterator": normalIterator, "_Safe_iterator": safeIterator,
}

// classes are the presenters of classes that are not templates.
var classes = map[string]presenter{
	"any": anyValue, "filesystem::path": path, "filesystem::__cxx11::path": path, "error_code": errorCode, "error_condition": errorCode,
}

// isMissing reports whether a value is a member that does not exist.
func isMissing(v value.Value) bool { return v.Type() == nil || errors.Is(v.Err(), value.ErrNotFound) }

// argument returns a template argument by its index, or nil if it is not a type.
func argument(t *value.Type, index int) *value.Type {
	if types := t.TemplateTypes(); index < len(types) {
		return types[index]
	}
	return nil
}

// uints reads the fields with the given paths as numbers.
func uints(v value.Value, paths ...string) (numbers []uint64) {
	for _, path := range paths {
		numbers = append(numbers, uintOf(field(v, path)))
	}
	return numbers
}

// uintOf reads a number.
func uintOf(v value.Value) uint64 {
	n, err := v.Uint()
	rejectIf(err != nil)
	return n
}

// field returns the field with a path: the names of nested fields, with dots between them.
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
