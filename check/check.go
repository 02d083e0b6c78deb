// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/object"
)

// ErrMachine is wrapped by the error for a machine whose code the package does not analyse.
var ErrMachine = errors.New("machine without code analysis")

// ErrRelocatable is wrapped by the error for a relocatable file, whose code has addresses only
// after linking: see package check/survey.
var ErrRelocatable = errors.New("relocatable file")

// Options say what to check.
type Options struct {
	// Skip is called for each function's range of addresses, and returns true for one that is
	// not checked. It may be nil.
	Skip func(start, end uint64) bool

	// Divide runs tasks, which are the parts of a large section, possibly at the same time: Skip and
	// the methods of the code's memory are then called concurrently. Divide returns when all have
	// ended. If it is nil, they run one after another. The report does not depend on it.
	Divide func(tasks []func())

	// Code replaces the bytes of the file, at its addresses, for File: by those that a process
	// has mapped. It may be nil.
	Code cfi.Memory

	// Imports are functions outside of the file that its code calls, by address. Their names say
	// for File which of them do not return. It may be nil.
	Imports map[uint64]string

	// Scratch names registers that the functions need not preserve, although the ABI requires
	// it: "rbx" if generated code keeps a stack pointer of its own there.
	Scratch []string
}

// Code contains the code to analyse, and facts about it that its bytes do not show.
type Code struct {
	// Memory contains the code and the language-specific data areas, at addresses of the
	// section.
	Memory cfi.Memory
	// NoReturn holds the entries of functions that do not return. It may be nil.
	NoReturn map[uint64]bool
	// Stubs are tables of stubs that functions enter at each multiple of their size, as
	// procedure linkage tables.
	Stubs []Stubs

	// KeepsNone reports that the function at an address preserves no register for its
	// callers, such as those of Go (ABIInternal) and OCaml. Rows without a rule for a register then say
	// nothing about it. It may be nil.
	KeepsNone func(start uint64) bool

	// stops reports that debugging information says that the function at start does not return,
	// or that called by the instruction before next. It is called only for calls that nothing
	// else explains, and may be nil.
	stops func(start, next uint64) bool

	size uint64 // of the file, 0 if it is unknown
}

// Stubs is a table of stubs of Size bytes in [Start, End). Header says that the first stub is
// not a function: only the other stubs jump to it.
type Stubs struct {
	Start, End, Size uint64
	Header           bool
}

// File checks the structure of the .eh_frame, .eh_frame_hdr and .debug_frame of a file, and
// compares their rows with its code. The error wraps
// ErrMachine or ErrRelocatable if the file cannot be analysed, and object.ErrFault if the
// file was truncated.
func File(f *object.File, options Options) (report *Report, err error) {
	err = object.Guard(func() error {
		report, err = file(f, options)
		return err
	})
	return report, err
}

