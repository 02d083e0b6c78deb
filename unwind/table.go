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

// Table holds every row of a section in a compiled form of about half the section's
// size. A look-up reads two cache lines and has no unpredictable branch. A Table does
// not change after Compile, and its methods may be called from several goroutines. It
// implements Source.
type Table struct {
	name string
	base uint64 // address that offsets are relative to

	// The rows are numbered by address. A block is blockSize bytes of code. The first
	// row that starts in it has the number groups[block/groupBlocks] + blocks[block].
	groups []uint32
	blocks []uint16

	// rows has two bytes a row. For each block it has the offsets of the rows in the
	// block, and then the codes of their rules. The first row is a placeholder, so that
	// each row has a previous one.
	rows []byte
	rare []rareRow // those with the code isRare, by number

	far   []farRow // rows outside the blocks: see add and index
	size  int      // rows in blocks, without the gaps
	rules []Rules  // by number, the most used first; the first is a placeholder
}

const (
	blockShift  = 8
	blockSize   = 1 << blockShift
	groupShift  = 6
	groupBlocks = 1 << groupShift // at most 1<<14 rows: numbers in it fit into 16 bits

	// A code is the number of a set of rules; 0 is a gap.
	isRare = 255

	rowsPadding = 16 // last the rows, to be read with them
)

// rareRow holds the rules of a row with a number too large for a code.
type rareRow struct{ row, rules uint32 }

// farRow is a row that is found by binary search.
type farRow struct {
	start, end uint64
	rules      uint32
}

// Rules returns the rules that hold at an address without load bias. It allocates only
// the error for an address without rules.
func (t *Table) Rules(pc uint64) (*Rules, error) {
	switch n := t.find(pc); n {
	case 0:
		return nil, fmt.Errorf("%w in %s covers %#x", cfi.ErrNoFDE, t.name, pc)
	case dropped:
		return nil, fmt.Errorf("%w: at %#x of %s", errDropped, pc, t.name)
	default:
		return &t.rules[n], nil
	}
}

var errDropped = errors.New("the rules exceed the limit for the section's size")

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
	// The number of rows that start at or below the address.
	at := offset % blockSize * ones
	count := notAbove(binary.LittleEndian.Uint64(rows[1:]), at, n) +
		notAbove(binary.LittleEndian.Uint64(rows[9:]), at, n-8)
	for i := 16; i < n; i += 8 {
		count += notAbove(binary.LittleEndian.Uint64(rows[1+i:]), at, n-i)
	}
	// If there is none, the row is the last one of the previous blocks.
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

// notAbove returns the number of the first n bytes of a word that are at most those of
// another.
func notAbove(word, most uint64, n int) int {
	// No difference borrows from the next. The top bits of the differences are right
	// where the top bits of the bytes are equal.
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

// Len returns the number of rows and of distinct rules. Adjacent equal rows count as
// one.
func (t *Table) Len() (rows, rules int) { return t.size + len(t.far), len(t.rules) - 1 }

// Size returns the memory of the table in bytes.
func (t *Table) Size() int {
	n := int(unsafe.Sizeof(*t)) + 4*cap(t.groups) + 2*cap(t.blocks) + cap(t.rows) +
		int(unsafe.Sizeof(rareRow{}))*cap(t.rare) + int(unsafe.Sizeof(farRow{}))*cap(t.far) +
		int(unsafe.Sizeof(Rules{}))*cap(t.rules)
	for i := range t.rules {
		n += int(unsafe.Sizeof(cfi.RegisterRule{})) * cap(t.rules[i].Registers)
	}
	return n
}
