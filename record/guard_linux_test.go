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
	open := func() *guardedMemory {
		return &guardedMemory{guard: g, memory: release, close: func() error { return nil }}
	}
	var b [1]byte
	for n := range maxStuck {
		m := open()
		if err := m.ReadMemory(b[:], 7); err != nil || b[0] != 7 {
			t.Fatalf("after %d stuck reads: %d, %v", n, b[0], err)
		}
		if err := m.ReadMemory(b[:], 0); !errors.Is(err, errStuck) {
			t.Fatal(err)
		}
		if err := m.ReadMemory(b[:], 1); !errors.Is(err, errStuck) {
			t.Fatal(err)
		}
		m.Close()
	}
	if err := open().ReadMemory(b[:], 7); !errors.Is(err, errStuck) {
		t.Errorf("%v with %d stuck reads", err, maxStuck)
	}
	close(release)
	for g.stuck.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	if err := open().ReadMemory(b[:], 8); err != nil || b[0] != 8 {
		t.Errorf("%d, %v", b[0], err)
	}
}
