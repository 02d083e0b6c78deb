// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// spoiled is memory that changes the content of reads.
type spoiled struct {
	cfi.Memory
	spoil func(p []byte, addr uint64)
}

func (m spoiled) ReadMemory(p []byte, addr uint64) error {
	err := m.Memory.ReadMemory(p, addr)
	if err == nil {
		m.spoil(p, addr)
	}
	return err
}

// batched is spoiled memory with batch reads.
type batched struct{ spoiled }

func (m batched) ReadBatch(batch []snapshot.Copy) {
	snapshot.ReadBatch(m.Memory, batch)
	for i := range batch {
		m.spoil(batch[i].Bytes, batch[i].Address)
	}
}

// A goroutine that runs during each attempt to read its stack has ErrMoved, even if it always
// waits at the same place. The others are read.
func TestGoroutineMoves(t *testing.T) {
	path := testprogram.Build(t, "states")
	file, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	layout, err := goruntime.LayoutOf(file)
	if err != nil {
		t.Fatal(err)
	}
	p := testprogram.Start(t, path)
	p.Settle(t)
	whole := takeGoroutines(t, p.PID, false)
	list := goroutinesOf(t, whole, golang.Options{})
	moving := &list[2]
	reads := uint64(0)
	for name, spoil := range map[string]func(p []byte){
		"elsewhere": func(p []byte) {
			// These words contain the place where it continues. No other words of its
			// structure look like that.
			for at := 0; at+8 <= len(p); at += 8 {
				if binary.LittleEndian.Uint64(p[at:]) == moving.Sched.FP {
					binary.LittleEndian.PutUint64(p[at:], moving.Sched.FP+atomic.AddUint64(&reads, 8))
				}
			}
		},
		"at the same place": func(p []byte) {
			if int(layout.Runs) < len(p) {
				p[layout.Runs] += byte(atomic.AddUint64(&reads, 1))
			}
		},
	} {
		spoil := spoiled{whole.Memory, func(p []byte, addr uint64) {
			if addr == moving.Address {
				spoil(p)
			}
		}}
		for _, memory := range []cfi.Memory{spoil, batched{spoil}} {
			s := *whole
			s.Memory = memory
			reads = 0
			for i, g := range goroutinesOf(t, &s, golang.Options{}) {
				switch {
				case g.ID != list[i].ID:
					t.Fatalf("%s: goroutine %d, expected %d", name, g.ID, list[i].ID)
				case g.ID == moving.ID:
					if !errors.Is(g.Stack.Err, golang.ErrMoved) || len(g.Stack.Frames) > 0 {
						t.Errorf("%s, %T: goroutine %d: %d frames, %v", name, memory, g.ID, len(g.Stack.Frames), g.Stack.Err)
					}
				case g.Stack.Reason != unwind.EndOfStack || len(g.Stack.Frames) != len(list[i].Stack.Frames):
					t.Errorf("%s, %T: goroutine %d: %d frames, expected %d: %v", name, memory, g.ID, len(g.Stack.Frames), len(list[i].Stack.Frames), g.Stack.Err)
				}
			}
			if reads == 0 {
				t.Errorf("%s, %T: the goroutine was not read", name, memory)
			}
		}
	}
}

// For any content of a target's writable memory, reading goroutines ends, and each stack that
// is not complete has an error.
func TestDamagedGoroutines(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "states", "-ldflags=-s -w"))
	p.Settle(t)
	s := *takeGoroutines(t, p.PID, false)
	memory := s.Memory
	s.Copies, s.Live = nil, false // as of a core
	random := rand.New(rand.NewPCG(3, 4))
	whole, cut, refused := 0, 0, 0
	for round := range 300 {
		some := goroutineWords(random)
		s.Memory = spoiled{memory, func(p []byte, addr uint64) {
			m := s.Mapping(addr)
			if m == nil || !m.Writable {
				return
			}
			for at := 0; at+8 <= len(p); at += 8 {
				if random.IntN(round+2) == 0 {
					binary.LittleEndian.PutUint64(p[at:], some(binary.LittleEndian.Uint64(p[at:])))
				}
			}
		}}
		objects := stack.NewObjects(&s)
		list, err := golang.Goroutines(objects, golang.Options{System: true, MaxFrames: 1000})
		if err != nil {
			refused++
		}
		for i := range list {
			switch stack := &list[i].Stack; {
			case stack.Reason == unwind.EndOfStack:
				whole++
			case stack.Err == nil:
				t.Fatalf("round %d: goroutine %d: %v, and no error says more", round, list[i].ID, stack.Reason)
			default:
				cut++
			}
		}
		objects.Close()
	}
	if whole == 0 || cut == 0 || refused == 0 {
		t.Errorf("%d stacks are whole, %d are not, and %d lists", whole, cut, refused)
	}
}

// goroutineWords returns a function that changes a word.
func goroutineWords(random *rand.Rand) func(uint64) uint64 {
	return func(was uint64) uint64 {
		switch random.IntN(5) {
		case 0:
			return random.Uint64()
		case 1:
			return was + 8*random.Uint64N(64)
		case 2:
			return was ^ 1<<random.UintN(64)
		case 3:
			return -random.Uint64N(64)
		}
		return random.Uint64N(64)
	}
}
