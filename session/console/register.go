// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

func (c *Console) infoRegisters(args string) error {
	return c.registers(strings.Fields(args), func(r session.RegisterInfo) bool {
		return r.Class == session.GeneralRegister && r.Name != "orig_rax" // gdb takes it for one of the system's
	})
}

func (c *Console) infoAllRegisters(args string) error {
	return c.registers(strings.Fields(args), func(session.RegisterInfo) bool { return true })
}

func (c *Console) registers(names []string, wanted func(session.RegisterInfo) bool) error {
	f, err := c.selectedFrame()
	if err != nil {
		return err
	}
	all := c.session.RegisterInfos()
	for _, name := range names {
		name = c.registerAlias(strings.TrimPrefix(name, "$"))
		i := slices.IndexFunc(all, func(r session.RegisterInfo) bool { return r.Name == name })
		if i < 0 {
			return fmt.Errorf("invalid register %q", name)
		}
		c.printRegister(f, all[i])
	}
	if len(names) > 0 {
		return nil
	}
	for _, r := range all {
		if wanted(r) {
			c.printRegister(f, r)
		}
	}
	return nil
}

// registerAlias returns the machine's register for gdb's name on all machines.
func (c *Console) registerAlias(name string) string {
	switch name {
	case "pc", "sp", "fp", "lr":
		if column, ok := jit.Host().Column(name); ok {
			return jit.Host().RegisterName(column)
		}
	}
	return name
}

func (c *Console) printRegister(f *frontend.Frame, r session.RegisterInfo) {
	row := fmt.Sprintf("%-15s", r.Name)
	b, ok := c.registerBytes(f, r)
	if !ok {
		c.printf("%s<not saved>\n", row)
		return
	}
	if len(b) > 8 {
		natural := ""
		if r.Class == session.VectorRegister && len(b) >= 16 {
			natural = fmt.Sprintf("  {%v, %v}", math.Float64frombits(binary.LittleEndian.Uint64(b)), math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		}
		slices.Reverse(b)
		c.printf("%s%#x%s\n", row, new(big.Int).SetBytes(b), natural)
		return
	}
	n := frontend.Word(b)
	c.printf("%s%-19s %s\n", row, fmt.Sprintf("%#x", n), c.natural(r, n))
}

func (c *Console) registerBytes(f *frontend.Frame, r session.RegisterInfo) ([]byte, bool) {
	if f.Physical.Innermost() {
		b, err := c.session.Register(r.Name)
		return b, err == nil
	}
	n := f.Physical.PC
	if r.Column != jit.Host().ProgramCounter {
		if r.Column < 0 {
			// Segments and flags are not saved. gdb shows those of the innermost frame.
			b, err := c.session.Register(r.Name)
			return b, err == nil && r.Size <= 8
		}
		var ok bool
		if n, ok = f.Physical.Register(uint64(r.Column)); !ok {
			return nil, false
		}
	}
	return binary.LittleEndian.AppendUint64(nil, n), true
}

// natural returns a register's value in a form for its use.
func (c *Console) natural(r session.RegisterInfo, n uint64) string {
	switch r.Name {
	case "rip", "pc":
		return fmt.Sprintf("%#x%s", n, c.angle(n))
	case "rsp", "rbp", "sp":
		return fmt.Sprintf("%#x", n)
	case "eflags":
		return flags(n, flagNames["i386_eflags"])
	case "cpsr":
		return flags(n, map[uint]string{28: "V", 29: "C", 30: "Z", 31: "N"})
	}
	if r.Size <= 4 {
		return fmt.Sprint(int32(n))
	}
	return fmt.Sprint(int64(n))
}

// flagNames are the names of bits by the type of a register in an expression.
var flagNames = map[string]map[uint]string{
	"i386_eflags": {0: "CF", 2: "PF", 4: "AF", 6: "ZF", 7: "SF", 8: "TF", 9: "IF", 10: "DF", 11: "OF", 14: "NT", 16: "RF", 17: "VM", 18: "AC", 19: "VIF", 20: "VIP", 21: "ID"},
	"i386_mxcsr":  {0: "IE", 1: "DE", 2: "ZE", 3: "OE", 4: "UE", 5: "PE", 6: "DAZ", 7: "IM", 8: "DM", 9: "ZM", 10: "OM", 11: "UM", 12: "PM", 15: "FZ"},
}

// flags returns the names of the bits that are set: "[ ZF PF ]".
func flags(n uint64, names map[uint]string) string {
	text := "["
	for bit := range uint(64) {
		if name := names[bit]; name != "" && n>>bit&1 != 0 {
			text += " " + name
		}
	}
	return text + " ]"
}
