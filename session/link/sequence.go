// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"fmt"

	"github.com/clewdev/clew/object"
)

// sequence is a sequence of instructions that computes the address of a thread-local variable, at a
// relocation.
type sequence struct {
	linker  *linker
	in      *input
	section *section
	r, next object.Relocation
}

// run rewrites the sequence, because the variable's offset from the thread pointer is known (ELF
// Handling For Thread-Local Storage, "Linker Optimizations").
func (w *sequence) run() error {
	s := w.section
	switch {
	case uint64(w.r.Symbol) >= uint64(len(w.in.refs)):
		return fmt.Errorf("%s: %w: relocation of symbol %d of %d", s.place(w.r.Offset), errObject, w.r.Symbol, len(w.in.refs))
	case !s.mapped:
		return fmt.Errorf("%s: %w: relocation %s of debugging information", s.place(w.r.Offset), ErrUnsupported, w.linker.machine.name(w.r.Type))
	}
	if err := w.linker.machine.rewrite(w); err != nil {
		return w.linker.relocationError(w.in, s, &w.r, err, "")
	}
	return nil
}

// value returns the offset of the variable from the thread pointer, plus addend.
func (w *sequence) value(addend int64) uint64 {
	g := w.in.refs[w.r.Symbol]
	return w.linker.template.offsetOf(g.address()+uint64(addend), w.linker.base)
}

// window returns bytes of the section before and after the relocation, or nil.
func (w *sequence) window(before, after uint64) []byte {
	data, at := w.section.data, w.r.Offset
	if at < before || at > uint64(len(data)) || after > uint64(len(data))-at {
		return nil
	}
	return data[at-before : at+after]
}

// calls reports whether the next relocation is of __tls_get_addr, at an offset from this one.
func (w *sequence) calls(offset uint64) bool {
	r := &w.next
	if r.Offset != w.r.Offset+offset || uint64(r.Symbol) >= uint64(len(w.in.refs)) || r.Symbol == 0 {
		return false
	}
	e := w.in.table.At(int(r.Symbol))
	return string(w.in.table.Name(&e)) == "__tls_get_addr"
}

// errSequence is the error for instructions that compilers do not write.
var errSequence = fmt.Errorf("%w: these instructions do not access a thread-local variable in a known way", ErrUnsupported)
