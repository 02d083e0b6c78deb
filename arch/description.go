// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// NoColumn marks, in a list of columns, a word that holds no register of the table.
const NoColumn = 0xff

// Description contains the facts about a machine that readers of processes, cores, profiles and
// programs need. Unknown facts have the zero value. Pointers and slices are shared, and their
// contents must not be changed.
type Description struct {
	// General is Linux's layout of the general registers: register set NT_PRSTATUS of
	// PTRACE_GETREGSET, and pr_reg of a core's NT_PRSTATUS note.
	General *RegisterSet
	// Floats is the register set NT_PRFPREG, on machines where functions save general
	// registers in floating-point registers.
	Floats *RegisterSet
	// Perf gives the columns of perf's register numbers
	// (arch/*/include/uapi/asm/perf_regs.h). It has no width: perf stores eight bytes.
	Perf    *RegisterSet
	Vectors *VectorSet // vector registers in the register set NT_PRFPREG
	// ThreadRegister is the column of the register in NT_ARM_TLS, 0 if there is no such
	// register set.
	ThreadRegister int
	// FloatRegisters describes registers of floating-point numbers that are wider than a
	// general register, or contain small values in another form.
	FloatRegisters *FloatRegisters
	ThreadStorage  *ThreadStorage

	// AddressBits is the number of bits of the addresses that every process can have, 0 if
	// unknown.
	AddressBits int
	// Uname lists the output of uname -m, as patterns of path.Match that are separated by
	// spaces. Both byte orders can have the same name.
	Uname string
	// Compatible is the 32-bit machine whose programs a kernel of this machine can run.
	Compatible elf.Machine

	// Signals lists the names of signals by number, separated by spaces. The first is the name
	// of number 0. "" means the names of include/uapi/asm-generic/signal.h.
	Signals         string
	SignalCodeFirst bool          // siginfo_t has si_code before si_errno
	SignalFrames    []SignalFrame // the trampolines that signal handlers return to
	// ProbeSignalFrames says that trampolines must be recognised by their code even if there is
	// call frame information.
	ProbeSignalFrames bool

	C      CABI
	ELFABI // deviations from ELF's common rules
	// IndirectDebug says that the dynamic section is read-only. DT_MIPS_RLD_MAP points to a
	// pointer to r_debug.
	IndirectDebug bool

	FrameRecord *FrameRecord // the words at the frame pointer
	BackChain   *BackChain
	Go          *Go      // nil if Go does not support the machine
	Results     *Results // of C functions, nil if unknown
	Processor   Processor
	Assembler   *Assembler // nil if it is unknown; comments then start with "#"
	// Relocations of data, as TYPE:OPERATION separated by spaces. Package
	// object/internal/relocation has the operations. The numbers are those of the psABI.
	Relocations string
	// Relative is the type of relocations that add the load bias to their addend, 0 if unknown.
	Relative uint32
	// UnwindColumns is the number of columns from which libgcc and LLVM's unwinder can compute
	// a CFA: the general registers, and on x86 the return address. 0 means 32.
	UnwindColumns uint64

	// EntryCode is the size in bytes of the code at a program's entry point, 0 if it is not more
	// than 32.
	EntryCode    uint64
	RegionUnit   uint64 // bytes of code of a unit of libunwind's regions, 0 if unknown
	SignsReturns bool   // functions can sign return addresses in the bits above the address
	LongAdvances bool   // call frame information can have DW_CFA_MIPS_advance_loc8
	// RegisterWindows says that a call can give a function new registers. The system saves
	// those of its caller, columns 16 to 31, at the caller's stack pointer.
	RegisterWindows bool
}

