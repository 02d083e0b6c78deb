// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

// hardware is a machine that runs a function: its registers and its stack.
type hardware struct {
	registers map[uint64]uint64
	stack     map[uint64]uint64
}

func (h *hardware) clone() *hardware {
	c := &hardware{map[uint64]uint64{}, map[uint64]uint64{}}
	for k, v := range h.registers {
		c.registers[k] = v
	}
	for k, v := range h.stack {
		c.stack[k] = v
	}
	return c
}

// instruction is a generated instruction.
type instruction struct {
	size    uint64
	run     func(*hardware)
	ops     []region.Op // the operations that describe it; When is set later
	setsUp  bool        // part of a stack frame
	pops    bool        // described by pop_frames: all of them
	joined  bool        // in the same region as the previous one
	label   bool        // the state before it is labelled
	returns bool        // the state before the next one is the labelled state, if there is one
}

// generator makes functions that a compiler could generate.
type generator struct {
	r       *rand.Rand
	m       *arch.Machine
	slot    uint64 // bytes that a push takes
	saved   []uint64
	scratch []uint64
	frame   uint64 // the register that is the frame pointer
	code    []instruction
}

func (g *generator) emit(i instruction) {
	i.size = region.Unit(g.m)
	if i.size == 1 {
		i.size = 1 + g.r.Uint64N(7)
	}
	g.code = append(g.code, i)
}

func (g *generator) chance() bool { return g.r.IntN(2) == 0 }

func (g *generator) function() {
	sp := uint64(g.m.StackPointer)
	registers := slices.Clone(g.saved)
	g.r.Shuffle(len(registers), func(i, j int) { registers[i], registers[j] = registers[j], registers[i] })
	framed := g.chance()
	if framed { // the frame pointer's own value is saved first, as it must be
		i := slices.Index(registers, g.frame)
		registers[0], registers[i] = registers[i], registers[0]
	} else {
		registers = slices.DeleteFunc(registers, func(r uint64) bool { return r == g.frame })
	}
	nop := func() {
		for g.r.IntN(3) == 0 {
			g.emit(instruction{run: func(*hardware) {}})
		}
	}
	var frameOffset, depth uint64 // the frame pointer is sp+frameOffset; bytes below the entry's sp
	depths := map[uint64]uint64{} // the slot of each saved register
	in := map[uint64]uint64{}     // or the register that it is saved in
	var pushed []uint64
	push := func(reg uint64) {
		depth += g.slot
		depths[reg] = depth
		frameOffset += g.slot
		pushed = append(pushed, reg)
		g.emit(instruction{setsUp: true, ops: []region.Op{region.Add(0, sp, -int64(g.slot)), region.SpillSPRel(0, reg, 0)},
			run: func(h *hardware) {
				h.registers[sp] -= g.slot
				h.stack[h.registers[sp]] = h.registers[reg]
			}})
	}
	pushes := g.r.IntN(3)
	if framed {
		pushes = max(pushes, 1)
	}
	for _, reg := range registers[:pushes] {
		nop()
		push(reg)
		if framed && reg == g.frame {
			nop()
			frameOffset = g.slot * g.r.Uint64N(2)
			ops := []region.Op{region.SaveReg(0, sp, g.frame)}
			n := frameOffset
			if n != 0 {
				ops = append(ops, region.Add(0, g.frame, int64(n)))
			}
			g.emit(instruction{setsUp: true, ops: ops, run: func(h *hardware) { h.registers[g.frame] = h.registers[sp] + n }})
		}
	}
	nop()
	local := 64 + g.slot*g.r.Uint64N(4)
	depth += local
	frameOffset += local
	g.emit(instruction{setsUp: true, ops: []region.Op{region.Add(0, sp, -int64(local))},
		run: func(h *hardware) { h.registers[sp] -= local }})
	offset := uint64(0)
	for _, reg := range registers[pushes:] {
		nop()
		switch g.r.IntN(4) {
		case 0: // stays where it is
		case 1:
			if len(in) == len(g.scratch) {
				break
			}
			to := g.scratch[len(in)]
			in[reg] = to
			g.emit(instruction{ops: []region.Op{region.SaveReg(0, reg, to)}, run: func(h *hardware) { h.registers[to] = h.registers[reg] }})
		default:
			at := offset
			offset += 8
			depths[reg] = depth - at
			if relative := int64(at) - int64(frameOffset); framed && g.chance() {
				g.emit(instruction{setsUp: true, ops: []region.Op{region.SpillFPRel(0, reg, relative)},
					run: func(h *hardware) { h.stack[h.registers[g.frame]+uint64(relative)] = h.registers[reg] }})
				break
			}
			g.emit(instruction{setsUp: true, ops: []region.Op{region.SpillSPRel(0, reg, int64(at))},
				run: func(h *hardware) { h.stack[h.registers[sp]+at] = h.registers[reg] }})
		}
	}
	for first := true; first || g.r.IntN(3) == 0; first = false {
		again := g.chance()
		g.body(framed, depths, in, again)
		g.epilogue(framed, frameOffset, depth, depths, in, pushed, local)
		g.code[len(g.code)-1].returns = again
		if !again {
			break
		}
	}
	if g.code[len(g.code)-1].returns { // something follows it
		g.emit(instruction{run: func(*hardware) {}})
	}
}

