// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package ehabi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sort"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/unwind"
)

// Table is the exception table of one module. It implements unwind.Source. It may be
// used from several goroutines if its memory may.
type Table struct {
	index   []byte
	address uint64 // of index
	memory  cfi.Memory
	order   binary.ByteOrder
	entry   uint64
}

// New returns the exception table of a module. Index is the content of .ARM.exidx, and
// address its address in the module. Memory reads the module's code and .ARM.extab.
// Entry is the address where the program starts, 0 for a library. All addresses are
// without load bias. The index is not copied.
func New(index []byte, address, entry uint64, m *arch.Machine, memory cfi.Memory) *Table {
	return &Table{index[:len(index)&^7], address, memory, m.Order, entry &^ 1}
}

const (
	sp = 13
	lr = 14
	pc = 15

	cantUnwind = 1 // EHABI32 §6, "Index table entries"

	// maxOpcodes is the largest size of an entry: 255 words and the bytes before them.
	maxOpcodes = 2 + 4*255 + 2
)

// errInterrupted means that the frame was interrupted at a place that the tables do not
// describe.
var errInterrupted = errors.New("exception tables describe calls, and this frame was interrupted")

// Rules implements unwind.Source. Instructions have even addresses. An odd address
// stands for the last byte of a call.
func (t *Table) Rules(address uint64) (*unwind.Rules, error) {
	n := sort.Search(len(t.index)/8, func(i int) bool { return t.start(i) > address }) - 1
	if n < 0 {
		return nil, fmt.Errorf("%w: no entry in .ARM.exidx covers %#x", cfi.ErrNoFDE, address)
	}
	called := address&1 != 0
	word := t.order.Uint32(t.index[8*n+4:])
	if word == cantUnwind {
		// A thread starts here, or the function makes no calls, as memcpy.
		if called || t.entry == t.start(n) && t.entry != 0 {
			return outermost, nil
		}
		return nil, fmt.Errorf("%w: .ARM.exidx does not describe the function at %#x", cfi.ErrNoFDE, t.start(n))
	}
	var buffer [maxOpcodes]byte
	f := frame{base: sp}
	opcodes, err := t.opcodes(buffer[:0], word, t.address+uint64(8*n+4))
	if err == nil {
		err = f.run(opcodes)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: entry of %#x in .ARM.exidx: %w", cfi.ErrNoFDE, t.start(n), err)
	}
	if !called && !f.leaf() && !t.afterCall(address) {
		return nil, fmt.Errorf("%w: %w", cfi.ErrNoFDE, errInterrupted)
	}
	return f.rules(), nil
}

// outermost are the rules of a frame without a caller.
var outermost = &unwind.Rules{
	CFA:           cfi.Rule{Kind: cfi.Register, Register: sp},
	Registers:     []cfi.RegisterRule{{Column: lr, Rule: cfi.Rule{Kind: cfi.Undefined}}},
	ReturnAddress: lr,
}

// start returns the address of the function of an entry.
func (t *Table) start(n int) uint64 {
	return prel31(t.order.Uint32(t.index[8*n:]), t.address+uint64(8*n))
}

// prel31 decodes an address of 31 bits relative to that of the word.
func prel31(word uint32, at uint64) uint64 { return uint64(uint32(at) + uint32(int32(word<<1)>>1)) }

// afterCall reports whether the instruction before an address is a system call.
func (t *Table) afterCall(address uint64) bool {
	var b [4]byte
	if t.memory.ReadMemory(b[:], address-4) != nil {
		return false
	}
	// svc 0 is ef000000 in ARM code, df00 in Thumb.
	return t.order.Uint32(b[:]) == 0xef000000 || t.order.Uint16(b[2:]) == 0xdf00
}

// opcodes appends the unwinding opcodes of an entry: those in its word, or in .ARM.extab at
// the address in its word (EHABI32 §7.1, §10.2).
func (t *Table) opcodes(dst []byte, word uint32, at uint64) ([]byte, error) {
	if word&(1<<31) == 0 {
		at = prel31(word, at)
		var err error
		if word, err = t.word(at); err != nil {
			return nil, err
		}
		if word&(1<<31) == 0 { // with the address of a personality routine, as for C++
			at += 4
			if word, err = t.word(at); err != nil {
				return nil, err
			}
			return t.more(append(dst, byte(word>>16), byte(word>>8), byte(word)), at, int(word>>24))
		}
	} else if word>>24&0xf != 0 {
		return nil, fmt.Errorf("compact model %d in the index", word>>24&0xf)
	}
	switch model := word >> 24 & 0xf; model {
	case 0:
		return append(dst, byte(word>>16), byte(word>>8), byte(word)), nil
	case 1, 2:
		return t.more(append(dst, byte(word>>8), byte(word)), at, int(word>>16&0xff))
	default:
		return nil, fmt.Errorf("compact model %d", model)
	}
}

