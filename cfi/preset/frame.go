// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import (
	"debug/elf"
	"fmt"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Frame describes a function's stack frame, and the code that sets it up and removes it.
// Offsets of code are in bytes from the function's start.
type Frame struct {
	// CIE contains the rules at the first instruction and the properties that functions
	// share: a personality, signal frames, the B key. nil means cfi.EntryCIE of the
	// machine; the programs then share one.
	CIE *cfi.CIE

	// Landing says that the function starts with a landing pad of four bytes: endbr64 on
	// amd64, bti on arm64.
	Landing bool

	// Signed says that the return address is signed (arm64): by paciasp, at the start or
	// after the landing pad, until the autiasp before each ret.
	Signed bool

	// Size is the distance in bytes that the stack pointer moves for the frame; each preset
	// names the instruction.
	Size uint64

	// Pushed are the pushed registers, in order (amd64).
	Pushed []uint64

	// Saved are the registers stored in slots of the frame. Prologue is the offset
	// after the last store, and must be set if Saved is. It must not be later than the first
	// instruction that changes a saved register.
	Saved    []Saved
	Prologue uint64

	// Epilogues are in ascending order. The saved registers are restored before an
	// epilogue starts.
	Epilogues []Epilogue

	// Ranges are parts of the body with other rules, in ascending order. They are not in the
	// prologue or an epilogue.
	Ranges []Range
}

// Saved is a register, a DWARF column, that is saved at CFA+Slot, in bytes. The slots of
// a frame are negative, and eight bytes large.
type Saved struct {
	Register uint64
	Slot     int64
}

// Epilogue is the code that removes a frame.
type Epilogue struct {
	Start uint64 // offset of its first instruction
	// End is the offset after its last instruction, a ret or a jump. The frame exists
	// again from there on. 0 means an epilogue at the end of the function.
	End uint64
}

// FramePointer returns the table of a function that keeps a frame pointer.
//
// On amd64, which ignores Size:
//
//	endbr64                     if Landing
//	push rbp
//	mov  rbp, rsp
//	push ...                    each of Pushed
//	...                         the code that saves Saved, up to Prologue
//	...
//	pop  ...                    the Epilogue: each of Pushed, in reverse
//	leave, or pop rbp
//	ret
//
// On arm64, for a Size of 16 to 496 bytes in steps of 16; 0 means 16:
//
//	bti  c                      if Landing
//	paciasp                     if Signed
//	stp  x29, x30, [sp, #-Size]!
//	mov  x29, sp
//	...                         the code that saves Saved, up to Prologue
//	...
//	ldp  x29, x30, [sp], #Size  the Epilogue
//	autiasp                     if Signed
//	ret
func FramePointer(m *arch.Machine, f Frame) (*cfi.Program, error) {
	b, err := begin(m, &f)
	if err != nil {
		return nil, err
	}
	return b.machine.framePointer(b, &f)
}

// Fixed returns the table of a function without a frame pointer, with a frame of fixed
// size.
//
// On amd64 the instructions that move rsp by Size have four bytes if Size is below 128,
// otherwise seven; there are none if Size is 0:
//
//	endbr64                     if Landing
//	push ...                    each of Pushed
//	sub  rsp, Size
//	...                         the code that saves Saved, up to Prologue
//	...
//	add  rsp, Size              the Epilogue
//	pop  ...                    each of Pushed, in reverse
//	ret
//
// On arm64 Size is a multiple of 16 below 4096, or of 4096 below 2^24. A function that
// calls others has x30 in Saved:
//
//	bti  c                      if Landing
//	paciasp                     if Signed
//	sub  sp, sp, #Size
//	...                         the code that saves Saved, up to Prologue
//	...
//	add  sp, sp, #Size          the Epilogue
//	autiasp                     if Signed
//	ret
func Fixed(m *arch.Machine, f Frame) (*cfi.Program, error) {
	b, err := begin(m, &f)
	if err != nil {
		return nil, err
	}
	return b.machine.fixed(b, &f)
}

// Leaf returns the table of a function without a frame: the state at its call holds
// throughout. If it is Signed (arm64), the return address is signed until the autiasp
// at which each Epilogue starts. Size, Pushed and Saved must be empty.
func Leaf(m *arch.Machine, f Frame) (*cfi.Program, error) {
	b, err := begin(m, &f)
	if err != nil {
		return nil, err
	}
	if f.Size != 0 || len(f.Pushed)+len(f.Saved) > 0 {
		return nil, misuse("a leaf with a frame: Size, Pushed and Saved must be empty")
	}
	if !f.Signed {
		f.Epilogues = nil // they change nothing
	}
	return b.end(&f, func() { b.authenticate(&f) })
}

// Steady returns the table of code with one state from the first byte to the last: the
// CFA is a register's value plus an offset, and registers are saved in slots. The state
// is in the CIE, and the FDE has no instructions. cie is cfi.NewCIE of the machine, or
// one with other factors; it is not changed.
func Steady(cie *cfi.CIE, register uint64, offset int64, saved ...Saved) (*cfi.Program, error) {
	b := cfi.NewBuilder(cie).DefCFA(register, offset)
	for _, s := range saved {
		b.Offset(s.Register, s.Slot)
	}
	steady, err := b.CIE()
	if err != nil {
		return nil, err
	}
	return &cfi.Program{CIE: steady}, nil
}

// machine writes the tables of the code that a machine has for frames.
type machine struct {
	framePointer, fixed func(b *builder, f *Frame) (*cfi.Program, error)
	// cpython writes the rules of CPython's trampolines, and returns false if they cannot
	// start with a landing pad.
	cpython func(b *cfi.Builder, landing bool) bool
	shim    Shim
}

