// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clewdev/clew/check/internal/lift"
)

// Verdict is the result of comparing a row with the code at one instruction.
type Verdict uint8

const (
	Undecided Verdict = iota // see Reason
	Agree                    // the row gives the caller's registers on every path
	Disagree                 // it gives a wrong value on every path that certainly exists
)

func (v Verdict) String() string { return [...]string{"undecided", "agree", "disagree"}[v] }

// Reason is why an instruction is undecided.
type Reason uint8

const (
	NoReason     Reason = iota
	Unreached           // no path that the analysis follows leads there
	UnknownEntry        // the state at the function's start is not known: it is part of another function
	UnknownStack        // the CFA's distance from the registers is not known
	UnknownValue        // a register or a saved value is not known
	Guessed             // the paths lead through a jump table of unknown length, or the row is wrong on a path that may not exist
	MayNotReturn        // the row is wrong if a previous call returns
	NotDecoded          // the bytes are not an instruction that the analysis knows
	NoRow               // the table has no row
	Outermost           // the row says that there is no caller
	SignalFrame         // the kernel makes the frame
	TooLarge            // the function exceeds a limit of the analysis
	NoCode              // the code cannot be read
	UnknownRule         // the analysis does not evaluate the row's expression
	Convention          // a preserved register is changed, by a convention that its callers share
	OpenJump            // the target of a jump of the function is not known, and may be there
	reasons
)

var reasonNames = [reasons]string{"", "not reached", "entry not known", "stack depth not known", "value not known",
	"after a jump table of unknown length", "wrong only if a previous call returns", "not decoded", "no row",
	"outermost frame", "signal frame", "function too large", "code not readable", "expression not evaluated", "calling convention of its own",
	"unknown target of a jump"}

func (r Reason) String() string { return reasonNames[r] }

// Kind is the class of a finding.
type Kind uint8

const (
	// WrongCFA: the rule of the CFA yields another address.
	WrongCFA Kind = iota
	// WrongRegister: the rule of a preserved register does not yield its value in the caller.
	WrongRegister
	// WrongReturnAddress: the rule of the return address does not yield it.
	WrongReturnAddress
	// NotRestored: a function returns without the caller's value in a preserved register.
	NotRestored
	// Malformed: an entry or its instructions cannot be decoded.
	Malformed
	// Overlap: two FDEs describe the same code.
	Overlap
	// OutsideCode: an FDE describes addresses that are not executable.
	OutsideCode
	// OutsideFile: a personality routine or a language-specific data area is not in the file.
	OutsideFile
	// PastEnd: a row starts after the end of the code.
	PastEnd
	// EarlyEnd: a zero terminator is followed by entries. Readers that do not know the size of
	// the section do not see them.
	EarlyEnd
	// WrongHeader: .eh_frame_hdr disagrees with .eh_frame.
	WrongHeader
	// NoEnd: no zero terminator ends an .eh_frame, and no .eh_frame_hdr lists its entries.
	// Readers that do not know the size of the section go on after its end.
	NoEnd
	// WrongSignal: the entry of a signal trampoline lacks the augmentation S, by which unwinders
	// know that the frame was interrupted at its address. Or a function that is called has it.
	WrongSignal
	// WrongEncoding: a pointer has too few bits for the addresses at which the file is loaded.
	WrongEncoding
	// Impossible: a CIE or a row has a value that no code of the machine can have: a register
	// that it lacks, an offset beyond any stack, an address within an instruction.
	Impossible
	kinds
)

var kindNames = [kinds]string{"wrong CFA", "wrong register", "wrong return address", "register not restored",
	"malformed entry", "overlapping entries", "range outside of code", "address outside of the file", "row after the end", "early terminator", "wrong .eh_frame_hdr",
	"no terminator", "wrong signal frame", "encoding too small", "impossible value"}

// Kinds is the number of kinds. Each Kind is less than Kinds.
const Kinds = kinds

func (k Kind) String() string { return kindNames[k] }

