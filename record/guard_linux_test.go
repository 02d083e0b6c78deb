// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/clewdev/clew/snapshot"
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
	// A read that returns is late on a busy machine, so only the reads that block have little patience.
	g := &guard{patience: time.Minute}
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
		g.patience = 10 * time.Millisecond
		if err := m.ReadMemory(b[:], 0); !errors.Is(err, errStuck) {
			t.Fatal(err)
		}
		g.patience = time.Minute
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

// Memory from file systems that may not answer is not read.
func TestRemoteMappings(t *testing.T) {
	const mounts = `22 27 0:21 / /proc rw,relatime - proc proc rw
31 27 0:44 / /mnt/a\040-\040b rw shared:3 - fuse.sshfs host:/ rw
32 27 8:1 / /usr rw master:1 - ext4 /dev/sda1 rw
33 27 0:300 / /net rw - nfs4 host:/ rw
34 27 x:1 / /y rw - nfs host:/ rw
35 27 - fuse
`
	if got := fmt.Sprint(remoteDevices(mounts)); got != "map[44:true 1048620:true]" {
		t.Error(got)
	}
	g := &guard{patience: time.Minute}
	defer g.close()
	m := &guardedMemory{guard: g, memory: make(blockingMemory), remote: []snapshot.Mapping{{Start: 0x1000, End: 0x2000}}}
	for _, test := range []struct {
		address uint64
		size    int
		remote  bool
	}{{0xff8, 8, false}, {0xff8, 9, true}, {0x1000, 1, true}, {0x1fff, 8, true}, {0x2000, 8, false}, {1, 0x10000, true}, {1<<64 - 1, 1, false}} {
		if err := m.ReadMemory(make([]byte, test.size), test.address); errors.Is(err, errRemote) != test.remote {
			t.Errorf("%d bytes at %#x: %v", test.size, test.address, err)
		}
	}
}
