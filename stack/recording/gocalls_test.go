// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// Looks prove that nothing has changed only if the runtime's counters leave no other way.
func TestUnchanged(t *testing.T) {
	const g, p1, p2 = 0x1000, 0x2000, 0x3000
	ticks := func(first, second uint32) [maxProcessors]goruntime.Tick {
		return [maxProcessors]goruntime.Tick{{Processor: p1, Count: first}, {Processor: p2, Count: second}}
	}
	look := func(edit func(*callLook)) *callLook {
		l := &callLook{calls: goruntime.Calls{System: 1, Current: g, Count: 7, Active: 1, Processor: p1, Tick: 10},
			goroutine: goroutine{id: 5}, ticks: ticks(11, 30)}
		edit(l)
		return l
	}
	inC := func(l *callLook) { l.calls.InC, l.calls.Processor = true, 0 }
	for _, test := range []struct {
		name   string
		x, y   func(*callLook)
		inC    bool
		expect bool
	}{
		{"same call of C", inC, inC, true, true},
		{"call of C after Go code", func(l *callLook) {}, inC, true, true},
		{"next call of C", inC, func(l *callLook) { inC(l); l.calls.Count++ }, true, false},
		{"another goroutine", inC, func(l *callLook) { inC(l); l.calls.Current++ }, true, false},
		{"another goroutine at the address", inC, func(l *callLook) { inC(l); l.goroutine.id++ }, true, false},
		{"another thread has the structure", inC, func(l *callLook) { inC(l); l.calls.System++ }, true, false},
		{"same callback", func(l *callLook) {}, func(l *callLook) {}, false, true},
		{"one look is in C", inC, func(l *callLook) {}, false, false},
		{"callback with a call of C", func(l *callLook) {}, func(l *callLook) { l.calls.Count++ }, false, false},
		{"other callback", func(l *callLook) {}, func(l *callLook) { l.calls.Tick, l.ticks = 11, ticks(12, 30) }, false, false},
		{"system call", func(l *callLook) {}, func(l *callLook) { l.ticks = ticks(12, 30) }, false, false},
		{"moved once", func(l *callLook) {}, func(l *callLook) { l.calls.Processor = p2; l.goroutine.runs++ }, false, true},
		{"moved twice", func(l *callLook) {}, func(l *callLook) { l.calls.Processor = p2; l.goroutine.runs += 2 }, false, false},
		{"returned where it was moved", func(l *callLook) {}, func(l *callLook) {
			l.calls.Processor, l.ticks = p2, ticks(11, 31)
			l.goroutine.runs++
		}, false, false},
		{"moved to an unknown processor", func(l *callLook) { l.ticks[1] = goruntime.Tick{} }, func(l *callLook) { l.calls.Processor = p2 }, false, false},
		{"the noted tick can be of the first processor", func(l *callLook) { l.ticks = ticks(9, 30) }, func(l *callLook) { l.calls.Processor = p2 }, false, false},
		{"the noted tick can be of the last processor", func(l *callLook) { l.ticks = ticks(11, 10) }, func(l *callLook) { l.calls.Processor, l.ticks = p2, ticks(11, 10) }, false, false},
	} {
		if got := unchanged(look(test.x), look(test.y), test.inC); got != test.expect {
			t.Errorf("%s: %v, expected %v", test.name, got, test.expect)
		}
	}
}

// madeMemory is memory by words. Words that are not set are 0 in its pages, and other pages do not exist.
type madeMemory map[uint64]uint64

func (m madeMemory) ReadMemory(p []byte, address uint64) error {
	for i := range p {
		at := address + uint64(i)
		if _, ok := m[at&^0xfff]; !ok {
			return errors.New("not mapped")
		}
		p[i] = byte(m[at&^7] >> (at & 7 * 8))
	}
	return nil
}

func (m madeMemory) set(address, value uint64) {
	if _, ok := m[address&^0xfff]; !ok {
		m[address&^0xfff] = 0
	}
	m[address] = value
}

// running is a system with one process.
type running struct {
	stopped
	memory madeMemory
}

func (r *running) Open(int32) (*snapshot.Snapshot, error) {
	return &snapshot.Snapshot{Memory: r.memory, Live: true}, nil
}

