// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe

import "golang.org/x/arch/x86/x86asm"

// saved holds the columns of the registers that called functions preserve, in the order of
// state.slots.
var saved = [...]int{3, columnRBP, 12, 13, 14, 15} // rbx, rbp, r12 to r15

const slotRBP = 1

// state holds the known facts before an instruction.
type state struct {
	depth int64 // of the stack pointer below the CFA, unless moves is set
	fp    int64 // depth of the frame pointer below the CFA, if hasFP is set
	moves bool  // the stack pointer is not at a constant depth
	hasFP bool
	zero  bool // the frame pointer was set to zero and is not saved
	first bool // the first instruction did so

	soft bool // the path leads through a call, which may never return

	slots [len(saved)]int64 // the depths at which registers are saved; 0 for unchanged ones
}

const lost = -1 // in state.slots: overwritten, or not the same on all paths

// merge returns the facts that are true on both of two paths that meet. In compiled code the
// stack pointer has the same depth on both. If it has not, the path through a call is
// ignored: the call never returns.
func (s state) merge(o state) state {
	if s.moves != o.moves || s.depth != o.depth {
		switch {
		case s.soft && !o.soft:
			return o
		case !s.soft && o.soft:
			return s
		}
		s.moves, s.depth = true, 8
	}
	s.hasFP = s.hasFP && o.hasFP && s.fp == o.fp
	s.zero, s.first, s.soft = s.zero && o.zero, s.first && o.first, s.soft && o.soft
	for i := range s.slots {
		if s.slots[i] != o.slots[i] {
			s.slots[i] = lost
		}
	}
	return s
}

// family returns the number of the general register that contains a register: 4 for rsp, 5
// for rbp; -1 for other registers.
func family(a x86asm.Arg) int {
	r, ok := a.(x86asm.Reg)
	switch {
	case !ok:
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX)
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX)
	case r == x86asm.SPB:
		return 4
	case r == x86asm.BPB:
		return 5
	}
	return -1
}

// slotOf returns the index in state.slots of a whole register, -1 if it has none.
func slotOf(a x86asm.Arg) int {
	if r, ok := a.(x86asm.Reg); ok && r >= x86asm.RAX && r <= x86asm.R15 {
		return slotOfFamily(family(r))
	}
	return -1
}

// slotOfFamily returns the index in state.slots of a general register, -1 if it has none.
func slotOfFamily(family int) int {
	switch {
	case family == 3:
		return 0
	case family == 5:
		return slotRBP
	case family >= 12:
		return family - 12 + 2
	}
	return -1
}

// execute changes the state by an instruction that is neither a jump nor a call.
func (s *state) execute(i *x86asm.Inst) {
	constant, isConstant := i.Args[1].(x86asm.Imm)
	to := family(i.Args[0])
	switch i.Op {
	case x86asm.PUSH, x86asm.PUSHFQ, x86asm.PUSHF:
		size := int64(8)
		if i.DataSize == 16 {
			size = 2
		}
		s.depth += size
		if k := slotOf(i.Args[0]); k >= 0 && i.Op == x86asm.PUSH {
			s.save(k, s.depth)
		}
		return
	case x86asm.POP, x86asm.POPFQ, x86asm.POPF:
		if to == 4 {
			s.moves = true
			return
		}
		if k := slotOf(i.Args[0]); k >= 0 && s.slots[k] == s.depth {
			s.slots[k] = 0 // restored
		} else {
			s.overwrite(to)
		}
		if to == 5 {
			s.hasFP, s.zero = false, false
		}
		if i.DataSize == 16 {
			s.depth -= 2
		} else {
			s.depth -= 8
		}
		return
	case x86asm.LEAVE:
		s.moves = !s.hasFP
		s.depth = s.fp - 8
		if s.slots[slotRBP] == s.fp {
			s.slots[slotRBP] = 0
		}
		s.hasFP = false
		return
	case x86asm.ENTER:
		s.moves, s.hasFP = true, false
		return
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP:
		return // these write no register
	case x86asm.XCHG, x86asm.XADD, x86asm.CMPXCHG:
		from := family(i.Args[1])
		if s.overwrite(from); from == 4 {
			s.moves = true
		} else if from == 5 {
			s.hasFP, s.zero = false, false
		}
	case x86asm.MOV:
		s.store(i)
	}
	switch to {
	case 4:
		s.setSP(i, int64(constant), isConstant)
	case 5:
		s.setFP(i)
	}
	s.overwrite(to)
	if i.Op == x86asm.CPUID {
		s.overwrite(3)
	}
}

