// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"strconv"

	"github.com/clewdev/clew/arch"
)

// names are the spellings of a machine's columns. The first are kept ready,
// the others are made each time.
type names struct {
	machine *arch.Machine
	short   [128]string // "rsp"
	long    [128]string // "r7 (rsp)"

	// short in the form of eight bytes behind which are spaces, and its
	// length; 0 where it is longer.
	word   [128]uint64
	length [128]uint8
}

// set makes the spellings those of a machine.
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

// short appends what a row calls a column.
func (n *names) appendShort(dst []byte, column uint64) []byte {
	if column < uint64(len(n.short)) {
		return append(dst, n.short[column]...)
	}
	return n.machine.AppendReadelfName(dst, column)
}

// long appends what the list of instructions calls a column.
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
