// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// Reader reads the variables of one snapshot's frames. It must not be used after the
// objects were closed. Several goroutines may use it, each for different stacks, if nothing
// but [Reader.Ahead] uses the objects meanwhile.
type Reader struct {
	snapshot *snapshot.Snapshot
	objects  *stack.Objects

	mapped   sync.Once
	mappings []mapping // by start; set by mapped

	mu     sync.Mutex // guards the following fields and the opening of objects
	opened map[*stack.Object]*opened
	places map[*stack.Object]map[uint64]*place // by address

	glibc    *glibc // nil before it is needed
	glibcErr error
}

// opened is an object with its debugging information.
type opened struct {
	file   *object.File // nil if there is none
	info   *value.Info  // nil if there is none
	bare   bool         // it has no debugging information
	walked bool         // a frame is in it
	err    error        // the first one

	list    sync.Once
	symbols []symbol // by address; set by list
}

// NewReader returns a reader of a snapshot and its objects. It uses the separate debug files
// that [stack.Objects.Name] found before.
func NewReader(s *snapshot.Snapshot, o *stack.Objects) *Reader {
	return &Reader{snapshot: s, objects: o, opened: make(map[*stack.Object]*opened), places: make(map[*stack.Object]map[uint64]*place)}
}

// Err returns the errors of reading debugging information so far, object by object.
// Missing debugging information, and an address without any, are not errors.
func (r *Reader) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, o := range r.inOrder() {
		known := r.opened[o]
		if known.info != nil {
			if err := known.info.Damage(); err != nil {
				known.fail(err)
			}
		}
		if known.err != nil {
			errs = append(errs, fmt.Errorf("%s: variables: %w", o.Name, known.err))
		}
	}
	return errors.Join(errs...)
}

// inOrder returns the opened objects by name and address.
func (r *Reader) inOrder() []*stack.Object {
	return slices.SortedFunc(maps.Keys(r.opened), func(a, b *stack.Object) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Bias, b.Bias))
	})
}

// Bare returns the objects without debugging information that frames were found in so far,
// except the kernel's vDSO.
func (r *Reader) Bare() []*stack.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(r.inOrder(), func(o *stack.Object) bool { return !r.opened[o].bare || !r.opened[o].walked || o.Name == "[vdso]" })
}

// open opens the debugging information of an object. The caller holds the lock.
func (r *Reader) open(o *stack.Object) *opened {
	known := r.opened[o]
	if known != nil {
		return known
	}
	known = new(opened)
	r.opened[o] = known
	f, err := o.File()
	if err != nil {
		return known // Name has reported it, or it is generated code
	}
	known.file = f
	if known.info, err = value.Open(f); err != nil {
		known.info = nil
		known.bare = errors.Is(err, value.ErrNoInfo)
		known.fail(err)
	}
	return known
}

// fail keeps the first error.
func (o *opened) fail(err error) {
	if o.err == nil && !errors.Is(err, value.ErrNoInfo) && !errors.Is(err, value.ErrNotFound) {
		o.err = err
	}
}

// mapping is a mapping with its object.
type mapping struct {
	start, end uint64
	object     *stack.Object
}

// objectAt returns the object that contains a run-time address of code or data, nil if there
// is none.
func (r *Reader) objectAt(address uint64) *stack.Object {
	r.mapped.Do(func() { r.mappings = r.findMappings() })
	i, _ := slices.BinarySearchFunc(r.mappings, address, func(m mapping, a uint64) int {
		if m.end <= a {
			return -1
		}
		return 1
	})
	if i < len(r.mappings) && r.mappings[i].start <= address {
		return r.mappings[i].object
	}
	return nil
}

func (r *Reader) findMappings() []mapping {
	list := []mapping{}
	mappings := r.snapshot.Mappings
	of := make(map[*snapshot.Mapping]*stack.Object)
	for o := range r.objects.All() {
		for _, m := range o.Mappings {
			of[m] = o
		}
	}
	for i := range mappings {
		m := &mappings[i]
		o := of[m]
		// The part of a segment after its bytes in the file is mapped without a file.
		if n := len(list); o == nil && m.Path == "" && n > 0 && list[n-1].end == m.Start {
			o = list[n-1].object
		}
		if o != nil {
			list = append(list, mapping{m.Start, m.End, o})
		}
	}
	return list
}

// Ahead returns a function for [stack.NameOptions.Meanwhile]. It reads the debugging
// information about the arguments of the frames of some stacks, once for each address,
// while the frames are named. Other goroutines may use the reader at the same time.
func (r *Reader) Ahead(stacks []stack.Stack) func(ended func() bool) {
	known := make(map[uint64]struct{})
	var firsts []first
	for i := range stacks {
		f := first{stack: stack.Stack{Thread: stacks[i].Thread, Frames: stacks[i].Frames}}
		for k := range f.stack.Frames {
			address := f.stack.Frames[k].LookupPC
			if _, ok := known[address]; !ok {
				known[address] = struct{}{}
				f.frames = append(f.frames, k)
			}
		}
		if f.frames != nil {
			firsts = append(firsts, f)
		}
	}
	return func(ended func() bool) {
		left := maxAhead
		for i := 0; i < len(firsts) && !ended(); i++ {
			r.readArguments(&firsts[i], &left, ended)
		}
	}
}

// Bounds for hostile debugging information.
const (
	maxFrameAhead = 32      // arguments of one frame
	maxAhead      = 1 << 12 // frames and arguments in total
)

// first is a stack with the indexes of frames whose addresses no earlier stack has.
type first struct {
	stack  stack.Stack
	frames []int
}

// readArguments reads the debugging information about arguments by printing their values,
// which it drops.
func (r *Reader) readArguments(f *first, left *int, ended func() bool) {
	var printer print.Printer
	var text []byte
	frames := r.Frames(&f.stack, nil)
	for _, k := range f.frames {
		if *left <= 0 || ended() {
			return
		}
		frame, quota := &frames[k], maxFrameAhead
		for _, scope := range frame.place.scopes() {
			arguments := scope.Arguments[:min(len(scope.Arguments), quota)]
			for _, v := range arguments {
				text = printer.AppendArgument(text[:0], v, frame)
			}
			quota -= len(arguments)
		}
		*left -= 1 + maxFrameAhead - quota
	}
}