// Step is an instruction on a path, with what holds before it.
type Step struct {
	Address uint64
	CFA     string // where the CFA is: "rsp+16", or "*(rbp-8)" for the word at an address; "" if unknown
	Saved   string // where preserved registers are: "rbx at CFA-24, rbp at CFA-16", or "rbx at rbp-16"
}

// Line is an instruction near a defect, with the rule that is wrong at the defect: the rule of
// the CFA or of a register.
type Line struct {
	Address uint64
	Table   string // by the row: "rsp+8", "rbx at CFA-16"; "" if there is no row
	Code    string // by the code; "" if it is not known
}

// Finding is a defect of an unwind table. Addresses are those of the file.
type Finding struct {
	Kind     Kind
	Function uint64 // start of the FDE's code
	Name     string // of the symbol at Function, mangled; "" if unknown
	FDE      uint64 // offset in the section

	// Address is the first instruction at which the table is wrong, and Last the last one of
	// Count consecutive instructions with the same defect.
	Address, Last uint64
	Count         int

	Column   int    // of WrongRegister and NotRestored
	Register string // its name
	Expected string // what the code does: "CFA = rsp+16", "rbx at CFA-16"
	Found    string // what the row says, or what is wrong with the entry
	Path     []Step // from the function's start to Address; see Complete
	Around   []Line // the instructions around Address, by address; see Complete
	atCall   bool   // one of the instructions is a call, or the defect is not of rows
	unsaved  bool   // the register's value is lost, and the row says that it is in the register
	bare     bool   // without Path and Around
	checker  *checker
	Fix      string // the directive to put before the instruction: ".cfi_def_cfa_offset 16"
}

// Complete sets Path and Around, which findings of a report lack after the first thousands. The file must
// be open. Complete must not be called concurrently for findings of one report.
func (f *Finding) Complete() {
	c := f.checker
	if c == nil {
		return
	}
	f.checker = nil
	for i := range c.complete(f.Function) {
		if g := &c.completed[i]; g.Kind == f.Kind && g.Column == f.Column && g.Address == f.Address && g.Found == f.Found {
			f.Path, f.Around, f.bare = g.Path, g.Around, false
			return
		}
	}
}

func (f *Finding) String() string {
	if f.Kind >= Malformed {
		return fmt.Sprintf("%#x: %s: %s", f.Address, f.Kind, f.Found)
	}
	return fmt.Sprintf("%#x: %s: %s, but the table says %s", f.Address, f.Kind, f.Expected, f.Found)
}

// Counters counts what was checked. Bytes that only fill the space between blocks of code
// are not instructions.
type Counters struct {
	Functions    int // FDEs
	Decided      int // FDEs without an undecided instruction
	Defective    int // FDEs with a finding
	Instructions int
	Agree        int
	Disagree     int
	Undecided    int
	Reasons      [reasons]int // of undecided instructions, by Reason
}

// Add adds the counters of another check.
func (c *Counters) Add(o *Counters) {
	c.Functions += o.Functions
	c.Decided += o.Decided
	c.Defective += o.Defective
	c.Instructions += o.Instructions
	c.Agree += o.Agree
	c.Disagree += o.Disagree
	c.Undecided += o.Undecided
	for i := range o.Reasons {
		c.Reasons[i] += o.Reasons[i]
	}
}

// Report is the result of a check.
type Report struct {
	Findings []Finding // see [Finding.Complete]
	Notes    []Note    // of File, ordered by kind
	Counters

	// To decide on the note CallsOnly: the factors of functions with findings, by address, and those
	// with which an FDE describes more than one step.
	factors map[uint64]factors
	stepped map[factors]bool
}

// note keeps from a result what noteCallsOnly needs.
func (r *Report) note(start uint64, result *result) {
	if r.factors == nil {
		r.factors, r.stepped = map[uint64]factors{}, map[factors]bool{}
	}
	if len(result.findings) > 0 {
		r.factors[start] = result.factors
	}
	if result.rows > 2 {
		r.stepped[result.factors] = true
	}
}

// NoteKind is the class of a note.
type NoteKind uint8

