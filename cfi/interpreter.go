// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"math"
)

// Limits for hostile FDEs. The largest known real values are much smaller.
const (
	maxColumns    = 256  // with rules; known: 40
	maxRemembered = 256  // states; known: 3
	maxInitial    = 1024 // bytes of a CIE's instructions, which every FDE can execute again; known: 60
)

// Interpreter executes the instructions of FDEs and yields their rows. The zero value is ready to
// use. Reuse it: it allocates only while tables grow. It must not be used concurrently.
type Interpreter struct {
	fde  *FDE
	c    cursor
	row  Row
	next uint64 // start of the next row
	ins  Instruction

	hidden Rule // the register and offset that a CFA expression replaced

	saved     []saved
	savedRegs []RegisterRule

	// The state after the CIE's instructions, kept for further FDEs of the same CIE.
	cie     *CIE
	initial saved
	regs    []RegisterRule // the initial rules
}

// saved is a remembered state; its registers end at top in savedRegs.
type saved struct {
	cfa    Rule
	hidden Rule
	signed bool
	top    int
}

// Err returns the error that stopped the last Rows or Execute, or nil.
func (x *Interpreter) Err() error { return x.c.Err }

// Start prepares the interpreter for the FDE's own instructions: it executes the CIE's
// instructions. Err returns their error.
func (x *Interpreter) Start(f *FDE) {
	if x.cie != f.CIE {
		x.startCIE(f.CIE)
	}
	x.fde = f
	x.row.Start, x.row.End, x.next = f.Start, f.Start, f.Start
	x.row.CFA, x.hidden, x.row.Signed = x.initial.cfa, x.initial.hidden, x.initial.signed
	x.row.ArgumentsSize = 0
	x.row.Registers = append(x.row.Registers[:0], x.regs...)
	x.saved, x.savedRegs = x.saved[:0], x.savedRegs[:0]
	if x.cie != nil {
		x.c.Err = nil
		x.c.Off, x.c.End = f.InstructionsOffset, f.InstructionsOffset+uint64(len(f.Instructions))
	}
}

// startCIE executes the CIE's instructions. After an error x.cie is nil, and Err returns the
// error until the next Start.
func (x *Interpreter) startCIE(cie *CIE) {
	s := cie.Section
	x.cie, x.fde, x.next = nil, nil, 0
	x.row = Row{section: s, Registers: x.row.Registers[:0]}
	x.regs = x.regs[:0]
	x.initial, x.hidden = saved{}, Rule{}
	x.saved, x.savedRegs = x.saved[:0], x.savedRegs[:0]
	x.c = s.program(cie, cie.InstructionsOffset, cie.Instructions)
	if len(cie.Instructions) > maxInitial {
		x.c.fail(ErrInstruction, "%d bytes of instructions in the CIE, expected at most %d", len(cie.Instructions), maxInitial)
	}
	for x.c.Off < x.c.End {
		x.c.instruction(cie, 0, &x.ins)
		if x.c.Err == nil {
			x.Execute(cie, &x.ins)
		}
		if x.c.Err == nil && x.next != 0 {
			x.c.Off = x.ins.Offset
			x.c.fail(ErrInstruction, "%s in a CIE", x.ins.Op.Name(s.Machine))
		}
	}
	x.next = 0
	x.initial = saved{cfa: x.row.CFA, hidden: x.hidden, signed: x.row.Signed}
	x.regs = append(x.regs, x.row.Registers...)
	if x.c.Err == nil {
		x.cie = cie
	}
}

// Row returns the current rules. Its Start and End are those of the last row that Rows
// yielded; after Execute see Location.
func (x *Interpreter) Row() *Row { return &x.row }

// Location returns the address that the instructions have reached.
func (x *Interpreter) Location() uint64 { return x.next }

// advance moves the location by delta bytes, at most to the end of the address space.
func (x *Interpreter) advance(delta uint64) {
	to := x.next + delta
	if to < x.next {
		to = math.MaxUint64
	}
	x.next = to
}

