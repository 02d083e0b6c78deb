// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"testing"
	"time"
)

// blockingMemory answers reads of all addresses but 0, and those when a channel is closed.
type blockingMemory chan struct{}

func (m blockingMemory) ReadMemory(p []byte, address uint64) error {
	if address == 0 {
		<-m
	}
	for i := range p {
		p[i] = byte(address)
	}
	return nil
}

// A read that does not return ends the reads of that memory, and of no other.
func TestGuard(t *testing.T) {
	g := &guard{patience: 10 * time.Millisecond}
	defer g.close()
	release := make(blockingMemory)
	open := func(pid int32) *guardedMemory {
		return &guardedMemory{guard: g, pid: pid, memory: release, close: func() error { return nil }}
	}
	large := make([]byte, 3*maxPart+1)
	if err := open(1).ReadMemory(large, 7); err != nil || large[0] != 7 || large[3*maxPart] != 7 {
		t.Fatalf("%d, %v", large[3*maxPart], err)
	}
	var b [1]byte
	for pid := range int32(maxStuck) {
		m := open(pid)
		if err := m.ReadMemory(b[:], 7); err != nil || b[0] != 7 {
			t.Fatalf("after %d stuck reads: %d, %v", pid, b[0], err)
		}
		if err := m.ReadMemory(b[:], 0); !errors.Is(err, errStuck) {
			t.Fatal(err)
		}
		for _, m := range []*guardedMemory{m, open(pid)} { // the other one was opened again
			if err := m.ReadMemory(b[:], 1); !errors.Is(err, errStuck) {
				t.Fatal(err)
			}
		}
		m.Close()
	}
	if err := open(maxStuck).ReadMemory(b[:], 7); !errors.Is(err, errStuck) {
		t.Errorf("%v with %d stuck reads", err, maxStuck)
	}
	close(release)
	for open(1).ReadMemory(b[:], 8) != nil {
		time.Sleep(time.Millisecond)
	}
	if b[0] != 8 {
		t.Error(b[0])
	}
}
