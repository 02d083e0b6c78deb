// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/snapshot"
)

// bytesAt is memory that begins at an address.
type bytesAt struct {
	start uint64
	data  []byte
}

var errOutside = errors.New("nothing is there")

func (m bytesAt) ReadMemory(p []byte, addr uint64) error {
	at := addr - m.start
	if at > uint64(len(m.data)) || uint64(len(p)) > uint64(len(m.data))-at {
		return errOutside
	}
	copy(p, m.data[at:])
	return nil
}

// The addresses of the variables in these tests.
const (
	base    = 0x10000
	testG   = 0x100
	testM   = 0x400
	testSet = 0x800 // the list
)

// made returns a runtime with one goroutine, on a thread.
func made(release string) (*Runtime, bytesAt) {
	l := layoutOf(release)
	r := &Runtime{Layout: l, list: base, length: base + 8, threads: base + 16}
	m := bytesAt{base, make([]byte, 0x1000)}
	put := func(at uint64, v uint64) { binary.LittleEndian.PutUint64(m.data[at:], v) }
	put(0, base+testSet)
	put(8, 1)
	put(16, base+testM)
	put(testSet, base+testG)
	put(testG, 0xc000)
	put(testG+8, 0xd000)
	put(testG+uint64(l.M), base+testM)
	put(testG+uint64(l.Sched), 0xcf00)
	put(testG+uint64(l.Sched)+8, 0x401000)
	put(testG+uint64(l.Sched+l.BP), 0xcf40)
	put(testG+uint64(l.Status), scanning|uint64(Waiting))
	put(testG+uint64(l.ID), 42)
	m.data[testG+uint64(l.WaitReason)] = byte(slices.Index(l.Reasons, "select"))
	put(testG+uint64(l.LockedM), base+testM)
	put(testG+uint64(l.Creation), 0x402000)
	put(testG+uint64(l.Function), 0x403000)
	if l.Parent != 0 {
		put(testG+uint64(l.Parent), 1)
	}
	put(testM, base+testG+1)
	put(testM+uint64(l.Thread), 4711)
	put(testM+uint64(l.Current), base+testG)
	return r, m
}

func TestGoroutine(t *testing.T) {
	for _, known := range layouts {
		release := known.release
		r, m := made(release)
		list, err := r.List(m)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %#x, %v", release, list, err)
		}
		want := Goroutine{Address: base + testG, ID: 42, State: Waiting, Name: "select", Reason: "select", Scan: true,
			Thread: base + testM, Locked: true, LockedTo: base + testM, Creation: 0x402000, Function: 0x403000, StackLow: 0xc000, StackHigh: 0xd000,
			Sched: Context{PC: 0x401000, SP: 0xcf00, FP: 0xcf40}}
		if r.Layout.Parent != 0 {
			want.Parent = 1
		}
		if g, err := r.Read(m, list[0]); err != nil || g != want {
			t.Errorf("%s: %+v, expected %+v; %v", release, g, want, err)
		}
		r.Batch(m).Read([]uint64{base + 0x10000, list[0]}, func(i int, g Goroutine, err error) {
			if i == 0 && !errors.Is(err, errOutside) || i == 1 && (err != nil || g != want) {
				t.Errorf("%s: goroutine %d of two: %+v, %v", release, i, g, err)
			}
		})
		threads := r.Threads(m, nil)
		if len(threads) != 1 || threads[0] != (Thread{Address: base + testM, ID: 4711, System: base + testG + 1, Current: base + testG}) {
			t.Errorf("%s: threads %+v", release, threads)
		}
		r.threads = 0 // as of a stripped program
		if repeated := r.Threads(m, list); !slices.Equal(repeated, threads) {
			t.Errorf("%s: threads %+v of a stripped program, expected %+v", release, repeated, threads)
		}
	}
}

// StackEnd returns the ends of stacks that the runtime has allocated, and no others.
func TestStackEnd(t *testing.T) {
	for _, tt := range []struct{ low, high, sp, end uint64 }{
		{0xc000, 0xd000, 0xc000, 0xd000},
		{0xc000, 0xd000, 0xcfff, 0xd000},
		{0xc000, 0xd000, 0xd000, 0},
		{0xc000, 0xd000, 0xbfff, 0},
		{0xc000, 0xd000, 1, 0},
		{0xc000, 0xd000, ^uint64(0), 0},
		{0xbc00, 0xd000, 0xcf00, 0}, // of C code
		{0xd000, 0xc000, 0xcf00, 0},
	} {
		r, m := made("go1.26")
		binary.LittleEndian.PutUint64(m.data[testG:], tt.low)
		binary.LittleEndian.PutUint64(m.data[testG+8:], tt.high)
		c := r.Copier(m, false)
		if end, ok := c.StackEnd(tt.sp); ok {
			t.Errorf("the stack of %#x ends at %#x before anything was copied", tt.sp, end)
		}
		c.CopyThreads(func(round []snapshot.Copy) { snapshot.ReadBatch(m, round) })
		if end, ok := c.StackEnd(tt.sp); end != tt.end || ok != (tt.end != 0) {
			t.Errorf("the stack of %#x in %#x-%#x ends at %#x, %v, expected %#x", tt.sp, tt.low, tt.high, end, ok, tt.end)
		}
	}
}

