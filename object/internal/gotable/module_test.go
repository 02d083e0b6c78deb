// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// memoryOf is memory of a few ranges by their addresses.
type memoryOf map[uint64][]byte

func (m memoryOf) ReadMemory(p []byte, address uint64) error {
	for start, data := range m {
		if address >= start && address-start <= uint64(len(data)) && uint64(len(p)) <= uint64(len(data))-(address-start) {
			copy(p, data[address-start:])
			return nil
		}
	}
	return fmt.Errorf("no memory at %#x", address)
}

// Offsets of the parts of a module in a loadedImage.
const (
	loadedAt      = 0x7f0000000000
	loadedHeader  = 0x300
	loadedTables  = 0x340
	loadedCode    = loadedAt + 0x10000
	loadedNext    = 73 // the word of Go 1.26
	loadedEntries = 2
)

// loadedImage returns the memory of a module as a loader writes it: a moduledata, a
// header without offsets, and tables of two functions of 0x20 bytes that take 24
// bytes of stack from +0x4 on.
func loadedImage() []byte {
	le := binary.LittleEndian
	tables := []byte{}
	place := func(part []byte) uint64 {
		at := loadedAt + loadedTables + uint64(len(tables))
		tables = append(tables, part...)
		return at
	}
	words := make([]uint64, loadedNext+1)
	words[0] = loadedAt + loadedHeader
	slice := func(word int, part []byte, length int) {
		words[word], words[word+1], words[word+2] = place(part), uint64(length), uint64(length)
	}
	names := []byte("\x00one\x00two\x00")
	slice(wordNames, names, len(names))
	slice(wordUnits, make([]byte, 4), 1)
	slice(wordFiles, []byte("/src/a.jit\x00"), 11)
	steps := []byte{0, 2, 4, 48, 28, 0, 2, 32, 0, 14, 32, 0} // none at 0; depth 0 then 24; file 0; line 6
	slice(wordSteps, steps, len(steps))
	functions := []byte{}
	for _, v := range []uint32{0, 32, 0x20, 96, 0x40, 0} {
		functions = le.AppendUint32(functions, v)
	}
	slice(wordFunctions, functions, loadedEntries+1)
	records := make([]byte, 32)
	for i := range uint32(loadedEntries) {
		for _, v := range []uint32{0x20 * i, 1 + 4*i, 16, 0, 1, 6, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0} {
			records = le.AppendUint32(records, v)
		}
	}
	slice(wordRecords, records, len(records))
	words[wordFirst], words[wordEnd], words[wordText] = loadedCode, loadedCode+0x40, loadedCode
	image := make([]byte, loadedTables)
	for i, w := range words {
		le.PutUint64(image[8*i:], w)
	}
	copy(image[loadedHeader:], []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8})
	return append(image, tables...)
}

func loadedReader(memory memoryOf) *moduleReader {
	return &moduleReader{memory: memory, like: &Table{order: binary.LittleEndian, magic: magic120, word: 8, text: 1}, budget: new(Budget)}
}

// firstModule returns the moduledata of a program. Its next module is at an address.
func firstModule(next uint64) []byte {
	first := make([]byte, 8*wordNextLast)
	binary.LittleEndian.PutUint64(first[8*loadedNext:], next)
	return first
}

