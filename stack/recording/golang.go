// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
)

// golang is the memory of Go's runtime in a process that runs.
type golang struct {
	snapshot *snapshot.Snapshot
	runtime  *goruntime.Runtime
	calls    *goruntime.CallReader // nil if the version of Go is not known well enough

	bias uint64
	exit uint64 // the function that returns from the outermost one of goroutines, 0 if unknown

	goroutines map[uint64]seenGoroutine // by address
}

// seenGoroutine is a goroutine that each look since a time has found at an address.
type seenGoroutine struct{ id, since uint64 }

// seen notes that a goroutine is at an address, and returns since when looks have found it there. The runtime
// uses the memory of a goroutine that has ended again, and never its ID.
func (g *golang) seen(address, id, now uint64) (since uint64) {
	if known, ok := g.goroutines[address]; ok && known.id == id {
		return known.since
	}
	if id == mainGoroutine {
		now = 0
	}
	if len(g.goroutines) >= maxGoroutines {
		clear(g.goroutines)
	}
	g.goroutines[address] = seenGoroutine{id, now}
	return now
}

// mainGoroutine is the ID of the goroutine that the runtime starts first, and which ends with the program.
const mainGoroutine = 1

// goroutine reads the goroutine at an address, and returns since when it has been there.
func (g *golang) goroutine(live Live, address uint64) (r goruntime.Goroutine, since uint64, ok bool) {
	r, err := g.calls.Goroutine(address)
	if err != nil || r.ID == 0 || r.State == goruntime.Dead || r.State == goruntime.Idle {
		return r, 0, false
	}
	return r, g.seen(address, r.ID, live.Now()), true
}

// golang returns the runtime of a process, which is in one of its files, or nil. what is what the caller
// wants to know.
func (p *process) golang(b *builder, m *mapped, what string) *golang {
	if p.goOpened {
		return p.goMemory
	}
	p.goOpened = true
	f := m.file.object
	r, err := goruntime.New(f, m.Bias)
	if err != nil {
		b.note("%s: %s: %v", what, m.file.path, err)
		return nil
	}
	s, err := b.opts.Live.Open(p.pid)
	if err != nil {
		b.note("%s in process %d cannot be read: %v", what, p.pid, err)
	}
	if s == nil {
		return nil
	}
	b.opts.Live.Soon()
	g := &golang{snapshot: s, runtime: r, calls: r.CallReader(s.Memory), bias: m.Bias, goroutines: make(map[uint64]seenGoroutine)}
	for _, name := range [...]string{"runtime.goexit", "runtime.goexit.abi0"} {
		if exit, ok := f.GoFunctionNamed(name); ok {
			g.exit = exit.Entry + m.Bias
		}
	}
	p.goMemory = g
	return g
}

// endGo closes the memory of a process's Go runtime.
func (p *process) endGo() {
	if p.goMemory != nil {
		closeMemory(p.goMemory.snapshot)
	}
	p.goMemory, p.goOpened, p.labels = nil, false, nil
}
