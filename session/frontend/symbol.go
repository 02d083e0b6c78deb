// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"cmp"
	"debug/elf"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

// Symbols names the functions and data at the addresses of a session's images. It
// implements print.Symbolizer. Several goroutines may use it at the same time.
type Symbols struct {
	session *session.Session

	mu   sync.Mutex
	data map[*object.File][]object.Symbol // symbols of data, sorted by address
}

// NewSymbols returns the symbols of a session.
func NewSymbols(s *session.Session) *Symbols {
	return &Symbols{session: s, data: map[*object.File][]object.Symbol{}}
}

// Printer returns a printer of values with these symbols, demangled, that shows the types of
// the C++ and Rust libraries by their contents.
func (s *Symbols) Printer() print.Printer {
	return print.Printer{Symbols: style.Demangled{Symbolizer: printed{s}}, Demangle: style.Demangle, Present: stdtype.Present}
}

// printed names functions as a printer of values does.
type printed struct{ *Symbols }

// Symbol implements print.Symbolizer. Mangled names of Rust leave out the type arguments, which the
// debugging information has.
func (p printed) Symbol(address uint64) (name string, offset uint64, ok bool) {
	name, offset, ok = p.Symbols.Symbol(address)
	if !ok || !strings.HasPrefix(name, "_ZN") {
		return name, offset, ok
	}
	image := p.session.Image(address)
	if image == nil {
		return name, offset, ok
	}
	if info := image.Info(address); info != nil && info.Language(address) == value.Rust {
		if fn, err := info.FunctionAt(address); err == nil && fn != nil && fn.Entry == address-offset {
			return fn.Name, offset, true
		}
	}
	return name, offset, ok
}

// Symbol implements print.Symbolizer.
func (s *Symbols) Symbol(address uint64) (name string, offset uint64, ok bool) {
	if i := s.session.Image(address); i != nil {
		if f, ok := i.Function(address); ok {
			return f.Name, address - f.Start, true
		}
	}
	for _, i := range s.session.Images() {
		for _, f := range i.Files() {
			list := s.dataOf(f)
			n := sort.Search(len(list), func(n int) bool { return list[n].Address > address }) - 1
			if n >= 0 && address-list[n].Address < max(list[n].Size, 1) {
				return list[n].Name, address - list[n].Address, true
			}
		}
	}
	return "", 0, false
}

// Data returns the symbols of the data of all images, those of each file by address.
func (s *Symbols) Data() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		for _, i := range s.session.Images() {
			for _, f := range i.Files() {
				for _, d := range s.dataOf(f) {
					if !yield(d) {
						return
					}
				}
			}
		}
	}
}

// dataOf returns the symbols of a file's data, sorted. It reads them once.
func (s *Symbols) dataOf(f *object.File) []object.Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, ok := s.data[f]
	if ok {
		return list
	}
	for d := range f.Symbols() {
		// Linkers omit the .L symbols of assemblers. clang uses them for strings.
		if d.Type == elf.STT_OBJECT && d.Name != "" && !strings.HasPrefix(d.Name, ".L") {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b object.Symbol) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Size, b.Size))
	})
	s.data[f] = list
	return list
}
