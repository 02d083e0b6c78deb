// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import "github.com/clewdev/clew/object/internal/dwarf"

// CallSite is a call that the debugging information tells of (DWARF 5 §3.4.1).
// Compilers do so where they optimize.
type CallSite struct {
	// PC is the address behind the call. Where At is set only that of the call
	// itself is known, and PC is that.
	PC uint64
	At bool

	// Entry is the first instruction of the function that is called where its
	// code is in the file, else Name is its linkage name where it is declared
	// there. An indirect call has neither.
	Entry uint64
	Name  string
}

// CallSite returns the call that returns to address pc, and false where the
// debugging information of the file, or of its separate debug file, has none.
func (f *File) CallSite(pc uint64) (site CallSite, ok bool, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, known, err := d.CallSite(pc)
		site, ok = CallSite(found), known
		return err
	})
	return site, ok, err
}

// TailCalls returns the calls in the place of a return (DW_AT_call_tail_call) of
// the function that has code at addr: after one of them the function's frame is
// that of the function that it has called. A function of which the debugging
// information does not say that it tells of all such calls has none, as gdb has
// it. TailCalls reports false where it has no function at addr.
func (f *File) TailCalls(addr uint64) (list []CallSite, ok bool, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, known, err := d.TailCalls(addr)
		ok = known
		for _, site := range found {
			list = append(list, CallSite(site))
		}
		return err
	})
	return list, ok, err
}
