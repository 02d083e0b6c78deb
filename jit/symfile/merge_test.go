// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
	"github.com/clewdev/clew/jit/symfile/reader"
)

func mustMerge(tb testing.TB, images [][]byte, keep func(uint64) bool) []byte {
	tb.Helper()
	image, err := symfile.Merge(nil, images, keep)
	if err != nil {
		tb.Fatal(err)
	}
	return image
}

// describe lists the contents of an image: functions, FDEs, and the row and location at
// each byte of the code.
func describe(tb testing.TB, data []byte) string {
	tb.Helper()
	image := open(tb, data)
	var b strings.Builder
	fmt.Fprintln(&b, describeFunctions(tb, image))
	fmt.Fprintln(&b, describeFrames(tb, image))
	list, _ := image.Functions()
	for _, f := range list {
		for at := f.Start; at < f.Start+f.Size; at++ {
			fmt.Fprintf(&b, "%#x %s %s\n", at, describeRow(tb, image, at), describeLocation(tb, image, at))
		}
	}
	return b.String()
}

// TestMergeIsAppend checks that merging the adjacent parts of a batch, in any order,
// results in the image of the batch, byte by byte.
func TestMergeIsAppend(t *testing.T) {
	for _, m := range []*arch.Machine{amd64, arm64} {
		for _, lines := range []bool{false, true} {
			c := callers(t, m, 60, 0, lines)
			want := mustAppend(t, c)
			for _, n := range []int{1, 2, 7, 60} {
				images := split(t, c, n)
				if got := mustMerge(t, images, nil); !bytes.Equal(got, want) {
					t.Errorf("%s, lines %t, %d images: not the image of the batch", m.Name, lines, n)
				}
				slices.Reverse(images)
				if got := mustMerge(t, images, nil); !bytes.Equal(got, want) {
					t.Errorf("%s, lines %t, %d images reversed: not the image of the batch", m.Name, lines, n)
				}
			}
			// Two interleaved ones.
			even, odd := *c, *c
			even.Functions, odd.Functions = nil, nil
			for i, f := range c.Functions {
				if i%2 == 0 {
					even.Functions = append(even.Functions, f)
				} else {
					odd.Functions = append(odd.Functions, f)
				}
			}
			got := mustMerge(t, [][]byte{mustAppend(t, &odd), mustAppend(t, &even)}, nil)
			if describe(t, got) != describe(t, want) {
				t.Errorf("%s, lines %t: odd and even functions merged are not the batch", m.Name, lines)
			}
		}
	}
}

// TestMergeKeeps checks that withdrawing functions leaves the data of the others
// unchanged, and that the withdrawn functions' memory is not part of the image.
func TestMergeKeeps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := callers(t, amd64, 40, 5, true)
	for range 30 {
		kept := make(map[uint64]bool)
		part := *c
		part.Functions = nil
		for i := range c.Functions {
			if f := c.Functions[i]; random.IntN(3) > 0 {
				kept[c.Start(&f)] = true
				part.Functions = append(part.Functions, f)
			}
		}
		keep := func(start uint64) bool { return kept[start] }
		got := mustMerge(t, split(t, c, 1+random.IntN(8)), keep)
		if want := mustAppend(t, &part); describe(t, got) != describe(t, want) {
			t.Fatalf("keeping %v: the image says something else", kept)
		}
		code := open(t, got).Code()
		for i := range c.Functions {
			start := c.Start(&c.Functions[i])
			covered := slices.ContainsFunc(code, func(r reader.Range) bool { return r.Start < start+16 && start < r.End })
			// A range may end with the padding after a function, but not reach the next one.
			if inside := slices.ContainsFunc(code, func(r reader.Range) bool { return r.Start < start+11 && start < r.End }); inside != kept[start] {
				t.Fatalf("function %d kept: %t, its code is covered: %t (with padding %t)", i, kept[start], inside, covered)
			}
		}
		// Again, in steps.
		again := mustMerge(t, [][]byte{got}, nil)
		if !bytes.Equal(again, got) {
			t.Fatal("an image merged alone is another one")
		}
	}
}

