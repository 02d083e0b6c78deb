// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// GeneratedName is the name of all objects that are generated code.
const GeneratedName = "[jit]"

// describer is what package stack uses of a [generated.Code].
type describer interface {
	Function(pc uint64) (object.Symbol, bool)
	Locate(pc uint64) ([]object.Location, error)
}

var errGenerated = errors.New("generated code has no object file")

// generatedCode is the executable memory of a target without a mapped file.
type generatedCode struct {
	*generated.Reader
	module  unwind.Module // of all such memory
	objects map[*generated.Code]*Object
}

func (o *Objects) resetGenerated() {
	o.generated = generatedCode{objects: make(map[*generated.Code]*Object)}
	o.generated.Reader = generated.NewReader(generated.Target{Snapshot: o.snapshot, Objects: o.searchable, IsObjectCode: o.isObjectCode})
	o.generated.module = unwind.Module{Name: "memory without a file", Source: &o.generated, SwitchesStack: o.generated.switchesStack}
}

// find returns the object of the generated code at an address, nil if there is none.
func (g *generatedCode) find(s *snapshot.Snapshot, pc uint64) *Object {
	c := g.Find(pc)
	if c == nil {
		return nil
	}
	o := g.objects[c]
	if o == nil {
		o = &Object{Name: GeneratedName, Generated: c.Kind, snapshot: s, code: c, err: errGenerated}
		g.objects[c] = o
	}
	o.Bare = c.Bare
	return o
}

func (g *generatedCode) switchesStack(pc uint64) bool {
	c := g.Find(pc)
	return c != nil && c.SwitchesStack(pc)
}

// searchable returns the objects to search for lists of generated code.
func (o *Objects) searchable() []generated.Object {
	list := o.CodeObjects()
	objects := make([]generated.Object, len(list))
	for i, in := range list {
		objects[i] = generated.Object{Name: in.Name, Mappings: in.Mappings, Open: func() (*object.File, uint64, error) {
			f, err := in.File()
			return f, in.Bias, err
		}}
	}
	return objects
}

// CodeObjects returns the objects with executable mappings, by address, at most
// the first 8,192. It omits second mappings of parts of an object.
func (o *Objects) CodeObjects() []*Object {
	list := make([]*Object, 0, len(o.all))
	for _, object := range o.all {
		if !object.copied && slices.ContainsFunc(object.Mappings, func(m *snapshot.Mapping) bool { return m.Executable }) {
			list = append(list, object)
		}
	}
	slices.SortFunc(list, func(a, b *Object) int { return cmp.Compare(a.Mappings[0].Start, b.Mappings[0].Start) })
	if len(list) > maxSearched {
		if !o.cut {
			o.generated.Skip(fmt.Errorf("only the first %d of %d mapped objects are searched for generated code", maxSearched, len(list)))
		}
		o.cut, list = true, list[:maxSearched]
	}
	return list
}

// GeneratedCode reads all sources of generated code of the target, for code that no thread
// executes too. The error says what could not be read.
func (o *Objects) GeneratedCode() ([]*generated.Source, error) {
	sources := o.generated.Sources()
	return sources, errors.Join(o.generated.Skipped()...)
}

// PublishedCode is GeneratedCode without the sources that only a search of all memory can find. It
// is faster.
func (o *Objects) PublishedCode() ([]*generated.Source, error) {
	sources := o.generated.Published()
	return sources, errors.Join(o.generated.Skipped()...)
}

// vsyscall is the address of code that amd64's kernel maps in all processes. The mapping
// has no name in cores.
const vsyscall = 0xffffffffff600000

// CodeMemory returns the executable memory that contains no object file: generated code, and
// memory that a runtime reserved for it. It returns at most 65,536 ranges, and the number
// of the others.
func (o *Objects) CodeMemory() (list []snapshot.Mapping, more int) {
	s := o.snapshot
	for i := range s.Mappings {
		m := &s.Mappings[i]
		if !m.Executable || m.Path == "[vsyscall]" || m.Path == "[vdso]" || m.Start == vsyscall || perf.IsMarker(m.Path) ||
			o.isObjectCode(m.Start) {
			continue
		}
		if len(list) == maxCodeMemory {
			more++
			continue
		}
		list = append(list, *m)
	}
	return list, more
}

// maxCodeMemory bounds the ranges that CodeMemory returns. A process has at most 65,530
// mappings by default (vm.max_map_count); a core can claim more.
const maxCodeMemory = 1 << 16

// isObjectCode reports whether the code at an address is that of an object file.
func (o *Objects) isObjectCode(address uint64) bool {
	module, _ := o.Modules.Find(address)
	object := o.Object(module)
	if object == nil {
		return false
	}
	_, err := object.File()
	return err == nil
}
