// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import (
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Range is a part of a function, [Start, End), in which the rules of its frame do not hold:
// it runs on another stack, or the frame is given up already. The CFA is
//
//   - with one number in Path: the value of Base plus the number;
//   - with more: the first number is added to the value of Base, and the pointer there is
//     read. The next number is added to the pointer, and so on. After the last number nothing
//     is read. Clew lets such a CFA be on another stack, without more information.
//
// Saved registers have the slots of the frame, whichever stack it is on.
//
//	mov [r15+0x40], rsp     ; amd64: the CFA was rsp+24 here
//	mov rsp, [r15+0x48]
//	call rax                ; a Range from here: Base 15 (r15), Path 0x40, 24
//	mov rsp, [r15+0x40]     ; End: after this
//
// A register is a good Base if the called functions save it: r15 above. A word at a known
// distance from the new stack pointer is also good: Base 7 (rsp), Path 8, 24 if it is at
// rsp+8.
type Range struct {
	Start uint64 // offset of its first instruction
	End   uint64 // offset after its last instruction; 0 means the end of the function

	Base uint64 // a DWARF column
	Path []int64

	// Left says that the frame is given up, as in code that leaves the function for a trap
	// and has overwritten the frame pointer. All registers are those of the caller,
	// except Saved; the return address is where it is at the function's first
	// instruction, relative to the CFA.
	Left  bool
	Saved []Saved // if Left
}

// Step is the state of a frame of known size from an offset of the code up to that of the
// next Step.
type Step struct {
	Offset uint64 // after the instruction that changes the state
	Size   uint64 // distance from the stack pointer to the CFA, bytes

	// Saved are the registers that are saved from here on. Restored are the registers that
	// have the caller's values again.
	Saved    []Saved
	Restored []uint64
}

// Sized returns the table of a function without a frame pointer whose stack pointer moves by
// any constants. The steps are in ascending order of Offset. Size, Pushed, Saved and
// Epilogues of the frame must be empty: steps describe them. Thus the code of wazero on
// arm64, which stores the size of the arguments beside the return address, with a frame of 64
// bytes after 32 bytes of arguments:
//
//	sub  sp, sp, #32            {4, 32, nil, nil}
//	stp  x30, x27, [sp, #-16]!  {12, 48, []Saved{{30, -48}}, nil}, after mov x27, #32
//	sub  sp, sp, #64            {16, 112, nil, nil}
//	...
//	add  sp, sp, #64            {76, 48, nil, nil}
//	ldr  x30, [sp], #16         {80, 32, nil, []uint64{30}}
//	add  sp, sp, #32            {84, 0, nil, nil}
//	ret
func Sized(m *arch.Machine, f Frame, steps []Step) (*cfi.Program, error) {
	b, err := begin(m, &f)
	if err != nil {
		return nil, err
	}
	if f.Size != 0 || len(f.Pushed)+len(f.Saved)+len(f.Epilogues) > 0 {
		return nil, misuse("steps beside Size, Pushed, Saved or Epilogues")
	}
	ranges := f.Ranges
	for i := range steps {
		s := &steps[i]
		for len(ranges) > 0 && ranges[0].Start < s.Offset {
			b.ranges(ranges[:1])
			ranges = ranges[1:]
		}
		if s.Offset < b.at {
			return nil, refuse("a step at +%#x, before the end of the previous code at +%#x", s.Offset, b.at)
		}
		b.at = s.Offset
		b.At(s.Offset).DefCFAOffset(int64(s.Size))
		for _, saved := range s.Saved {
			b.save(saved.Register, saved.Slot)
		}
		for _, register := range s.Restored {
			b.Restore(register)
			b.free(register)
		}
	}
	f.Ranges = ranges
	return b.end(&f, nil)
}

// free forgets the slots of a register.
func (b *builder) free(register uint64) {
	b.slots = slices.DeleteFunc(b.slots, func(s Saved) bool { return s.Register == register })
}

// ranges adds the rules of ranges, in order.
func (b *builder) ranges(ranges []Range) {
	for i := range ranges {
		r := &ranges[i]
		switch {
		case b.err != nil:
			return
		case r.Start < b.at:
			b.err = refuse("a range at +%#x, before the end of the previous code at +%#x", r.Start, b.at)
		case r.End != 0 && r.End <= r.Start:
			b.err = refuse("a range at +%#x that ends at +%#x", r.Start, r.End)
		case r.End == 0 && i < len(ranges)-1:
			b.err = misuse("the range at +%#x needs an End, because another follows", r.Start)
		case !b.arch.Named(r.Base):
			b.err = refuse("a range at +%#x with the Base %d, which is not a column of %s", r.Start, r.Base, b.arch.Name)
		case len(r.Path) == 0:
			b.err = misuse("a range at +%#x without a Path", r.Start)
		case r.Left && b.signed:
			b.err = misuse("the range at +%#x has left a frame that is Signed", r.Start)
		case len(r.Saved) > 0 && !r.Left:
			b.err = misuse("the range at +%#x has Saved, although the frame is not Left", r.Start)
		default:
			b.oneRange(r)
			continue
		}
		return
	}
}

func (b *builder) oneRange(r *Range) {
	b.at = r.Start
	b.At(r.Start)
	if r.End != 0 {
		b.RememberState()
	}
	if len(r.Path) == 1 {
		b.DefCFA(r.Base, r.Path[0])
	} else if expression, err := pathExpression(b.arch, r.Base, r.Path); err != nil {
		b.err = err
		return
	} else {
		b.DefCFAExpression(expression)
	}
	if r.Left {
		slots, frame := b.slots, b.frame
		for _, s := range slots {
			b.Restore(s.Register)
		}
		b.slots, b.frame = nil, r.Base
		if len(r.Path) > 1 {
			b.frame = noColumn
		}
		for _, s := range r.Saved {
			b.save(s.Register, s.Slot)
		}
		b.slots, b.frame = slots, frame
	}
	if r.End != 0 {
		b.at = r.End
		b.At(r.End).RestoreState()
	}
}

const noColumn = 1<<64 - 1

// pathExpression returns the expression of a CFA by the Path of a Range.
func pathExpression(m *arch.Machine, base uint64, path []int64) ([]byte, error) {
	operations := []cfi.Operation{{Op: cfi.OpBregx, Operands: [2]int64{int64(base), path[0]}}}
	if base < 32 {
		operations[0] = cfi.Operation{Op: cfi.OpBreg0 + cfi.Op(base), Operands: [2]int64{path[0]}}
	}
	for _, offset := range path[1:] {
		operations = append(operations, cfi.Operation{Op: cfi.OpDeref})
		switch {
		case offset > 0:
			operations = append(operations, cfi.Operation{Op: cfi.OpPlusUconst, Operands: [2]int64{offset}})
		case offset < 0:
			operations = append(operations, cfi.Operation{Op: cfi.OpConsts, Operands: [2]int64{offset}}, cfi.Operation{Op: cfi.OpPlus})
		}
	}
	var expression []byte
	var err error
	for _, o := range operations {
		if expression, err = cfi.AppendOperation(expression, o, m); err != nil {
			return nil, refuse("%w", err)
		}
	}
	return expression, nil
}