func file(f *object.File, options Options) (*Report, error) {
	if lift.Of(f.Machine()) == nil {
		return nil, fmt.Errorf("%s: %w: %s, only %s can be checked", f.Name(), ErrMachine, f.Machine().Name, strings.Join(lift.Names(), " and "))
	}
	if f.Type() == elf.ET_REL {
		return nil, fmt.Errorf("%s: %w: link it first", f.Name(), ErrRelocatable)
	}
	code := Code{Memory: newRelocated(f, options.Code), NoReturn: noReturns(f, options.Imports), Stubs: stubs(f), KeepsNone: keepsNone(f), stops: noReturnAttributes(f), size: f.StoredSize()}
	var report Report
	var notes notes
	var sections []*cfi.Section
	for _, open := range []func() (*cfi.Section, error){f.EHFrame, f.DebugFrame} {
		section, err := open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if section == nil {
			continue
		}
		r, err := Section(section, code, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		findings, more := structure(f, section, options)
		sections = append(sections, section)
		notes.merge(&more)
		r.noteCallsOnly(&notes, lift.Of(f.Machine()).ABI())
		report.Findings = append(report.Findings, findings...)
		report.Findings = append(report.Findings, r.Findings...)
		report.Counters.Add(&r.Counters)
	}
	if len(sections) > 0 {
		notes.uncovered(f, code.Memory, sections)
	}
	report.Notes = notes.list()
	return &report, name(f, &report)
}

// name finds the names of the functions with findings, and of the places of notes.
func name(f *object.File, report *Report) error {
	var addresses []uint64
	var names []*string
	functions := 0
	for i := range report.Findings {
		if i == 0 || report.Findings[i].Function != addresses[functions-1] {
			addresses, names = append(addresses, report.Findings[i].Function), append(names, &report.Findings[i].Name)
			functions++
		}
	}
	for i := range report.Notes {
		for k := range report.Notes[i].Places {
			p := &report.Notes[i].Places[k]
			addresses, names = append(addresses, p.Address), append(names, &p.Name)
		}
	}
	symbols, err := f.FindSymbols(addresses)
	for i := range symbols {
		if i < functions || symbols[i].Address == addresses[i] {
			*names[i] = symbols[i].Name
		}
	}
	for i := 1; i < len(report.Findings); i++ {
		if f, previous := &report.Findings[i], &report.Findings[i-1]; f.Function == previous.Function {
			f.Name = previous.Name
		}
	}
	return err
}

// stubs returns the procedure linkage tables of a file.
func stubs(f *object.File) []Stubs {
	var list []Stubs
	for _, s := range f.Sections() {
		if s.Flags&elf.SHF_EXECINSTR != 0 && (s.Name == ".plt" || strings.HasPrefix(s.Name, ".plt.")) && s.Size > 0 {
			size := uint64(16)
			if s.Name == ".plt.got" && s.Entry == 8 {
				size = 8
			}
			list = append(list, Stubs{s.Address, s.Address + s.Size, size, s.Name == ".plt"})
		}
	}
	return list
}

// Section compares a section of call frame information with code, without checking the section's structure.
// Addresses are those of the section. The error wraps [ErrMachine], or names a register of options.Scratch that
// the ABI does not preserve. The report keeps s and code.Memory: see [Finding.Complete].
func Section(s *cfi.Section, code Code, options Options) (*Report, error) {
	c := newChecker(s, code)
	if c == nil {
		return nil, fmt.Errorf("%w (%s)", ErrMachine, s.Machine.Name)
	}
	for _, name := range options.Scratch {
		number := slices.Index(c.abi.Names, name)
		if number < 0 || !c.abi.Preserves(number) {
			return nil, fmt.Errorf("%q is not a register that functions of %s preserve", name, s.Machine.Name)
		}
		c.globals |= 1 << number
	}
	return c.run(options)
}

// newChecker returns a checker, or nil for a machine that the package does not know.
func newChecker(s *cfi.Section, code Code) *checker {
	m := lift.Of(s.Machine)
	if m == nil {
		return nil
	}
	return &checker{section: s, memory: code.Memory, machine: m, abi: m.ABI(), noReturn: maps.Clone(code.NoReturn), stubs: code.Stubs, keepsNone: code.KeepsNone, stops: code.stops, size: code.size}
}

// checker checks the functions of one section.
type checker struct {
	section   *cfi.Section
	memory    cfi.Memory
	machine   lift.Machine
	abi       *lift.ABI
	noReturn  map[uint64]bool
	stubs     []Stubs
	keepsNone func(start uint64) bool // see Code
	stops     func(start, next uint64) bool
	size      uint64 // of the file

	work      int64 // what is left of the budget
	details   int   // steps and lines that findings may still get
	pathSteps int   // those of the findings of the FDE

	fdes    []cfi.IndexRange
	first   int            // index of the first FDE of the window
	outside map[int]*claim // by FDE outside of the window; nil if there is one window
	owner   []int          // by FDE of the window: index in units, -1 before it was checked
	units   [][]int
	results []result
	joins   int

	globals uint64         // preserved registers that are variables of the program
	private map[int]uint64 // by FDE: preserved registers that it may change
	ignored uint64         // those of the part that is compared
	none    bool           // that part preserves no register: see Code.KeepsNone

	tables      []uint64 // addresses of those that were read
	tableStarts []uint64 // the same, sorted, once all functions have been checked

	interpreter cfi.Interpreter
	fde         cfi.FDE
	rules       []cfi.Rule
	sites       []byte // of a language-specific data area
	spare       []lift.Operation
	unit        unit
	interned    map[string]string  // texts of findings without details
	completed   []Finding          // those of one function, with details
	returning   map[uint64]bool    // by entry of a function: it may return
	written     map[uint64]uint64  // by entry of a function: the columns that it changes
	splits      map[uint64]bool    // by entry of a function: it is __morestack
	observe     func(*instruction) // for tests: called for every instruction that is reached
}

func (c *checker) run(options Options) (*Report, error) {
	c.fdes = c.section.Index().Ranges()
	c.setBudget(c.size)
	windows := c.divide()
	taken := make([]bool, len(c.fdes)) // by functions of other windows
	// First the functions, which lead to the cold parts; then what they do not lead to.
	for _, whole := range []bool{true, false} {
		err := each(windows, options.Divide, func(w *checker) {
			for k := range w.owner {
				i := w.first + k
				if w.owner[k] < 0 && !taken[i] && !(options.Skip != nil && options.Skip(c.fdes[i].Start, c.fdes[i].End)) {
					w.check(i, whole)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		for _, w := range windows {
			for i := range w.outside {
				taken[i] = true
			}
		}
	}
	if err := c.checkGuesses(windows, options.Divide); err != nil {
		return nil, err
	}
	if len(windows) > 1 {
		c.gather(windows)
	}
	c.conventions()
	var report Report
	count := 0
	for i := range c.results {
		count += len(c.results[i].findings)
	}
	report.Findings = slices.Grow(report.Findings, count)
	for i := range c.results {
		r := &c.results[i]
		report.Counters.Add(&r.counters)
		report.note(c.fdes[i].Start, r)
		for k := range r.findings {
			if r.findings[k].bare {
				r.findings[k].checker = c
			}
		}
		report.Findings = append(report.Findings, r.findings...)
		r.findings = nil
	}
	c.setBudget(c.size) // for Finding.Complete
	return &report, nil
}

// checkGuesses checks functions with tables of unknown length again, once the starts of the
// tables after them are known.
func (c *checker) checkGuesses(windows []*checker, divide func([]func())) error {
	var starts []uint64
	for _, w := range windows {
		starts = append(starts, w.tables...)
		w.tables = nil
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	c.tableStarts = starts
	return each(windows, divide, func(w *checker) {
		w.tableStarts = starts
		for k := range w.results {
			if w.results[k].counters.Reasons[Guessed] > 0 && w.owner[k] >= 0 && w.units[w.owner[k]][0] == w.first+k {
				w.check(w.first+k, false)
			}
		}
	})
}

// check checks a function with all parts that it leads to. If whole is set it leaves out
// code that is not entered as functions are.
func (c *checker) check(index int, whole bool) {
	u := &c.unit
	u.clear(c)
	c.rules = c.rules[:0]
	if !u.addPart(index) {
		c.fail(index, u.failed)
		return
	}
	p := &u.parts[0]
	stub := c.stubsAt(p.start)
	p.entered = len(p.rows) > 0 && (p.rows[0].entry || p.rows[0].signedEntry && u.signs(p)) && !u.aligned(p)
	if !p.entered && stub == nil && whole {
		return
	}
	if stub != nil {
		p.entered = false
		u.stubs = append(u.stubs, *stub)
	}
	u.solve()
	for n := 0; u.failed == NoReason && !u.judge(); n++ {
		if n >= maxRestarts {
			u.failed = TooLarge
			break
		}
		u.solve()
	}
	reached := !p.entered && stub == nil
	members := make([]int, len(u.parts))
	for k := range u.parts {
		p := &u.parts[k]
		members[k] = p.fde
		c.setOwner(p.fde, len(c.units))
		switch {
		case u.failed != NoReason:
			c.fail(p.fde, u.failed)
		default:
			*c.resultOf(p.fde) = u.collect(p)
		}
		if reached { // no path leads to it
			r := &c.resultOf(p.fde).counters
			r.Reasons[UnknownEntry] += r.Reasons[Unreached]
			r.Reasons[Unreached] = 0
		}
	}
	c.units = append(c.units, members)
}

// fail makes a whole function undecided.
func (c *checker) fail(index int, why Reason) {
	if c.ownerOf(index) < 0 {
		c.setOwner(index, len(c.units))
		c.units = append(c.units, []int{index})
	}
	r := result{counters: Counters{Functions: 1}}
	// Instructions are counted one after another.
	var code [4096]byte
	f := c.fdes[index]
	for at := f.Start; at < f.End && f.End-f.Start <= maxCounted && c.spend(len(code)/bytesPerJob); {
		n := min(uint64(len(code)), f.End-at)
		if c.memory.ReadMemory(code[:n], at) != nil {
			break
		}
		offset := uint64(0)
		for offset < n && (n-offset >= uint64(c.abi.MaxSize) || at+n == f.End) {
			i := lift.Instruction{Right: lift.NoRegister}
			if _, ok := c.machine.Decode(code[offset:n], at+offset, &i, c.spare[:0]); !ok || i.Size == 0 {
				i.Size = uint8(min(c.abi.MinSize, int(n-offset)))
			}
			r.count(Undecided, why)
			offset += uint64(i.Size)
		}
		at += offset
	}
	if r.counters.Instructions == 0 {
		r.count(Undecided, why)
	}
	*c.resultOf(index) = r
}

// fdeAt returns the index of the FDE that covers an address, -1 if none does.
func (c *checker) fdeAt(pc uint64) int {
	n, found := slices.BinarySearchFunc(c.fdes, pc, func(r cfi.IndexRange, pc uint64) int {
		switch {
		case r.End <= pc:
			return -1
		case r.Start > pc:
			return 1
		}
		return 0
	})
	if !found {
		return -1
	}
	return n
}

// startsFunction reports whether an address is that of an FDE whose first row is that of a
// function's entry.
func (c *checker) startsFunction(index int, pc uint64) bool {
	if c.section == nil { // the functions have no rows
		return c.fdes[index].Start == pc
	}
	if c.fdes[index].Start != pc || c.section.FDEAt(c.fdes[index].FDE, &c.fde) != nil {
		return false
	}
	rules := len(c.rules)
	rows := c.rows(nil, &c.fde)
	c.rules = c.rules[:rules]
	return len(rows) > 0 && rows[0].entry
}

func (c *checker) stubsAt(pc uint64) *Stubs {
	for i := range c.stubs {
		if s := &c.stubs[i]; pc >= s.Start && pc < s.End {
			return s
		}
	}
	return nil
}

// word reads a number of 4 or 8 bytes.
func (c *checker) word(at, size uint64) (uint64, bool) {
	var b [8]byte
	if c.memory.ReadMemory(b[:size], at) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// clear makes the unit empty for another function. Its buffers stay.
func (u *unit) clear(c *checker) {
	u.c = c
	u.parts, u.instructions, u.operations, u.states, u.work = u.parts[:0], u.instructions[:0], u.operations[:0], u.states[:0], u.work[:0]
	u.pending, u.targets, u.stubs, u.mismatches, u.tables = u.pending[:0], u.targets[:0], u.stubs[:0], u.mismatches[:0], u.tables[:0]
	u.dropped, u.banned = nil, nil
	u.restart, u.repeat, u.framed, u.returns, u.suspicious, u.doubtful = false, false, false, false, false, false
	u.steps, u.failed = 0, NoReason
}
