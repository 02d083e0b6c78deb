// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

// fileTable contains the source files of an image, each once. File number 0 is the unit
// itself; the table's own numbers start at 1.
type fileTable struct {
	units   int // functions with lines
	list    []fileName
	numbers map[string]uint32
	last    string // the file of the previous row, usually that of the next too
	number  uint32
	bytes   int // of the names, with their NULs
}

type fileName struct {
	name string
	at   uint32 // in the string table
}

// add returns the number of a file.
func (t *fileTable) add(name string) uint32 {
	// Usually successive rows share one string, so the comparison is quick.
	if name == t.last && t.number != 0 {
		return t.number
	}
	n, ok := t.numbers[name]
	if !ok {
		if t.numbers == nil {
			t.numbers = make(map[string]uint32)
		}
		t.list = append(t.list, fileName{name: name})
		n = uint32(len(t.list))
		t.numbers[name] = n
		t.bytes += len(name) + 1
	}
	t.last, t.number = name, n
	return n
}

// addBytes is add for a name that the table must copy.
func (t *fileTable) addBytes(name []byte) uint32 {
	if n, ok := t.numbers[string(name)]; ok {
		return n
	}
	return t.add(string(name))
}

// offset returns the offset of a name in the string table.
func (t *fileTable) offset(number uint32) uint32 { return t.list[number-1].at }

// place assigns the names their offsets in the string table, starting at at.
func (t *fileTable) place(at int) {
	for i := range t.list {
		t.list[i].at = uint32(at)
		at += len(t.list[i].name) + 1
	}
}

func (t *fileTable) appendNames(dst []byte) []byte {
	for i := range t.list {
		dst = append(append(dst, t.list[i].name...), 0)
	}
	return dst
}

// size estimates the size of the debugging information of functions with the given
// number of rows.
func (t *fileTable) size(rows int) int {
	if t.units == 0 {
		return 0
	}
	return 256 + t.bytes + len(t.list)*fileSize + t.units*(functionSize+setAddressSize+12) + 4*rows
}

// reset empties the table and drops its references to strings.
func (t *fileTable) reset() {
	clear(t.list)
	clear(t.numbers)
	*t = fileTable{list: t.list[:0], numbers: t.numbers}
}
