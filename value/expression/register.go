// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"debug/elf"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// Registers is implemented by a Frame that knows registers without a DWARF column: "ymm0",
// "orig_rax", "cpsr".
type Registers interface {
	// NamedRegister returns the bytes of a register in the machine's byte order.
	NamedRegister(name string) ([]byte, bool)
	// SetNamedRegister sets all bytes of a register.
	SetNamedRegister(name string, p []byte) error
}

// register is a register, or a part of one.
type register struct {
	name   string
	column uint64
	named  bool // without a column
	pc     bool // the program counter, which is not read by its column
	offset int  // of the part, in bytes from the least significant one
	typ    *value.Type
	form   form
}

func (c *Context) register(name string) *register {
	r := &register{name: name}
	long := value.IntOf(c.Machine, "int64_t", c.Machine.RegisterSize, true)
	switch c.Machine.ELF {
	case elf.EM_X86_64:
		r.amd64(c.Machine)
	case elf.EM_AARCH64:
		r.arm64(c.Machine)
	}
	if r.typ == nil {
		column, ok := c.Machine.Column(name)
		switch {
		case name == "pc" && c.Machine.ProgramCounter >= 0:
			column, ok = uint64(c.Machine.ProgramCounter), true
		case name == "sp" && c.Machine.StackPointer >= 0:
			column, ok = uint64(c.Machine.StackPointer), true
		case name == "fp" && c.Machine.FramePointer >= 0:
			column, ok = uint64(c.Machine.FramePointer), true
		}
		if !ok {
			return nil
		}
		r.column, r.typ = column, long
		switch int(column) {
		case c.Machine.ProgramCounter:
			r.pc = true
			r.typ = value.PointerTo(value.FuncOf(c.voidResult(), nil, c.language() != value.CPlusPlus))
		case c.Machine.StackPointer:
			r.typ = value.PointerTo(value.Base(c.Machine, "void"))
		case c.Machine.FramePointer:
			if name == "fp" || c.Machine.ELF == elf.EM_X86_64 {
				r.typ = value.PointerTo(value.Base(c.Machine, "void"))
			}
		}
	}
	r.form = formOf(r.typ)
	return r
}

// voidResult returns the type of the result of a function without one.
func (c *Context) voidResult() *value.Type {
	if c.language() == value.Rust {
		return value.UnitOf(c.Machine)
	}
	return value.Base(c.Machine, "void")
}

// gdbVariables are convenience variables and functions that only gdb sets. $_probe_arg0 and others
// begin with $_probe_arg.
var gdbVariables = []string{
	"_siginfo", "_thread", "_gthread", "_inferior", "_inferior_thread_count", "_sdata", "_tlb", "_exception", "_gdb_major", "_gdb_minor",
	"_any_caller_matches", "_any_caller_is", "_caller_matches", "_caller_is", "_as_string", "_regex", "_streq", "_strlen", "_memeq",
	"_gdb_setting", "_gdb_setting_str", "_gdb_maint_setting", "_gdb_maint_setting_str", "_cimag", "_creal", "_isvoid",
}

func isGDBVariable(name string) bool {
	return slices.Contains(gdbVariables, name) || strings.HasPrefix(name, "_probe_arg")
}

// part sets r to a part of the register in a column.
func (r *register) part(m *arch.Machine, column uint64, offset, size int) {
	names := map[int]string{1: "int8_t", 2: "int16_t", 4: "int32_t", 8: "int64_t"}
	r.column, r.offset, r.typ = column, offset, value.IntOf(m, names[size], size, true)
}

// registerNumber returns the number in a name that consists of a prefix, the number and a suffix.
func registerNumber(name, prefix, suffix string, limit int) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, suffix); !ok || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return uint64(n), err == nil && n >= 0 && n < limit && digits[0] != '+'
}

