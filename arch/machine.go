// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Machine describes a machine: its ABI, and in Description the facts that Linux,
// compilers and Go add. Machines of the table must not be changed. They may be shared
// between goroutines.
type Machine struct {
	Name         string           // the usual name: "x86-64", "arm64"
	ELF          elf.Machine      // e_machine
	Class        elf.Class        // ELFCLASS32 or ELFCLASS64: width of an address in the file
	Order        binary.ByteOrder // byte order of data
	AddressSize  int              // bytes of an address: 4 or 8
	RegisterSize int              // bytes of a general register in its save slot: 8 on x32 and MIPS n32, elsewhere AddressSize

	CodeAlign uint64 // the code alignment factor of gcc and gas, 1 if unknown
	DataAlign int64  // the data alignment factor of gcc and gas, -AddressSize if unknown

	StackPointer  int // DWARF column, -1 if unknown
	FramePointer  int // DWARF column, -1 if the ABI has none
	ReturnAddress int // DWARF column of the return address, -1 if unknown

	// ProgramCounter is the DWARF column of the program counter, -1 if there is none or it is
	// unknown. On x86 and m68k it is the return address's.
	ProgramCounter int

	// CFAOffset is the CFA minus the caller's stack pointer after the return, in bytes. It is
	// 0 except on s390 (the register save area is between the two) and sparc64 (the stack
	// pointer has a bias).
	CFAOffset int64

	// ReturnOffset is added to the value of the return address column to get the address that
	// a function returns to, in bytes. It is 8 on SPARC, where a call stores its own address
	// and has a delay slot, and 0 on other machines.
	ReturnOffset int64
	// CodeMask contains the bits of a code pointer that are the address. The others are the
	// mode of the code: the lowest bit on arm and MIPS, the two lowest on hppa, the highest of
	// 32 on s390.
	CodeMask uint64

	Description
	code instructions

	names   []string // by column, "" if the machine has no register
	aliases []alias
	saved   columnSet
	readelf []string // by column, "" if readelf prints a number
	// readelfLimit is the highest column that GNU readelf 2.40 accepts. It calls higher ones
	// (of which it keeps 32 bits) "bad register". If it has names for the machine, it skips
	// them. Otherwise it reports an "Unfeasibly large register number" on standard error and
	// forgets all previous columns of that entry.
	readelfLimit uint64
	csr          bool // columns from csrFirst on are control and status registers
}

type alias struct {
	name   string
	column uint64
}

// columnSet is a set of columns below 320. The highest register that an ABI preserves is arm's
// d15 = 271.
type columnSet [5]uint64

