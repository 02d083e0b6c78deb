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

// Find finds the address and the functions for a place in a file. place is an address
// (0x1160, or decimal), a function as for [style.ExactPattern], or a function and an offset
// (main+0x27, main+39). The functions are those with FDEs that cover the address, the most
// reliable first. names is as for [List], but must not be nil.
//
// The error wraps ErrNoFunction if no function has the name, and cfi.ErrNoFDE if no FDE covers
// the address, which is returned too. Otherwise it lists the functions that place can mean.
func Find(sections []*cfi.Section, names Names, place string) (functions []Function, pc uint64, err error) {
	if _, disjoint := codeRegions(names.Sections()); !disjoint {
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

// findRelocatable is Find for an object file with overlapping sections, in which the FDE of a
// function is found by name.
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
	if len(functions) == 0 || pc >= functions[0].FDE.End {
		return nil, pc, fmt.Errorf("%w covers %s", cfi.ErrNoFDE, place)
	}
	candidates := []string{functions[0].Name()}
	for i := range functions {
		if f := &functions[i]; f.CodeSection != functions[0].CodeSection || f.FDE.Start != functions[0].FDE.Start {
			candidates = append(candidates, f.Name())
		}
	}
	if len(candidates) > 1 {
		return nil, pc, fmt.Errorf("%s can be in several functions of this object file, name one: %s", place, shorten(slices.Compact(candidates)))
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

// ErrNoFunction means that no function has the given name.
var ErrNoFunction = errors.New("no function named")

func noFunction(place, name string) error {
	if _, err := strconv.ParseUint(place, 16, 64); err == nil {
		return fmt.Errorf("%w %s; as an address it is 0x%[2]s", ErrNoFunction, place)
	}
	return fmt.Errorf("%w %s", ErrNoFunction, name)
}

// splitOffset splits "main+0x27" into name and offset.
func splitOffset(place string) (name string, offset uint64, ok bool) {
	i := strings.LastIndexByte(place, '+')
	if i <= 0 {
		return "", 0, false
	}
	offset, err := strconv.ParseUint(place[i+1:], 0, 64)
	return place[:i], offset, err == nil
}

// address returns the address of a place in a file without overlapping sections.
func address(names Names, place string) (uint64, error) {
	if pc, err := strconv.ParseUint(place, 0, 64); err == nil {
		return pc, nil
	}
	name, offset := place, uint64(0)
	addresses := named(names, name)
	// A name can contain a plus sign: "operator+".
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

// shorten joins the first elements of a list.
func shorten(list []string) string {
	const most = 8
	if len(list) > most {
		list = append(slices.Clone(list[:most]), "...")
	}
	return strings.Join(list, ", ")
}

// named returns the addresses of the functions with a name: those with this symbol, or else
// those with this name in the source.
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
