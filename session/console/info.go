// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/session"
)

func (c *Console) infoRegisters(args string) error {
	return c.registers(strings.Fields(args), func(r session.RegisterInfo) bool { return r.Class == session.GeneralRegister })
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
		name = strings.TrimPrefix(name, "$")
		name = c.registerAlias(name)
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

// registerAlias is the register that a name of every machine means.
func (c *Console) registerAlias(name string) string {
	if c.values.machine().Name == "arm64" {
		return map[string]string{"fp": "x29", "lr": "x30"}[name] + map[bool]string{true: name}[name != "fp" && name != "lr"]
	}
	switch name {
	case "pc":
		return "rip"
	case "sp":
		return "rsp"
	case "fp":
		return "rbp"
	}
	return name
}

func (c *Console) printRegister(f *frame, r session.RegisterInfo) {
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
	word := make([]byte, 8)
	copy(word, b)
	n := binary.LittleEndian.Uint64(word)
	c.printf("%s%-18s %s\n", row, fmt.Sprintf("%#x", n), c.natural(r, n))
}

// registerBytes reads a register in a frame.
func (c *Console) registerBytes(f *frame, r session.RegisterInfo) ([]byte, bool) {
	if f.physical.Level == 0 {
		b, err := c.session.Register(r.Name)
		return b, err == nil
	}
	n := f.physical.PC
	if r.Name != "rip" && r.Name != "pc" {
		if r.Column < 0 {
			// Segments and flags are not saved anywhere; gdb shows the worker's.
			b, err := c.session.Register(r.Name)
			return b, err == nil && r.Size <= 8
		}
		var ok bool
		if n, ok = f.physical.Register(uint64(r.Column)); !ok {
			return nil, false
		}
	}
	return binary.LittleEndian.AppendUint64(nil, n), true
}

// natural is a register's value by what it is for.
func (c *Console) natural(r session.RegisterInfo, n uint64) string {
	switch r.Name {
	case "rip", "pc":
		return fmt.Sprintf("%#x%s", n, c.angle(n))
	case "rsp", "rbp", "sp":
		return fmt.Sprintf("%#x", n)
	case "eflags":
		return flags(n, map[uint]string{0: "CF", 2: "PF", 4: "AF", 6: "ZF", 7: "SF", 8: "TF", 9: "IF", 10: "DF", 11: "OF", 14: "NT", 16: "RF", 17: "VM", 18: "AC", 21: "ID"})
	case "cpsr":
		return flags(n, map[uint]string{28: "V", 29: "C", 30: "Z", 31: "N"})
	}
	if r.Size <= 4 {
		return fmt.Sprint(int32(n))
	}
	return fmt.Sprint(int64(n))
}

// flags are the names of the bits that are set: "[ ZF PF ]".
func flags(n uint64, names map[uint]string) string {
	text := "["
	for bit := range uint(64) {
		if name := names[bit]; name != "" && n>>bit&1 != 0 {
			text += " " + name
		}
	}
	return text + " ]"
}

func (c *Console) infoFrame(string) error {
	f, err := c.selectedFrame()
	if err != nil {
		return err
	}
	p := f.physical
	cfa, known := p.CFA()
	if known {
		c.printf("Stack level %d, frame at %#x:\n", f.level, cfa)
	} else {
		c.printf("Stack level %d:\n", f.level)
	}
	where := ""
	if f.line > 0 {
		where = fmt.Sprintf(" (%s:%d)", c.source.shown(f.file), f.line)
	}
	pc := c.registerAlias("pc")
	c.printf(" %s = %#x", pc, p.PC)
	if f.name != "" {
		c.printf(" in %s%s", f.name, where)
	}
	caller := c.caller(f)
	if caller != nil {
		c.printf("; saved %s = %#x", pc, caller.physical.PC)
	}
	c.printf("\n")
	if f.inlined {
		c.printf(" inlined into frame %d\n", f.level+1)
	} else if caller != nil {
		if its, ok := caller.physical.CFA(); ok {
			c.printf(" called by frame at %#x\n", its)
		}
	} else {
		c.printf(" outermost frame: it was called by the session\n")
	}
	if p.Level > 0 {
		c.printf(" found by %v\n", p.Method)
	}
	if f.scope != nil {
		c.printf(" args: %s\n", strings.Join(c.values.arguments(f), ", "))
	}
	if known {
		c.printf(" Previous frame's sp is %#x\n", cfa)
		if saved := c.savedRegisters(f, cfa); len(saved) > 0 {
			c.printf(" Saved registers:\n  %s\n", strings.Join(saved, ", "))
		}
	}
	return nil
}

// savedRegisters are where a frame keeps what its caller wants back: "rbp at 0x7ffe...".
func (c *Console) savedRegisters(f *frame, cfa uint64) (list []string) {
	p := f.physical
	if p.Image == nil {
		return nil
	}
	file := p.Image.File(p.LookupPC)
	if file == nil {
		return nil
	}
	sections, err := file.CFISections()
	if err != nil && len(sections) == 0 {
		return nil
	}
	for _, s := range sections {
		var fde cfi.FDE
		if err := s.Find(p.LookupPC, &fde); err != nil {
			continue
		}
		row, err := new(cfi.Interpreter).RowAt(&fde, p.LookupPC)
		if err != nil {
			return nil
		}
		for _, r := range row.Registers {
			if r.Kind == cfi.Offset {
				list = append(list, fmt.Sprintf("%s at %#x", s.Machine.RegisterName(uint64(r.Column)), cfa+uint64(r.Offset)))
			}
		}
		return list
	}
	return nil
}

func (c *Console) infoLine(args string) error {
	var address uint64
	if args == "" {
		f, err := c.selectedFrame()
		if err != nil {
			return err
		}
		address = f.physical.LookupPC
	} else {
		addresses, err := c.locate(args)
		if err != nil {
			return err
		}
		// Of a function the line of its first instruction is meant.
		if a, ok := c.session.Symbol(args); ok {
			addresses = []uint64{a}
		}
		address = addresses[0]
	}
	r := c.lineRange(c.session.Image(address), address)
	if r.Line == 0 {
		c.printf("No line number information available for address %#x%s\n", address, c.angle(address))
		return nil
	}
	at := "Line %d of %q starts at address %#x%s and ends at %#x%s.\n"
	if address != r.Start && strings.HasPrefix(args, "*") {
		c.printf("Address %#x%s is at line %d of %q, which starts at %#x%s and ends at %#x%s.\n",
			address, c.angle(address), r.Line, c.source.shown(r.File), r.Start, c.angle(r.Start), r.End, c.angle(r.End))
	} else {
		c.printf(at, r.Line, c.source.shown(r.File), r.Start, c.angle(r.Start), r.End, c.angle(r.End))
	}
	c.list.at(r.File, r.Line)
	c.examined = examined{next: r.Start, known: true, letter: 'i', size: c.examined.size}
	return nil
}

func (c *Console) infoSymbol(args string) error {
	if args == "" {
		return fmt.Errorf("info symbol of which address?")
	}
	address, err := c.address(args)
	if err != nil {
		return err
	}
	name, offset, ok := c.symbols().Symbol(address)
	if !ok {
		c.printf("No symbol matches %s.\n", args)
		return nil
	}
	if offset > 0 {
		name += fmt.Sprintf(" + %d", offset)
	}
	where := ""
	if image := c.session.Image(address); image != nil {
		where = " of " + filepath.Base(image.Name())
	}
	if section := c.section(address); section != "" {
		c.printf("%s in section %s%s\n", name, section, where)
		return nil
	}
	c.printf("%s%s\n", name, where)
	return nil
}

func (c *Console) section(address uint64) string {
	for _, image := range c.session.Images() {
		for _, f := range image.Files() {
			for _, s := range f.Sections() {
				if s.Address != 0 && address >= s.Address && address-s.Address < s.Size {
					return s.Name
				}
			}
		}
	}
	return ""
}

func (c *Console) infoFunctions(args string) error {
	match := func(string) bool { return true }
	if args != "" {
		re, err := regexp.Compile(args)
		if err != nil {
			return fmt.Errorf("%q is no regular expression: %w", args, err)
		}
		match = re.MatchString
		c.printf("All functions matching regular expression %q:\n", args)
	} else {
		c.printf("All defined functions:\n")
	}
	type described struct {
		line int
		text string
	}
	files := make(map[string][]described)
	var others []session.Function
	hosts := 0
	for _, image := range c.session.Images() {
		for _, f := range image.Functions() {
			if !match(f.Name) {
				continue
			}
			if args == "" && image.IsHost() {
				hosts++
				continue
			}
			if info := image.Info(f.Start); info != nil {
				fn, err := info.FunctionAt(f.Start)
				if r := c.lineRange(image, f.Start); err == nil && r.File != "" {
					files[r.File] = append(files[r.File], described{fn.Line, c.values.declaration(fn) + ";"})
					continue
				}
			}
			others = append(others, f)
		}
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		c.printf("\nFile %s:\n", c.source.shown(name))
		list := files[name]
		slices.SortFunc(list, func(a, b described) int { return a.line - b.line })
		for _, d := range list {
			c.printf("%d:\t%s\n", d.line, d.text)
		}
	}
	if len(others) > 0 {
		c.printf("\nNon-debugging symbols:\n")
		for _, f := range others {
			c.printf("0x%016x  %s\n", f.Start, f.Name)
		}
	}
	if hosts > 0 {
		c.printf("\nAnd %d functions of the host, which \"info functions .\" lists too.\n", hosts)
	}
	return nil
}

func (c *Console) infoSource(string) error {
	file := c.list.file
	if f := c.current(); f != nil && f.file != "" {
		file = f.file
	}
	if file == "" {
		c.printf("No current source file.\n")
		return nil
	}
	c.printf("Current source file is %s\n", c.source.shown(file))
	f := c.source.open(file)
	if f.err != nil {
		c.printf("It cannot be read: %v; --directory names where sources are\n", f.err)
		return nil
	}
	if path, err := filepath.Abs(file); err == nil {
		c.printf("Located in %s\n", path)
	}
	c.printf("Contains %d lines.\n", len(f.lines))
	return nil
}

func (c *Console) infoImages(string) error {
	c.printf("From                To                  Functions  Image\n")
	for _, image := range c.session.Images() {
		ranges := image.Ranges()
		if len(ranges) == 0 {
			continue
		}
		c.printf("0x%016x  0x%016x  %-9s  %s\n", ranges[0].Start, ranges[len(ranges)-1].End, strconv.Itoa(len(image.Functions())), image.Name())
	}
	return nil
}

// infoProgram says what the session does.
func (c *Console) infoProgram(string) error {
	switch c.session.State() {
	case session.Stopped:
		c.printf("%s is stopped at %#x%s, in process %d.\n", c.runningText(), c.programCounter(), c.angle(c.programCounter()), c.session.PID())
	case session.Exited:
		c.printf("The last call has ended.\n")
	default:
		c.printf("Nothing was called yet.\n")
	}
	return nil
}