// A hostile core costs no more than its size.
func TestHostileLists(t *testing.T) {
	put := func(m bytesAt, at, v uint64) { binary.LittleEndian.PutUint64(m.data[at:], v) }
	for _, tt := range []struct {
		name  string
		spoil func(m bytesAt)
		n     int
		err   string
	}{
		{"endless", func(m bytesAt) { put(m, 8, 1<<60) }, 0, "list of 1152921504606846976 goroutines, after 0: nothing is there"},
		{"nowhere", func(m bytesAt) { put(m, 0, 1<<63) }, 0, "nothing is there"},
		{"empty", func(m bytesAt) { put(m, 8, 0) }, 0, ""},
		{"all equal", func(m bytesAt) {
			put(m, 8, 64)
			for i := range uint64(64) {
				put(m, testSet+8*i, base+testG)
			}
		}, 1, ""},
	} {
		r, m := made("go1.26")
		tt.spoil(m)
		list, err := r.List(m)
		if len(list) != tt.n || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %#x, %v, expected %d and %q", tt.name, list, err, tt.n, tt.err)
		}
	}
	r, m := made("go1.26")
	put(m, testM+uint64(r.Layout.Next), base+testM) // the list of threads is a circle
	if threads := r.Threads(m, []uint64{base + testG}); len(threads) != 1 {
		t.Errorf("threads %+v", threads)
	}
	// More than one batch; most of them cannot be read.
	many := make([]uint64, 3*batchSize)
	many[2*batchSize+1] = base + testG
	r.threads = 0
	if threads := r.Threads(m, many); len(threads) != 1 || threads[0].ID != 4711 {
		t.Errorf("threads %+v of one goroutine among %d", threads, len(many))
	}
	for name, spoil := range map[string]func(){
		"state": func() { put(m, testG+uint64(r.Layout.Status), 77) },
		"stack": func() { put(m, testG, 0xffff) },
	} {
		r, m = made("go1.26")
		spoil()
		if g, err := r.Read(m, base+testG); !errors.Is(err, errNoGoroutine) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

// Labels are pairs of strings, and a program's memory can contain anything.
func TestLabels(t *testing.T) {
	r := &Runtime{Layout: layoutOf("go1.26"), labelLists: true}
	for _, test := range []struct {
		name     string
		set      map[uint64]uint64 // words by offset
		expected string            // labels, or a part of the error
	}{
		{"two", nil, "[{route /a} {step }]"},
		{"none", map[uint64]uint64{0x108: 0}, "[]"},
		{"too many", map[uint64]uint64{0x108: 1 << 40}, "labels, more than 64"},
		{"a long text", map[uint64]uint64{0x218: 1 << 40}, "more than 1024"},
		{"long texts", map[uint64]uint64{0x108: 3, 0x208: 1024, 0x210: base, 0x218: 1024, 0x228: 1024, 0x230: base, 0x238: 1024, 0x240: base, 0x248: 1024}, "more than 4096"},
		{"a list outside", map[uint64]uint64{0x100: 8}, errOutside.Error()},
		{"a text outside", map[uint64]uint64{0x210: 8}, errOutside.Error()},
	} {
		m := bytesAt{base, make([]byte, 0x1000)}
		put := func(at, v uint64) { binary.LittleEndian.PutUint64(m.data[at:], v) }
		copy(m.data[0x300:], "route/astep")
		for i, v := range []uint64{0x300, 5, 0x305, 2, 0x307, 4, 0, 0} {
			if i%2 == 0 && v != 0 {
				v += base
			}
			put(0x200+8*uint64(i), v)
		}
		put(0x100, base+0x200)
		put(0x108, 2)
		for at, v := range test.set {
			put(at, v)
		}
		labels, err := r.Labels(m, base+0x100)
		if got := fmt.Sprint(labels, err); !strings.Contains(got, test.expected) {
			t.Errorf("%s: %s, expected %s", test.name, got, test.expected)
		}
	}
	if labels, err := (&Runtime{Layout: layoutOf("go1.23")}).Labels(bytesAt{}, 8); labels != nil || err != nil {
		t.Errorf("a map: %v, %v", labels, err)
	}
}

// Any memory results in an error or a possible goroutine, and copies have the memory's
// contents.
func FuzzRuntime(f *testing.F) {
	for _, known := range layouts {
		_, m := made(known.release)
		f.Add(m.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, release := range []string{"go1.18", "go1.26"} { // which differ most
			r, _ := made(release)
			m := bytesAt{base, data}
			list, _ := r.List(m)
			for _, at := range list {
				g, err := r.Read(m, at)
				if err != nil {
					continue
				}
				r.Batch(m).Read([]uint64{at}, func(_ int, inBatch Goroutine, err error) {
					if inBatch != g || err != nil {
						t.Fatalf("%s: %+v, %v, and by itself %+v", release, inBatch, err, g)
					}
				})
				if live := g.State != Dead && g.State != Idle; g.Address != at || g.Name == "" || live && (g.StackLow >= g.StackHigh || g.StackHigh-g.StackLow > maxStack) {
					t.Fatalf("%s: %+v", release, g)
				}
			}
			if threads := r.Threads(m, list); len(threads) > len(data) {
				t.Fatalf("%s: %d threads in %d bytes", release, len(threads), len(data))
			}
		}
		r, _ := made("go1.26")
		m := bytesAt{base, data}
		read := func(round []snapshot.Copy) { snapshot.ReadBatch(m, round) }
		copier := r.copier(m, true, 1<<14)
		copier.CopyThreads(read)
		if end, ok := copier.StackEnd(0xcf00); ok && end <= 0xcf00 {
			t.Fatalf("the stack that holds 0xcf00 ends at %#x", end)
		}
		for _, c := range copier.Copy(read, func() bool { return true }) {
			b := make([]byte, len(c.Bytes))
			if err := m.ReadMemory(b, c.Address); err != nil || !slices.Equal(b, c.Bytes) {
				t.Fatalf("%d bytes at %#x were copied: %v", len(c.Bytes), c.Address, err)
			}
		}
	})
}
