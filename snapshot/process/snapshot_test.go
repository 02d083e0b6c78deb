// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

// checkThread fails unless a thread has registers, a stack copy that starts at its stack
// pointer, and a stack and code in known mappings.
func checkThread(t testing.TB, s *snapshot.Snapshot, th *snapshot.Thread) {
	t.Helper()
	if th.Err != nil {
		t.Errorf("thread %d: %v", th.ID, th.Err)
		return
	}
	sp, ok := th.Registers.Get(uint64(s.Machine.StackPointer))
	if !ok || sp < th.StackAddress || sp >= th.StackAddress+uint64(len(th.Stack)) {
		t.Errorf("thread %d: stack pointer %#x is outside the copy %#x+%#x", th.ID, sp, th.StackAddress, len(th.Stack))
	}
	if m := s.Mapping(th.Registers.PC); m == nil || !m.Executable {
		t.Errorf("thread %d: program counter %#x is in mapping %+v", th.ID, th.Registers.PC, m)
	}
	if s.Mapping(sp) == nil {
		t.Errorf("thread %d: stack pointer %#x is in no mapping", th.ID, sp)
	}
}

func TestSnapshot(t *testing.T) {
	const n = 64
	c := start(t, build(t, "threads"), fmt.Sprint(n))
	c.blocked(unix.SYS_READ)
	s, err := Snapshot(c.pid, &Options{Timeout: time.Minute}) // 64 threads count
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Threads) != n+1 {
		t.Errorf("%d threads, expected %d", len(s.Threads), n+1)
	}
	names := make(map[string]bool)
	for i := range s.Threads {
		checkThread(t, s, &s.Threads[i])
		names[s.Threads[i].Name] = true
	}
	for _, name := range []string{"threads", "counter 0", "counter 63"} {
		if !names[name] {
			t.Errorf("no thread is named %q", name)
		}
	}
	if s.Pause <= 0 || s.PID != c.pid || s.Machine == nil || !s.Live {
		t.Errorf("pause %v, pid %d, machine %v, live %v", s.Pause, s.PID, s.Machine, s.Live)
	}

	// The word at the stack pointer of a thread that waits in main's read is equal in the copy
	// and in the memory.
	main := &s.Threads[0]
	if main.ID != c.pid {
		t.Fatalf("first thread is %d, expected %d", main.ID, c.pid)
	}
	sp, _ := main.Registers.Get(uint64(s.Machine.StackPointer))
	var live [8]byte
	if err := s.Memory.ReadMemory(live[:], sp); err != nil {
		t.Fatal(err)
	}
	if copied := main.Stack[sp-main.StackAddress:]; binary.NativeEndian.Uint64(copied) != binary.NativeEndian.Uint64(live[:]) {
		t.Errorf("at %#x: copied % x, live % x", sp, copied[:8], live)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{0, 64, 500} {
		b.Run(fmt.Sprintf("threads=%d", n+1), func(b *testing.B) {
			c := start(b, build(b, "threads"), fmt.Sprint(n), "60000")
			b.ReportAllocs()
			var pause, stop, copied, release float64
			bytes := 0
			for b.Loop() {
				s, p, err := takeSnapshot(c.pid, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				pause += float64(s.Pause.Microseconds())
				stop += float64(p.stop.Microseconds())
				copied += float64(p.copy.Microseconds())
				release += float64(p.release.Microseconds())
				bytes = 0
				for i := range s.Threads {
					bytes += len(s.Threads[i].Stack)
				}
			}
			b.ReportMetric(pause/float64(b.N), "µs-pause/op")
			b.ReportMetric(stop/float64(b.N), "µs-stop/op")
			b.ReportMetric(copied/float64(b.N), "µs-copy/op")
			b.ReportMetric(release/float64(b.N), "µs-release/op")
			b.ReportMetric(float64(bytes), "stack-bytes")
		})
	}
}

// The wait for a thread that only needs a processor is longer than for one that may never
// stop: with no patience for the latter, all threads still stop.
func TestThreadsThatGetNoProcessor(t *testing.T) {
	c := start(t, build(t, "threads"), "16")
	c.blocked(unix.SYS_READ)
	p, s, err := prepare(c.pid, new(Options))
	if err != nil {
		t.Fatal(err)
	}
	defer p.tasks.close()
	p.patience = time.Second
	onTracerThread(func() bool {
		if _, err = p.attach(); err != nil {
			return false
		}
		for i := range p.tracees {
			ptrace(unix.PTRACE_INTERRUPT, p.tracees[i].tid, 0, 0)
		}
		// All threads were asked, and the time is over.
		for p.sweep() > 0 && p.giveUp(p.patience) > 0 {
			pause(0)
		}
		p.copy()
		p.detach()
		return false
	})
	p.awaitRelease()
	if err != nil {
		t.Fatal(err)
	}
	p.finish(s)
	for i := range s.Threads {
		if err := s.Threads[i].Err; err != nil {
			t.Error(err)
		}
	}
}