func (s *columnSet) add(first, last int) {
	for c := first; c <= last; c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

// RegisterName returns the psABI's name of a column, or "r" and the number for a column
// without a name. GNU readelf prints the same name on machines that it knows.
// RegisterName does not allocate for a register of the table.
func (m *Machine) RegisterName(column uint64) string {
	if name := m.named(column); name != "" {
		return name
	}
	var buf [24]byte
	return string(m.appendUnnamed(buf[:0], column))
}

// Named reports whether the machine has a register with a column.
func (m *Machine) Named(column uint64) bool { return m.named(column) != "" }

// AppendRegisterName appends the result of RegisterName to dst. It allocates only if dst must
// grow.
func (m *Machine) AppendRegisterName(dst []byte, column uint64) []byte {
	if name := m.named(column); name != "" {
		return append(dst, name...)
	}
	return m.appendUnnamed(dst, column)
}

func (m *Machine) named(column uint64) string {
	if column < uint64(len(m.names)) {
		return m.names[column]
	}
	if m.isCSR(column) {
		return csrNames()[column-csrFirst]
	}
	return ""
}

func (m *Machine) appendUnnamed(dst []byte, column uint64) []byte {
	if m.isCSR(column) {
		return strconv.AppendUint(append(dst, "csr"...), column-csrFirst, 10)
	}
	return strconv.AppendUint(append(dst, 'r'), column, 10)
}

func (m *Machine) isCSR(column uint64) bool {
	return m.csr && column >= csrFirst && column <= csrLast
}

// Column returns the column of a register by its name. It accepts every name that
// RegisterName returns (also "r57" for a column without a name) and the machine's usual
// second names ("x30" and "lr", "s8" and "fp"). It also accepts "sp", "fp" and "ra" for
// the stack pointer, the frame pointer and the return address on every machine that has
// them. Names are in lower case, without "%" or "$".
func (m *Machine) Column(name string) (column uint64, ok bool) {
	if name == "" {
		return 0, false
	}
	if c := slices.Index(m.names, name); c >= 0 {
		return uint64(c), true
	}
	if i := slices.IndexFunc(m.aliases, func(a alias) bool { return a.name == name }); i >= 0 {
		return m.aliases[i].column, true
	}
	special := map[string]int{"sp": m.StackPointer, "fp": m.FramePointer, "ra": m.ReturnAddress}
	if c, ok := special[name]; ok && c >= 0 {
		return uint64(c), true
	}
	if m.csr {
		if c, ok := csrColumn(name); ok {
			return c, true
		}
	}
	if name[0] != 'r' {
		return 0, false
	}
	c, err := strconv.ParseUint(name[1:], 10, 64)
	// Column 7 of x86-64 is "rsp" and not "r7". "r07" is not a name.
	if err != nil || m.named(c) != "" || m.RegisterName(c) != name {
		return 0, false
	}
	return c, true
}

// CalleeSaved reports whether a procedure that follows the psABI returns with the
// register unchanged. Such a register without a rule has the same value in the caller
// as in the callee. Registers that no procedure may change (the thread pointer) are
// included. If a vector register overlaps a preserved floating-point register (arm64's
// v8), the ABI preserves only the part that overlaps.
//
// Two columns are special. The stack pointer is preserved, but without a rule in the
// row its value in the caller is CFA-CFAOffset. The return address is not preserved:
// without a rule in the row it is still in its register, as in a leaf function of
// arm64.
func (m *Machine) CalleeSaved(column uint64) bool {
	return column < uint64(len(m.saved)*64) && m.saved[column>>6]>>(column&63)&1 != 0
}

// commonSignals: include/uapi/asm-generic/signal.h.
const commonSignals = `0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1
	SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU
	SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS`

// unknownSignals means that the numbers of signals are unknown.
const unknownSignals = "0"

// SignalName returns the name of a signal by its number on Linux, such as "SIGSEGV", or "" if
// the number has no name or the name is unknown. A nil Machine means the numbers of most
// machines.
func (m *Machine) SignalName(number int) string {
	names := commonSignals
	if m != nil && m.Signals != "" {
		names = m.Signals
	}
	if list := strings.Fields(names); number > 0 && number < len(list) {
		return list[number]
	}
	return ""
}

// elfNames are the values of e_machine without a name in package debug/elf: those of the registry
// (gABI, "e_machine") up to 269, and the unofficial ones that binutils reads
// (include/elf/common.h).
var elfNames = map[elf.Machine]string{
	11: "EM_OLD_SPARCV9", 17: "EM_VPP550", 23: "EM_SPU", 182: "EM_INTEL182", 184: "EM_ARM184",
	245: "EM_CEVA", 246: "EM_CEVA_X2", 248: "EM_GRAPHCORE_IPU", 249: "EM_IMG1", 250: "EM_NFP", 251: "EM_VE",
	252: "EM_CSKY", 253: "EM_ARC_COMPACT3_64", 254: "EM_MCS6502", 255: "EM_ARC_COMPACT3", 256: "EM_KVX",
	257: "EM_65816", 259: "EM_KF32", 260: "EM_U16_U8CORE", 261: "EM_TACHYUM", 262: "EM_56800EF", 263: "EM_SBF",
	264: "EM_AIENGINE", 265: "EM_SIMA_MLA", 266: "EM_BANG", 267: "EM_LOONGGPU", 268: "EM_SW64", 269: "EM_AIECTRLCODE",

	0x1057: "EM_AVR_OLD", 0x1059: "EM_MSP430_OLD", 0x1223: "EM_ADAPTEVA_EPIPHANY", 0x2530: "EM_MT",
	0x3330: "EM_CYGNUS_FR30", 0x4157: "EM_WEBASSEMBLY", 0x4688: "EM_XC16X", 0x4def: "EM_S12Z",
	0x5441: "EM_CYGNUS_FRV", 0x5aa5: "EM_DLX", 0x7650: "EM_CYGNUS_D10V", 0x7676: "EM_CYGNUS_D30V",
	0x8217: "EM_IP2K_OLD", 0x9025: "EM_CYGNUS_POWERPC", 0x9041: "EM_CYGNUS_M32R", 0x9080: "EM_CYGNUS_V850",
	0xa390: "EM_S390_OLD", 0xabc7: "EM_XTENSA_OLD", 0xad45: "EM_XSTORMY16", 0xbaab: "EM_MICROBLAZE_OLD",
	0xbeef: "EM_CYGNUS_MN10300", 0xdead: "EM_CYGNUS_MN10200", 0xf00d: "EM_CYGNUS_MEP", 0xfeb0: "EM_M32C_OLD",
	0xfeba: "EM_IQ2000", 0xfebb: "EM_NIOS32", 0xfeed: "EM_MOXIE_OLD",
}

// ELFName returns the name of a value of e_machine, such as "EM_AVR". For a value
// without a name it returns its number, as "e_machine 4000".
func ELFName(machine elf.Machine) string {
	if name, ok := elfNames[machine]; ok {
		return name
	}
	// Package elf prints an unknown value as the name of a lower value plus a number.
	if name := machine.String(); !strings.Contains(name, "+") {
		return name
	}
	return fmt.Sprintf("e_machine %d", uint16(machine))
}

// Uint returns the unsigned number that b holds in the machine's byte order. b has 1, 2, 4 or 8
// bytes; the result is 0 for another length.
func (m *Machine) Uint(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(m.Order.Uint16(b))
	case 4:
		return uint64(m.Order.Uint32(b))
	case 8:
		return m.Order.Uint64(b)
	}
	return 0
}

// Truncate returns the bits of v that fit in an address of the machine.
func (m *Machine) Truncate(v uint64) uint64 {
	if m.AddressSize == 4 {
		return v & 0xffffffff
	}
	return v
}