// more appends the bytes of the n words after the one at an address, the highest byte of
// each first.
func (t *Table) more(dst []byte, at uint64, n int) ([]byte, error) {
	for i := range n {
		word, err := t.word(at + uint64(4+4*i))
		if err != nil {
			return nil, err
		}
		dst = binary.BigEndian.AppendUint32(dst, word)
	}
	return dst, nil
}

func (t *Table) word(at uint64) (uint32, error) {
	var b [4]byte
	if err := t.memory.ReadMemory(b[:], at); err != nil {
		return 0, fmt.Errorf(".ARM.extab: %w", err)
	}
	return t.order.Uint32(b[:]), nil
}

// frame is a frame as the opcodes describe it: the virtual stack pointer, and the slots of
// saved registers, relative to base.
type frame struct {
	base  uint32 // register
	vsp   int64  // offset from it
	saved [16]bool
	slots [16]int64
}

// leaf reports whether the function has no frame.
func (f *frame) leaf() bool { return f.base == sp && f.vsp == 0 && f.saved == [16]bool{} }

// run executes opcodes: EHABI32 §10.3, table 4.
func (f *frame) run(ops []byte) error {
	for len(ops) > 0 {
		op := ops[0]
		ops = ops[1:]
		operand := uint32(0)
		if op>>4 == 8 || op == 0xb1 || op == 0xb3 || op >= 0xc6 && op <= 0xc9 {
			if len(ops) == 0 {
				return fmt.Errorf("opcode %#02x is truncated", op)
			}
			operand, ops = uint32(ops[0]), ops[1:]
		}
		count := int64(operand&0xf) + 1 // of the registers that an operand names
		switch {
		case op>>6 == 0:
			f.vsp += int64(op&0x3f)<<2 + 4
		case op>>6 == 1:
			f.vsp -= int64(op&0x3f)<<2 + 4
		case op>>4 == 8:
			mask := uint32(op&0xf)<<8 | operand
			if mask == 0 {
				return errors.New("the table says that the function cannot be unwound (opcode 0x8000)")
			}
			f.pop(mask << 4)
		case op>>4 == 9 && op&0xf != sp && op&0xf != pc:
			if f.saved[op&0xf] {
				return fmt.Errorf("opcode %#02x takes a register that was restored before", op)
			}
			// Slots so far are relative to the stack pointer.
			if f.saved != [16]bool{} {
				return fmt.Errorf("opcode %#02x after registers were restored", op)
			}
			f.base, f.vsp = uint32(op&0xf), 0
		case op>>4 == 10:
			mask := uint32(1)<<(op&7+1) - 1
			f.pop(mask<<4 | uint32(op>>3&1)<<lr)
		case op == 0xb0:
			return nil
		case op == 0xb1 && operand != 0 && operand < 16:
			f.pop(operand)
		case op == 0xb2:
			v, n, err := leb128.Uint(ops)
			if err != nil || v > 1<<24 {
				return errors.New("opcode 0xb2: invalid operand")
			}
			ops = ops[n:]
			f.vsp += 0x204 + int64(v)<<2
		case op == 0xb3: // FSTMFDX saves one more word
			f.vsp += 8*count + 4
		case op == 0xb4: // the authentication code of the return address
			f.vsp += 4
		case op>>3 == 0xb8>>3:
			f.vsp += 8*(int64(op&7)+1) + 4
		case op >= 0xc0 && op <= 0xc5, op>>3 == 0xd0>>3:
			f.vsp += 8 * (int64(op&7) + 1)
		case op == 0xc6, op == 0xc8, op == 0xc9:
			f.vsp += 8 * count
		case op == 0xc7 && operand != 0 && operand < 16:
			f.vsp += 4 * int64(bits.OnesCount32(operand))
		default:
			return fmt.Errorf("opcode %#02x %#02x is not known", op, operand)
		}
	}
	return nil
}

// pop restores the registers of a set from the virtual stack pointer.
func (f *frame) pop(set uint32) {
	for r := range f.saved {
		if set>>r&1 != 0 {
			f.saved[r], f.slots[r] = true, f.vsp
			f.vsp += 4
		}
	}
}

// rules returns the rules of the frame. The return address is in the slot of the link
// register, or of the program counter if that was restored. A function that restores both
// the program counter and the stack pointer is a signal trampoline.
func (f *frame) rules() *unwind.Rules {
	r := &unwind.Rules{CFA: cfi.Rule{Kind: cfi.Register, Register: f.base, Offset: f.vsp}, ReturnAddress: lr}
	if f.saved[pc] {
		r.ReturnAddress, r.SignalFrame = pc, f.saved[sp]
	}
	for i := range uint32(len(f.saved)) {
		if f.saved[i] {
			r.Registers = append(r.Registers, cfi.RegisterRule{Column: i, Rule: cfi.Rule{Kind: cfi.Offset, Offset: f.slots[i] - f.vsp}})
		}
	}
	return r
}