// set sets the rule of a column. There are few columns, mostly set in ascending order, so they
// are sorted and searched from the last one.
func (x *Interpreter) set(column uint64, rule Rule) {
	regs := x.row.Registers
	i := len(regs)
	for i > 0 && uint64(regs[i-1].Column) > column {
		i--
	}
	if i > 0 && uint64(regs[i-1].Column) == column {
		if rule.Kind == Unspecified {
			x.row.Registers = append(regs[:i-1], regs[i:]...)
			return
		}
		regs[i-1].Rule = rule
		return
	}
	if rule.Kind == Unspecified {
		return
	}
	if column > math.MaxUint32 || len(regs) >= maxColumns {
		x.refuse(&x.ins, "sets a rule of column %d, expected a column below 2^32 and at most %d rules", column, maxColumns)
		return
	}
	n := len(regs)
	if n < cap(regs) {
		regs = regs[:n+1]
	} else {
		regs = append(regs, RegisterRule{})
	}
	for ; n > i; n-- {
		regs[n] = regs[n-1]
	}
	regs[i] = RegisterRule{uint32(column), rule}
	x.row.Registers = regs
}

// Execute applies one instruction, of the FDE passed to Start or of its CIE, to the current row.
// If the instruction is not valid here, it returns false, and Err returns the error.
func (x *Interpreter) Execute(cie *CIE, ins *Instruction) bool {
	if ins != &x.ins {
		x.ins = *ins
	}
	n := ins.Operand
	factored := n * cie.DataAlign
	switch ins.Op {
	case CFANop:
	case CFASetLoc:
		if to := uint64(n); to >= x.next {
			x.next = to
		} else {
			x.refuse(ins, "goes back from %#x to %#x", x.next, to)
		}
	case CFAAdvanceLoc, CFAAdvanceLoc1, CFAAdvanceLoc2, CFAAdvanceLoc4, CFAMIPSAdvanceLoc8:
		x.advance(uint64(n) * cie.CodeAlign)
	case CFADefCFA, CFALLVMDefAspaceCFA:
		x.defCFA(ins, ins.Register, n)
	case CFADefCFASF, CFALLVMDefAspaceCFASF:
		x.defCFA(ins, ins.Register, factored)
	case CFADefCFARegister, CFADefCFAOffset, CFADefCFAOffsetSF:
		x.changeCFA(ins, ins.Value(cie))
	case CFADefCFAExpression:
		if x.row.CFA.Kind == Register {
			x.hidden = x.row.CFA
		}
		x.row.CFA = x.expression(ValExpression, ins)
	case CFAUndefined:
		x.set(ins.Register, Rule{Kind: Undefined})
	case CFASameValue:
		x.set(ins.Register, Rule{Kind: SameValue})
	case CFAOffset, CFAOffsetExtended, CFAOffsetExtendedSF:
		x.set(ins.Register, Rule{Kind: Offset, Offset: factored})
	case CFAGNUNegativeOffsetExtended:
		x.set(ins.Register, Rule{Kind: Offset, Offset: -factored})
	case CFAValOffset, CFAValOffsetSF:
		x.set(ins.Register, Rule{Kind: ValOffset, Offset: factored})
	case CFARegister:
		if ins.Register2 > math.MaxUint32 {
			x.refuse(ins, "of column %d", ins.Register2)
			break
		}
		x.set(ins.Register, Rule{Kind: Register, Register: uint32(ins.Register2)})
	case CFAExpression:
		x.set(ins.Register, x.expression(Expression, ins))
	case CFAValExpression:
		x.set(ins.Register, x.expression(ValExpression, ins))
	case CFARestore, CFARestoreExtended:
		// The rule of the CIE's instructions; "unspecified", not "undefined", if they
		// set none.
		var rule Rule
		for i := range x.regs {
			if uint64(x.regs[i].Column) == ins.Register {
				rule = x.regs[i].Rule
			}
		}
		x.set(ins.Register, rule)
	case CFARememberState:
		if len(x.saved) == maxRemembered {
			x.refuse(ins, "nests deeper than %d", maxRemembered)
			break
		}
		x.savedRegs = append(x.savedRegs, x.row.Registers...)
		x.saved = append(x.saved, saved{x.row.CFA, x.hidden, x.row.Signed, len(x.savedRegs)})
	case CFARestoreState:
		x.restoreState(ins)
	case CFAGNUArgsSize:
		x.row.ArgumentsSize = uint64(n)
	case CFAGNUWindowSave: // and AArch64's negate_ra_state
		x.windowSave(cie, ins)
	case CFAAArch64NegateRAStateWithPC:
		x.row.Signed = !x.row.Signed
	}
	return x.c.Err == nil
}

