// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/stack"
)

// Copiers returns the copiers of a live target's goroutines, one for each Go runtime in
// it. They copy while the target stands still: all goroutines, or only those that run on
// threads. Copiers itself is called before the target stops, and reads changing memory.
func Copiers(o *stack.Objects, all bool) (list []*goruntime.Copier) {
	runtimes, _ := runtimesOf(o)
	for _, r := range runtimes {
		list = append(list, r.Copier(o.Snapshot().Memory, all))
	}
	return list
}

// ThreadCopiers returns the copiers of a live target's threads, one for each Go runtime in it.
// They copy a thread while only that thread stands still. ThreadCopiers itself reads changing
// memory.
func ThreadCopiers(o *stack.Objects) (list []*goruntime.ThreadCopier) {
	runtimes, _ := runtimesOf(o)
	for _, r := range runtimes {
		list = append(list, r.ThreadCopier(o.Snapshot().Memory))
	}
	return list
}

// runtime is a Go runtime in a target.
type runtime struct {
	*goruntime.Runtime
	object *stack.Object
}

// runtimesOf returns the Go runtimes of the target by their addresses. The error says why
// the runtime of a Go program was not found.
func runtimesOf(o *stack.Objects) (list []runtime, err error) {
	var errs []error
	for _, mapped := range mayHoldGo(o) {
		f, err := mapped.File()
		if err != nil {
			continue
		}
		var r *goruntime.Runtime
		if failed := object.Guard(func() error { r, err = goruntime.New(f, mapped.Bias); return nil }); failed != nil {
			err = failed
		}
		switch {
		case err == nil:
			list = append(list, runtime{r, mapped})
		case !errors.Is(err, goruntime.ErrNoRuntime):
			errs = append(errs, fmt.Errorf("%s: %w", mapped.Name, err))
		}
	}
	slices.SortFunc(list, func(a, b runtime) int { return cmp.Compare(a.object.Mappings[0].Start, b.object.Mappings[0].Start) })
	return list, errors.Join(errs...)
}

// maxHeaders exceeds the size in bytes of the ELF header and program headers that Go's and
// C's linkers write.
const maxHeaders = 2 << 10

// mayHoldGo returns the objects that can contain a Go runtime, by their headers in the
// target's memory. Opening all objects is expensive if there are many.
func mayHoldGo(o *stack.Objects) (list []*stack.Object) {
	var batch []snapshot.Copy
	var objects []*stack.Object // of batch
	flush := func() {
		if o.Snapshot().Memory != nil {
			snapshot.ReadBatch(o.Snapshot().Memory, batch)
		}
		for i := range batch {
			if o.Snapshot().Memory == nil || holdsThreadLocals(batch[i].Bytes) {
				list = append(list, objects[i])
			}
		}
		batch, objects = batch[:0], objects[:0]
	}
	for _, mapped := range o.CodeObjects() {
		first := mapped.Mappings[0]
		switch {
		case mapped.Name == "[vdso]":
		case first.Offset != 0:
			list = append(list, mapped)
		default:
			batch = append(batch, snapshot.Copy{Address: first.Start, Bytes: make([]byte, min(maxHeaders, first.End-first.Start))})
			if objects = append(objects, mapped); len(objects) == 64 {
				flush()
			}
		}
	}
	flush()
	return list
}

// holdsThreadLocals reports whether an object is a program, or a library with
// thread-local variables. Go's code keeps the running goroutine in one of them
// (runtime.tlsg, runtime.tls_g). It reports true if the headers are unclear.
func holdsThreadLocals(headers []byte) bool {
	var h elf.Header64
	if n, err := binary.Decode(headers, binary.LittleEndian, &h); err != nil || string(h.Ident[:4]) != elf.ELFMAG ||
		h.Ident[elf.EI_CLASS] != byte(elf.ELFCLASS64) || h.Ident[elf.EI_DATA] != byte(elf.ELFDATA2LSB) ||
		elf.Type(h.Type) != elf.ET_DYN || h.Phoff < uint64(n) || h.Phoff > uint64(len(headers)) {
		return true
	}
	for table := headers[h.Phoff:]; h.Phnum > 0; h.Phnum-- {
		var p elf.Prog64
		n, err := binary.Decode(table, binary.LittleEndian, &p)
		if err != nil || int(h.Phentsize) != n || elf.ProgType(p.Type) == elf.PT_TLS || elf.ProgType(p.Type) == elf.PT_INTERP {
			return true
		}
		table = table[n:]
	}
	return false
}
