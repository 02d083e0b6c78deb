// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Column numbers: RISC-V psABI, "DWARF register numbers". Preserved
// registers: the same, "Register convention".

var riscvReadelf = []run{
	{0, "zero ra sp gp tp t[0-2] s0 s1 a[0-7] s[2-11] t[3-6]"},
	{32, "ft[0-7] fs0 fs1 fa[0-7] fs[2-11] ft[8-11]"},
	{96, "v[0-31]"},
}

var riscvRows = []row{
	riscvRow("riscv64", elf.ELFCLASS64, &riscv64),
	riscvRow("riscv32", elf.ELFCLASS32, &riscv32),
}

func riscvRow(name string, class elf.Class, d *Description) row {
	return row{
		name: name, machine: elf.EM_RISCV, class: class, data: elf.ELFDATA2LSB,
		// gas writes -4 with 64-bit registers too; LLVM writes -8 there.
		code: 1, factor: -4, sp: 2, fp: 8, ra: 1,
		aliases: []run{{0, "x[0-31] f[0-31]"}, {8, "fp"}},
		// sp, gp and tp (which no procedure may change), s0 to s11, fs0 to fs11.
		saved:   []span{{2, 4}, {8, 9}, {18, 27}, {40, 41}, {50, 59}},
		readelf: riscvReadelf, readelfLimit: 8192,
		csr:         true,
		description: d, instructions: &riscvCode,
	}
}

var (
	riscv64 = Description{
		Relocations: riscvRelocations, Relative: 3, Assembler: &riscvAssembler,
		Go:      &Go{Arch: "riscv64", ArgumentsOffset: 8, G: 27},
		General: &RegisterSet{Width: 8, Columns: riscvGeneral[:]},
		Perf:    &pcFirst,
		Uname:   "riscv64", Compatible: elf.EM_RISCV,
		SignalFrames: []SignalFrame{
			// li a7,__NR_rt_sigreturn; ecall. siginfo, then struct ucontext with its
			// sigcontext at 176: arch/riscv/include/uapi/asm/ucontext.h.
			{Code: "\x93\x08\xb0\x08\x73\x00\x00\x00", Context: 128 + 176, Columns: riscvGeneral[:]},
		},
		FrameRecord: &recordBelow,
		C:           CABI{CharUnsigned: true}, ELFABI: ELFABI{MappingSymbols: true},
	}
	riscv32 = Description{
		Relocations: riscvRelocations, Relative: 3, Assembler: &riscvAssembler,
		General: &RegisterSet{Width: 4, Columns: riscvGeneral[:]},
		Perf:    &pcFirst, Uname: "riscv32", FrameRecord: &recordBelow,
		C: CABI{CharUnsigned: true}, ELFABI: ELFABI{MappingSymbols: true},
	}
	riscvAssembler = Assembler{Comment: "#", Named: 128}
	// arch/riscv/include/uapi/asm/ptrace.h, struct user_regs_struct: pc, then x1 to x31.
	riscvGeneral = [...]uint8{
		NoColumn, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	}
)

// recordBelow is the frame record below the address in the frame pointer. gcc saves the
// arguments of a variadic function between the record and the caller's frame
// (riscv-elf-psabi, "Frame Pointer Convention"; LoongArch psABI).
var recordBelow = FrameRecord{FP: -2, RA: -1, CFA: 0}

var riscvCode = instructions{
	unit: 2, call: riscvCall, setsFramePointer: riscvSetsFramePointer, stub: riscvStub, stubStep: 16,
}

func riscvSetsFramePointer(code []byte) (offset int64, ok bool) {
	if len(code) >= 2 && code[0]&3 == 0 { // c.addi4spn s0
		op := uint32(binary.LittleEndian.Uint16(code))
		imm := op>>11&3<<4 | op>>7&15<<6 | op>>6&1<<2 | op>>5&1<<3
		return int64(imm), op&0xe01f == 0 && imm != 0
	}
	op := firstWord(code) // addi s0, sp, imm
	return int64(extend(op, 20, 12)), op&0xfffff == 0x10413
}

// riscvStub: auipc t3, hi; l[w|d] t3, lo(t3); jalr t1, t3; nop.
func riscvStub(code []byte, pc uint64) (s Stub, ok bool) {
	if len(code) < 8 {
		return Stub{}, false
	}
	auipc, load := firstWord(code), firstWord(code[4:])
	s = Stub{Slot: pc + extend(auipc&^0xfff, 0, 32) + extend(load, 20, 12), Size: 16}
	return s, auipc&0xfff == 0xe17 && (load&0xfffff == 0xe2e03 || load&0xfffff == 0xe3e03)
}

// riscvCall: RISC-V unprivileged ISA, RV32I and the C extension, with ra as the link register.
func riscvCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op&0xfff == 0x0ef: // jal ra
		distance := op>>31<<20 | op>>12&0xff<<12 | op>>20&1<<11 | op>>21&0x3ff<<1
		return Call{returns - 4 + extend(distance, 0, 21), true}, true
	case op&0x7fff == 0x00e7: // jalr ra
		base := op >> 15 & 31
		if high := word(binary.LittleEndian, code, 8); high&0x7f == 0x17 && high>>7&31 == base && base != 0 { // auipc
			return Call{returns - 8 + extend(high&^0xfff, 0, 32) + extend(op, 20, 12), true}, true
		}
		return Call{}, true
	}
	if b := tail(code, 2); b != nil {
		op := uint32(binary.LittleEndian.Uint16(b))
		switch {
		case op&0xf07f == 0x9002 && op>>7&31 != 0: // c.jalr
			return Call{}, true
		case op&0xe003 == 0x2001 && m.AddressSize == 4: // c.jal, of 32 bits only
			distance := op>>12&1<<11 | op>>11&1<<4 | op>>9&3<<8 | op>>8&1<<10 | op>>7&1<<6 | op>>6&1<<7 | op>>3&7<<1 | op>>2&1<<5
			return Call{returns - 2 + extend(distance, 0, 12), true}, true
		}
	}
	return Call{}, false
}

