// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"math/bits"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

// constant is a constant of a package of Go that has a type of its own.
type constant struct {
	typ   object.DebugOffset
	name  string // with the package: "time.March"
	value int64
}

func (x *indexer) constant(e *object.DebugEntry, name string) {
	typ, isTyped := x.info.typeReference(e)
	n, isNumber := e.Number(dwarf.AttrConstValue)
	if isTyped && isNumber && name != "" && x.info.retain(1) {
		x.unit.names.constants = append(x.unit.names.constants, constant{typ, name, n})
	}
}

// ConstantName returns the name that the package of a type of Go has for one of its
// numbers, of which b are the bytes, "" where it has none. As in Delve, a number of
// several bits can be that of several constants: "fa|fc". Other packages have constants of the type too (a time out
// of 15 s is a time.Duration), which say nothing of a number that is equal: they are
// left out.
func (t *Type) ConstantName(b []byte) (name string) {
	if t.language != Go || t.info == nil || len(b) > 8 {
		return ""
	}
	n := number.Uint(t.machine.Order, b)
	if t.signed {
		n = number.SignExtend(n, 8*uint64(len(b)))
	}
	path, ok := goPackage(t.name)
	if !ok {
		return ""
	}
	_ = t.info.locked(func() error { // what cannot be read has no name
		name = constantName(t.info.constantsOf(t, path), int64(n), path+".")
		return nil
	})
	return name
}

// constantsOf returns the constants of a type of Go that its package has.
func (i *Info) constantsOf(t *Type, path string) []constant {
	list, ok := i.constants[t.offset]
	if ok {
		return list
	}
	for _, u := range i.unitsOf(path) {
		_ = i.index(u) // what could be read is there
		for _, c := range u.names.constants {
			if c.typ == t.offset && i.retain(1) {
				list = append(list, c)
			}
		}
	}
	if i.constants == nil {
		i.constants = make(map[object.DebugOffset][]constant)
	}
	i.constants[t.offset] = list
	return list
}

// goPackage returns the import path that is in a type's name: "net/http" of
// "net/http.ConnState".
func goPackage(name string) (path string, ok bool) {
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot <= 0 {
		return "", false
	}
	return name[:slash+dot], true
}

// unitsOf returns the units of a package of Go: its assembly code has one of its own.
func (i *Info) unitsOf(path string) []*unit {
	if i.packages == nil {
		i.packages = make(map[string][]*unit)
		for _, u := range i.linkedUnits() {
			root, err := i.root(u)
			if err != nil || u.language != Go {
				continue
			}
			if name, ok := root.Text(dwarf.AttrName); ok && i.retain(1) {
				i.packages[name] = append(i.packages[name], u)
			}
		}
	}
	return i.packages[path]
}

// constantName returns what a package calls a number of a type.
func constantName(list []constant, n int64, prefix string) string {
	var flags []constant
	for _, c := range list {
		if c.value == n {
			return strings.TrimPrefix(c.name, prefix)
		}
		if bits.OnesCount64(uint64(c.value)) == 1 && n&c.value != 0 {
			flags = append(flags, c)
		}
	}
	slices.SortStableFunc(flags, func(a, b constant) int { return compare(uint64(a.value), uint64(b.value)) })
	var names []string
	for _, c := range flags {
		if n&c.value != 0 {
			names = append(names, strings.TrimPrefix(c.name, prefix))
			n &^= c.value
		}
	}
	if n != 0 {
		return ""
	}
	return strings.Join(names, "|")
}
