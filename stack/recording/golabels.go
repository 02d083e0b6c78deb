// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/unwind"
)

// goLabels reads the profiler labels of goroutines (runtime/pprof.Do) from the memory of a process that
// runs. A sample does not contain them. They are read some milliseconds later, and are those of the sample
// only if the goroutine is still in the same call of Do.
type goLabels struct {
	*golang                       // nil if the process has no runtime that is known, or sets no labels
	do      [2]uint64             // the code of runtime/pprof.Do, [start, end)
	encoded map[string]string     // equal texts, by themselves
	seen    map[uint64]seenLabels // by the ID of the goroutine
	context int                   // offset of the new context in the frame of Do, -1 if unknown
}

// seenLabels are labels that a goroutine had at each look since a time.
type seenLabels struct {
	address uint64
	text    string
	since   uint64
}

// hasLabels reports whether a process has a runtime whose labels can be read.
func (p *process) hasLabels() bool { return p.labels != nil && p.labels.golang != nil }

// open finds the runtime of a process in one of its files.
func (g *goLabels) open(b *builder, p *process, m *mapped) {
	do, ok := m.file.object.GoFunctionNamed("runtime/pprof.Do")
	if !ok {
		return
	}
	g.golang = p.golang(b, m, "labels of goroutines")
	g.do = [2]uint64{do.Entry + m.Bias, do.End + m.Bias}
	g.encoded, g.seen = make(map[string]string), make(map[uint64]seenLabels)
}

// goLabels returns the encoded labels of the goroutine of a sample, whose stack was walked, and whether
// they are known.
func (b *builder) goLabels(t *thread, machine *arch.Machine, at uint64) (text string, known bool) {
	p := t.process
	if b.opts.Live == nil || machine == nil || machine.Go == nil || machine.Go.G == 0 || machine.AddressSize != 8 || t.trail.Len() == 0 {
		return "", true
	}
	space := p.space
	if p.labels == nil {
		module, _ := space.modules.Find(t.trail.LookupPC(t.trail.Len() - 1))
		m := mappedBy(module)
		if m == nil || !m.fits || !m.file.tables.Go {
			return "", true
		}
		p.labels = &goLabels{context: -1}
		p.labels.open(b, p, m)
	}
	g := p.labels
	if g.golang == nil {
		return "", true
	}
	routine, ok := g.goroutine(b, t, machine)
	if !ok {
		return "", false
	}
	if routine == nil {
		return "", true
	}
	labels, err := g.runtime.Labels(g.snapshot.Memory, routine.Labels)
	if err != nil {
		return "", false
	}
	text = g.encode(labels)
	seen, ok := g.look(routine, text, b.opts.Live.Now())
	if !g.same(b, t, routine, ok && seen < at) {
		return "", false
	}
	return text, true
}

// look notes the labels of a goroutine at a time, and returns since when each look has found the same. ok
// is false if there was no look before.
func (g *goLabels) look(r *goruntime.Goroutine, text string, now uint64) (since uint64, ok bool) {
	if seen, ok := g.seen[r.ID]; ok && seen.address == r.Labels && seen.text == text {
		return seen.since, true
	}
	if len(g.seen) >= maxThreadLabels {
		clear(g.seen)
	}
	g.seen[r.ID] = seenLabels{r.Labels, text, now}
	return 0, false
}

// goroutine returns the goroutine that a thread ran at a sample, nil if it ran none.
func (g *goLabels) goroutine(b *builder, t *thread, machine *arch.Machine) (*goruntime.Goroutine, bool) {
	memory := g.snapshot.Memory
	if t.m == 0 && t.calls != nil {
		t.m = t.calls.m // the sample is in C code
	}
	if t.m == 0 {
		// In Go code a register has the address of the goroutine.
		address, ok := b.walk.regs.Get(uint64(machine.Go.G))
		if f := t.process.space.goFunction(b.walk.regs.PC); !ok || f == nil {
			return nil, !g.callsGo(t)
		}
		r, err := g.runtime.Read(memory, address)
		sp := t.trail.At(0).SP
		if err != nil || sp < r.StackLow || sp >= r.StackHigh || r.Thread == 0 {
			return nil, false
		}
		t.m = r.Thread
	}
	m, err := g.runtime.Thread(memory, t.m)
	if err != nil {
		return nil, false
	}
	if m.Current == 0 {
		return nil, g.outermost(t) == nil
	}
	r, err := g.runtime.Read(memory, m.Current)
	return &r, err == nil
}