const riscvRelocations = "0:none 1:abs32 2:abs64 43:none 51:none 33:add8 34:add16 35:add32 36:add64 37:sub8 38:sub16 " +
	"39:sub32 40:sub64 52:sub6 53:set6 54:abs8 55:abs16 56:abs32 57:rel32 60:setuleb 61:subuleb"

// The columns of RISC-V's control and status registers: the register's number
// plus 4096 (RISC-V psABI, "DWARF register numbers").
const (
	csrFirst = 4096
	csrLast  = csrFirst + csrCount - 1
	csrCount = 4096
)

// csrNames returns the names by register number. Registers without a name, "", are printed as
// "csr" and the number. The list is made on first use, because few programs need it.
var csrNames = sync.OnceValue(func() []string {
	names := make([]string, csrCount)
	copy(names, expand(csrRuns))
	return names
})

// csrColumn returns the column of a control and status register.
func csrColumn(name string) (uint64, bool) {
	if n := slices.Index(csrNames(), name); n >= 0 {
		return csrFirst + uint64(n), true
	}
	digits, found := strings.CutPrefix(name, "csr")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 12)
	if err != nil || csrNames()[n] != "" || strconv.FormatUint(n, 10) != digits {
		return 0, false
	}
	return csrFirst + n, true
}

// csrRuns are the registers with names in GNU readelf 2.40, by number: those of the RISC-V
// privileged specification up to 1.12 and of its extensions.
var csrRuns = []run{
	{0x000, "ustatus fflags frm fcsr uie utvec"}, {0x008, "vstart vxsat vxrm"}, {0x00f, "vcsr"}, {0x015, "seed"},
	{0x040, "uscratch uepc ucause utval uip"}, {0x100, "sstatus"}, {0x102, "sedeleg sideleg sie stvec scounteren"},
	{0x10a, "senvcfg"}, {0x10c, "sstateen[0-3]"}, {0x114, "sieh"}, {0x140, "sscratch sepc scause stval sip"},
	{0x14d, "stimecmp"}, {0x150, "siselect sireg"}, {0x154, "siph"}, {0x15c, "stopei stimecmph"}, {0x180, "satp"},
	{0x200, "vsstatus"}, {0x204, "vsie vstvec"}, {0x214, "vsieh"}, {0x240, "vsscratch vsepc vscause vstval vsip"},
	{0x24d, "vstimecmp"}, {0x250, "vsiselect vsireg"}, {0x254, "vsiph"}, {0x25c, "vstopei vstimecmph"},
	{0x280, "vsatp"}, {0x300, "mstatus misa medeleg mideleg mie mtvec mcounteren"}, {0x308, "mvien mvip menvcfg"},
	{0x30c, "mstateen[0-3] mstatush"}, {0x313, "midelegh mieh"}, {0x318, "mvienh mviph menvcfgh"},
	{0x31c, "mstateen[0-3]h mcountinhibit mscounteren mhcounteren mhpmevent[3-31] mscratch mepc mcause mtval mip"},
	{0x34a, "mtinst mtval2"}, {0x350, "miselect mireg"}, {0x354, "miph"}, {0x35c, "mtopei"},
	{0x380, "mbase mbound mibase mibound mdbase mdbound"}, {0x3a0, "pmpcfg[0-15] pmpaddr[0-63]"},
	{0x5a8, "scontext"}, {0x600, "hstatus"},
	{0x602, "hedeleg hideleg hie htimedelta hcounteren hgeie hvien hvictl henvcfg"}, {0x60c, "hstateen[0-3]"},
	{0x613, "hidelegh"}, {0x615, "htimedeltah"}, {0x618, "hvienh"}, {0x61a, "henvcfgh"}, {0x61c, "hstateen[0-3]h"},
	{0x643, "htval hip hvip hviprio1 hviprio2"}, {0x64a, "htinst"}, {0x655, "hviph hviprio1h hviprio2h"},
	{0x680, "hgatp"}, {0x6a8, "hcontext"}, {0x723, "mhpmevent[3-31]h"}, {0x747, "mseccfg"}, {0x757, "mseccfgh"},
	{0x7a0, "tselect tdata[1-3] tinfo tcontrol"}, {0x7a8, "mcontext"}, {0x7aa, "mscontext"},
	{0x7b0, "dcsr dpc dscratch0 dscratch1"}, {0xb00, "mcycle"}, {0xb02, "minstret mhpmcounter[3-31]"},
	{0xb80, "mcycleh"}, {0xb82, "minstreth mhpmcounter[3-31]h"},
	{0xc00, "cycle time instret hpmcounter[3-31] vl vtype vlenb"},
	{0xc80, "cycleh timeh instreth hpmcounter[3-31]h"}, {0xda0, "scountovf"}, {0xdb0, "stopi"}, {0xe12, "hgeip"},
	{0xeb0, "vstopi"}, {0xf11, "mvendorid marchid mimpid mhartid mconfigptr"}, {0xfb0, "mtopi"},
}