// overwrite records that the register of a family is written: an unsaved value is lost.
func (s *state) overwrite(family int) {
	if k := slotOfFamily(family); k >= 0 && s.slots[k] == 0 {
		s.slots[k] = lost
	}
}

// save records that a register is saved at a depth. It ignores values of the function
// itself: those of a register that was saved before, and a frame pointer that was set.
func (s *state) save(k int, depth int64) {
	if s.slots[k] == 0 && !(k == slotRBP && (s.hasFP || s.zero)) {
		s.slots[k] = depth
	}
}

// drop forgets the slots above which the stack pointer has moved: their registers were
// restored or not changed. Slots in the red zone, below the stack pointer, stay.
func (s *state) drop(before int64) {
	for k, depth := range s.slots {
		if !s.moves && depth > s.depth && depth <= before {
			s.slots[k] = 0
		}
	}
}

// store records a register that a MOV saves in the frame.
func (s *state) store(i *x86asm.Inst) {
	m, ok := i.Args[0].(x86asm.Mem)
	k := slotOf(i.Args[1])
	if !ok || k < 0 || m.Index != 0 || m.Segment != 0 || i.MemBytes != 8 {
		return
	}
	displacement := int64(int32(m.Disp))
	var depth int64
	switch {
	case m.Base == x86asm.RSP && !s.moves:
		depth = s.depth - displacement
	case m.Base == x86asm.RBP && s.hasFP:
		depth = s.fp - displacement
	default:
		return
	}
	// The first store of a register saves it, because the function may only write
	// registers that it has saved. Later stores are to variables.
	if depth > 8 {
		s.save(k, depth)
	}
}

// setSP executes an instruction that writes the stack pointer.
func (s *state) setSP(i *x86asm.Inst, constant int64, isConstant bool) {
	whole := i.Args[0] == x86asm.RSP
	switch {
	case i.Op == x86asm.SUB && whole && isConstant:
		s.depth += constant
		return
	case i.Op == x86asm.ADD && whole && isConstant:
		s.depth -= constant
		return
	case i.Op == x86asm.LEA && whole:
		m, _ := i.Args[1].(x86asm.Mem)
		displacement := int64(int32(m.Disp))
		switch {
		case m.Index != 0:
		case m.Base == x86asm.RSP:
			s.depth -= displacement
			return
		case m.Base == x86asm.RBP && s.hasFP:
			s.depth, s.moves = s.fp-displacement, false
			return
		}
	case i.Op == x86asm.MOV && whole && i.Args[1] == x86asm.RBP && s.hasFP:
		s.depth, s.moves = s.fp, false
		return
	}
	s.moves, s.depth = true, 8
}

// setFP executes an instruction that writes the frame pointer.
func (s *state) setFP(i *x86asm.Inst) {
	whole := i.Args[0] == x86asm.RBP
	s.hasFP, s.zero = false, false
	switch {
	case i.Op == x86asm.MOV && whole && i.Args[1] == x86asm.RSP:
		s.hasFP, s.fp = !s.moves, s.depth
	case i.Op == x86asm.LEA && whole:
		if m, _ := i.Args[1].(x86asm.Mem); m.Base == x86asm.RSP && m.Index == 0 {
			s.hasFP, s.fp = !s.moves, s.depth-int64(int32(m.Disp))
		}
	case i.Op == x86asm.XOR && i.Args[1] == i.Args[0]:
		s.zero = s.slots[slotRBP] == 0
	}
}

// frame returns the frame of a state.
func (s *state) frame() (Frame, bool) {
	f := Frame{CFA: columnRSP, Offset: s.depth, Zeroed: s.zero, First: s.first}
	// Called functions that pop their arguments, as in V8, preserve the frame pointer.
	if s.moves || s.hasFP {
		f.CFA, f.Offset = columnRBP, s.fp
	}
	for k, depth := range s.slots {
		switch depth {
		case 0:
		case lost:
			f.Saved = append(f.Saved, Slot{Column: saved[k], Lost: true})
		default:
			f.Saved = append(f.Saved, Slot{Column: saved[k], Offset: -depth})
		}
	}
	return f, !s.moves && (s.depth >= 8 || s.zero) || s.moves && s.hasFP || s.first
}
