// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "strconv"

// Facts in this file were measured on GNU readelf 2.40 (-wf and -wF), which
// chooses names by e_machine alone: class, byte order and flags do not count.

// readelfUnnamedLimit is the highest column for which readelf keeps a place
// when it has no names for the machine.
const readelfUnnamedLimit = 1023

// AppendReadelfName appends what GNU readelf 2.40 calls a column in its rows
// and, between parentheses, after "r7" in its list of instructions. It
// differs from AppendRegisterName where readelf does not know the machine or
// the register, and in that readelf keeps 32 bits of a column and prints them
// signed when it has no name. It allocates only where dst must grow.
func (m *Machine) AppendReadelfName(dst []byte, column uint64) []byte {
	column = uint64(uint32(column))
	if column < uint64(len(m.readelf)) && m.readelf[column] != "" {
		return append(dst, m.readelf[column]...)
	}
	if m.isCSR(column) {
		return m.AppendRegisterName(dst, column)
	}
	return strconv.AppendInt(append(dst, 'r'), int64(int32(column)), 10)
}

// ReadelfNamed reports whether GNU readelf 2.40 has a name for a column: its
// list of instructions then reads "r8 (r8)", and else "r8".
func (m *Machine) ReadelfNamed(column uint64) bool {
	column = uint64(uint32(column))
	return column < uint64(len(m.readelf)) && m.readelf[column] != "" || m.isCSR(column)
}

// ReadelfLimit returns the highest column GNU readelf 2.40 takes; others (of
// the 32 bits it keeps) it calls "bad register". With names for the machine it
// passes them over (named is true). Without names it reports an "Unfeasibly
// large register number" on standard error and forgets every column it saw so
// far in that entry, except for the column 0xffffffff, which it passes over.
func (m *Machine) ReadelfLimit() (last uint64, named bool) {
	return m.readelfLimit, len(m.readelf) != 0
}