func TestLoadedGoModule(t *testing.T) {
	r := loadedReader(memoryOf{0x1000: firstModule(loadedAt), loadedAt: loadedImage()})
	list, err := r.list(0x1000)
	if err != nil || len(list) != 1 || list[0].Address != loadedAt || list[0].Start != loadedCode || list[0].End != loadedCode+0x40 {
		t.Fatalf("%+v, %v", list, err)
	}
	var got []string
	for f := range list[0].Functions() {
		got = append(got, fmt.Sprintf("%s %#x-%#x", f.Name, f.Entry, f.End))
	}
	if want := []string{"one 0x7f0000010000-0x7f0000010020", "two 0x7f0000010020-0x7f0000010040"}; !slices.Equal(got, want) {
		t.Errorf("functions %q, expected %q", got, want)
	}
	for _, tt := range []struct {
		address uint64
		name    string
		depth   int
	}{{loadedCode, "one", 0}, {loadedCode + 3, "one", 0}, {loadedCode + 4, "one", 24}, {loadedCode + 0x3f, "two", 24}} {
		f, ok, err := list[0].FunctionAt(tt.address)
		if !ok || err != nil || f.Name != tt.name || f.Depth != tt.depth {
			t.Errorf("%#x: %+v, %t, %v", tt.address, f, ok, err)
		}
		l, err := list[0].Locate(tt.address)
		if err != nil || len(l) != 1 || l[0] != (Location{Function: tt.name, File: "/src/a.jit", Line: 6}) {
			t.Errorf("%#x is at %+v, %v", tt.address, l, err)
		}
	}
	for _, address := range []uint64{loadedCode - 1, loadedCode + 0x40, 0, ^uint64(0)} {
		if f, ok, err := list[0].FunctionAt(address); ok || err != nil {
			t.Errorf("%#x: %+v, %v", address, f, err)
		}
	}
}

// Lists that loop or never end, and invalid modules, are errors. The modules before are
// returned.
func TestHostileGoModules(t *testing.T) {
	le := binary.LittleEndian
	damaged := func(change func(words []byte)) []byte {
		image := loadedImage()
		change(image)
		return image
	}
	word := func(i int, v uint64) func([]byte) {
		return func(b []byte) { le.PutUint64(b[8*i:], v) }
	}
	for _, tt := range []struct {
		name    string
		second  []byte // the module after the first one that is loaded
		want    string // in the error of the list, "" for no error
		modules int
		table   string // in the error of the second module's tables
	}{
		{"itself", damaged(word(loadedNext, loadedAt+0x100000)), "leads back to it", 2, ""},
		{"loop", damaged(word(loadedNext, loadedAt)), "leads back to it", 2, ""},
		{"back to the program", damaged(word(loadedNext, 0x1000)), "leads back to it", 2, ""},
		{"next is unmapped", damaged(word(loadedNext, 0x666)), "no memory at 0x666", 2, ""},
		{"no memory", nil, "no memory", 1, ""},
		{"header", damaged(func(b []byte) { b[loadedHeader] = 0; word(0, loadedAt+0x100000+loadedHeader)(b) }), "its header is 00 ff ff ff", 1, ""},
		{"no header", damaged(word(0, 0)), "its header: no memory", 1, ""},
		{"code ends before it starts", damaged(word(wordEnd, 1)), "its code is", 1, ""},
		{"text after code", damaged(word(wordText, loadedCode+1)), "before its code", 1, ""},
		{"no functions", damaged(word(wordFunctions+1, 1)), "0 functions", 1, ""},
		{"more functions than bytes", damaged(word(wordFunctions+1, 0x43)), "66 functions", 1, ""},
		{"names of 2^60 bytes", damaged(word(wordNames+1, 1<<60)), "", 2, "its table of names: "},
		{"names that are not there", damaged(word(wordNames, 1)), "", 2, "no memory"},
		{"units of 2^62", damaged(word(wordUnits+1, 1<<62)), "", 2, "its table of units: "},
		{"records of 65 MiB", damaged(word(wordRecords+1, 65<<20)), "", 2, "its table of records: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := damaged(word(loadedNext, loadedAt+0x100000))
			memory := memoryOf{0x1000: firstModule(loadedAt), loadedAt: first}
			if tt.second != nil {
				memory[loadedAt+0x100000] = tt.second
			}
			list, err := loadedReader(memory).list(0x1000)
			if len(list) != tt.modules || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%d modules, %v; expected %d, %q", len(list), err, tt.modules, tt.want)
			}
			if f, ok, err := list[0].FunctionAt(loadedCode); !ok || f.Name != "one" {
				t.Errorf("the first one: %+v, %v", f, err)
			}
			if tt.table != "" {
				if _, _, err := list[1].FunctionAt(loadedCode); err == nil || !strings.Contains(err.Error(), tt.table) {
					t.Errorf("%v, expected %q", err, tt.table)
				}
			}
		})
	}
}