// callsGo reports whether a walked stack has a function of Go. The threads of C code have none.
func (g *goLabels) callsGo(t *thread) bool {
	for i := range t.trail.Len() {
		if t.process.space.goFunction(t.trail.LookupPC(i)) != nil {
			return true
		}
	}
	return false
}

// outermost returns the function that the goroutine of a walked stack started with, nil if the stack does
// not lead to the start of a goroutine.
func (g *goLabels) outermost(t *thread) *object.GoFunction {
	n := t.trail.Len()
	if n < 2 {
		return nil
	}
	space := t.process.space
	if f := space.goFunction(t.trail.LookupPC(n - 1)); f == nil || f.Name != "runtime.goexit" && f.Name != "runtime.goexit.abi0" {
		return nil
	}
	return space.goFunction(t.trail.LookupPC(n - 2))
}

// same reports whether a goroutine is that of the sample, and has the labels that it had then. had says that
// it had them at the last look before the sample.
func (g *goLabels) same(b *builder, t *thread, r *goruntime.Goroutine, had bool) bool {
	trail := &t.trail
	last := trail.At(trail.Len() - 1).SP
	// The scheduler has no goroutine at its outermost frame.
	if f := g.outermost(t); f == nil || f.Entry+g.bias != r.Function || last < r.StackLow || last > r.StackHigh {
		return false
	}
	if i := g.doFrame(trail); i >= 0 {
		return g.set(b, t, r, i)
	}
	// It inherited its labels, or it has called Do since. The address alone proves nothing, because
	// the garbage collector frees the labels of a call of Do, and a later call can have their memory.
	return r.Labels == 0 || had
}

// doFrame returns the innermost frame of runtime/pprof.Do that has a caller, -1 if there is none.
func (g *goLabels) doFrame(trail *unwind.Trail) int {
	for i := range trail.Len() - 1 {
		if pc := trail.LookupPC(i); g.do[0] <= pc && pc < g.do[1] {
			return i
		}
	}
	return -1
}

// set reports whether the call of Do in a frame has set the labels that a goroutine has now. The frame
// contains the addresses of the caller's context and of the new one, a context.valueCtx, which contains the
// address of the caller's, and that of the labels.
func (g *goLabels) set(b *builder, t *thread, r *goruntime.Goroutine, frame int) bool {
	if frame == 0 || r.Labels == 0 {
		return false // Do may not have set them yet
	}
	stack := b.walk.memory.stack
	if live := b.walk.memory.live; live != nil && t.trail.At(frame).SP-live.stack.Address < uint64(len(live.stack.Bytes)) {
		stack = live.stack // the goroutine called C code
	}
	from, to := t.trail.At(frame).SP-stack.Address, t.trail.At(frame+1).SP-stack.Address
	if to > uint64(len(stack.Bytes)) || to <= from || to-from > maxFrame {
		return false
	}
	words := stack.Bytes[from:to]
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(words[at:]) }
	matches := func(at int) (parent uint64, ok bool) {
		// The second words of Context and val.
		var context [6 * 8]byte
		if word(at) < 1<<12 || g.snapshot.Memory.ReadMemory(context[:], word(at)) != nil {
			return 0, false
		}
		return binary.LittleEndian.Uint64(context[8:]), binary.LittleEndian.Uint64(context[40:]) == r.Labels
	}
	if g.context >= 0 && g.context+8 <= len(words) {
		if _, ok := matches(g.context); ok {
			return true
		}
	}
	for at := 0; at+8 <= len(words); at += 8 {
		parent, ok := matches(at)
		for other := 0; ok && other+8 <= len(words); other += 8 {
			if other != at && word(other) == parent {
				g.context = at
				return true
			}
		}
	}
	return false
}

// maxFrame is more than the size of Do's frame, in bytes.
const maxFrame = 1 << 10

// hasLabels reports whether a sample has labels.
func (r *Recording) hasLabels() bool {
	return slices.ContainsFunc(r.Threads, func(t Thread) bool { return t.labels != "" })
}

// encode encodes labels as a Thread contains them.
func (g *goLabels) encode(labels []goruntime.Label) string {
	if len(labels) == 0 {
		return ""
	}
	var text []byte
	for _, l := range labels {
		for _, part := range [...]string{l.Key, l.Value} {
			text = append(append(text, strings.ReplaceAll(part, "\x00", "\uFFFD")...), 0)
		}
	}
	known, ok := g.encoded[string(text)]
	if !ok {
		if len(g.encoded) >= maxThreadLabels {
			clear(g.encoded)
		}
		known = string(text)
		g.encoded[known] = known
	}
	return known
}

// maxThreadLabels bounds the texts that goLabels shares.
const maxThreadLabels = 1 << 12