// TestMergeOwns checks that sections cover the padding of their batch only.
func TestMergeOwns(t *testing.T) {
	c := callers(t, amd64, 4, 5, false) // a function each 16 bytes, which has 11
	a := mustAppend(t, c)
	for _, test := range []struct {
		without []int
		want    string
	}{
		{nil, "[{1000000000 1000000040}]"},
		{[]int{0}, "[{1000000010 1000000040}]"},
		{[]int{3}, "[{1000000000 100000002b}]"},
		{[]int{1}, "[{1000000000 100000000b} {1000000020 1000000040}]"},
		{[]int{1, 2}, "[{1000000000 100000000b} {1000000030 1000000040}]"},
		{[]int{0, 2}, "[{1000000010 100000001b} {1000000030 1000000040}]"},
	} {
		got := mustMerge(t, [][]byte{a}, func(start uint64) bool {
			return !slices.Contains(test.without, int(start-address)/16)
		})
		if got := fmt.Sprintf("%x", open(t, got).Code()); got != test.want {
			t.Errorf("without %v: code %s, want %s", test.without, got, test.want)
		}
	}
	// Batches of single functions own the range of their Text.
	if got := fmt.Sprintf("%x", open(t, mustMerge(t, split(t, c, 4), nil)).Code()); got !=
		"[{1000000000 100000000b} {1000000010 100000001b} {1000000020 100000002b} {1000000030 100000003b}]" {
		t.Errorf("four batches: code %s", got)
	}
}

// TestMergeFiles checks that the image has the files of the remaining functions, each once.
func TestMergeFiles(t *testing.T) {
	c := callers(t, amd64, 6, 0, true)
	for i := range c.Functions {
		for k := range c.Functions[i].Lines {
			c.Functions[i].Lines[k].File = fmt.Sprintf("/src/%d.w", (i+k)%6)
		}
	}
	images := split(t, c, 3)
	got := mustMerge(t, images, func(start uint64) bool { return start < address+3*11 })
	for i, want := range []int{1, 1, 1, 1, 1, 0} { // 0, 1, 2 + 1, 2, 3 + 2, 3, 4
		if n := bytes.Count(got, fmt.Appendf(nil, "/src/%d.w\x00", i)); n != want {
			t.Errorf("the name of file %d stands there %d times, want %d", i, n, want)
		}
	}
}

// TestMergeFarApart checks that code that is too far apart for pointers of four bytes has
// pointers of eight, and four again without the far part.
func TestMergeFarApart(t *testing.T) {
	near, far := callers(t, amd64, 3, 5, true), callers(t, amd64, 3, 5, true)
	far.Address += 1 << 40
	merged := mustMerge(t, [][]byte{mustAppend(t, far), mustAppend(t, near)}, nil)
	for _, c := range []*jit.Code{near, far} {
		want := mustAppend(t, c)
		if got := mustMerge(t, [][]byte{merged}, func(start uint64) bool { return start-c.Address < 1<<20 }); !bytes.Equal(got, want) {
			t.Errorf("the part at %#x is not what it was", c.Address)
		}
		image := open(t, merged)
		for i := range c.Functions {
			at := c.Start(&c.Functions[i]) + 5
			if got := describeRow(t, image, at); got != "CFA=r7+32 r16=-8" {
				t.Errorf("row at %#x: %s", at, got)
			}
			if got, want := describeLocation(t, image, at), describeLocation(t, open(t, want), at); got != want {
				t.Errorf("location of %#x: %s, want %s", at, got, want)
			}
		}
	}
	frames, _ := open(t, merged).Frames()
	for f := range frames[0].FDEs() {
		if f.CIE.PointerEncoding != cfi.EncAbsptr {
			t.Errorf("%v of %v", f, f.CIE)
		}
	}
}

