// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
)

// name returns the name that the runtime has for an address.
func name(address uint64) string {
	f := runtime.FuncForPC(uintptr(address))
	if f == nil {
		return ""
	}
	return f.Name()
}

// leaves describes functions of 32 bytes, at the given indexes of a memory that is never run.
func leaves(t testing.TB, text []byte, prefix string, at ...int) *jit.Code {
	t.Helper()
	unwind, err := preset.Leaf(jit.Host(), preset.Frame{})
	if err != nil {
		t.Fatal(err)
	}
	c := &jit.Code{Name: prefix, Address: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(text)))), Text: text}
	for _, i := range at {
		c.Functions = append(c.Functions, jit.Function{Name: fmt.Sprintf("%s.f%d", prefix, i), Offset: uint64(i) * 32, Size: 32, Unwind: unwind})
	}
	return c
}

func publish(t testing.TB, c *jit.Code) jit.Registration {
	t.Helper()
	r, err := Default.Publish(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// textMemory returns memory that does not move.
func textMemory(t testing.TB, size int) []byte {
	t.Helper()
	m, err := jit.NewMemory(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m.Bytes()
}

// Batches whose functions alternate, and functions in the place of withdrawn ones.
func TestInterleaved(t *testing.T) {
	text := textMemory(t, 1<<20)
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(text))))
	before := Default.Stats()
	expect := func(want map[int]string) {
		t.Helper()
		for i, w := range want {
			for _, offset := range []uint64{0, 31} {
				if got := name(base + uint64(i)*32 + offset); got != w {
					t.Errorf("%d+%d: %q, expected %q", i, offset, got, w)
				}
			}
		}
	}
	a := publish(t, leaves(t, text, "a", 0, 1, 4, 5, 9, 3000, 20000))
	b := publish(t, leaves(t, text, "b", 2, 6, 10, 3001))
	c := publish(t, leaves(t, text, "c", 3, 7, 15000))
	expect(map[int]string{0: "a.f0", 1: "a.f1", 2: "b.f2", 3: "c.f3", 4: "a.f4", 5: "a.f5", 6: "b.f6", 7: "c.f7", 9: "a.f9", 10: "b.f10",
		3000: "a.f3000", 3001: "b.f3001", 15000: "c.f15000", 20000: "a.f20000", 25000: ""})
	if _, err := Default.Publish(leaves(t, text, "d", 4)); !errors.Is(err, jit.ErrPublished) {
		t.Errorf("published twice: %v", err)
	}
	if err := a.WithdrawFunctions(1, 2, 1); err != nil {
		t.Fatal(err)
	}
	expect(map[int]string{0: "a.f0", 2: "b.f2", 5: "a.f5"})
	d := publish(t, leaves(t, text, "d", 1, 4))
	expect(map[int]string{0: "a.f0", 1: "d.f1", 2: "b.f2", 4: "d.f4", 5: "a.f5"})
	if err := a.WithdrawFunctions(7); !errors.Is(err, jit.ErrCode) {
		t.Errorf("withdrew function 7 of 7: %v", err)
	}
	for _, r := range []jit.Registration{b, a, a, d, c} {
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range []int{0, 1, 2, 3, 4, 3000, 15000} {
		expect(map[int]string{i: ""})
	}
	if after := Default.Stats(); after.Functions != before.Functions || after.Modules != before.Modules {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// unknownName is the name of addresses between functions in a page of code.
const unknownName = "runtime._ExternalCode"

// Pages without functions are in no module: other code can be mapped there. Functions next to
// them, over several pages and over the end of a block stay known.
func TestPages(t *testing.T) {
	unwind, err := preset.Leaf(jit.Host(), preset.Frame{})
	if err != nil {
		t.Fatal(err)
	}
	const base = 5*blockSize - 16*codePage // where no code is, at the end of a block
	before := Default.Stats()
	c := &jit.Code{Address: base, Text: make([]byte, 32*codePage)}
	add := func(offset, size uint64) {
		c.Functions = append(c.Functions, jit.Function{Name: fmt.Sprintf("pages.f%d", len(c.Functions)), Offset: offset, Size: size, Unwind: unwind})
	}
	for page := range uint64(8) {
		add(page*codePage+0x100, 0x40)
	}
	add(8*codePage, 3*codePage)         // whole pages
	add(12*codePage-0x40, codePage)     // parts of two
	add(16*codePage-0x40, 2*codePage)   // over the end of the block
	add(18*codePage, 1*codePage-0x1000) // empty
	r := publish(t, c)
	expect := func(offset uint64, want string) {
		t.Helper()
		if got := name(base + offset); got != want {
			t.Errorf("+%#x: %q, expected %q", offset, got, want)
		}
	}
	modules := func(want int) {
		t.Helper()
		if got := Default.Stats().Modules - before.Modules; got != want {
			t.Errorf("%d modules, expected %d", got, want)
		}
	}
	modules(3) // the last two are on each side of the end of the block
	expect(0, unknownName)
	expect(0x100, "pages.f0")
	expect(0x13f, "pages.f0")
	expect(0x140+8, unknownName)
	expect(8*codePage-1, unknownName)
	expect(8*codePage, "pages.f8")
	expect(11*codePage-1, "pages.f8")
	expect(13*codePage-0x41, "pages.f9")
	expect(14*codePage, "")
	expect(16*codePage-1, "pages.f10")
	expect(16*codePage, "pages.f10")
	expect(18*codePage-0x41, "pages.f10")
	if f := runtime.FuncForPC(base + 16*codePage - 1); f.Entry() != base+16*codePage-0x40 {
		t.Errorf("the entry is %#x", f.Entry())
	}
	withdraw := func(functions ...int) {
		t.Helper()
		if err := r.WithdrawFunctions(functions...); err != nil {
			t.Fatal(err)
		}
	}
	withdraw(3)
	modules(4)
	expect(3*codePage+0x100, "")
	expect(2*codePage+0x100, "pages.f2")
	expect(4*codePage+0x100, "pages.f4")
	withdraw(0, 7)
	expect(0x100, "")
	expect(7*codePage+0x100, "")
	modules(5)
	withdraw(10)
	expect(16*codePage, "")
	modules(3)
	between := *c
	between.Functions = []jit.Function{c.Functions[3]}
	between.Functions[0].Name = "pages.between"
	other := publish(t, &between)
	expect(3*codePage+0x100, "pages.between")
	modules(2)
	for _, r := range []jit.Registration{r, other} {
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	modules(0)
	if after := Default.Stats(); after.Functions != before.Functions {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// A publication for which memory is lacking leaves nothing behind, and those before it stay.
func TestNoMemory(t *testing.T) {
	const pages = 8
	text := textMemory(t, pages*codePage)
	stay := publish(t, leaves(t, text, "stay", 0, 128*5))
	before := Default.Stats()
	c := leaves(t, text, "more", 1, 2, 128*2, 128*3, 128*5+7, 128*7)
	unwind, err := preset.FramePointer(jit.Host(), preset.Frame{Epilogues: []preset.Epilogue{{Start: 24}}})
	if runtime.GOARCH == "arm64" {
		unwind, err = preset.Fixed(jit.Host(), preset.Frame{Size: 32, Prologue: 8, Saved: []preset.Saved{{Register: 30, Slot: -32}}, Epilogues: []preset.Epilogue{{Start: 24}}})
	} else {
		// push rbp; mov rbp, rsp; nop...; pop rbp; ret
		code := append(append([]byte{0x55, 0x48, 0x89, 0xe5}, bytes.Repeat([]byte{0x90}, 19)...), 0x5d, 0xc3)
		copy(text[32*128*7:], code)
	}
	if err != nil {
		t.Fatal(err)
	}
	last := &c.Functions[len(c.Functions)-1]
	last.Unwind = unwind
	b, err := linked.blockAt(c.Address)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, s := range []*space{linked.names.space, linked.files.space, linked.units, linked.steps.space, linked.lists, linked.heads, b.records} {
		limit, free := s.limit, s.free
		for more := uint64(0); more <= 512; more += 64 {
			for i := range c.Functions {
				c.Functions[i].Name = fmt.Sprintf("more.%s.%d.f%d", s.name, more, i)
				c.Functions[i].Lines = []jit.Line{{File: c.Functions[i].Name, Line: i}}
			}
			s.limit, s.free = min(limit, s.used+more), [64][]uint64{}
			r, err := Default.Publish(c)
			s.limit, s.free = limit, free
			if err == nil {
				if got := name(c.Address + 2*32); got != c.Functions[1].Name {
					t.Errorf("%q", got)
				}
				if err := r.Withdraw(); err != nil {
					t.Fatal(err)
				}
			} else if failed++; !errors.Is(err, ErrMemory) {
				t.Error(err)
			}
			after := Default.Stats()
			if after.Functions != before.Functions || after.Modules != before.Modules {
				t.Fatalf("%s and %d bytes: %+v, before %+v", s.name, more, after, before)
			}
			for _, at := range []int{0, 128 * 5} {
				if got, want := name(c.Address+uint64(at)*32), fmt.Sprintf("stay.f%d", at); got != want {
					t.Fatalf("%s: %q, expected %q", s.name, got, want)
				}
			}
			if got := name(c.Address + 128*2*32); got != "" {
				t.Fatalf("%s: %q", s.name, got)
			}
		}
	}
	if failed < 10 {
		t.Errorf("%d publications failed", failed)
	}
	if err := stay.Withdraw(); err != nil {
		t.Fatal(err)
	}
}

// Random batches agree with a model.
func TestModel(t *testing.T) {
	const slots = 2000
	text := textMemory(t, slots*32)
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(text))))
	random := rand.New(rand.NewPCG(1, 2))
	type published struct {
		registration jit.Registration
		at           []int
	}
	var model [slots]string
	var all []*published
	for round := range 1000 {
		switch k := random.IntN(3); {
		case k == 0 || len(all) == 0:
			p := &published{}
			for i := random.IntN(slots); i < slots && len(p.at) < 40; i += 1 + random.IntN(20) {
				if model[i] == "" {
					p.at = append(p.at, i)
				}
			}
			if len(p.at) == 0 {
				continue
			}
			prefix := fmt.Sprintf("p%d", round)
			p.registration = publish(t, leaves(t, text, prefix, p.at...))
			for _, i := range p.at {
				model[i] = fmt.Sprintf("%s.f%d", prefix, i)
			}
			all = append(all, p)
		case k == 1:
			p := all[random.IntN(len(all))]
			var indexes []int
			for range random.IntN(5) {
				i := random.IntN(len(p.at))
				indexes = append(indexes, i)
				if p.at[i] >= 0 {
					model[p.at[i]] = ""
				}
				p.at[i] = -1
			}
			if err := p.registration.WithdrawFunctions(indexes...); err != nil {
				t.Fatal(err)
			}
		default:
			k := random.IntN(len(all))
			for _, i := range all[k].at {
				if i >= 0 {
					model[i] = ""
				}
			}
			if err := all[k].registration.Withdraw(); err != nil {
				t.Fatal(err)
			}
			all = append(all[:k], all[k+1:]...)
		}
		if round%20 > 0 {
			continue
		}
		for i, w := range model {
			// The address after a function can be the return address of its last call.
			got := name(base + uint64(i)*32 + 8)
			if w == "" && got == unknownName {
				got = ""
			}
			if got != w {
				t.Fatalf("round %d: slot %d is %q, expected %q", round, i, got, w)
			}
		}
	}
	for _, p := range all {
		if err := p.registration.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range model {
		if got := name(base + uint64(i)*32); got != "" {
			t.Fatalf("slot %d is %q after everything was withdrawn", i, got)
		}
	}
}
