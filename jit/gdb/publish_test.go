// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/jit/symfile/reader"
)

// ownMemory reads this process's memory as another process does.
type ownMemory struct{ *os.File }

func (m ownMemory) ReadMemory(p []byte, addr uint64) error {
	_, err := m.ReadAt(p, int64(addr))
	return err
}

// own is this program's own memory, as a debugger reads it.
func own(t testing.TB) *registry.Space {
	t.Helper()
	f, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	descriptor := uint64(uintptr(unsafe.Pointer(ownDescriptor())))
	return &registry.Space{Machine: jit.Host(), Memory: ownMemory{f},
		Symbols: func(string) iter.Seq[uint64] { return slices.Values([]uint64{descriptor}) }}
}

// known returns the functions that a debugger finds if it attaches now: their names
// by address, with two at one address joined by "|".
func known(t testing.TB) (names map[uint64]string, files int) {
	t.Helper()
	lists, err := registry.Read(own(t))
	if err != nil {
		t.Fatal(err)
	}
	names = make(map[uint64]string)
	if len(lists) == 0 {
		return names, 0
	}
	if lists[0].Err != nil {
		t.Fatal(lists[0].Err)
	}
	for _, e := range lists[0].Entries {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		image, err := reader.Open(e.Image)
		if err != nil {
			t.Fatal(err)
		}
		functions, err := image.Functions()
		if err != nil || image.Damage() != nil {
			t.Fatal(err, image.Damage())
		}
		for _, f := range functions {
			if have, ok := names[f.Start]; ok {
				names[f.Start] = have + "|" + f.Name
			} else {
				names[f.Start] = f.Name
			}
		}
	}
	return names, len(lists[0].Entries)
}

var leaf = func() *cfi.Program {
	p, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		panic(err)
	}
	return p
}()

const stride = 64

// code describes n functions from address on, named for their addresses.
func code(address uint64, n int) *jit.Code {
	c := &jit.Code{Address: address, Text: make([]byte, n*stride), Functions: make([]jit.Function, n)}
	for i := range c.Functions {
		at := uint64(i) * stride
		c.Functions[i] = jit.Function{Name: fmt.Sprintf("f%x", address+at), Offset: at, Size: stride - 1, Unwind: leaf,
			Lines: []jit.Line{{File: "/src/a.jit", Line: 1 + i}, {Offset: 9, File: "/src/a.jit", Line: 2 + i}}}
	}
	return c
}