// endlessModules is memory in which each module leads to another one. They have the same tables,
// or names of their own.
type endlessModules struct {
	image  []byte
	shared bool
}

func (e endlessModules) ReadMemory(p []byte, address uint64) error {
	const step = 1 << 20
	clear(p)
	at := address % step
	if at < uint64(len(e.image)) {
		copy(p, e.image[at:])
	}
	if at == 0 && !e.shared && len(p) > 8*wordNames+8 {
		le := binary.LittleEndian
		le.PutUint64(p[8*wordNames:], address+le.Uint64(p[8*wordNames:])%step)
	}
	if at == 8*loadedNext {
		binary.LittleEndian.PutUint64(p, address-at+step)
	}
	return nil
}

func TestEndlessGoModules(t *testing.T) {
	image := loadedImage()
	binary.LittleEndian.PutUint64(image[8*(wordNames+1):], 4096)
	budget := new(Budget)
	list, err := (&moduleReader{memory: endlessModules{image: image}, like: loadedReader(nil).like, budget: budget}).list(loadedAt)
	if len(list) != maxLoadedModules || err == nil || !strings.Contains(err.Error(), "was cut after 65536") {
		t.Errorf("%d modules, %v", len(list), err)
	}
	// Their tables share one limit.
	read := 0
	for _, m := range list {
		if _, _, err := m.FunctionAt(loadedCode); err == nil {
			read++
		} else if !errors.Is(err, ErrModule) || !strings.Contains(err.Error(), "bytes may be read") {
			t.Fatal(err)
		}
	}
	if most := maxLoadedTables / 4096; read == 0 || read > most {
		t.Errorf("the tables of %d modules were read, expected at most %d", read, most)
	}
	// Nothing of the budget is left for another object of the target.
	another := loadedReader(memoryOf{0x1000: firstModule(loadedAt), loadedAt: loadedImage()})
	another.budget = budget
	if list, err := another.list(0x1000); len(list) != 0 || err == nil || !strings.Contains(err.Error(), "was cut after 65536") {
		t.Errorf("of another object: %d modules, %v", len(list), err)
	}
	budget.modules = 0
	list, err = another.list(0x1000)
	if err != nil || len(list) != 1 {
		t.Fatalf("of another object: %d modules, %v", len(list), err)
	}
	budget.tables = maxLoadedTables
	if _, _, err := list[0].FunctionAt(loadedCode); !errors.Is(err, ErrModule) {
		t.Errorf("of another object: %v, expected no table", err)
	}
}