// RegisterSet is the layout of a set of registers.
type RegisterSet struct {
	Width   int     // bytes of a register
	Align   int     // of the set in other structures, in bytes; 0 means Width
	PC      int     // position of the program counter, -1 if the set lacks it
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
	HighBits    bool   // a value of fewer bytes is in the most significant ones
	Doubles     bool   // a number of four bytes has the format of eight
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

// FloatFormat is the format of a floating-point number, if its size does not determine it.
type FloatFormat uint8

const (
	IEEE         FloatFormat = iota // the format of IEEE 754 with the number's size
	X87                             // 80 bits, and padding to 12 or 16 bytes
	M68881                          // 96 bits, 16 of which are padding
	DoubleDouble                    // two numbers of 8 bytes: IBM's long double of powerpc
)

// CABI contains facts about C and C++ on a machine.
type CABI struct {
	CharUnsigned bool // char without a sign keyword is unsigned
	// LongDouble is the format of numbers of the size of long double, and LongDoubleSize
	// their size in bytes, 0 for the size of two addresses.
	LongDouble     FloatFormat
	LongDoubleSize uint64
	PackedDecimals bool   // decimal numbers have their digits packed by three (IEEE 754-2008 §3.5.2)
	MaxAlign       uint64 // largest alignment of a basic type in bytes, 0 for 16
	OwnErrnos      bool   // the numbers of errors above 34 are not those of asm-generic/errno.h
	// VirtualInAdjustment says that pointers to methods have the mark of virtual methods in
	// the adjustment, because the function's address needs its lowest bit.
	VirtualInAdjustment bool
	// RestoresAfterCall says that a call ends with an instruction after the return
	// address, which restores a register. The location lists of gcc end before it.
	RestoresAfterCall bool
}

// ELFABI contains the peculiarities of a machine's ELF files.
type ELFABI struct {
	UnwindSection  elf.SectionType // of sections like .eh_frame, or 0
	UnwindIndex    elf.ProgType    // of the segment of the exception table, or 0
	MappingSymbols bool            // $a, $d, $t and $x mark code and data
	// Descriptors says that symbols of functions can have the address of a descriptor, which
	// starts with the function's address.
	Descriptors bool
	// LocalEntry is the largest distance in bytes from the start of a function to its second
	// entry, which calls within a module use.
	LocalEntry    uint64
	LongHash      bool // DT_HASH has words of eight bytes
	InPlaceAddend bool // entries of SHT_RELA have a second addend in the place that they change
	ShortTypes    bool // r_info of eight bytes has the symbol in the first four and the type in the last
}

// SignalFrame is the code of a signal trampoline, and the place of the interrupted
// registers, which the kernel saves relative to the trampoline's stack pointer.
type SignalFrame struct {
	// Code is the bytes of the trampoline in memory. On machines with instructions in the byte
	// order of data, they are those of little-endian memory: see IsSignalFrame.
	Code string
	// Context is the offset of the first saved register, in bytes. Columns are those of the
	// words from there on, or NoColumn.
	Context uint64
	Columns []uint8
	PC      uint64 // offset of the program counter from the first saved register, in bytes
	// Pointer is the offset from the stack pointer of a pointer to the structure that contains
	// Context. If it is 0, Context is an offset from the stack pointer.
	Pointer uint64
	Width   uint64 // bytes of a word; 0 means the machine's RegisterSize
}

// FrameRecord is the place of the caller's frame pointer and the return address in compiled
// code. FP, RA and CFA are offsets from the frame pointer, in words.
type FrameRecord struct {
	FP int64 // of the caller's frame pointer
	RA int64 // of the return address
	// CFA is the lowest possible address of the caller's frame. With Exact it is the caller's
	// stack pointer.
	CFA   int64
	Exact bool
}

// BackChain describes a chain of stack pointers: the word at a frame's stack pointer is
// the stack pointer of its caller.
type BackChain struct {
	ReturnAddress uint64 // offset of the return address from the caller's stack pointer, in bytes
	Always        bool   // every frame is in the chain, and the link of the outermost frame is 0
}

// Go contains the conventions of Go's compiler and runtime for a machine.
type Go struct {
	Arch string // GOARCH, without "le"; "" if the runtime is not supported as a host
	// ArgumentsOffset is the offset of a function's arguments from its CFA, in bytes: the
	// area that the caller reserves for a return address (internal/goarch, MinFrameSize).
	ArgumentsOffset uint64
	G               int // column of the register with the running g, or 0
}

// Results describes where C functions return values. Words, Vectors and Extended list columns in
// the order of their use.
type Results struct {
	Words    []uint8 // integers and addresses
	Vectors  []uint8 // floating-point numbers of up to 8 bytes, in the low bytes
	Extended []uint8 // numbers of the format X87
	// Homogeneous is the largest number of floating-point numbers in a type that is returned
	// with each of its numbers in a register (AAPCS64 §5.9.5). 0 means that each eight bytes of
	// a type have the class of their members (psABI amd64 §3.2.3).
	Homogeneous int
	// Address is the column of the register in which the caller passes the address for a value
	// that is returned in memory. 0 means that the address is the first argument, and that the
	// function returns it in Words.
	Address int
}

// Processor contains facts about the execution of code. Code is nil if unknown.
type Processor struct {
	Trap        []byte // the instruction for breakpoints
	TrapOperand []byte // the bits of Trap that its operand has
	TrapStops   bool   // the program counter stays at a trap instruction
	Return      []byte // the instruction that returns to the caller
	Idle        []byte // an endless loop that leaves the processor to others
	// CoherentCode says that processors execute changed code without a flush of their caches.
	CoherentCode bool
	// WatchesBefore says that debuggers expect a stop at a watchpoint before the access.
	WatchesBefore bool
}

// Assembler is GNU as's syntax of comments, and of registers in .cfi directives. It accepts
// the psABI's names of columns below Named, except for the columns in Unnamed. It accepts
// numbers, such as r0, for columns below Numbered. Objdump pads mnemonics with spaces to Padding
// columns and one space; a Padding of 0 means a tab.
type Assembler struct {
	Comment  string
	Prefix   string // of the names of registers
	Named    int
	Numbered int
	Unnamed  []uint64
	Padding  int
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

// pcNumbers are the program counter and the columns 0 to 31, which equal the registers' numbers
// on most machines.
var pcNumbers = [...]uint8{NoColumn,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
}

// pcFirst is perf's order on machines with the program counter instead of the zero register.
var pcFirst = RegisterSet{Width: 8, Columns: []uint8{NoColumn,
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
}}
