// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot_test

import (
	"errors"
	"testing"

	"github.com/clewdev/clew/snapshot"
)

// counted is memory of two and a half pages from 0x1000 on. Its bytes change with each read,
// and it counts the reads.
type counted struct{ reads int }

func (c *counted) ReadMemory(p []byte, addr uint64) error {
	c.reads++
	if addr < 0x1000 || addr+uint64(len(p)) > 0x3800 {
		return errors.New("nothing is mapped there")
	}
	for i := range p {
		p[i] = byte(c.reads)
	}
	return nil
}

// Keep reads memory once, by whole pages if possible. Late reads are reported each time.
func TestKeep(t *testing.T) {
	memory := new(counted)
	s := &snapshot.Snapshot{Memory: memory, Live: true, Mappings: []snapshot.Mapping{{Start: 0x1000, End: 0x4000, Writable: true}}}
	m := s.ThreadMemory(&snapshot.Thread{})
	m.Keep()
	read := func(addr uint64, n int) (byte, error) {
		p := make([]byte, n)
		err := m.ReadMemory(p, addr)
		return p[n-1], err
	}
	for _, test := range []struct {
		addr  uint64
		n     int
		want  byte // which read it is of
		reads int
	}{
		{0x1008, 8, 1, 1}, {0x1ff0, 16, 1, 1}, {0x1ff8, 16, 2, 2}, {0x2000, 0x1000, 2, 2},
		{0x3000, 8, 4, 4}, {0x3000, 8, 5, 5}, // a page of which a part is not there
		{0x1008, 8, 1, 5},
	} {
		m.ForgetLate()
		got, err := read(test.addr, test.n)
		if err != nil || got != test.want || memory.reads != test.reads {
			t.Errorf("%d bytes at %#x: of read %d, %d reads, %v", test.n, test.addr, got, memory.reads, err)
		}
		if _, late := m.Late(); !late {
			t.Errorf("%d bytes at %#x are not late", test.n, test.addr)
		}
	}
	if _, err := read(0x37f8, 16); err == nil {
		t.Error("what is not there was read")
	}
	// The number of kept pages is bounded.
	everywhere := s.ThreadMemory(&snapshot.Thread{})
	everywhere.Keep()
	for range 3 {
		for at := uint64(0); at < 1<<30; at += 1 << 20 {
			everywhere.ReadMemory(make([]byte, 1), at)
		}
	}
}