// madeCall is a thread in C code that a goroutine called, in made memory with the code of a real program.
type madeCall struct {
	*running
	b        *builder
	t        *thread
	machine  *arch.Machine
	file     *object.File
	layout   *goruntime.Layout
	sample   perfdata.Sample
	pc, lr   uint64
	cgocall  object.GoFunction
	callerSP uint64 // cgocall's
}

const (
	madeG, madeM, madeG0 = 0x7f0000011000, 0x7f0000012000, 0x7f0000013000
	madeCStack           = 0x7ff000000000
	madeGoStack          = 0xc000010000
	madeStackSize        = 0x1000
)

func newMadeCall(t *testing.T, goarch string) *madeCall {
	path := testprogram.BuildGoFor(t, goarch, "goshares")
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := &madeCall{running: &running{memory: make(madeMemory)}, file: f, machine: arch.LookupGo(goarch, elf.ELFDATA2LSB)}
	if c.layout, err = goruntime.LayoutOf(f); err != nil {
		t.Fatal(err)
	}
	c.b = newBuilder(nil, Options{Live: c.running})
	c.b.started, c.b.machine = true, c.machine
	t.Cleanup(c.b.close)
	c.t = c.b.thread(1, 1)
	start, end := uint64(1<<64-1), uint64(0)
	for _, s := range f.Segments() {
		if s.Flags&elf.PF_X != 0 {
			start, end = s.Vaddr, s.Vaddr+s.Memsz
			c.b.mmap(&perfdata.Record{Misc: perfdata.Misc(perfdata.ModeUser)},
				&perfdata.Mmap{PID: 1, TID: 1, Start: start &^ 0xfff, Length: end - start&^0xfff, Offset: s.Off &^ 0xfff, Protection: protExec, Path: []byte(path)})
		}
	}
	word := func(at uint64, offset uint16, value uint64) { c.memory.set(at+uint64(offset), value) }
	l := c.layout
	for _, g := range []struct{ at, low, high, id uint64 }{{madeG, madeGoStack, madeGoStack + madeStackSize, 7}, {madeG0, madeCStack, madeCStack + madeStackSize, 0}} {
		word(g.at, 0, g.low)
		word(g.at, 8, g.high)
		word(g.at, l.M, madeM)
		word(g.at, l.Status, uint64(goruntime.Running))
		word(g.at, l.ID, g.id)
	}
	word(madeM, 0, madeG0)
	word(madeM, l.Current, madeG)
	word(madeM, l.ActiveCalls, 1)
	word(madeM, l.InC, 1)
	c.calls(1)
	c.cgocall = c.function(t, "runtime.cgocall")
	word(madeG, l.Function, c.function(t, "main.main").Entry)
	return c
}

func (c *madeCall) function(t *testing.T, names ...string) object.GoFunction {
	t.Helper()
	for _, name := range names {
		if f, ok := c.file.GoFunctionNamed(name); ok {
			return f
		}
	}
	t.Fatalf("no function %q", names)
	return object.GoFunction{}
}

func (c *madeCall) calls(n uint64) { c.memory.set(madeM+uint64(c.layout.Calls), n) }

// call makes both stacks for a call by a function of the goroutine. at is the offset in asmcgocall of the
// return address.
func (c *madeCall) call(t *testing.T, caller object.GoFunction, at uint64) {
	returns := c.function(t, "runtime.asmcgocall", "runtime.asmcgocall.abi0").Entry + at
	exit := c.function(t, "runtime.goexit", "runtime.goexit.abi0").Entry
	inside := func(f *object.GoFunction) (pc, depth uint64) {
		for pc := f.End - 16; pc > f.Entry; pc -= 4 {
			if g, ok := c.file.GoFunctionAt(pc - 1); ok && g.Depth > 8 {
				return pc, uint64(g.Depth)
			}
		}
		t.Fatalf("%s has no frame", f.Name)
		return 0, 0
	}
	const sp = madeGoStack + 0x800 // of asmcgocall
	inCgocall, depth := inside(&c.cgocall)
	inCaller, callerDepth := inside(&caller)
	stack := make([]byte, 64)
	word := func(at int, v uint64) { binary.LittleEndian.PutUint64(stack[at:], v) }
	if c.machine.Go.Arch == "amd64" {
		// asmcgocall has a frame with the frame pointer.
		c.callerSP = sp + 16
		c.memory.set(sp+8, inCgocall)
		c.memory.set(c.callerSP+depth, inCaller)
		c.memory.set(c.callerSP+depth+8+callerDepth, exit+1)
		word(0, returns)
		word(8, madeGoStack+madeStackSize-sp)
		word(16, madeG)
	} else {
		// The word at the stack pointer is the link register.
		c.callerSP = sp + 16
		c.memory.set(sp, inCgocall)
		c.memory.set(c.callerSP, inCaller)
		c.memory.set(c.callerSP+depth, exit+4)
		word(0, madeG)
		word(8, madeGoStack+madeStackSize-sp)
		c.lr = returns
	}
	c.memory.set(madeG+uint64(c.layout.SyscallSP), c.callerSP)
	c.sample.UserStack = stack
	c.pc = c.function(t, "runtime.memmove").Entry // stands for C code: it has no frame yet
}

