// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"debug/elf"
	"errors"
	"math/big"
	"os/exec"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// dump is the memory of a stopped program.
type dump []struct {
	start uint64
	bytes []byte
}

var errUnmapped = errors.New("not in the dump")

func (d dump) ReadMemory(p []byte, addr uint64) error {
	for len(p) > 0 {
		n := 0
		for _, m := range d {
			if at := addr - m.start; at < uint64(len(m.bytes)) {
				n = copy(p, m.bytes[at:])
			}
		}
		if n == 0 {
			return errUnmapped
		}
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// dumpFrame is a frame as gdb shows it.
type dumpFrame struct {
	dump
	gdb         *gdbFrame
	registers   *registers
	info        *value.Info
	bias        uint64
	interrupted bool
	caller      *dumpFrame
}

// registers are gdb's names of a machine's registers by column.
type registers struct {
	general     []string // from column 0 on
	vectors     []string
	firstVector uint64   // column
	lanes       []string // the fields of the two halves of a vector
}

var (
	// psABI Figure 3.36.
	amd64 = &registers{strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip"),
		numbered("xmm", 16), 17, []string{"v2_int64"}}
	// DWARF for the Arm 64-bit Architecture §4.1.
	arm64 = &registers{append(numbered("x", 31), "sp", "pc"), numbered("v", 32), 64, []string{"d", "u"}}
)

func numbered(name string, count int) (list []string) {
	for k := range count {
		list = append(list, name+strconv.Itoa(k))
	}
	return list
}

func (f *dumpFrame) Register(column uint64) (uint64, bool) {
	if column >= uint64(len(f.registers.general)) {
		return 0, false
	}
	v, err := strconv.ParseUint(f.gdb.Registers[f.registers.general[column]], 16, 64)
	return v, err == nil
}

func (f *dumpFrame) RegisterBytes(column uint64) ([]byte, bool) {
	k := column - f.registers.firstVector
	if k >= uint64(len(f.registers.vectors)) {
		return nil, false
	}
	n, ok := new(big.Int).SetString(f.gdb.Registers[f.registers.vectors[k]], 16)
	if !ok {
		return nil, false
	}
	b := n.FillBytes(make([]byte, 16))
	slices.Reverse(b)
	return b, true
}

func (f *dumpFrame) ProgramCounter() (pc, lookup uint64) {
	pc = parseHex(f.gdb.PC)
	if f.interrupted {
		return pc, pc
	}
	return pc, pc - 1
}
func (f *dumpFrame) CFA() (uint64, bool) { return parseHex(f.gdb.CFA), true }
func (f *dumpFrame) Info() *value.Info   { return f.info }
func (f *dumpFrame) Bias() uint64        { return f.bias }
func (f *dumpFrame) Caller() value.Frame {
	if f.caller == nil {
		return nil
	}
	return f.caller
}

func parseHex(s string) uint64 {
	v, _ := strconv.ParseUint(s, 16, 64)
	return v
}

// symbols names addresses as gdb does: by the previous symbol in the section.
type symbols struct {
	bias     uint64
	info     *value.Info
	list     []object.Symbol
	sections []object.Section
}

func newSymbols(f *object.File, info *value.Info, bias uint64) *symbols {
	s := &symbols{bias: bias, info: info, sections: f.Sections()}
	for sym := range f.Symbols() {
		if t := sym.Type; t == elf.STT_FUNC || t == elf.STT_OBJECT || t == elf.STT_NOTYPE {
			s.list = append(s.list, sym)
		}
	}
	sort.SliceStable(s.list, func(i, j int) bool { return s.list[i].Address < s.list[j].Address })
	return s
}

func (s *symbols) section(a uint64) int {
	for _, x := range s.sections {
		if x.Flags&elf.SHF_ALLOC != 0 && a >= x.Address && a-x.Address < x.Size {
			return x.Index
		}
	}
	return -1
}

func (s *symbols) Symbol(address uint64) (string, uint64, bool) {
	a := address - s.bias
	in := s.section(a)
	if in < 0 {
		return "", 0, false
	}
	for k := len(s.list) - 1; k >= 0; k-- {
		if sym := s.list[k]; sym.Address <= a && s.section(sym.Address) == in {
			if sym.Size != 0 && a-sym.Address >= sym.Size {
				return "", 0, false
			}
			if fn, err := s.info.FunctionAt(sym.Address); err == nil && (fn.Language == value.Fortran || fn.Language == value.Ada) {
				return fn.Name, a - sym.Address, true // gdb has no rule to demangle the symbol
			}
			return local.ReplaceAllString(demangled(sym.Name), ""), a - sym.Address, true
		}
	}
	return "", 0, false
}

// local is the suffix that gcc appends to the name of a static variable in a function. gdb prints
// the source name.
var local = regexp.MustCompile(`\.\d+$`)

var clone = regexp.MustCompile(`\.\d+([+>])`)

func demangled(name string) string {
	if name == "structures.fixed" {
		return "structures[fixed]" // gdb takes clang's name of a static variable for a mangled name of D
	}
	if !strings.HasPrefix(name, "_Z") {
		return name
	}
	known, ok := demangledNames[name]
	if !ok {
		known = name
		if out, err := exec.Command("c++filt", name).Output(); err == nil {
			known = strings.TrimSpace(string(out))
		}
		demangledNames[name] = known
	}
	return known
}

// demangledNames caches the results of c++filt.
var demangledNames = make(map[string]string)
