// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "strconv"

// The facts in this file were measured on GNU readelf 2.40 (-wf and -wF). It selects names by
// e_machine alone.

// readelfUnnamedLimit is the highest column that readelf accepts if it has no names for the
// machine.
const readelfUnnamedLimit = 1023

// AppendReadelfName appends GNU readelf 2.40's name of a column to dst. readelf prints this name
// in its rows and, in parentheses, after "r7" in its list of instructions. It differs from
// AppendRegisterName's name if readelf does not know the machine or the register: readelf keeps
// 32 bits of a column, and prints them as a signed number if the column has no name.
// AppendReadelfName allocates only if dst must grow.
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

// ReadelfNamed reports whether GNU readelf 2.40 has a name for a column. Its list of
// instructions prints "r8 (r8)" for a column with a name and "r8" for one without.
func (m *Machine) ReadelfNamed(column uint64) bool {
	column = uint64(uint32(column))
	return column < uint64(len(m.readelf)) && m.readelf[column] != "" || m.isCSR(column)
}