// body overwrites the saved registers, without operations for that.
func (g *generator) body(framed bool, depths, in map[uint64]uint64, label bool) {
	g.emit(instruction{label: label, run: func(*hardware) {}})
	for _, reg := range g.saved {
		_, spilled := depths[reg]
		_, moved := in[reg]
		if (spilled || moved) && !(framed && reg == g.frame) && g.chance() {
			v := g.r.Uint64()
			g.emit(instruction{run: func(h *hardware) { h.registers[reg] = v }})
		}
	}
	if sp := uint64(g.m.StackPointer); framed && g.chance() { // alloca
		n := 16 * g.r.Uint64N(100)
		g.emit(instruction{run: func(h *hardware) { h.registers[sp] -= n }})
	}
}

func (g *generator) epilogue(framed bool, frameOffset, depth uint64, depths, in map[uint64]uint64, pushed []uint64, local uint64) {
	sp := uint64(g.m.StackPointer)
	entry := func(h *hardware) uint64 { // the stack pointer at the function's entry
		if framed {
			return h.registers[g.frame] - frameOffset + depth
		}
		return h.registers[sp] + depth
	}
	for _, reg := range g.saved {
		if d, ok := depths[reg]; ok && !slices.Contains(pushed, reg) {
			g.emit(instruction{run: func(h *hardware) { h.registers[reg] = h.stack[entry(h)-d] }})
		}
	}
	if g.chance() {
		// PopFrames undoes all frames; registers that are saved in registers are restored after it.
		g.emit(instruction{pops: true, run: func(h *hardware) {
			to := entry(h)
			for _, reg := range pushed {
				h.registers[reg] = h.stack[to-depths[reg]]
			}
			h.registers[sp] = to
		}})
	} else {
		// The frame is undone in the reverse order.
		if framed {
			down := int64(frameOffset) - int64(local) // from the last push up to the frame pointer
			ops := []region.Op{region.SaveReg(0, g.frame, sp)}
			if down != 0 {
				ops = append(ops, region.Add(0, sp, -down))
			}
			g.emit(instruction{ops: ops, run: func(h *hardware) { h.registers[sp] = h.registers[g.frame] - uint64(down) }})
		} else {
			g.emit(instruction{ops: []region.Op{region.Add(0, sp, int64(local))}, run: func(h *hardware) { h.registers[sp] += local }})
		}
		for _, reg := range slices.Backward(pushed) {
			g.emit(instruction{ops: []region.Op{region.Add(0, sp, int64(g.slot))}, run: func(h *hardware) {
				h.registers[reg] = h.stack[h.registers[sp]]
				h.registers[sp] += g.slot
			}})
		}
	}
	for _, reg := range g.saved {
		if from, ok := in[reg]; ok {
			i := instruction{joined: true, run: func(h *hardware) { h.registers[reg] = h.registers[from] }}
			if g.chance() && !g.code[len(g.code)-1].pops && !g.code[len(g.code)-1].joined {
				i.ops = []region.Op{region.SaveReg(0, from, reg)}
			}
			g.emit(i)
		}
	}
	g.emit(instruction{joined: true, run: func(*hardware) {}}) // ret
}

// describe divides the code into random regions, and returns them and the size of
// the code.
func (g *generator) describe() (*region.Region, uint64) {
	var regions []*region.Region
	var size, unit = uint64(0), region.Unit(g.m)
	var start uint64
	frames := map[int]bool{} // regions that have set up the current frames
	var labelled map[int]bool
	var label uint64
	current := new(region.Region)
	empty := func() {
		if g.r.IntN(4) == 0 {
			regions = append(regions, new(region.Region))
		}
	}
	cut := func() {
		current.Count = int32((size - start) / unit)
		regions = append(regions, current)
		current, start = new(region.Region), size
		empty()
	}
	empty()
	for n := range g.code {
		i := &g.code[n]
		after := n > 0 && g.code[n-1].returns && labelled != nil
		if n > 0 && (after || !i.joined && g.r.IntN(4) == 0) {
			cut()
		}
		if after {
			current.Ops = append(current.Ops, region.CopyState(label))
			frames = labelled
			labelled = nil
		}
		if i.label {
			cut()
			label = g.r.Uint64()
			regions = append(regions, &region.Region{Ops: []region.Op{region.LabelState(label)}})
			labelled = map[int]bool{}
			for k := range frames {
				labelled[k] = true
			}
		}
		// Any byte of the instruction works.
		when := int32((size-start)/unit + g.r.Uint64N(i.size/unit))
		for _, o := range i.ops {
			o.When = when
			current.Ops = append(current.Ops, o)
		}
		if i.setsUp {
			frames[len(regions)] = true
		}
		if i.pops {
			current.Ops = append(current.Ops, region.PopFrames(when, uint64(len(frames))))
			frames = map[int]bool{}
		}
		size += i.size
	}
	cut()
	last := regions[len(regions)-1]
	if g.chance() && last.Count > 0 {
		last.Count = -last.Count
	}
	// In any order, except those of one instruction.
	for _, r := range regions {
		if len(r.Ops) > 0 && r.Count != 0 && g.chance() {
			keys := map[int32]int{}
			for _, o := range r.Ops {
				keys[o.When] = g.r.Int()
			}
			slices.SortStableFunc(r.Ops, func(a, b region.Op) int { return keys[a.When] - keys[b.When] })
			r.Ops = append(r.Ops, region.Stop(), region.Op{Tag: 99})
		}
	}
	return region.List(regions...), size
}

