// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// NoColumn marks, in lists of columns, a place that holds no register of the table.
const NoColumn = 0xff

// Description holds the facts about a machine that readers of processes, cores,
// profiles and programs need. A field has its zero value where the fact is not known.
// Pointers and slices are shared, and their contents must not be changed.
type Description struct {
	// General is Linux's layout of the general registers: register set NT_PRSTATUS of
	// PTRACE_GETREGSET, and pr_reg of a core's NT_PRSTATUS note.
	General *RegisterSet
	// Floats is the register set NT_PRFPREG, on machines where functions save general
	// registers in floating-point registers.
	Floats *RegisterSet
	// Perf gives the columns of perf's register numbers
	// (arch/*/include/uapi/asm/perf_regs.h). It has no width: perf stores eight bytes.
	Perf *RegisterSet
	// Vectors says where the register set NT_PRFPREG has vector registers.
	Vectors *VectorSet
	// ThreadRegister is the column of the register that NT_ARM_TLS holds, 0 where there is
	// no such register set.
	ThreadRegister int
	// FloatRegisters describes registers of floating-point numbers that are wider than a
	// general register, or hold small values in another way.
	FloatRegisters *FloatRegisters
	// ThreadStorage is the layout of thread-local storage.
	ThreadStorage *ThreadStorage

	// AddressBits is the number of bits of the addresses that every process can have, 0
	// where it is not known.
	AddressBits int
	// Uname holds what uname -m prints, as patterns of path.Match that are separated by
	// spaces. Both byte orders can have the same name.
	Uname string
	// Compatible is the 32-bit machine whose programs a kernel of this machine can run.
	Compatible elf.Machine

	// Signals lists the names of signals by number, separated by spaces. The first is
	// the name of number 0. "" stands for the names of
	// include/uapi/asm-generic/signal.h.
	Signals string
	// SignalCodeFirst says that siginfo_t has si_code before si_errno.
	SignalCodeFirst bool
	// SignalFrames are the trampolines that signal handlers return to.
	SignalFrames []SignalFrame
	// ProbeSignalFrames says that trampolines are recognised by their code even where
	// there is call frame information.
	ProbeSignalFrames bool

	// C holds facts about C and C++.
	C CABI
	// ELF holds the machine's deviations from ELF's common rules.
	ELFABI
	// IndirectDebug says that the dynamic section is not written to: DT_MIPS_RLD_MAP leads to
	// a pointer to r_debug.
	IndirectDebug bool

	// FrameRecord describes the words that the frame pointer points to.
	FrameRecord *FrameRecord
	// BackChain links frames by the word at the stack pointer: the caller's stack pointer.
	BackChain *BackChain
	// Go holds Go's conventions for the machine, nil if Go does not support it.
	Go *Go
	// Assembler is GNU as's syntax, nil where only comments are known to start with "#".
	Assembler *Assembler
	// Relocations of data, as TYPE:OPERATION separated by spaces: package
	// object/internal/relocation has the operations. The numbers are those of the psABI.
	Relocations string
	// Relative is the type of relocations that add the load bias to their addend, 0 where
	// it is not known.
	Relative uint32
	// UnwindColumns is the number of columns from which libgcc and LLVM's unwinder can
	// compute a CFA: the general registers, and on x86 the return address. 0 stands for
	// 32.
	UnwindColumns uint64

	// RegionUnit is the number of bytes of code that operations of libunwind's regions
	// count, 0 where it is not known.
	RegionUnit uint64
	// SignsReturns says that functions can sign return addresses in the bits above the
	// address.
	SignsReturns bool
	// LongAdvances says that call frame information can have DW_CFA_MIPS_advance_loc8.
	LongAdvances bool
	// RegisterWindows says that a call can give a function new registers, and that the
	// system saves those of its caller, columns 16 to 31, at the caller's stack pointer.
	RegisterWindows bool
}

// RegisterSet is the layout of a set of registers.
type RegisterSet struct {
	Width   int     // bytes of a register
	Align   int     // of the set in other structures, in bytes; 0 stands for Width
	PC      int     // position of the program counter, -1 where the set lacks it
	Columns []uint8 // DWARF column of each position, or NoColumn
}

// Size returns the size of the set in bytes.
func (s *RegisterSet) Size() int { return s.Width * len(s.Columns) }

// VectorSet is the layout of vector registers with consecutive columns.
type VectorSet struct {
	First, Count uint64 // columns
	Start, Size  int    // bytes: of the first register, of the whole register set
	Width        int    // bytes of a register
}

// FloatRegisters are consecutive columns of registers for floating-point numbers.
type FloatRegisters struct {
	First, Last uint64 // columns
	Size        int    // bytes
	// HighBits says that a value of fewer bytes is in the most significant ones.
	HighBits bool
	// Doubles says that a number of four bytes is in the format of eight.
	Doubles bool
}

// ThreadStorage is the layout of thread-local storage (Drepper, "ELF Handling For
// Thread-Local Storage").
type ThreadStorage struct {
	Pointer uint64 // column of the thread pointer
	// Below says that the storage ends at the thread pointer (variant II). Otherwise it
	// starts Header bytes after the thread pointer (variant I).
	Below  bool
	Header uint64
}

