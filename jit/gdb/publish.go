// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

// store contains a publisher's images. The list's lock guards it.
type store struct {
	memory    arena
	waiting   arena // for images that will soon be merged: in memory they would leave holes
	levels    [][]*image
	full      []*image
	pending   []*image // not registered yet
	timer     *time.Timer
	functions int
	files     int
	bytes     int

	demand    demand        // has its own lock
	published jit.Published // likewise
}

// Publish registers a batch with debuggers, in one symbol file. When it returns debuggers
// know the names, lines and unwind tables of its functions, unless Gather is set. An
// attached debugger stops all threads of the program meanwhile. For code of another machine
// than this program's the error wraps [jit.ErrNotApplicable].
//
// Publish keeps nothing of the Code, and does not allocate for each function, unless OnDemand
// is set.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	if c.Machine != nil && c.Machine != jit.Host() {
		if err := c.Check(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: code for %s, and debuggers expect %s here", jit.ErrNotApplicable, name(c.Machine), name(jit.Host()))
	}
	if b, ok := emptyBatch(c); ok {
		return b, nil
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	claim, err := p.published.Add(c)
	if err != nil {
		return nil, err
	}
	if p.OnDemand > 0 && !attached() {
		b, err := p.postpone(c)
		if err != nil {
			claim.Remove()
			return nil, err
		}
		b.claim = claim
		return b, nil
	}
	b, err := p.publish(c, p.Gather > 0)
	if err != nil {
		claim.Remove()
		return nil, err
	}
	b.claim = claim
	return b, nil
}

// publish makes a symbol file and registers it, or leaves that to Flush.
func (p *Publisher) publish(c *jit.Code, later bool) (*batch, error) {
	buffer := scratch.Get().(*[]byte)
	file, err := symfile.Append((*buffer)[:0], c) // checks the Code
	defer func() { putScratch(buffer, file) }()
	if err != nil {
		return nil, err
	}
	if !p.AllowSecond {
		if err := checkSecond(); err != nil {
			return nil, err
		}
	}
	b := p.newBatch(c)
	list.Lock()
	defer list.Unlock()
	to := &p.memory
	if later {
		to = &p.waiting
	}
	i, err := p.newImage(to, file)
	if err != nil {
		return nil, err
	}
	n := b.live()
	i.functions, i.low, i.high = n, b.start, b.last()
	i.batches = []*batch{b}
	b.enter(i)
	p.functions += n
	if later {
		p.gather(i)
	} else {
		register(i)
		p.settle(i)
	}
	return b, nil
}

// newBatch returns a batch in which empty functions are withdrawn.
func (p *Publisher) newBatch(c *jit.Code) *batch {
	b := &batch{publisher: p, start: c.Start(&c.Functions[0])}
	if n := len(c.Functions); n > 1 {
		b.extra = &extra{offsets: make([]uint64, n), live: n}
		for k := range c.Functions {
			f := &c.Functions[k]
			if f.Size == 0 {
				b.extra.offsets[k] = noOffset
				b.markWithdrawn(k)
				continue
			}
			if b.extra.live == n-k { // the first one that is not empty
				b.start = c.Start(f)
			}
			b.extra.offsets[k] = c.Start(f) - b.start
		}
	}
	return b
}

// emptyBatch returns a batch without code, if c has only empty functions.
func emptyBatch(c *jit.Code) (*batch, bool) {
	n := len(c.Functions)
	if n == 0 || slices.ContainsFunc(c.Functions, func(f jit.Function) bool { return f.Size > 0 }) {
		return nil, false
	}
	b := new(batch)
	if n > 1 {
		b.extra = &extra{offsets: make([]uint64, n)}
	}
	return b, true
}

func name(m *arch.Machine) string {
	if m == nil {
		return "an unknown machine"
	}
	return m.Name
}

// gather delays the registration of an image for the time Gather.
func (p *Publisher) gather(i *image) {
	p.pending = append(p.pending, i)
	if len(p.pending) > 1 || p.Gather <= 0 {
		return
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(p.Gather, p.Flush)
	} else {
		p.timer.Reset(p.Gather)
	}
}

// Flush registers the batches that Gather and OnDemand delay. When it returns debuggers know
// them.
func (p *Publisher) Flush() {
	p.demand.describe(p)
	list.Lock()
	defer list.Unlock()
	pending := p.pending
	if len(pending) == 0 {
		return
	}
	p.pending = nil
	if p.timer != nil {
		p.timer.Stop()
	}
	// Without memory to merge them, register them unmerged.
	if merged, err := p.rewrite(pending, nil); err == nil {
		pending = merged
	}
	for _, i := range pending {
		register(i)
		p.settle(i)
	}
	p.waiting.trim()
}

// Stats returns the current size of the publisher's symbol files.
func (p *Publisher) Stats() Stats {
	list.Lock()
	defer list.Unlock()
	return Stats{Functions: p.functions, Files: p.files, Bytes: p.bytes, Memory: p.memory.mapped + p.waiting.mapped}
}

// scratch contains buffers in which symbol files are built before they are copied
// to an arena.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch is the size of the largest buffer that is kept, in bytes.
const maxScratch = 4 << 20

func putScratch(b *[]byte, used []byte) {
	if cap(used) <= maxScratch {
		*b = used[:0]
		scratch.Put(b)
	}
}
