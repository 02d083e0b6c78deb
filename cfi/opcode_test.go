// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// TestOpcodeEffects executes each operation on a machine that supports it, and compares
// the changes with the table's.
func TestOpcodeEffects(t *testing.T) {
	for op := range cfi.Opcodes() {
		m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
		for _, other := range []elf.Machine{elf.EM_AARCH64, elf.EM_MIPS} {
			if !op.DefinedOn(m) {
				m = arch.Lookup(other, elf.ELFCLASS64, elf.ELFDATA2LSB)
			}
		}
		base := op.Base()
		if base.Base() != base || base.Effect() != op.Effect() || (base == op) != (base.Name(m) == op.Name(m)) {
			t.Errorf("%s is another encoding of %s", op.Name(m), base.Name(m))
		}
		section := &cfi.Section{Machine: m, Data: []byte{0x77, 8, 0x77, 16}}
		cie := &cfi.CIE{Section: section, CodeAlign: 4, DataAlign: -8, AddressSize: 8}
		for column := range uint64(4) { // rules that differ from those of the operations below
			cie.Instructions = append(cie.Instructions, byte(cfi.CFAOffset)|byte(column), 9)
		}
		cie.Instructions = append(cie.Instructions, byte(cfi.CFADefCFA), 7, 8)
		cie.Section = &cfi.Section{Machine: m, Data: append(slices.Clone(cie.Instructions), section.Data...)}
		cie.Instructions = cie.Section.Data[:len(cie.Instructions):len(cie.Instructions)]

		var x cfi.Interpreter
		x.Start(&cfi.FDE{CIE: cie, Start: 0x1000, End: 0x2000})
		execute := func(ins cfi.Instruction) {
			if !x.Execute(cie, &ins) {
				t.Errorf("%s: %v", ins.Op.Name(m), x.Err())
			}
		}
		if op.Effect() == cfi.EffectRestore {
			execute(cfi.Instruction{Op: cfi.CFARememberState})
			execute(cfi.Instruction{Op: cfi.CFADefCFAOffset, Operand: 32})
			execute(cfi.Instruction{Op: cfi.CFAUndefined, Register: 2})
		}
		if base == cfi.CFARestore {
			execute(cfi.Instruction{Op: cfi.CFAUndefined, Register: 2})
		}
		before := *x.Row()
		before.Registers = slices.Clone(before.Registers)
		location := x.Location()
		ins := cfi.Instruction{Op: op, Register: 2, Register2: 5, Operand: 3, Size: uint64(len(cie.Section.Data))}
		switch {
		case op.Operands()&cfi.OperandExpression != 0:
			ins.Expression = section.Data[:2]
		case op.Operands()&cfi.OperandAddress != 0:
			ins.Operand = 0x1100
		}
		execute(ins)
		after := x.Row()

		effect := op.Effect()
		var columns []uint32
		for _, r := range after.Registers {
			if r.Rule != before.Register(uint64(r.Column)) {
				columns = append(columns, r.Column)
			}
		}
		var want []uint32
		if effect == cfi.EffectRegister || effect == cfi.EffectRestore {
			want = []uint32{2}
		}
		signed := effect == cfi.EffectSigned || effect == cfi.EffectWindow && m.ELF == elf.EM_AARCH64
		switch {
		case (x.Location() != location) != (effect == cfi.EffectLocation):
			t.Errorf("%s: location %#x, was %#x", op.Name(m), x.Location(), location)
		case effect == cfi.EffectLocation && uint64(ins.Value(cie)) != x.Location() && uint64(ins.Value(cie)) != x.Location()-location:
			t.Errorf("%s: location %#x, was %#x, Value %#x", op.Name(m), x.Location(), location, ins.Value(cie))
		case (after.CFA != before.CFA) != (effect == cfi.EffectCFA || effect == cfi.EffectRestore):
			t.Errorf("%s: CFA %v, was %v", op.Name(m), after.CFA, before.CFA)
		case effect == cfi.EffectCFA && op.Operands()&(cfi.OperandUnsigned|cfi.OperandSigned) != 0 && after.CFA.Offset != ins.Value(cie):
			t.Errorf("%s: CFA %v, Value %d", op.Name(m), after.CFA, ins.Value(cie))
		case !slices.Equal(columns, want):
			t.Errorf("%s: new rules for columns %v, expected %v", op.Name(m), columns, want)
		case effect == cfi.EffectRegister && op.Operands()&(cfi.OperandUnsigned|cfi.OperandSigned) != 0 && after.Register(2).Offset != ins.Value(cie):
			t.Errorf("%s: %v, Value %d", op.Name(m), after.Register(2), ins.Value(cie))
		case (after.ArgumentsSize != before.ArgumentsSize) != (effect == cfi.EffectArguments):
			t.Errorf("%s: %d bytes of arguments", op.Name(m), after.ArgumentsSize)
		case (after.Signed != before.Signed) != signed:
			t.Errorf("%s: signed %t", op.Name(m), after.Signed)
		}
	}
}
