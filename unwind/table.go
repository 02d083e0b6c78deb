// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/clewdev/clew/cfi"
)

// Table holds every row of a section, compiled once into a form that takes about
// half of the section's own size, and in which a look-up reads two cache lines
// and takes no branch that could go either way. It is not changed after Compile,
// and its methods may be called from several goroutines. It implements Source.
type Table struct {
	name string
	base uint64 // address that offsets are relative to

	// The rows are numbered by address. Blocks are blockSize bytes of code each:
	// the number of the first row that starts in one is groups[block/groupBlocks] +
	// blocks[block].
	groups []uint32
	blocks []uint16

	// rows are two bytes a row. Those of one block follow each other: first, of each
	// row, where in the block it starts, then the codes of their rules. The first
	// row is none, so that each has one before it.
	rows []byte
	rare []rareRow // those with the code isRare, by number

	far   []farRow // what blocks do not hold: see add and index
	size  int      // rows in blocks, without the gaps
	rules []Rules  // by number, the most used first; the first is no rule
}

const (
	blockShift  = 8
	blockSize   = 1 << blockShift
	groupShift  = 6
	groupBlocks = 1 << groupShift // at most 1<<14 rows: numbers in it fit into 16 bits

	// A code is a number of rules; 0 is a gap.
	isRare = 255

	rowsPadding = 16 // behind the rows, to be read with them
)

// rareRow are the rules of a row that a code does not hold.
type rareRow struct{ row, rules uint32 }

// farRow is a row that is searched for.
type farRow struct {
	start, end uint64
	rules      uint32
}

// Rules returns the rules that hold at an address without load bias. It
// allocates nothing but the error of an address that no FDE covers.
func (t *Table) Rules(pc uint64) (*Rules, error) {
	switch n := t.find(pc); n {
	case 0:
		return nil, fmt.Errorf("%w in %s covers %#x", cfi.ErrNoFDE, t.name, pc)
	case noRoom:
		return nil, fmt.Errorf("%w: at %#x of %s", errNoRoom, pc, t.name)
	default:
		return &t.rules[n], nil
	}
}

var errNoRoom = errors.New("more than a table of the section's size holds")

// find returns the number of the rules at an address.
func (t *Table) find(pc uint64) uint32 {
	offset := pc - t.base
	block := offset >> blockShift
	if block+1 >= uint64(len(t.blocks)) {
		return t.findFar(pc)
	}
	first := t.groups[block>>groupShift] + uint32(t.blocks[block])
	n := int(t.groups[(block+1)>>groupShift] + uint32(t.blocks[block+1]) - first)
	rows := t.rows[2*uint64(first)-1:]
	// How many of them start at or below the address.
	at := offset % blockSize * ones
	count := notAbove(binary.LittleEndian.Uint64(rows[1:]), at, n) +
		notAbove(binary.LittleEndian.Uint64(rows[9:]), at, n-8)
	for i := 16; i < n; i += 8 {
		count += notAbove(binary.LittleEndian.Uint64(rows[1+i:]), at, n-i)
	}
	// Of none the row is the last one of the blocks before.
	code := rows[(n+count)&(-count>>(bits.UintSize-1))]
	switch code {
	case isRare:
		return t.findRare(first + uint32(count) - 1)
	case 0:
		return t.findFar(pc) // a row can begin here and end far away
	}
	return uint32(code)
}

const (
	ones = 0x0101010101010101 // times a byte: that byte eight times
	tops = ones << 7
)

// notAbove returns how many of the first n bytes of a word are at most those of
// another.
func notAbove(word, most uint64, n int) int {
	// The top bits of the differences, of which none borrows from the next, are
	// right where those of the bytes are equal.
	low := (most | tops) - word&^tops
	return bits.OnesCount64((most&^word | low&^(most^word)) & tops & (1<<uint(max(8*n, 0)) - 1))
}

func (t *Table) findRare(row uint32) uint32 {
	n := sort.Search(len(t.rare), func(i int) bool { return t.rare[i].row >= row })
	return t.rare[n].rules
}

func (t *Table) findFar(pc uint64) uint32 {
	n := sort.Search(len(t.far), func(i int) bool { return t.far[i].start > pc })
	if n == 0 || pc >= t.far[n-1].end {
		return 0
	}
	return t.far[n-1].rules
}

// Len returns the number of rows, of which equal ones that meet are one, and
// of distinct rules.
func (t *Table) Len() (rows, rules int) { return t.size + len(t.far), len(t.rules) - 1 }

// Size returns the memory that the table takes, in bytes.
func (t *Table) Size() int {
	n := int(unsafe.Sizeof(*t)) + 4*cap(t.groups) + 2*cap(t.blocks) + cap(t.rows) +
		int(unsafe.Sizeof(rareRow{}))*cap(t.rare) + int(unsafe.Sizeof(farRow{}))*cap(t.far) +
		int(unsafe.Sizeof(Rules{}))*cap(t.rules)
	for i := range t.rules {
		n += int(unsafe.Sizeof(cfi.RegisterRule{})) * cap(t.rules[i].Registers)
	}
	return n
}