// walk walks the sample of a time, and returns the names of its functions, innermost first.
func (c *madeCall) walk(at uint64) (names []string, reason unwind.Reason) {
	w := &c.b.walk
	w.regs = unwind.Registers{}
	w.regs.PC = c.pc
	w.regs.Set(uint64(c.machine.StackPointer), madeCStack+0x800)
	if c.lr != 0 {
		w.regs.Set(30, c.lr)
	}
	if c.machine.FramePointer >= 0 {
		w.regs.Set(uint64(c.machine.FramePointer), 1) // C code uses it for something else
	}
	w.joined = w.joined[:0]
	if reason = c.b.unwind(c.t, &c.sample, c.machine, nil); reason != unwind.EndOfStack {
		reason = c.b.cross(c.t, &c.sample, c.machine, nil, at, reason)
	}
	c.b.name()
	for _, n := range slices.Concat(w.user, w.joined) {
		names = append(names, strings.TrimSuffix(c.b.rec.places[n].Symbol.Name, ".abi0"))
	}
	return names, reason
}

// The looks of a bounded number of threads are kept, and none of threads that have ended.
func TestManyCallers(t *testing.T) {
	c := newMadeCall(t, "amd64")
	caller := c.function(t, "main.tree")
	for at := uint64(0); ; at++ {
		if at > 1<<9 {
			t.Fatal("no return address in asmcgocall leads to g")
		}
		c.call(t, caller, at)
		if _, reason := c.walk(5); reason != unwind.EndOfStack && c.b.walk.memory.missing == madeG+stackHigh {
			break
		}
	}
	const threads = 3000
	var all []*thread
	for i := range int32(threads) {
		c.t = c.b.thread(1, 100+i)
		all = append(all, c.t)
		for n := range uint64(3) {
			c.now = 10 * (n + 1)
			c.walk(c.now - 5)
		}
	}
	kept := 0
	for _, thread := range all {
		if thread.calls != nil {
			kept++
		}
	}
	if kept == 0 || kept > 256 {
		t.Errorf("the looks of %d of %d threads are kept", kept, threads)
	}
	for _, thread := range all {
		c.b.task(&perfdata.Record{Type: perfdata.TypeExit}, &perfdata.Task{PID: 1, TID: thread.tid})
		if thread.calls != nil {
			t.Fatal("a thread that has ended keeps its looks")
		}
	}
	c.b.lookAtCalls()
	if n := len(c.b.calling); n > 1 {
		t.Errorf("rounds look at %d threads that have ended", n)
	}
}