const (
	// NoEntry: no FDE describes bytes of an executable section, for example a function in assembly
	// language, or data there. Padding, the code that starts and ends a program, procedure linkage
	// tables and the functions of Go do not count.
	NoEntry NoteKind = iota
	// UnusedCIE: no FDE has the CIE.
	UnusedCIE
	// NoTerminator: no zero terminator ends a section that .eh_frame_hdr lists.
	NoTerminator
	// NotRestoredState: an FDE remembers more states than it restores.
	NotRestoredState
	// CallsOnly: the rows are right at calls and wrong in prologues and epilogues, and the compiler
	// means it: no FDE with the same alignment factors has more than two rows, one from the start on and
	// one after the prologue. LLVM before version 15 always writes such tables on arm64, for
	// exceptions. They mislead profilers, debuggers and signal handlers. The note stands for the
	// findings of these functions.
	CallsOnly
	noteKinds
)

var noteKindNames = [noteKinds]string{"executable bytes without an entry", "CIE without an FDE", "no terminator, but .eh_frame_hdr lists the entries", "state remembered and not restored",
	"functions with rows that are right at calls only"}

func (k NoteKind) String() string { return noteKindNames[k] }

// Note says that a file has something unusual that compilers and linkers make on purpose too. A
// note is not a defect.
type Note struct {
	Kind   NoteKind
	Count  int
	Bytes  uint64  // of NoEntry, with the padding after the code
	Places []Place // the first of them, at most MaxPlaces
}

// MaxPlaces bounds the places that a note lists.
const MaxPlaces = 5

// Place is an address of a note, with the symbol that starts there: the start of code, of a CIE
// or of a section.
type Place struct {
	Address uint64
	Name    string // mangled; "" if unknown
}

// notes are the notes of a file, by kind.
type notes [noteKinds]Note

func (n *notes) add(kind NoteKind, address uint64) {
	e := &n[kind]
	e.Count++
	if len(e.Places) < MaxPlaces {
		e.Places = append(e.Places, Place{Address: address})
	}
}

// merge adds the notes of another section.
func (n *notes) merge(o *notes) {
	for kind := range o {
		for _, p := range o[kind].Places {
			n.add(NoteKind(kind), p.Address)
		}
		n[kind].Count += o[kind].Count - len(o[kind].Places)
		n[kind].Bytes += o[kind].Bytes
	}
}

// minCallsOnly is the least number of functions for the note CallsOnly.
const minCallsOnly = 8

// noteCallsOnly replaces findings by a note, if the table describes neither prologues nor epilogues in
// steps. Functions with a wrong row at a call keep their findings, and so do all with the factors of an
// FDE that has steps: its compiler describes prologues, and is wrong about others.
func (r *Report) noteCallsOnly(n *notes, m *lift.ABI) {
	const (
		notAtCall = 1 << iota
		prologue
		epilogue
		all = notAtCall | prologue | epilogue
	)
	entry := fmt.Sprintf("CFA = %s%+d", m.Names[m.SP], m.CFAOffset)
	functions := make(map[uint64]int)
	for i := range r.Findings {
		f := &r.Findings[i]
		if of, ok := r.factors[f.Function]; !ok || r.stepped[of] {
			continue
		}
		seen, met := functions[f.Function]
		switch {
		case f.atCall:
			functions[f.Function] = seen &^ notAtCall
			continue
		case !met:
			seen = notAtCall
		}
		switch {
		case f.Kind != WrongCFA:
		case f.Found == entry:
			seen |= prologue
		case f.Expected == entry:
			seen |= epilogue
		}
		functions[f.Function] = seen
	}
	whole := 0
	for _, seen := range functions {
		if seen == all {
			whole++
		}
	}
	if whole < minCallsOnly {
		return
	}
	maps.DeleteFunc(functions, func(_ uint64, seen int) bool { return seen&notAtCall == 0 })
	for _, start := range slices.Sorted(maps.Keys(functions)) {
		n.add(CallsOnly, start)
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return functions[f.Function] != 0 })
	r.Defective -= len(functions)
}

// list returns the notes with places.
func (n *notes) list() (list []Note) {
	for kind := range n {
		if n[kind].Count > 0 {
			n[kind].Kind = NoteKind(kind)
			list = append(list, n[kind])
		}
	}
	return list
}
