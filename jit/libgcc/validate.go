// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"cmp"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// validateCIE refuses CIEs that the readers of libgcc and LLVM do not support.
func validateCIE(c *cfi.CIE) error {
	m := c.Section.Machine
	switch {
	case c.Version > 4:
		return fmt.Errorf("%w: CIE of version %d", ErrTable, c.Version)
	case c.SegmentSize != 0 || c.AddressSize != 0 && int(c.AddressSize) != m.AddressSize:
		return fmt.Errorf("%w: CIE with addresses of %d bytes and segments of %d", ErrTable, c.AddressSize, c.SegmentSize)
	case c.ReturnAddress >= columns(m):
		return fmt.Errorf("%w: return address in column %d", ErrTable, c.ReturnAddress)
	case c.MTETagged:
		return fmt.Errorf("%w: CIE for tagged memory, which libgcc does not support", ErrTable)
	}
	for i, letter := range c.Augmentation {
		switch {
		case letter == 'z' && i == 0:
			continue
		case c.Augmentation[0] == 'z' && (letter == 'P' || letter == 'L' || letter == 'R' || letter == 'S'):
			continue
		case c.Augmentation[0] == 'z' && letter == 'B' && m.SignsReturns:
			continue
		}
		return fmt.Errorf("%w: CIE with augmentation %q", ErrTable, c.Augmentation)
	}
	return nil
}

// columns returns the number of columns from which a CFA can be computed: the general
// registers, and on x86 the return address. For other registers libgcc fails an
// assertion (_Unwind_GetGR) and LLVM aborts.
func columns(m *arch.Machine) uint64 {
	return cmp.Or(m.UnwindColumns, 32)
}

// validator checks that the unwinders support the tables of a section that was encoded
// from programs.
type validator struct {
	section     *cfi.Section
	programs    map[*cfi.Program]struct{} // known to be valid
	last        *cfi.Program
	interpreter cfi.Interpreter
	fde         cfi.FDE
	expression  expression
}

func (v *validator) reset(section []byte) {
	if v.programs == nil {
		v.programs = make(map[*cfi.Program]struct{})
	}
	clear(v.programs)
	v.last = nil
	v.section = &cfi.Section{Name: "unwind table", Machine: jit.Host(), Data: section}
}

// validate checks the FDE at an offset; it was encoded from p.
func (v *validator) validate(p *cfi.Program, offset uint32) error {
	if v.last == p {
		return nil
	}
	v.last = p
	if _, ok := v.programs[p]; ok {
		return nil
	}
	if err := v.section.FDEAt(uint64(offset), &v.fde); err != nil {
		return fmt.Errorf("%w: %w", ErrTable, err)
	}
	if err := v.instructions(v.fde.CIE.Decode()); err != nil {
		return err
	}
	if err := v.instructions(v.fde.Decode()); err != nil {
		return err
	}
	if err := v.rows(); err != nil {
		return err
	}
	v.programs[p] = struct{}{}
	return nil
}

// instructions checks that the unwinders know all instructions. libgcc aborts at
// unknown ones, and at one of SPARC's it writes past the end of its registers.
func (v *validator) instructions(d cfi.Decoder) error {
	m := v.section.Machine
	var ins cfi.Instruction
	for d.Next(&ins) {
		switch vendor := ins.Op.Vendor(); {
		case vendor != cfi.VendorDWARF && vendor != cfi.VendorGNU, !ins.Op.DefinedOn(m):
			return fmt.Errorf("%w: instruction %s, which the unwinders do not know", ErrTable, ins.Op.Name(m))
		case ins.Op.Operands()&cfi.OperandExpression == 0:
			continue
		}
		depth := 1 // DWARF 5 §6.4.2.3: the CFA
		if ins.Op.Effect() == cfi.EffectCFA {
			depth = 0
		}
		size := uint64(len(ins.Expression))
		if err := v.expression.validate(v.section, ins.Offset+ins.Size-size, size, depth); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrTable, ins.Op.Name(m), err)
		}
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrTable, err)
	}
	return nil
}

// rows checks that each row has a CFA, because libgcc aborts without, and uses
// only registers that can be read.
func (v *validator) rows() error {
	limit := columns(v.section.Machine)
	for row := range v.interpreter.Rows(&v.fde) {
		switch {
		case row.CFA.Kind == cfi.Unspecified:
			return fmt.Errorf("%w: +%#x: no CFA", ErrTable, row.Start-v.fde.Start)
		case row.CFA.Kind == cfi.Register && uint64(row.CFA.Register) >= limit:
			return fmt.Errorf("%w: +%#x: the CFA is relative to register %d", ErrTable, row.Start-v.fde.Start, row.CFA.Register)
		}
		for _, rule := range row.Registers {
			if rule.Kind == cfi.Register && uint64(rule.Register) >= limit {
				return fmt.Errorf("%w: +%#x: register %d is in register %d", ErrTable, row.Start-v.fde.Start, rule.Column, rule.Register)
			}
		}
	}
	if err := v.interpreter.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrTable, err)
	}
	return nil
}