func publish(t testing.TB, p *Publisher, c *jit.Code) jit.Registration {
	t.Helper()
	r, err := p.Publish(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func withdraw(t testing.TB, r jit.Registration, functions ...int) {
	t.Helper()
	err := r.WithdrawFunctions(functions...)
	if len(functions) == 0 {
		err = errors.Join(err, r.Withdraw())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// expect fails unless exactly the given functions are known.
func expect(t testing.TB, want map[uint64]string) (files int) {
	t.Helper()
	got, files := known(t)
	if !maps.Equal(got, want) {
		for at, name := range want {
			if got[at] != name {
				t.Errorf("%#x is %q, expected %q", at, got[at], name)
			}
		}
		for at, name := range got {
			if _, ok := want[at]; !ok {
				t.Errorf("%#x is %q, expected nothing", at, name)
			}
		}
		t.FailNow()
	}
	return files
}

func TestPublish(t *testing.T) {
	p := new(Publisher)
	r := publish(t, p, code(0x10000, 3))
	expect(t, map[uint64]string{0x10000: "f10000", 0x10040: "f10040", 0x10080: "f10080"})
	if s := p.Stats(); s.Functions != 3 || s.Files != 1 || s.Bytes < 100 || s.Memory < s.Bytes {
		t.Errorf("%+v", s)
	}
	withdraw(t, r, 1)
	expect(t, map[uint64]string{0x10000: "f10000", 0x10080: "f10080"})
	withdraw(t, r, 1, 2, 2, 1)
	expect(t, map[uint64]string{0x10000: "f10000"})
	// The memory of withdrawn functions is reused; the old handle is invalid.
	again := publish(t, p, code(0x10040, 1))
	withdraw(t, r, 1, 2)
	expect(t, map[uint64]string{0x10000: "f10000", 0x10040: "f10040"})
	withdraw(t, r)
	withdraw(t, r)
	withdraw(t, r, 0)
	withdraw(t, again, 0)
	withdraw(t, again)
	expect(t, map[uint64]string{})
	if s := p.Stats(); s.Functions != 0 || s.Files != 0 || s.Bytes != 0 || s.Memory > 2*chunkSize {
		t.Errorf("all is withdrawn: %+v", s)
	}
}

// A batch has functions in two ranges that are far apart, with code of another batch in between,
// and empty functions.
func TestPublishRanges(t *testing.T) {
	p := new(Publisher)
	c := code(0x10000, 4)
	c.Functions[0].Size = 0
	c.Functions = append(c.Functions, jit.Function{})
	c.Text = c.Text[:2*stride]
	c.Ranges = []jit.Range{{Address: 1 << 40, Text: make([]byte, 2*stride)}}
	for i := 2; i < 4; i++ {
		c.Functions[i].Range, c.Functions[i].Offset = 1, uint64(i-2)*stride
	}
	r := publish(t, p, c)
	between := publish(t, p, code(1<<39, 1))
	high := map[uint64]string{0x10040: "f10040", 1 << 40: "f10080", 1<<40 + stride: "f100c0", 1 << 39: "f8000000000"}
	expect(t, high)
	if s := p.Stats(); s.Functions != 4 {
		t.Errorf("%+v", s)
	}
	for at, name := range map[uint64]string{0x10078: "f10040", 1<<40 - 8: "f10080", 1<<39 + 8: "f8000000000"} {
		if _, err := p.Publish(code(at, 1)); !errors.Is(err, jit.ErrPublished) || !strings.Contains(err.Error(), fmt.Sprintf("overlaps function %q", name)) {
			t.Errorf("at %#x: %v", at, err)
		}
	}
	withdraw(t, r, 0, 2)
	withdraw(t, publish(t, p, code(1<<40, 1)))
	delete(high, 1<<40)
	expect(t, high)
	withdraw(t, r, 1, 3, 4)
	withdraw(t, r)
	expect(t, map[uint64]string{1 << 39: "f8000000000"})
	withdraw(t, between)
	withdraw(t, publish(t, p, &jit.Code{Functions: make([]jit.Function, 3)}), 1)
}

// A batch that cannot be published leaves no data; an invalid Withdraw
// changes nothing.
func TestPublishErrors(t *testing.T) {
	p := new(Publisher)
	overlap := code(0x10000, 2)
	overlap.Functions[1].Offset = 8
	nul := code(0x10000, 1)
	nul.Functions[0].Name = "a\x00b"
	outside := code(0x10000, 2)
	outside.Text = outside.Text[:stride]
	far := code(0x10000, 2)
	other := arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	far.Machine = other
	for i := range far.Functions {
		far.Functions[i].Unwind = nil
	}
	for name, test := range map[string]struct {
		code *jit.Code
		want error
	}{
		"empty":           {&jit.Code{}, jit.ErrCode},
		"overlap":         {overlap, jit.ErrCode},
		"NUL":             {nul, jit.ErrCode},
		"outside":         {outside, jit.ErrCode},
		"another machine": {far, jit.ErrNotApplicable},
	} {
		if r, err := p.Publish(test.code); !errors.Is(err, test.want) || r != nil {
			t.Errorf("%s: %v, %v, expected %v", name, r, err, test.want)
		}
	}
	expect(t, map[uint64]string{})
	r := publish(t, p, code(0x10000, 2))
	for _, f := range []int{-1, 2} {
		if err := r.WithdrawFunctions(0, f); !errors.Is(err, jit.ErrCode) || !strings.Contains(err.Error(), "the batch has functions 0 to 1") {
			t.Errorf("function %d: %v", f, err)
		}
	}
	expect(t, map[uint64]string{0x10000: "f10000", 0x10040: "f10040"})
	withdraw(t, r)
}

// Without memory a batch is not published, merging waits, and withdrawn functions
// become unknown nevertheless.
func TestNoMemory(t *testing.T) {
	p := &Publisher{MergeAt: 4}
	all := []jit.Registration{publish(t, p, code(0x100000, 900))} // too large for merging, and for a chunk
	for i := range uint64(3) {
		all = append(all, publish(t, p, code(0x200000+i<<16, 60)))
	}
	defer func() { mapMemory = mapPages }()
	mapMemory = func(n int) ([]byte, error) { return nil, errors.New("none left") }
	all = append(all, publish(t, p, code(0x200000+3<<16, 60)))
	if names, files := known(t); len(names) != 1140 || files != 5 {
		t.Errorf("%d functions in %d files, expected 5 files that were not merged", len(names), files)
	}
	if _, err := p.Publish(code(0x300000, 900)); !errors.Is(err, ErrMemory) {
		t.Errorf("published: %v", err)
	}
	if names, _ := known(t); len(names) != 1140 {
		t.Errorf("%d functions are known", len(names))
	}
	if err := all[0].WithdrawFunctions(5); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "899 functions that were not withdrawn became unknown") {
		t.Errorf("withdrawn: %v", err)
	}
	if names, _ := known(t); len(names) != 240 {
		t.Errorf("%d functions are known", len(names))
	}
	mapMemory = mapPages
	// One more, and they are merged.
	all = append(all, publish(t, p, code(0x300000, 10)))
	all = append(all, publish(t, p, code(0x300000+1<<16, 60)))
	if names, files := known(t); len(names) != 310 || files > 4 {
		t.Errorf("%d functions in %d files", len(names), files)
	}
	for _, r := range all {
		withdraw(t, r)
	}
	if s := p.Stats(); s != (Stats{Memory: s.Memory}) || s.Memory > 2*chunkSize {
		t.Errorf("all is withdrawn: %+v", s)
	}
}

// For random publishing, withdrawing and merging: exactly the published functions are
// known, in few files and little memory.
func TestModel(t *testing.T) {
	for _, p := range []*Publisher{{}, {MergeAt: 2}, {MergeAt: 5}, {MergeAt: -1}, {Gather: time.Hour}, {MergeAt: 3, Gather: time.Hour}} {
		t.Run(fmt.Sprintf("merge=%d,gather=%v", p.MergeAt, p.Gather), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(p.MergeAt)))
			type live struct {
				r     jit.Registration
				start uint64
				left  []int
			}
			var batches []*live
			want := make(map[uint64]string)
			next := uint64(1 << 32)
			step := func(grow int) {
				switch k := random.IntN(10); {
				case k < grow || len(batches) == 0:
					n := 1
					if random.IntN(3) == 0 {
						n = 1 + random.IntN(150)
					}
					c := code(next, n)
					b := &live{r: publish(t, p, c), start: next}
					for i := range n {
						b.left = append(b.left, i)
						want[next+uint64(i)*stride] = c.Functions[i].Name
					}
					batches = append(batches, b)
					// Mostly adjacent, sometimes far away.
					next += uint64(n) * stride
					if random.IntN(20) == 0 {
						next += 1 << 20
					}
				case k < 9:
					i := random.IntN(len(batches))
					b := batches[i]
					n := 1 + random.IntN(len(b.left))
					random.Shuffle(len(b.left), func(x, y int) { b.left[x], b.left[y] = b.left[y], b.left[x] })
					withdraw(t, b.r, b.left[:n]...)
					for _, f := range b.left[:n] {
						delete(want, b.start+uint64(f)*stride)
					}
					if b.left = b.left[n:]; len(b.left) == 0 {
						batches = slices.Delete(batches, i, i+1)
					}
				default:
					i := random.IntN(len(batches))
					b := batches[i]
					withdraw(t, b.r)
					for _, f := range b.left {
						delete(want, b.start+uint64(f)*stride)
					}
					batches = slices.Delete(batches, i, i+1)
				}
			}
			for round := range 20 {
				for range 60 {
					step([]int{8, 3}[round/4%2])
				}
				p.Flush()
				files := expect(t, want)
				s := p.Stats()
				if s.Functions != len(want) || s.Files != files {
					t.Fatalf("%+v, and %d functions in %d files", s, len(want), files)
				}
				if p.MergeAt >= 0 {
					levels := 1
					for n := len(want); n > 0; n /= p.mergeAt() {
						levels++
					}
					if most := levels*(p.mergeAt()-1) + s.Bytes/(fullBytes/4); files > most {
						t.Fatalf("%d files of %d functions, expected %d at most", files, len(want), most)
					}
				}
			}
			for _, b := range batches {
				withdraw(t, b.r)
			}
			expect(t, map[uint64]string{})
			if s := p.Stats(); s != (Stats{Memory: s.Memory}) || s.Memory > 2*chunkSize {
				t.Errorf("all is withdrawn: %+v", s)
			}
		})
	}
}

