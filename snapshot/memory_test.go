// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"bytes"
	"errors"
	"testing"
)

// ramp is memory from 0x1000 to 0x2000. Each byte is the low byte of its address, with the bit
// 0x80 set.
type ramp struct{}

var errRamp = errors.New("outside")

func (ramp) ReadMemory(p []byte, addr uint64) error {
	if addr < 0x1000 || addr > 0x2000 || addr+uint64(len(p)) > 0x2000 {
		return errRamp
	}
	for i := range p {
		p[i] = byte(addr+uint64(i)) | 0x80
	}
	return nil
}

func TestThreadMemory(t *testing.T) {
	s := &Snapshot{
		Live:   true,
		Memory: ramp{},
		Mappings: []Mapping{
			{Start: 0x1000, End: 0x1800, Readable: true, Writable: true},
			{Start: 0x1800, End: 0x2000, Readable: true},
		},
		Threads: []Thread{{Stack: []byte{0, 1, 2, 3}, StackAddress: 0x1010}},
	}
	tests := []struct {
		name string
		addr uint64
		want []byte // nil for an error
		late uint64 // address of the late read, 0 for none
	}{
		{"in the copy", 0x1011, []byte{1, 2}, 0},
		{"all of the copy", 0x1010, []byte{0, 1, 2, 3}, 0},
		{"across its end", 0x1012, []byte{2, 3, 0x94, 0x95}, 0x1014},
		{"across its start", 0x100e, []byte{0x8e, 0x8f, 0, 1}, 0x100e},
		{"around it", 0x100f, []byte{0x8f, 0, 1, 2, 3, 0x94}, 0x100f},
		{"beyond", 0x1014, []byte{0x94}, 0x1014},
		{"before", 0x100f, []byte{0x8f}, 0x100f},
		{"read-only memory", 0x1810, []byte{0x90}, 0},
		{"unreadable", 0x3000, nil, 0},
		{"across the end of the address space", ^uint64(0), nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := s.ThreadMemory(&s.Threads[0])
			p := make([]byte, max(len(test.want), 1))
			err := m.ReadMemory(p, test.addr)
			if test.want == nil {
				if !errors.Is(err, errRamp) {
					t.Errorf("% x, %v, expected an error", p, err)
				}
			} else if err != nil || !bytes.Equal(p, test.want) {
				t.Errorf("% x, %v, expected % x", p, err, test.want)
			}
			if addr, late := m.Late(); addr != test.late || late != (test.late != 0) {
				t.Errorf("late %#x, %t, expected %#x", addr, late, test.late)
			}
		})
	}

	m := s.ThreadMemory(&s.Threads[0])
	if err := m.ReadCode(make([]byte, 8), 0x1100); err != nil {
		t.Error(err)
	}
	if addr, late := m.Late(); late {
		t.Errorf("code read late at %#x counts", addr)
	}

	s.Live = false
	m = s.ThreadMemory(&s.Threads[0])
	if err := m.ReadMemory(make([]byte, 8), 0x1100); err != nil {
		t.Error(err)
	}
	if _, late := m.Late(); late {
		t.Error("a target that stands still has no late reads")
	}
	s.Memory = nil
	if err := m.ReadMemory(make([]byte, 8), 0x1100); err == nil {
		t.Error("read without memory")
	}
}

func TestFindMapping(t *testing.T) {
	s := &Snapshot{Mappings: []Mapping{{Start: 0x1000, End: 0x2000}, {Start: 0x2000, End: 0x3000}, {Start: 0x5000, End: 0x6000}}}
	for addr, want := range map[uint64]int{0: -1, 0xfff: -1, 0x1000: 0, 0x1fff: 0, 0x2000: 1, 0x3000: -1, 0x4fff: -1, 0x5fff: 2, 0x6000: -1, ^uint64(0): -1} {
		m := s.Mapping(addr)
		if want < 0 && m != nil || want >= 0 && m != &s.Mappings[want] {
			t.Errorf("%#x: %+v, expected number %d", addr, m, want)
		}
	}
}

func BenchmarkThreadMemory(b *testing.B) {
	s := &Snapshot{Live: true, Memory: ramp{}, Threads: []Thread{{Stack: make([]byte, 4096), StackAddress: 0x1000}}}
	m := s.ThreadMemory(&s.Threads[0])
	p := make([]byte, 8)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.ReadMemory(p, 0x1100); err != nil {
			b.Fatal(err)
		}
	}
}

// Copies of one thread are visible only to that thread, and before those of all threads:
// another thread's copy of the same place is from a different time.
func TestThreadCopies(t *testing.T) {
	s := &Snapshot{
		Live:     true,
		Memory:   ramp{},
		Mappings: []Mapping{{Start: 0x1000, End: 0x2000, Readable: true, Writable: true}},
		Copies:   []Copy{{Address: 0x1100, Bytes: []byte{1, 1, 1, 1}}},
		Threads: []Thread{
			{Copies: []Copy{{Address: 0x1100, Bytes: []byte{2, 2}}, {Address: 0x1200, Bytes: []byte{2}}}},
			{Copies: []Copy{{Address: 0x1100, Bytes: []byte{3, 3, 3, 3}}}},
			{},
			{Late: true},
		},
	}
	tests := []struct {
		thread int
		addr   uint64
		want   []byte
		late   uint64
	}{
		{0, 0x1100, []byte{2, 2}, 0},
		{0, 0x1101, []byte{2, 1, 1}, 0},
		{0, 0x1102, []byte{1, 1, 0x84}, 0x1104},
		{0, 0x1200, []byte{2}, 0},
		{1, 0x1100, []byte{3, 3, 3, 3}, 0},
		{1, 0x1200, []byte{0x80}, 0x1200},
		{2, 0x1100, []byte{1, 1, 1, 1}, 0},
		{3, 0x1100, []byte{0x80, 0x81}, 0x1100}, // which can have been another's then
	}
	for _, test := range tests {
		m := s.ThreadMemory(&s.Threads[test.thread])
		p := make([]byte, len(test.want))
		if err := m.ReadMemory(p, test.addr); err != nil || !bytes.Equal(p, test.want) {
			t.Errorf("thread %d, %#x: % x, %v, expected % x", test.thread, test.addr, p, err, test.want)
		}
		if late, _ := m.Late(); late != test.late {
			t.Errorf("thread %d, %#x: read late at %#x, expected %#x", test.thread, test.addr, late, test.late)
		}
	}
}

// A thread's memory gives the copies that contain an address, also where copies overlap.
func TestStackAt(t *testing.T) {
	s := &Snapshot{Copies: []Copy{{Address: 0x1000, Bytes: make([]byte, 0x1000)}, {Address: 0x1100, Bytes: make([]byte, 16)}}}
	m := s.ThreadMemory(&Thread{Copies: []Copy{{Address: 0x5000, Bytes: make([]byte, 64)}}})
	for addr, want := range map[uint64]uint64{0xfff: 0, 0x1000: 0x1000, 0x1108: 0x1100, 0x1110: 0x1000, 0x2000: 0, 0x5020: 0x5000, 0x5040: 0} {
		if got, ok := m.StackAt(addr); got.Address != want || ok != (want != 0) {
			t.Errorf("the copy with %#x is at %#x, %v", addr, got.Address, ok)
		}
	}
	m = s.ThreadMemory(&Thread{Late: true})
	if _, ok := m.StackAt(0x1000); ok {
		t.Error("a late thread uses a copy")
	}
}
