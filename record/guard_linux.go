// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clewdev/clew/cfi"
)

// guard makes calls that another program can block for ever: to read memory that is mapped from a file
// system of its own (FUSE) waits for that program.
type guard struct {
	mu    sync.Mutex
	calls chan<- func() // of the goroutine that makes the calls, nil if there is none
	done  <-chan struct{}
	stuck atomic.Int32 // goroutines whose calls have not returned in time

	patience time.Duration
}

const (
	patience = 100 * time.Millisecond
	// maxStuck bounds the stuck goroutines. Each keeps a thread.
	maxStuck = 32
)

var errStuck = errors.New("no answer within 100 ms (is it mapped from a file system that does not answer?)")

// do makes a call, and reports whether it has returned in time. If not, it may return later, or never.
func (g *guard) do(call func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls == nil {
		if g.stuck.Load() >= maxStuck {
			return false
		}
		calls, done := make(chan func()), make(chan struct{}, 1)
		g.calls, g.done = calls, done
		go func() {
			for call := range calls {
				call()
				done <- struct{}{}
			}
		}()
	}
	g.calls <- call
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case <-g.done:
		return true
	case <-timer.C:
	}
	g.stuck.Add(1)
	go func(calls chan<- func(), done <-chan struct{}) {
		<-done
		close(calls)
		g.stuck.Add(-1)
	}(g.calls, g.done)
	g.calls, g.done = nil, nil
	return false
}

// close ends the goroutine that makes the calls.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls != nil {
		close(g.calls)
		g.calls = nil
	}
}

// guardedMemory is the memory of a process, read by a guard. After a read that did not return in time
// all reads are errors.
type guardedMemory struct {
	guard  *guard
	memory cfi.Memory
	close  func() error
	buffer []byte
	stuck  bool
}

// maxBuffer bounds the buffer that guardedMemory keeps, in bytes.
const maxBuffer = 1 << 16

// ReadMemory implements cfi.Memory.
func (m *guardedMemory) ReadMemory(p []byte, address uint64) (err error) {
	if m.stuck {
		return errStuck
	}
	// A late read must not write to p.
	buffer := m.buffer
	if len(buffer) < len(p) {
		if buffer = make([]byte, len(p)); len(p) <= maxBuffer {
			m.buffer = buffer
		}
	}
	buffer = buffer[:len(p)]
	var result error
	if !m.guard.do(func() { result = m.memory.ReadMemory(buffer, address) }) {
		m.stuck, m.buffer = true, nil
		return errStuck
	}
	copy(p, buffer)
	return result
}

// Close implements io.Closer. If a read is stuck, the memory is closed once it has returned.
func (m *guardedMemory) Close() error {
	m.stuck = true
	return m.close()
}
