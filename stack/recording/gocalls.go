// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// cross continues a walk that ended early, perhaps where Go's code changes stacks. user is the user part of
// the kernel's call chain. cross sets b.walk.joined to the callers of the outermost walked frame, and returns
// why the stack ends.
func (b *builder) cross(t *thread, s *perfdata.Sample, machine *arch.Machine, user []uint64, at uint64, reason unwind.Reason) unwind.Reason {
	w := &b.walk
	missing := w.memory.missing
	end := b.join(t, s, machine, user, reason)
	// The call chain has all callers, but only a copy of the goroutine's stack proves which labels it has.
	whole := end == unwind.EndOfStack
	if whole && !t.process.hasLabels() || missing == 0 || len(s.UserStack) == 0 {
		return end
	}
	g, inC := b.crossing(t, machine)
	if g == nil {
		return end
	}
	// The rules first read a field of the goroutine: the end of its stack, or its thread.
	goroutine := missing - uint64(g.runtime.Layout.M)
	if inC {
		goroutine = missing - stackHigh
		if missing-w.memory.stack.Address < maxStack {
			return end // the copy of the stack does not contain the goroutine's address
		}
	}
	n := t.trail.Len()
	c := b.callsOf(t)
	c.last = at
	joined := w.joined
	w.joined = w.joined[:0]
	w.first = w.first[:0]
	copies, both := c.prove(b, g, at, goroutine, t.trail.At(n-1).SP, inC)
	for i, copied := range copies {
		if copied == nil {
			break
		}
		reached := b.unwind(t, s, machine, copied)
		continues := t.trail.Len() > n && (!inC || copied.continues(t, n))
		switch {
		case whole:
			if !both && continues && reached == unwind.EndOfStack {
				return reached
			}
		case both && i == 0 && continues && reached == unwind.EndOfStack:
			for k := n; k < t.trail.Len(); k++ {
				w.first = append(w.first, t.trail.LookupPC(k))
			}
		case both && continues && reached == unwind.EndOfStack && len(w.first) > 0:
			reached = b.common(t, g, n)
			if reached != unwind.EndOfStack && c.pause == 0 {
				b.opts.Live.Soon()
			}
			return reached
		case !both && continues:
			if reached != unwind.EndOfStack && reached != unwind.CallersMissing && b.startOf(t, g, at, goroutine) {
				reached = unwind.CallersMissing
			}
			return reached
		}
	}
	if copies[0] != nil {
		b.unwind(t, s, machine, nil)
	}
	if c.listed && c.pause == 0 {
		b.opts.Live.Soon() // more looks can prove more
	}
	w.joined = joined
	if !whole && end != unwind.CallersMissing && b.startOf(t, g, at, goroutine) {
		end = unwind.CallersMissing
	}
	return end
}

// callsOf returns the calls of a thread between the stacks of Go and C code, which looks follow from then on.
func (b *builder) callsOf(t *thread) *goCalls {
	if t.calls == nil {
		t.calls = new(goCalls)
		b.keepCalls(t)
	}
	if !t.calls.listed && len(b.calling) < maxCalling {
		b.calling, t.calls.listed = append(b.calling, t), true
	}
	return t.calls
}

// crossing returns the Go runtime of the function at which a walk ended, if that function changes between the
// stacks of Go and C code, and whether it called C code. Else it returns nil.
func (b *builder) crossing(t *thread, machine *arch.Machine) (g *golang, inC bool) {
	n := t.trail.Len()
	if b.opts.Live == nil || machine.Go == nil || machine.Go.G == 0 || machine.AddressSize != 8 || n == 0 {
		return nil, false
	}
	f := t.process.space.goFunction(t.trail.LookupPC(n - 1))
	if f == nil {
		return nil, false
	}
	switch strings.TrimSuffix(f.Name, ".abi0") {
	case "runtime.asmcgocall":
		inC = true
	case "runtime.cgocallback":
	default:
		return nil, false
	}
	module, _ := t.process.space.modules.Find(t.trail.LookupPC(n - 1))
	g = t.process.golang(b, mappedBy(module), "the callers of C code")
	if g == nil || g.calls == nil {
		return nil, false
	}
	return g, inC
}