// unwind applies a row to the hardware and returns the caller's registers.
func unwind(m *arch.Machine, row *cfi.Row, h *hardware, columns []uint64) map[uint64]uint64 {
	cfa := h.registers[uint64(row.CFA.Register)] + uint64(row.CFA.Offset)
	out := map[uint64]uint64{uint64(m.StackPointer): cfa}
	for _, c := range columns {
		switch rule := row.Register(c); rule.Kind {
		case cfi.Unspecified:
			out[c] = h.registers[c]
		case cfi.Offset:
			out[c] = h.stack[cfa+uint64(rule.Offset)]
		case cfi.Register:
			out[c] = h.registers[uint64(rule.Register)]
		default:
			out[c] = 0xbad
		}
	}
	return out
}

// simulate generates a function, describes it by regions, runs it, and unwinds
// from each of its instructions by the regions' rows.
func simulate(t *testing.T, m *arch.Machine, seed1, seed2 uint64) {
	g := &generator{r: rand.New(rand.NewPCG(seed1, seed2)), m: m}
	if m == amd64 {
		g.slot, g.saved, g.scratch, g.frame = 8, []uint64{rbx, rbp, r12, 13, 14, 15}, []uint64{rax, r10, 11}, rbp
	} else {
		g.slot, g.saved, g.scratch, g.frame = 16, []uint64{x19, x20, 21, 28, x29, x30}, []uint64{x9, 10, 11}, x29
	}
	g.function()
	list, size := g.describe()
	describe := func() string {
		s := fmt.Sprintf("seeds %d, %d, %d bytes:\n", seed1, seed2, size)
		for r := list; r != nil; r = r.Next {
			s += fmt.Sprintf("%d %v\n", r.Count, r.Ops)
		}
		return s
	}
	p, err := (&region.Procedure{End: size, Regions: list}).Program(m)
	if err != nil {
		t.Fatalf("%v\n%s", err, describe())
	}
	e := cfi.Encoder{Machine: m}
	if err := e.Program(p, codeAt, size); err != nil {
		t.Fatal(err)
	}
	s := &cfi.Section{Data: e.Data, Machine: m}
	var f *cfi.FDE
	for entry := range s.Entries() {
		if entry.FDE != nil {
			one := *entry.FDE
			f = &one
		}
	}

	h := &hardware{map[uint64]uint64{}, map[uint64]uint64{}}
	for i := range uint64(64) {
		h.registers[i] = 0x1000 + i
	}
	columns, top := g.saved, uint64(0x7ffff000)
	h.registers[uint64(m.StackPointer)] = top
	cfa := top
	if m == amd64 {
		h.stack[top] = 0x1000 + rip
		cfa, columns = top+8, append(slices.Clone(columns), rip)
	}
	want := h.clone()
	var labelled *hardware
	var x cfi.Interpreter
	at := uint64(codeAt)
	for n := range g.code {
		i := &g.code[n]
		if i.label {
			labelled = h.clone()
		}
		// The memory below the stack pointer can be overwritten at any time.
		for a := range h.stack {
			if a < h.registers[uint64(m.StackPointer)] {
				h.stack[a] = 0xdead
			}
		}
		for _, pc := range []uint64{at, at + i.size - 1} {
			// A return address is looked up at the last byte of its call. With an exact
			// description the call has not taken effect there.
			if pc != at && len(i.ops) > 0 || pc != at && i.pops {
				continue
			}
			row, err := x.RowAt(f, pc)
			if err != nil {
				t.Fatal(err)
			}
			got := unwind(m, row, h, columns)
			if got[uint64(m.StackPointer)] != cfa {
				t.Fatalf("+%d: the CFA is %#x, want %#x, by %s\n%s", pc-codeAt, got[uint64(m.StackPointer)], cfa, rowText(m, row), describe())
			}
			for _, c := range columns {
				wanted := want.registers[c]
				if got[c] != wanted {
					t.Fatalf("+%d: %s is %#x, want %#x, by %s\n%s", pc-codeAt, m.RegisterName(c), got[c], wanted, rowText(m, row), describe())
				}
			}
		}
		i.run(h)
		if i.returns && labelled != nil {
			h, labelled = labelled, nil
		}
		at += i.size
	}
}

// FuzzSimulate checks that the rows agree with a machine that executes the code.
func FuzzSimulate(f *testing.F) {
	for i := range uint64(500) {
		f.Add(i, i*i)
	}
	f.Fuzz(func(t *testing.T, a, b uint64) {
		simulate(t, amd64, a, b)
		simulate(t, arm64, a, b)
	})
}