// TestMergeOverlap checks that code that was published twice is in the image twice, and
// does not affect the other functions.
func TestMergeOverlap(t *testing.T) {
	c := callers(t, amd64, 3, 5, true)
	image := mustAppend(t, c)
	again := *c
	again.Functions = slices.Clone(c.Functions[1:2])
	again.Functions[0].Name, again.Functions[0].Size = "again", 11
	merged := mustMerge(t, [][]byte{image, mustAppend(t, &again), image}, nil)
	for range 2 {
		got := open(t, merged)
		if got, want := describeFunctions(t, got), "f0 1000000000+b f0 1000000000+b f1 1000000010+b f1 1000000010+b again 1000000010+b "+
			"f2 1000000020+b f2 1000000020+b"; got != want {
			t.Errorf("functions\n got %s\nwant %s", got, want)
		}
		if got, want := strings.Count(describeFrames(t, got), "+"), 7; got != want {
			t.Errorf("%d FDEs, want %d", got, want)
		}
		if got, want := describeLocation(t, got, address+0x20), "f2 /src/file0.w:14:1"; got != want {
			t.Errorf("location of f2: %s, want %s", got, want)
		}
		merged = mustMerge(t, [][]byte{merged}, nil)
	}
}

func TestMergeNothing(t *testing.T) {
	image := mustAppend(t, callers(t, amd64, 3, 0, true))
	dst := []byte("kept")
	for name, images := range map[string][][]byte{"no images": nil, "nothing kept": {image, image}} {
		got, err := symfile.Merge(dst, images, func(uint64) bool { return false })
		if err != nil || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestMergeTooManyRanges: a symbol has 16 bits for its section.
func TestMergeTooManyRanges(t *testing.T) {
	c := callers(t, amd64, 140000, 0, false)
	image := mustAppend(t, c)
	every := func(step uint64) func(uint64) bool {
		return func(start uint64) bool { return (start-address)/11%step == 0 }
	}
	if _, err := symfile.Merge(nil, [][]byte{image}, every(3)); err != nil {
		t.Errorf("46667 ranges: %v", err)
	}
	got, err := symfile.Merge([]byte("kept"), [][]byte{image}, every(2))
	if !errors.Is(err, symfile.ErrTooLarge) || string(got) != "kept" {
		t.Errorf("70000 ranges: %d bytes, %v", len(got), err)
	}
}

func TestMergeRefuses(t *testing.T) {
	good := mustAppend(t, callers(t, amd64, 3, 0, true))
	damaged := func(change func([]byte)) []byte {
		b := bytes.Clone(good)
		change(b)
		return b
	}
	at := func(name string) int { return int(section(t, good, name).Offset) }
	cases := map[string][]byte{
		"empty":           nil,
		"no ELF":          []byte("beam"),
		"truncated":       good[:len(good)-1],
		"type":            damaged(func(b []byte) { b[16] = byte(elf.ET_DYN) }),
		"class":           damaged(func(b []byte) { b[elf.EI_CLASS] = byte(elf.ELFCLASS32) }),
		"sections":        damaged(func(b []byte) { le.PutUint64(b[40:], uint64(len(b))) }),
		"strings":         damaged(func(b []byte) { b[at(".strtab")+1] = 'x' }),
		"symbol name":     damaged(func(b []byte) { le.PutUint32(b[at(".symtab")+24:], 1<<30) }),
		"symbol section":  damaged(func(b []byte) { le.PutUint16(b[at(".symtab")+24+6:], 2) }),
		"symbol size":     damaged(func(b []byte) { le.PutUint64(b[at(".symtab")+24+16:], 1<<40) }),
		"symbols' order":  damaged(func(b []byte) { le.PutUint64(b[at(".symtab")+48+8:], address+30) }),
		"entry's code":    damaged(func(b []byte) { b[at(".debug_info")+38] = 3 }),
		"entry's address": damaged(func(b []byte) { b[at(".debug_info")+43]++ }),
		"file number":     damaged(func(b []byte) { b[at(".debug_info")+55] = 9 }),
		"line table":      damaged(func(b []byte) { b[at(".debug_line")+16]++ }),
		"file count":      damaged(func(b []byte) { b[at(".debug_line")+4+len(lineHeaderBytes)] = 0xff }),
		"operation":       damaged(func(b []byte) { b[at(".debug_line")+int(section(t, b, ".debug_line").Size)-5] = 6 }),
	}
	for _, file := range runtimes {
		data, err := os.ReadFile(filepath.Join("testdata", "runtimes", file.file))
		if err != nil {
			t.Fatal(err)
		}
		cases[file.file] = data
	}
	other := mustAppend(t, callers(t, arm64, 1, 0, false))
	cases["other machine"] = other
	for name, image := range cases {
		got, err := symfile.Merge([]byte("kept"), [][]byte{good, image}, nil)
		if !errors.Is(err, symfile.ErrImage) || string(got) != "kept" {
			t.Errorf("%s: %d bytes, %v; want ErrImage", name, len(got), err)
		}
	}
}

// lineHeaderBytes is the size of the line table's header up to the number of files,
// without the unit length.
const lineHeaderBytes = "--------" + "------" + "------------" + "--------" + "-----"

// TestConcurrent checks that concurrent calls make the same images as sequential ones.
func TestConcurrent(t *testing.T) {
	c := callers(t, amd64, 50, 0, true)
	want := mustAppend(t, c)
	images := split(t, c, 5)
	done := make(chan error)
	for range 8 {
		go func() {
			var err error
			for range 50 {
				if got, e := symfile.Append(nil, c); e != nil || !bytes.Equal(got, want) {
					err = fmt.Errorf("Append: another image, %v", e)
				}
				if got, e := symfile.Merge(nil, images, nil); e != nil || !bytes.Equal(got, want) {
					err = fmt.Errorf("Merge: another image, %v", e)
				}
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestKeepPanics checks that a panic of keep does not affect later images.
func TestKeepPanics(t *testing.T) {
	c := callers(t, amd64, 10, 0, false)
	want := mustAppend(t, c)
	images := split(t, callers(t, amd64, 10, 0, true), 2)
	calls := 0
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		symfile.Merge(nil, images, func(uint64) bool {
			if calls++; calls > 7 {
				panic("keep")
			}
			return true
		})
	}()
	if got := mustAppend(t, c); !bytes.Equal(got, want) {
		t.Errorf("then Append makes another image, of %d bytes, want %d", len(got), len(want))
	}
}

// TestAllocations checks that an encoder that has grown does not allocate for each
// function.
func TestAllocations(t *testing.T) {
	for _, lines := range []bool{false, true} {
		c := callers(t, amd64, 1000, 0, lines)
		image := mustAppend(t, c)
		if n := testing.AllocsPerRun(20, func() { image, _ = symfile.Append(image[:0], c) }); n > 50 {
			t.Errorf("Append of 1000 functions, lines %t: %v allocations", lines, n)
		}
		var merged []byte
		if n := testing.AllocsPerRun(20, func() { merged, _ = symfile.Merge(merged[:0], [][]byte{image}, nil) }); n > 50 {
			t.Errorf("Merge of 1000 functions, lines %t: %v allocations", lines, n)
		}
	}
}

// TestMergeInlined checks that Clew's reader finds inlined calls in images that were merged, with the
// other functions withdrawn.
func TestMergeInlined(t *testing.T) {
	c := inlined(t, amd64, 9)
	whole := mustAppend(t, c)
	merged := mustMerge(t, [][]byte{
		mustMerge(t, split(t, c, 3), func(start uint64) bool { return start < c.Start(&c.Functions[5]) }),
		mustMerge(t, [][]byte{whole}, func(start uint64) bool { return start > c.Start(&c.Functions[6]) }),
	}, nil)
	if len(merged) >= len(whole) {
		t.Errorf("%d bytes, %d with all functions", len(merged), len(whole))
	}
	image, err := reader.Open(merged)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		want := ""
		if i < 5 || i > 6 {
			want = fmt.Sprintf("inner%d /src/inner.w:41 true; outer /src/outer.w:31 true; %s /src/file%d.w:%d false; ", i%3, f.Name, i%2, 100+i)
		}
		list, err := image.Locate(c.Start(f) + 4)
		got := ""
		for _, l := range list {
			got += fmt.Sprintf("%s %s:%d %v; ", l.Function, l.File, l.Line, l.Inlined)
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", f.Name, got, err, want)
		}
	}
}