func (x *Interpreter) refuse(ins *Instruction, format string, args ...any) {
	x.c.Off = ins.Offset
	x.c.fail(ErrInstruction, "%s "+format, append([]any{ins.Op.Name(x.c.s.Machine)}, args...)...)
}

func (x *Interpreter) defCFA(ins *Instruction, register uint64, offset int64) {
	if register > math.MaxUint32 {
		x.refuse(ins, "of column %d", register)
		return
	}
	x.row.CFA = Rule{Register, uint32(register), offset}
}

// changeCFA sets the register or the offset of the CFA. After an expression it changes the
// register and offset from before the expression, but only a register makes these the CFA again.
// libgcc and gdb do the same, and libgcrypt's assembly relies on it.
func (x *Interpreter) changeCFA(ins *Instruction, offset int64) {
	cfa := &x.row.CFA
	if cfa.Kind == ValExpression {
		cfa = &x.hidden
	}
	switch {
	case cfa.Kind == Unspecified && ins.Op == CFADefCFARegister:
		// The CIEs of gas for MIPS and RISC-V set only the register. The offset is 0.
		x.defCFA(ins, ins.Register, 0)
	case cfa.Kind != Register:
		x.refuse(ins, "needs a CFA that is a register plus an offset")
	case ins.Op == CFADefCFARegister:
		x.defCFA(ins, ins.Register, cfa.Offset)
	default:
		cfa.Offset = offset
	}
}

func (x *Interpreter) windowSave(cie *CIE, ins *Instruction) {
	switch m := cie.Section.Machine; {
	case m.SignsReturns:
		x.row.Signed = !x.row.Signed
	case m.RegisterWindows:
		// The locals and ins of the register window are saved from the CFA upwards (SPARC ABI).
		for i := range int64(16) {
			x.set(uint64(16+i), Rule{Kind: Offset, Offset: i * int64(cie.AddressSize)})
		}
	default:
		x.refuse(ins, "is defined only on SPARC and AArch64")
	}
}

// expression returns the rule for the expression at the end of the instruction.
func (x *Interpreter) expression(kind RuleKind, ins *Instruction) Rule {
	n := len(ins.Expression)
	if uint64(n) > math.MaxUint32 {
		x.refuse(ins, "has an expression of %d bytes", n)
		return Rule{}
	}
	return Rule{kind, uint32(n), int64(ins.Offset+ins.Size) - int64(n)}
}

func (x *Interpreter) restoreState(ins *Instruction) {
	n := len(x.saved) - 1
	if n < 0 {
		x.refuse(ins, "without a DW_CFA_remember_state")
		return
	}
	bottom := 0
	if n > 0 {
		bottom = x.saved[n-1].top
	}
	s := x.saved[n]
	x.row.CFA, x.hidden, x.row.Signed = s.cfa, s.hidden, s.signed
	x.row.Registers = append(x.row.Registers[:0], x.savedRegs[bottom:s.top]...)
	x.savedRegs, x.saved = x.savedRegs[:bottom], x.saved[:n]
}
