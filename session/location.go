// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
)

// Locate returns the addresses that a location names:
//
//	*0x401000        an address
//	fib              all functions with the name, after their prologues, and all inlined
//	                 calls of them
//	ns::C<int>::fib  a function in a scope; outer scopes and template arguments can be
//	                 left out
//	ns::fib(int)     the function with these parameters; the linker's symbol
//	                 (_ZN2ns3fibEi) works too
//	*fib             a function's first instruction
//	*fib+12          bytes from a function's first instruction
//	fib.c:12         a line, or the next one with code; the file by its name or the
//	                 end of its path
//	fib.c:fib        a function of a file
//	12               a line of the innermost frame's file
//	+1, -1           lines from the innermost frame's line
//
// The error wraps ErrNotFound.
func (s *Session) Locate(location string) ([]uint64, error) {
	location = strings.TrimSpace(location)
	switch {
	case location == "":
		return nil, failure(ErrNotFound, "no location is given")
	case location[0] == '*':
		return s.locateAddress(strings.TrimSpace(location[1:]))
	case location[0] == '+' || location[0] == '-':
		n, err := strconv.Atoi(location)
		if err != nil {
			return nil, failure(ErrNotFound, "%q is not a number of lines", location)
		}
		file, line := s.here()
		return s.locateLine(file, line+n)
	}
	file, name := "", location
	if colon := fileColon(location); colon > 0 {
		file, name = location[:colon], location[colon+1:]
	}
	if !isNumber(name) {
		return s.locateFunction(name, file)
	}
	line, err := strconv.Atoi(name)
	if err != nil {
		return nil, failure(ErrNotFound, "%q is not a line", name)
	}
	if file == "" {
		file, _ = s.here()
	}
	return s.locateLine(file, line)
}

// fileColon returns the index of the colon after a file, or -1. It is not part of "::".
func fileColon(location string) int {
	for k := len(location) - 1; k > 0; k-- {
		if location[k] != ':' {
			continue
		}
		if location[k-1] != ':' {
			return k
		}
		k--
	}
	return -1
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (s *Session) locateAddress(text string) ([]uint64, error) {
	if address, err := strconv.ParseUint(text, 0, 64); err == nil {
		return []uint64{address}, nil
	}
	name, offset := text, uint64(0)
	if plus := strings.LastIndexByte(text, '+'); plus > 0 {
		n, err := strconv.ParseUint(strings.TrimSpace(text[plus+1:]), 0, 64)
		if err == nil {
			name, offset = strings.TrimSpace(text[:plus]), n
		}
	}
	addresses := s.entries(name)
	if len(addresses) == 0 {
		return nil, failure(ErrNotFound, "%q is neither an address nor a function", text)
	}
	for n := range addresses {
		addresses[n] += offset
	}
	return addresses, nil
}

// entries returns the first instructions of the functions with a name.
func (s *Session) entries(name string) []uint64 {
	var list []uint64
	n := parseName(name)
	for _, i := range s.images() {
		symbols := append(i.symbolsNamed(&n), name)
		for _, f := range i.functions {
			if slices.Contains(symbols, f.Name) {
				list = appendNew(list, f.Start)
			}
		}
	}
	return list
}

// appendNew appends an address unless the list has it.
func appendNew(list []uint64, address uint64) []uint64 {
	if slices.Contains(list, address) {
		return list
	}
	return append(list, address)
}

// functionsNamed returns the functions of a file of the image that a name stands for, and inlined
// calls of them.
func (i *Image) functionsNamed(f *object.File, name string) []object.Function {
	list, _ := f.Functions(name) // ignore what cannot be read
	n := parseName(name)
	if last := n.last(); last != name {
		found, _ := f.Functions(last) // also functions without a symbol
		for _, each := range found {
			if full, ok := demangled(each.Name); ok && n.matches(full) {
				list = append(list, each)
			}
		}
	}
	for _, symbol := range i.symbolsNamed(&n) {
		found, _ := f.Functions(symbol)
		list = append(list, found...)
	}
	for _, each := range i.functions {
		// Labels of assembly code are functions here.
		if each.Name == name && i.File(each.Start) == f {
			list = append(list, object.Function{Name: name, Entry: each.Start})
		}
	}
	return list
}

// endsPath reports whether end is a path or its last components.
func endsPath(path, end string) bool {
	return path == end || strings.HasSuffix(path, "/"+strings.TrimPrefix(end, "./"))
}

func (s *Session) locateFunction(name, file string) ([]uint64, error) {
	var addresses []uint64
	for _, i := range s.images() {
		for _, f := range i.files {
			functions := i.functionsNamed(f, name)
			for n := range functions {
				entry := functions[n].Entry
				if !i.Contains(entry) || file != "" && !isIn(f, &functions[n], file) {
					continue
				}
				if after, err := f.AfterPrologue(s, entry); err == nil && i.Contains(after) && i.hostAt(entry) == nil {
					entry = after
				}
				addresses = appendNew(addresses, entry)
			}
		}
	}
	if len(addresses) == 0 {
		if file != "" {
			name += " in " + file
		}
		return nil, failure(ErrNotFound, "function %s is in no image of the session", name)
	}
	return addresses, nil
}

// isIn reports whether a function is of a source file.
func isIn(f *object.File, function *object.Function, file string) bool {
	row, _ := f.LineRange(function.Entry)
	return endsPath(row.File, file)
}

func (s *Session) locateLine(file string, line int) ([]uint64, error) {
	if file == "" {
		return nil, failure(ErrNotFound, "line %d of an unknown file; name the file, as in fib.c:%d", line, line)
	}
	var addresses []uint64
	var failed []error
	for _, i := range s.images() {
		for _, f := range i.files {
			found, err := f.FindLine(s, file, line)
			failed = append(failed, err)
			for _, address := range found {
				if i.Contains(address) {
					addresses = appendNew(addresses, address)
				}
			}
		}
	}
	if len(addresses) == 0 {
		return nil, errors.Join(failure(ErrNotFound, "no code for line %d of %s", line, file), errors.Join(failed...))
	}
	return addresses, nil
}

// here returns the innermost frame's place in the source.
func (s *Session) here() (file string, line int) {
	f, err := s.Frame()
	if err != nil || len(f.Locations) == 0 {
		return "", 0
	}
	return f.Locations[0].File, f.Locations[0].Line
}
