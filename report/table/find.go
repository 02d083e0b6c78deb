// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
)

// Find finds the function and the address that a user means by a place in a
// file: an address (0x1160, or decimal), a function as [NewPattern] takes it
// but for globs, or a function and an offset (main+0x27, main+39). The
// functions are all whose FDEs cover the address, the first one to be believed
// before the others. names is as for [List], but cannot be nil.
//
// The error wraps ErrNoFunction where no function is called so, and
// cfi.ErrNoFDE where no FDE covers the address, which is returned all the same;
// else it lists what the place could mean.
func Find(sections []*cfi.Section, names Names, place string) (functions []Function, pc uint64, err error) {
	if _, apart := codeRegions(names.Sections()); !apart {
		return findRelocatable(sections, names, place)
	}
	if pc, err = address(names, place); err != nil {
		return nil, 0, err
	}
	list, err := List(sections, names, Selection{Addresses: []uint64{pc}})
	for f := range list.Covering(pc) {
		functions = append(functions, f)
	}
	if len(functions) == 0 {
		return nil, pc, errors.Join(fmt.Errorf("%w covers %#x", cfi.ErrNoFDE, pc), err)
	}
	return functions, pc, nil
}

// findRelocatable is Find for an object file whose sections overlap: there a
// function is found by the name of its FDE.
func findRelocatable(sections []*cfi.Section, names Names, place string) (functions []Function, pc uint64, err error) {
	list, err := List(sections, names, Selection{})
	if err != nil {
		return nil, 0, err
	}
	name, offset := place, uint64(0)
	pc, err = strconv.ParseUint(place, 0, 64)
	if err == nil {
		functions = slices.Collect(list.Covering(pc))
	} else {
		functions = list.called(name)
		if before, n, ok := splitOffset(place); ok && len(functions) == 0 {
			name, offset = before, n
			functions = list.called(name)
		}
		if len(functions) == 0 {
			return nil, 0, noFunction(place, name)
		}
		pc = functions[0].FDE.Start + offset
	}
	var called []string
	for i := range functions {
		if f := &functions[i]; f.CodeSection != functions[0].CodeSection || f.FDE.Start != functions[0].FDE.Start {
			called = append(called, f.Name())
		}
	}
	switch {
	case len(functions) == 0 || pc >= functions[0].FDE.End:
		return nil, pc, fmt.Errorf("%w covers %s", cfi.ErrNoFDE, place)
	case len(called) > 0:
		called = slices.Compact(append([]string{functions[0].Name()}, called...))
		return nil, pc, fmt.Errorf("%s can be in several functions of this object file, name one: %s", place, shorten(called))
	}
	return functions, pc, nil
}

// called returns the functions with a name.
func (l *Listing) called(name string) (functions []Function) {
	p := style.ExactPattern(name)
	for i := range l.entries {
		e := &l.entries[i]
		if e.kind != fdeEntry || e.start == e.end || !p.Match(l.symbol(e).Name) || l.symbol(e).Address != e.start {
			continue
		}
		fde := new(cfi.FDE)
		if e.section.FDEAt(e.offset, fde) == nil {
			functions = append(functions, l.function(e, fde))
		}
	}
	return functions
}

// ErrNoFunction says that no function has a name.
var ErrNoFunction = errors.New("no function is called")

func noFunction(place, name string) error {
	if _, err := strconv.ParseUint(place, 16, 64); err == nil {
		return fmt.Errorf("%w %s; as an address it is 0x%[2]s", ErrNoFunction, place)
	}
	return fmt.Errorf("%w %s", ErrNoFunction, name)
}

// splitOffset takes "main+0x27" apart.
func splitOffset(place string) (name string, offset uint64, ok bool) {
	i := strings.LastIndexByte(place, '+')
	if i <= 0 {
		return "", 0, false
	}
	offset, err := strconv.ParseUint(place[i+1:], 0, 64)
	return place[:i], offset, err == nil
}

// address finds the address that a place means in a file that has one for
// every place.
func address(names Names, place string) (uint64, error) {
	if pc, err := strconv.ParseUint(place, 0, 64); err == nil {
		return pc, nil
	}
	name, offset := place, uint64(0)
	addresses := named(names, name)
	// A name can hold a plus itself: "operator+".
	if before, n, ok := splitOffset(place); ok && len(addresses) == 0 {
		name, offset = before, n
		addresses = named(names, name)
	}
	switch len(addresses) {
	case 0:
		return 0, noFunction(place, name)
	case 1:
		return addresses[0] + offset, nil
	}
	var list []string
	for _, a := range addresses {
		list = append(list, style.Hex(a))
	}
	return 0, fmt.Errorf("%d functions are called %s, name one by its address: %s", len(addresses), name, shorten(list))
}

// shorten joins the first few of a list.
func shorten(list []string) string {
	const most = 8
	if len(list) > most {
		list = append(slices.Clone(list[:most]), "...")
	}
	return strings.Join(list, ", ")
}

// named returns the addresses of the functions with a name: those whose symbol
// it is, else those that the source calls so.
func named(names Names, name string) (addresses []uint64) {
	p := style.ExactPattern(name)
	exact := false
	for s := range names.Symbols() {
		switch {
		case s.Name == name:
			if !exact {
				addresses, exact = addresses[:0], true
			}
		case exact || !p.Match(s.Name):
			continue
		}
		addresses = append(addresses, s.Address)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
