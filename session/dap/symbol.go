// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"cmp"
	"debug/elf"
	"slices"
	"sync"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// symbols names the addresses of a session's images: functions, and data. It may
// be used from several goroutines.
type symbols struct {
	session *session.Session

	mu   sync.Mutex
	data map[*object.File][]object.Symbol // of data, by address
}

// Symbol implements value.Symbolizer.
func (s *symbols) Symbol(address uint64) (name string, offset uint64, ok bool) {
	if i := s.session.Image(address); i != nil {
		if f, ok := i.Function(address); ok {
			return f.Name, address - f.Start, true
		}
	}
	for _, i := range s.session.Images() {
		for _, f := range i.Files() {
			list := s.of(f)
			n, found := slices.BinarySearchFunc(list, address, func(d object.Symbol, address uint64) int { return cmp.Compare(d.Address, address) })
			if !found {
				n--
			}
			if n >= 0 && address-list[n].Address < max(list[n].Size, 1) {
				return list[n].Name, address - list[n].Address, true
			}
		}
	}
	return "", 0, false
}

// of returns the symbols of a file's data, which are sorted once.
func (s *symbols) of(f *object.File) []object.Symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list, ok := s.data[f]; ok {
		return list
	}
	var list []object.Symbol
	for d := range f.Symbols() {
		if d.Type == elf.STT_OBJECT && d.Name != "" {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b object.Symbol) int { return cmp.Compare(a.Address, b.Address) })
	if s.data == nil {
		s.data = map[*object.File][]object.Symbol{}
	}
	s.data[f] = list
	return list
}