// vector returns gdb's union for a vector register, without its 16-bit floating-point numbers.
func vector(m *arch.Machine, name string, size int) *value.Type {
	var fields []value.Field
	for _, lane := range []struct {
		name string
		typ  *value.Type
	}{
		{"float", value.Base(m, "float")}, {"double", value.Base(m, "double")},
		{"int8", value.IntOf(m, "int8_t", 1, true)}, {"int16", value.IntOf(m, "int16_t", 2, true)},
		{"int32", value.IntOf(m, "int32_t", 4, true)}, {"int64", value.IntOf(m, "int64_t", 8, true)},
	} {
		n := size / int(lane.typ.Size())
		fields = append(fields, value.Field{Name: "v" + strconv.Itoa(n) + "_" + lane.name, Type: value.VectorOf(lane.typ, uint64(n))})
	}
	if size == 16 {
		return value.UnionOf(m, name, append(fields, value.Field{Name: "uint128", Type: value.IntOf(m, "uint128_t", size, false)}))
	}
	return value.UnionOf(m, name, fields)
}

// loadRegister reads a register.
func (e *Expression) loadRegister(o *operand) {
	r := o.register
	o.typ, o.form = r.typ, r.form
	if e.dry {
		o.kind, o.bits = scalarOperand, 0
		if !r.form.isScalar() {
			o.kind = valueOperand
		}
		return
	}
	if e.frame == nil {
		panic(e.failure(errNoRegisters))
	}
	if r.form.isScalar() && r.form.kind != value.Float && !r.named {
		var bits uint64
		known := true
		if r.pc {
			bits, _ = e.frame.ProgramCounter()
		} else {
			bits, known = e.frame.Register(r.column)
		}
		if known {
			o.kind, o.bits = scalarOperand, r.form.cut(bits>>(8*r.offset))
			return
		}
	}
	b, ok := e.registerBytes(r)
	if !ok {
		panic(e.failure(unavailable(r)))
	}
	*o = held(r.typ, value.Constant(r.typ, b, e.frame))
	e.loadValue(o)
}

func unavailable(r *register) error {
	return &Error{Message: "value of register " + r.name + " is not available", Err: value.ErrNotFound}
}

// registerBytes returns the bytes of a register or its part.
func (e *Expression) registerBytes(r *register) ([]byte, bool) {
	var b []byte
	var ok bool
	if r.named {
		if named, has := e.frame.(Registers); has {
			b, ok = named.NamedRegister(r.name)
		}
	} else {
		b, ok = e.frame.RegisterBytes(r.column)
	}
	if !ok {
		return nil, false
	}
	size, start := int(r.form.size), r.offset
	if r.form.kind == value.Float && size == 16 && len(b) == 10 {
		b = append(b, make([]byte, 6)...) // x87 numbers are padded in memory
	}
	if number.IsBigEndian(e.context.Machine) {
		start = len(b) - r.offset - size
	}
	if start < 0 || len(b) < start+size {
		return nil, false
	}
	return b[start : start+size], true
}

func (e *Expression) assignRegister(target, source *operand) operand {
	r := target.register
	b := e.convert(source, r.typ)
	if e.dry {
		return *target
	}
	writer := e.writer()
	column := r.column
	if r.pc {
		column = uint64(e.context.Machine.ProgramCounter)
	}
	switch {
	case r.named:
		named, ok := e.frame.(Registers)
		if !ok {
			panic(e.failure(unavailable(r)))
		}
		e.check(named.SetNamedRegister(r.name, b))
	case r.offset > 0: // ah is written together with al
		old, known := e.frame.Register(column)
		if !known {
			panic(e.failure(unavailable(r)))
		}
		e.check(writer.SetRegisterBytes(column, append([]byte{byte(old)}, b...)))
	case r.form.kind == value.Float && r.form.size == 16:
		e.check(writer.SetRegisterBytes(column, b[:10]))
	default:
		e.check(writer.SetRegisterBytes(column, b))
	}
	return *target
}