// A walk from C code continues with the goroutine's stack if looks before and after the sample prove it.
func TestGoCallsMade(t *testing.T) {
	for _, goarch := range []string{"amd64", "arm64"} {
		t.Run(goarch, func(t *testing.T) {
			c := newMadeCall(t, goarch)
			first, second := c.function(t, "main.heavy"), c.function(t, "main.tree")
			if f, _ := c.file.GoFunctionAt(first.End - 8); f.Depth <= 8 {
				first = c.function(t, "main.grow")
			}
			const inner = "runtime.memmove runtime.asmcgocall"
			at := uint64(0) // the return address where asmcgocall waits for C code
			for ; ; at++ {
				if at > 1<<9 {
					t.Fatal("no return address in asmcgocall leads to g")
				}
				c.call(t, first, at)
				if _, reason := c.walk(5); reason != unwind.EndOfStack && c.b.walk.memory.missing == madeG+stackHigh {
					break
				}
			}
			c.t.calls, c.t.process.goMemory.goroutines = nil, make(map[uint64]seenGoroutine)
			for _, step := range []struct {
				name      string
				caller    object.GoFunction
				calls     uint64
				now, time uint64
				expect    string
				reason    unwind.Reason
			}{
				{"no look before", first, 1, 10, 5, inner, unwind.UnreadableMemory},
				{"same call", first, 1, 20, 15, inner + " runtime.cgocall " + first.Name + " runtime.goexit", unwind.EndOfStack},
				{"next call", second, 2, 30, 25, inner + " runtime.cgocall runtime.goexit", unwind.CallersMissing},
				{"same call of the other caller", second, 2, 40, 35, inner + " runtime.cgocall " + second.Name + " runtime.goexit", unwind.EndOfStack},
				{"many calls", first, 9, 50, 45, inner + " main.main runtime.goexit", unwind.CallersMissing},
			} {
				c.call(t, step.caller, at)
				c.calls(step.calls)
				c.now = step.now
				names, reason := c.walk(step.time)
				if got := strings.Join(names, " "); got != step.expect || reason != step.reason {
					t.Errorf("%s: %q, %v, expected %q, %v", step.name, got, reason, step.expect, step.reason)
				}
			}
			// Another value in the slot of the return address is not taken for a caller.
			c.call(t, second, at)
			c.memory.set(c.callerSP-8, first.Entry+1)
			c.memory.set(c.callerSP-16, first.Entry+1)
			for n := range uint64(2) {
				c.calls(10)
				c.now = 60 + 10*n
				if names, reason := c.walk(c.now - 5); reason != unwind.CallersMissing || strings.Join(names, " ") != inner+" main.main runtime.goexit" {
					t.Errorf("not in cgocall: %q, %v", names, reason)
				}
			}
		})
	}
}

// lookable returns a call of C code at which goCalls can look.
func lookable(t *testing.T) (*madeCall, *golang, *goCalls) {
	c := newMadeCall(t, "amd64")
	c.call(t, c.function(t, "main.tree"), 0)
	r, err := goruntime.New(c.file, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := &golang{runtime: r, snapshot: &snapshot.Snapshot{Memory: c.memory}, calls: r.CallReader(c.memory), goroutines: make(map[uint64]seenGoroutine)}
	return c, g, &goCalls{m: madeM}
}

// passing is a clock that goes on each time it is read.
type passing struct {
	stopped
	step uint64
}

func (p *passing) Now() uint64 {
	p.now += p.step
	return p.now
}

// Looks take a small part of all time. One during which other programs have the processor does not prevent
// the next ones.
func TestLookTime(t *testing.T) {
	c, g, calls := lookable(t)
	clock := new(passing)
	c.b.opts.Live = clock
	const span = 5e9
	looks := func(step uint64) (n uint64) {
		clock.step = step
		for end := clock.now + span; clock.now < end; clock.now += 5e6 {
			if calls.look(c.b, g) {
				n++
			}
		}
		return n
	}
	before := looks(10e3)
	if clock.step = 200e6; !calls.look(c.b, g) {
		t.Fatal("no look")
	}
	if after := looks(10e3); before < 900 || after < before*9/10 {
		t.Errorf("%d looks in 5 s after one that other programs interrupted, %d before", after, before)
	}
	const slow = 2e6 // twice in a look
	if n := looks(slow); n == 0 || n*2*slow > 3*span/lookShare+firstLooks+8*slow {
		t.Errorf("%d looks take %d ns in 5 s", n, uint64(n*2*slow))
	}
}

// Looks at a thread in a call allocate nothing.
func TestLookAllocates(t *testing.T) {
	c, g, calls := lookable(t)
	n := uint64(0)
	look := func() {
		n++
		c.now = n * 1e9
		c.calls(n / 2)
		if !calls.look(c.b, g) || calls.looks[(calls.n-1)%uint(len(calls.looks))].copied == nil {
			t.Fatal("no copy")
		}
	}
	for range 10 {
		look()
	}
	if allocations := testing.AllocsPerRun(100, look); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
