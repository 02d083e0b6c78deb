// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"strconv"

	"github.com/clewdev/clew/arch"
)

// names are the names of a machine's columns. Those of the first columns are cached.
type names struct {
	machine *arch.Machine
	short   [128]string // "rsp"
	long    [128]string // "r7 (rsp)"

	word   [128]uint64 // short as a word; 0 if it is longer than eight bytes
	length [128]uint8  // of short
}

// set selects a machine.
func (n *names) set(m *arch.Machine) {
	if n.machine == m {
		return
	}
	n.machine = m
	for i := range n.short {
		n.short[i] = string(m.AppendReadelfName(nil, uint64(i)))
		n.long[i] = ""
		n.long[i] = string(n.appendLong(nil, uint64(i)))
		n.word[i], n.length[i] = 0, uint8(len(n.short[i]))
		if len(n.short[i]) <= 8 {
			n.word[i] = word(n.short[i])
		}
	}
}

// appendShort appends the name of a column in rows.
func (n *names) appendShort(dst []byte, column uint64) []byte {
	if column < uint64(len(n.short)) {
		return append(dst, n.short[column]...)
	}
	return n.machine.AppendReadelfName(dst, column)
}

// appendLong appends the name of a column in instructions.
func (n *names) appendLong(dst []byte, column uint64) []byte {
	if column < uint64(len(n.long)) && n.long[column] != "" {
		return append(dst, n.long[column]...)
	}
	if !n.machine.ReadelfNamed(column) {
		return n.machine.AppendReadelfName(dst, column)
	}
	dst = strconv.AppendInt(append(dst, 'r'), int64(int32(column)), 10)
	dst = append(dst, " ("...)
	return append(n.machine.AppendReadelfName(dst, column), ')')
}