// FloatFormat is the format of a floating-point number, where its size does not
// determine it.
type FloatFormat uint8

const (
	IEEE         FloatFormat = iota // that of IEEE 754 with the number's size
	X87                             // 80 bits, and padding up to 12 or 16 bytes
	M68881                          // 96 bits, 16 of which are padding
	DoubleDouble                    // two numbers of 8 bytes: IBM's long double of powerpc
)

// CABI holds facts about C and C++ on a machine.
type CABI struct {
	CharUnsigned bool // char without a sign keyword is unsigned
	// LongDouble is the format of numbers of the size of long double, and LongDoubleSize
	// their size in bytes, 0 where it is two addresses.
	LongDouble     FloatFormat
	LongDoubleSize uint64
	PackedDecimals bool   // decimal numbers have their digits packed by three (IEEE 754-2008 §3.5.2)
	MaxAlign       uint64 // alignment in bytes that no basic type exceeds, 0 where it is 16
	OwnErrnos      bool   // the numbers of errors above 34 are not those of asm-generic/errno.h
	// VirtualInAdjustment says that pointers to methods have the bit that marks virtual
	// ones in the adjustment, because the function's address needs its own lowest bit.
	VirtualInAdjustment bool
	// RestoresAfterCall says that a call ends with an instruction after the return
	// address, which restores a register. The location lists of gcc end before it.
	RestoresAfterCall bool
}

// ELFABI holds what a machine's ELF files have in their own way.
type ELFABI struct {
	UnwindSection elf.SectionType // of sections like .eh_frame, 0 where there is none
	UnwindIndex   elf.ProgType    // of the segment of the exception table, 0 where there is none
	// MappingSymbols says that $a, $d, $t and $x mark code and data.
	MappingSymbols bool
	// Descriptors says that symbols of functions can have the address of a descriptor,
	// whose first word is the function's address.
	Descriptors bool
	// LocalEntry is the greatest distance in bytes from the start of a function to its
	// second entry, which calls within a module use.
	LocalEntry    uint64
	LongHash      bool // DT_HASH has words of eight bytes
	InPlaceAddend bool // entries of SHT_RELA have a second addend in the place that they change
	// ShortTypes says that r_info of eight bytes holds the symbol in its first four bytes
	// and the type in its last one.
	ShortTypes bool
}

// SignalFrame is the code of a signal trampoline, and the place of the interrupted
// registers, which the kernel saves relative to the trampoline's stack pointer.
type SignalFrame struct {
	// Code is the trampoline as it lies in memory. On machines whose instructions have the
	// byte order of data it is as in little-endian memory: see IsSignalFrame.
	Code string
	// Context is the offset of the first saved register, in bytes. Columns are those of the
	// words from there on, or NoColumn.
	Context uint64
	Columns []uint8
	PC      uint64 // offset of the program counter from the first saved register, in bytes
	// Pointer is the offset from the stack pointer of a pointer to the structure that
	// Context is an offset in; 0 where Context is an offset from the stack pointer.
	Pointer uint64
	Width   uint64 // bytes of a word; 0 stands for the machine's RegisterSize
}

// FrameRecord says where compilers keep the caller's frame pointer and the return
// address. FP, RA and CFA are offsets from the frame pointer, in words.
type FrameRecord struct {
	FP int64 // of the caller's frame pointer
	RA int64 // of the return address
	// CFA is the lowest address that the caller's frame can have, and exactly its stack
	// pointer if Exact is set.
	CFA   int64
	Exact bool
}

// BackChain describes a chain of stack pointers: the word at a frame's stack pointer is
// the stack pointer of its caller.
type BackChain struct {
	ReturnAddress uint64 // offset of the return address from the caller's stack pointer, in bytes
	Always        bool   // every frame is in the chain, and the first one's link is 0
}

// Go holds the conventions of Go's compiler and runtime for a machine.
type Go struct {
	Arch string // GOARCH, without "le"; "" where the runtime is not supported as a host
	// ArgumentsOffset is the offset of a function's arguments from its CFA, in bytes: the
	// area that the caller keeps for a return address (internal/goarch, MinFrameSize).
	ArgumentsOffset uint64
	G               int // column of the register that holds the running g, 0 where there is none
}

// Assembler is how GNU as writes comments, and registers in .cfi directives. GNU as
// accepts the psABI's names of columns below Named, except for the columns in Unnamed.
// It accepts numbers, such as r0, for columns below Numbered.
type Assembler struct {
	Comment  string
	Prefix   string // of the names of registers
	Named    int
	Numbered int
	Unnamed  []uint64
}

// IsSignalFrame reports whether code is the code of the trampoline f. Code must be as
// long as f.Code.
func (m *Machine) IsSignalFrame(f *SignalFrame, code []byte) bool {
	if !m.swapsCode() {
		return string(code) == f.Code
	}
	for i := range code {
		if code[i] != f.Code[i^3] {
			return false
		}
	}
	return true
}

// pcNumbers are the program counter and the columns 0 to 31, which are the registers' own
// numbers on most machines.
var pcNumbers = [...]uint8{NoColumn,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
}

// pcFirst is perf's order on machines that have the program counter in the place of a
// register that is always zero.
var pcFirst = RegisterSet{Width: 8, Columns: []uint8{NoColumn,
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
}}