// An overfull file is split when it is rewritten.
func TestSplit(t *testing.T) {
	p := new(Publisher)
	const n = 5*fullFunctions + 1
	c := code(1<<32, n)
	r := publish(t, p, c)
	want := make(map[uint64]string)
	for i := range c.Functions {
		want[c.Start(&c.Functions[i])] = c.Functions[i].Name
	}
	if files := expect(t, want); files != 1 {
		t.Errorf("%d files, expected 1", files)
	}
	gone := []int{0, 77, fullFunctions, 3*fullFunctions + 1, n - 1}
	for round := range 2 {
		for _, f := range gone {
			withdraw(t, r, f+round)
			delete(want, c.Start(&c.Functions[f+round]))
			if f == n-1 {
				break
			}
		}
		if round == 0 {
			gone = gone[:4]
		}
		if files := expect(t, want); files < 3 || files > 6 {
			t.Errorf("%d files", files)
		}
	}
	withdraw(t, r)
	expect(t, map[uint64]string{})
}

// Gathered batches are unknown until the time is up, or until Flush.
func TestGather(t *testing.T) {
	p := &Publisher{Gather: time.Hour}
	a, b := publish(t, p, code(0x10000, 2)), publish(t, p, code(0x20000, 1))
	c := publish(t, p, code(0x30000, 1))
	withdraw(t, a, 0)
	withdraw(t, b)
	expect(t, map[uint64]string{})
	p.Flush()
	if files := expect(t, map[uint64]string{0x10040: "f10040", 0x30000: "f30000"}); files != 1 {
		t.Errorf("%d files", files)
	}
	withdraw(t, c)
	expect(t, map[uint64]string{0x10040: "f10040"})
	withdraw(t, a)

	p = &Publisher{Gather: time.Millisecond}
	for i := range uint64(3) {
		a := publish(t, p, code(0x10000+i<<16, 1))
		deadline := time.Now().Add(time.Minute)
		for names, _ := known(t); len(names) == 0; names, _ = known(t) {
			if time.Now().After(deadline) {
				t.Fatal("not known after a minute")
			}
			time.Sleep(time.Millisecond)
		}
		withdraw(t, a)
	}
	expect(t, map[uint64]string{})
}