// Tables that modules share count once.
func TestSharedGoTables(t *testing.T) {
	image := loadedImage()
	binary.LittleEndian.PutUint64(image[8*(wordNames+1):], 64<<10)
	budget := new(Budget)
	list, _ := (&moduleReader{memory: endlessModules{image, true}, like: loadedReader(nil).like, budget: budget}).list(loadedAt)
	for _, m := range list {
		if f, ok, err := m.FunctionAt(loadedCode); !ok || f.Name != "one" {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	if len(list) != maxLoadedModules || budget.tables > 128<<10 {
		t.Errorf("%d modules, and %d bytes of tables", len(list), budget.tables)
	}
}

// A module whose functions are in a list for each 4096 bytes, as those of jit/goruntime: nothing, "one"
// over two pages, a gap, and "two".
func TestGoModuleOfLists(t *testing.T) {
	le := binary.LittleEndian
	const text = loadedCode - 0x100000
	image := loadedImage()
	for len(image)%8 != 0 {
		image = append(image, 0)
	}
	place := func(numbers ...uint32) (address uint64) {
		address = loadedAt + uint64(len(image))
		for _, n := range numbers {
			image = le.AppendUint32(image, n)
		}
		return address
	}
	one, two := uint32(32), uint32(96)
	records := int(le.Uint64(image[8*wordRecords:]) - loadedAt)
	le.PutUint32(image[records+int(one):], 0x100800)
	le.PutUint32(image[records+int(two):], 0x101900)
	lists := place(0, 0, ^uint32(0), 0, // not used
		0x101000-0x800, one, 0x101100, 0, 0x101900, two, 0x101a01, 0, ^uint32(0), 0,
		0x100000, 0, 0x100800, one, ^uint32(0), 0)
	buckets := place(7, 0, 0, 0, 0, 2, 0, 0, 0, 0)
	words := map[int]uint64{
		wordFunctions: lists, wordFunctions + 1: 11, wordBuckets: buckets,
		wordFirst: loadedCode, wordEnd: loadedCode + 0x2000, wordText: text,
	}
	read := func() *Module {
		for i, w := range words {
			le.PutUint64(image[8*i:], w)
		}
		list, err := loadedReader(memoryOf{0x1000: firstModule(loadedAt), loadedAt: image}).list(0x1000)
		if err != nil || len(list) != 1 {
			t.Fatal(err)
		}
		return list[0]
	}
	m := read()
	var got []string
	for f := range m.Functions() {
		got = append(got, fmt.Sprintf("%s %#x-%#x", f.Name, f.Entry-loadedCode, f.End-loadedCode))
	}
	if want := []string{"one 0x800-0x1100", "two 0x1900-0x1a01"}; !slices.Equal(got, want) {
		t.Errorf("functions %q, expected %q", got, want)
	}
	for offset, want := range map[uint64]string{0: "", 0x7ff: "", 0x800: "one", 0x1000: "one", 0x10ff: "one", 0x1100: "", 0x1900: "two", 0x1a01: "", 0x1fff: ""} {
		if f, ok, err := m.FunctionAt(loadedCode + offset); err != nil || ok != (want != "") || f.Name != want {
			t.Errorf("+%#x: %q, %v, expected %q", offset, f.Name, err, want)
		}
	}
	// Both pages lead to one list; and a list is longer than the table.
	for _, damage := range [][]uint32{{7, 7}, {7, 1 << 30}} {
		for i, run := range damage {
			le.PutUint32(image[buckets-loadedAt+uint64(bucketSize*i):], run)
		}
		if _, _, err := read().FunctionAt(loadedCode); !errors.Is(err, ErrModule) {
			t.Errorf("%d: %v", damage, err)
		}
	}
}

// FuzzGoModules reads a module of any bytes. The places of its tables are right.
func FuzzGoModules(f *testing.F) {
	image := loadedImage()
	f.Add(image[loadedTables:])
	f.Add(image[loadedTables : len(image)-1])
	f.Fuzz(func(t *testing.T, tables []byte) {
		if len(tables) > 1<<12 {
			return
		}
		b := append(slices.Clone(image[:loadedTables]), tables...)
		b = append(b, make([]byte, max(0, len(image)-len(b)))...)
		if len(tables)%2 > 0 { // with lists of functions
			binary.LittleEndian.PutUint64(b[8*wordBuckets:], loadedAt+loadedTables)
			binary.LittleEndian.PutUint64(b[8*wordText:], loadedCode-4096)
		}
		list, err := loadedReader(memoryOf{0x1000: firstModule(loadedAt), loadedAt: b}).list(0x1000)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d modules, %v", len(list), err)
		}
		m := list[0]
		for fn := range m.Functions() {
			if fn.Entry < m.Start || fn.End > m.End || fn.Entry >= fn.End {
				t.Errorf("a function of %#x-%#x in a module of %#x-%#x", fn.Entry, fn.End, m.Start, m.End)
			}
		}
		for address := m.Start - 1; address <= m.End; address++ {
			fn, ok, err := m.FunctionAt(address)
			if err != nil && !errors.Is(err, ErrModule) || ok && (address < fn.Entry || address >= fn.End) {
				t.Errorf("%#x: %+v, %v", address, fn, err)
			}
			m.Locate(address)
		}
	})
}