// machineOf returns the description of a machine, or nil if it is unknown.
func machineOf(m *arch.Machine) *machine {
	switch {
	case m == nil:
	case m.ELF == elf.EM_X86_64:
		return &amd64
	case m.ELF == elf.EM_AARCH64:
		return &arm64
	}
	return nil
}

var entryCIEs sync.Map // *arch.Machine to *cfi.CIE

// builder is a cfi.Builder that tracks the offset of the code.
type builder struct {
	*cfi.Builder
	arch    *arch.Machine
	machine *machine
	signed  bool
	at      uint64  // after the last instruction
	frame   uint64  // the register on which the CFA is based; it no longer has the caller's value
	slots   []Saved // in use
	err     error   // the first of save
}

// begin starts a table, after the landing pad and the signing instruction.
func begin(m *arch.Machine, f *Frame) (*builder, error) {
	cie := f.CIE
	known := machineOf(m)
	switch {
	case known == nil || m.AddressSize != 8:
		return nil, misuse("presets are for amd64 and arm64")
	case cie == nil:
		entry, ok := entryCIEs.Load(m)
		if !ok {
			entry, _ = entryCIEs.LoadOrStore(m, cfi.EntryCIE(m))
		}
		cie = entry.(*cfi.CIE)
	case cie.Section == nil || cie.Section.Machine != m:
		return nil, misuse("a CIE for another machine, expected %s", m.Name)
	}
	b := &builder{Builder: cfi.NewBuilder(cie), arch: m, machine: known, frame: uint64(m.StackPointer)}
	if m.PushesReturns() {
		b.slots = []Saved{{uint64(m.ReturnAddress), -8}}
	}
	if f.Signed && !m.SignsReturns {
		return nil, misuse("return addresses cannot be signed on %s", m.Name)
	}
	if !m.PushesReturns() && len(f.Pushed) > 0 {
		return nil, misuse("no push instructions on %s", m.Name)
	}
	for _, register := range f.Pushed {
		if register > 15 || register == b.frame {
			return nil, refuse("column %d cannot be pushed", register)
		}
	}
	if f.Landing {
		b.at = 4
	}
	if f.Signed {
		b.signed = true
		b.after(4).NegateRAState()
	}
	return b, nil
}

// after moves to the end of an instruction of the given size.
func (b *builder) after(size uint64) *cfi.Builder {
	b.at += size
	return b.At(b.at)
}

// saved adds the rules of saved registers at the end of the prologue.
func (b *builder) saved(f *Frame) {
	switch {
	case len(f.Saved) == 0:
		return
	case f.Prologue == 0:
		b.err = misuse("Frame.Saved is set, but Frame.Prologue is 0, expected the offset after the last store")
		return
	case f.Prologue < b.at:
		b.err = refuse("Frame.Prologue is %#x, before the end of the frame's instructions at +%#x", f.Prologue, b.at)
		return
	}
	b.At(f.Prologue)
	for _, s := range f.Saved {
		b.save(s.Register, s.Slot)
	}
	b.at = f.Prologue
}

// save adds the rule of a saved register. Slots must not overlap.
func (b *builder) save(register uint64, slot int64) {
	switch {
	case b.err != nil:
		return
	case register == b.frame:
		b.err = refuse("column %d is saved at CFA%+d, but the CFA is based on it", register, slot)
	case slot > -8:
		b.err = refuse("column %d is saved at CFA%+d, outside of the frame", register, slot)
	case !b.arch.Named(register):
		b.err = refuse("column %d is saved at CFA%+d, but it is not a column of %s", register, slot, b.arch.Name)
	}
	for _, s := range b.slots {
		if s.Register != register && slot < s.Slot+8 && s.Slot < slot+8 {
			b.err = refuse("column %d is saved at CFA%+d, which overlaps column %d at CFA%+d", register, slot, s.Register, s.Slot)
		}
	}
	b.slots = append(b.slots, Saved{register, slot})
	b.Offset(register, slot)
}

func (b *builder) restore(f *Frame) {
	for _, s := range f.Saved {
		b.Restore(s.Register)
	}
}

// authenticate moves past the autiasp.
func (b *builder) authenticate(f *Frame) {
	if f.Signed {
		b.after(4).NegateRAState()
	}
}

// end adds the epilogues; unmake writes each.
func (b *builder) end(f *Frame, unmake func()) (*cfi.Program, error) {
	ranges := f.Ranges
	for i, e := range f.Epilogues {
		n := 0
		for n < len(ranges) && ranges[n].Start < e.Start {
			n++
		}
		b.ranges(ranges[:n])
		ranges = ranges[n:]
		if e.Start < b.at {
			return nil, refuse("an epilogue at +%#x, before the end of the previous code at +%#x", e.Start, b.at)
		}
		if e.End == 0 && i < len(f.Epilogues)-1 {
			return nil, misuse("the epilogue at +%#x needs an End, because another follows", e.Start)
		}
		b.at = e.Start
		if e.End != 0 {
			b.At(e.Start).RememberState()
		}
		unmake()
		if e.End != 0 {
			if e.End <= b.at {
				return nil, refuse("an epilogue that ends at +%#x, before its ret at +%#x", e.End, b.at)
			}
			b.at = e.End
			b.At(e.End).RestoreState()
		}
	}
	b.ranges(ranges)
	if b.err != nil {
		return nil, b.err
	}
	return b.Program()
}

// refuse returns an error for a value, and misuse one for a field that the code cannot have.
func refuse(format string, args ...any) error {
	return fmt.Errorf("preset: %w: "+format, append([]any{cfi.ErrRange}, args...)...)
}

func misuse(format string, args ...any) error {
	return fmt.Errorf("preset: %w: "+format, append([]any{cfi.ErrUse}, args...)...)
}