// Several goroutines and publishers share one list.
func TestConcurrent(t *testing.T) {
	publishers := []*Publisher{{}, {MergeAt: 4}, {MergeAt: 4, Gather: 100 * time.Microsecond}}
	var wait sync.WaitGroup
	for g := range uint64(6) {
		wait.Go(func() {
			p := publishers[g%3]
			var all []jit.Registration
			for i := range uint64(200) {
				r, err := p.Publish(code(1<<40+g<<32+i<<16, 1+int(i%5)))
				if err != nil {
					t.Error(err)
					return
				}
				all = append(all, r)
				if i%3 == 0 {
					err = all[i/2].WithdrawFunctions(0)
				}
				if i%7 == 0 {
					p.Flush()
					p.Stats()
				}
				if err != nil {
					t.Error(err)
				}
			}
			for _, r := range all {
				if err := r.Withdraw(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	expect(t, map[uint64]string{})
}

// Notifying a debugger leaves the signal mask unchanged.
func TestSignalMask(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mask := func() string {
		text, err := os.ReadFile("/proc/thread-self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), "SigBlk:")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	before := mask()
	var place uintptr
	list.Lock()
	first, last := change(&place, 7)
	list.Unlock()
	if place != 7 || isBreakpoint(first) || isBreakpoint(last) {
		t.Errorf("change stores %d, and finds the code %#x and %#x", place, first, last)
	}
	if after := mask(); after != before || before == "" {
		t.Errorf("signals %s were blocked, and %s are now", before, after)
	}
}

// The structures have the layout that readers expect.
func TestNativeStructures(t *testing.T) {
	var d nativeDescriptor
	var e nativeEntry
	// registry's TestNativeLayout has the same numbers.
	if unsafe.Sizeof(d) != 24 || entrySize != 32 ||
		unsafe.Offsetof(d.action) != 4 || unsafe.Offsetof(d.relevant) != 8 || unsafe.Offsetof(d.first) != 16 ||
		unsafe.Offsetof(e.previous) != 8 || unsafe.Offsetof(e.symfile) != 16 || unsafe.Offsetof(e.size) != 24 {
		t.Errorf("%d and %d bytes: %+v, %+v", unsafe.Sizeof(d), entrySize, d, e)
	}
	if own := *ownDescriptor(); own.version != registry.Version {
		t.Errorf("version %d", own.version)
	}
}

// The arena returns blocks that are aligned and do not overlap, and reuses freed ones.
func TestArena(t *testing.T) {
	var a arena
	random := rand.New(rand.NewPCG(1, 2))
	type block struct {
		b    []byte
		mark byte
	}
	var blocks []block
	used := 0
	for n := range 20000 {
		if len(blocks) > 0 && random.IntN(2) == 0 {
			i := random.IntN(len(blocks))
			for at, v := range blocks[i].b {
				if v != blocks[i].mark {
					t.Fatalf("round %d: byte %d is %d, expected %d", n, at, v, blocks[i].mark)
				}
			}
			used -= len(blocks[i].b)
			a.release(blocks[i].b)
			blocks = slices.Delete(blocks, i, i+1)
			continue
		}
		size := 1 + random.IntN(5000)
		if random.IntN(50) == 0 {
			size = 1 + random.IntN(3*largeSize)
		}
		b, err := a.alloc(size)
		if err != nil || len(b) != size || address(b)%grain != 0 {
			t.Fatalf("%d bytes: %d at %#x, %v", size, len(b), address(b), err)
		}
		mark := byte(n)
		for i := range b {
			b[i] = mark
		}
		used += size
		blocks = append(blocks, block{b, mark})
	}
	for _, b := range blocks {
		a.release(b.b)
	}
	if a.mapped != chunkSize || len(a.chunks) != 1 || len(a.chunks[0].free) != 1 {
		t.Errorf("%d bytes are mapped, %d chunks", a.mapped, len(a.chunks))
	}
}