// common compares a walk that continued after n frames with w.first, where another copy led to. If they
// differ, only the frames that they have in common stay, without the callers in between.
func (b *builder) common(t *thread, g *golang, n int) unwind.Reason {
	w, trail := &b.walk, &t.trail
	length := trail.Len() - n
	inner, outer := 0, 0
	for inner < min(length, len(w.first)) && w.first[inner] == trail.LookupPC(n+inner) {
		inner++
	}
	if inner == length && inner == len(w.first) {
		return unwind.EndOfStack
	}
	for inner+outer < min(length, len(w.first)) && w.first[len(w.first)-1-outer] == trail.LookupPC(n+length-1-outer) {
		outer++
	}
	equal := outer
	// Then the same functions can be at different addresses.
	space := t.process.space
	for inner+outer < min(length, len(w.first)) {
		x, y := space.goFunction(w.first[len(w.first)-1-outer]), space.goFunction(trail.LookupPC(n+length-1-outer))
		if x == nil || y == nil || x.Entry != y.Entry {
			break
		}
		outer++
	}
	w.joined = w.joined[:0]
	for i := outer; i > 0; i-- {
		lookup := w.first[len(w.first)-i]
		if i > equal {
			lookup = space.goFunction(lookup).Entry + g.bias
		}
		w.joined = append(w.joined, space.place(b, t.process, lookup))
	}
	w.user = w.user[:n+inner]
	b.shortened++
	return unwind.CallersMissing
}

// startOf adds the functions with which the goroutine of a sample started, if looks before and after the
// sample found the same one.
func (b *builder) startOf(t *thread, g *golang, at, address uint64) bool {
	r, since, ok := g.goroutine(b.opts.Live, address)
	space := t.process.space
	if !ok || since > at || g.exit == 0 {
		return false
	}
	if f := space.goFunction(r.Function); f == nil || f.Entry+g.bias != r.Function {
		return false
	}
	b.walk.joined = append(b.walk.joined, space.place(b, t.process, r.Function), space.place(b, t.process, g.exit))
	b.shortened++
	return true
}

// continues reports whether a walk continues from asmcgocall, the frame before n, in the call of the copy.
func (c *callCopy) continues(t *thread, n int) bool {
	f := t.process.space.goFunction(t.trail.LookupPC(n))
	return f != nil && f.Name == "runtime.cgocall" && t.trail.At(n).SP == c.sp
}

// prove returns copies of the stack that a sample lacks, nil if no looks prove one. If both is true, it is
// one of both copies, else it is each copy that the sample leads to. sp is the stack pointer of the last
// function on the sample's stack, inC says that the sample is in C code that Go called.
func (c *goCalls) prove(b *builder, g *golang, at, goroutine, sp uint64, inC bool) (copies [2]*callCopy, both bool) {
	if !c.listed || c.m == 0 && !c.find(g, goroutine, sp, inC) {
		return copies, false
	}
	before, after := c.around(at)
	if after == nil && c.rest == 0 && c.look(b, g) {
		before, after = c.around(at)
	}
	if after == nil {
		return copies, false
	}
	if !inC && after.calls.Current != goroutine {
		c.m, c.n = 0, 0 // perhaps it was another thread's
		return copies, false
	}
	if x, y := c.enclosing(at, goroutine, inC); x != nil {
		n := 0
		for _, l := range [...]*callLook{x, y} {
			if l.has(goroutine, sp, inC) {
				copies[n] = l.copied
				n++
			}
		}
		return copies, false
	}
	if before == nil || !inC || before.calls.Current != goroutine || after.calls.Current != goroutine || before.goroutine.id != after.goroutine.id ||
		after.calls.Count-before.calls.Count != 1 || !after.has(goroutine, sp, inC) {
		return copies, false
	}
	switch {
	case before.calls.Active == 0:
		return [2]*callCopy{after.copied}, false // the sample is in the only call after that look
	case before.has(goroutine, sp, inC):
		return [2]*callCopy{before.copied, after.copied}, true // one of the calls ended, and the other one began
	}
	return [2]*callCopy{}, false
}
