// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// Function holds .gopclntab's facts about the function at an address.
type Function struct {
	Name       string
	Entry, End uint64 // its code, without load bias: [Entry, End)

	// Depth is the number of bytes of stack that the function uses at the address,
	// without the return address that a call pushes. It is -1 if the table has no
	// value.
	Depth int

	TopFrame bool // stacks start in it
	WritesSP bool // it moves the stack pointer in ways that Depth does not describe
	Assembly bool // it was written in assembly
}

// Program is one Go program, library or plugin. Addresses are without load bias.
type Program struct {
	Machine *arch.Machine

	// Function returns the function at an address, and false if there is none.
	Function func(address uint64) (Function, bool)
	// Named returns the function with a name.
	Named func(name string) (Function, bool)
	// Code reads the program's code.
	Code cfi.Memory
}

// Table finds the rules of a program's Go functions. It implements unwind.Source. Its
// methods may be called from several goroutines if the functions of the Program may.
type Table struct {
	program Program
	layout  *layout
	start   *unwind.Rules

	// hasC reports whether C code starts the program's threads. Its crosscall1, in assembly,
	// calls mstart and has no unwind information.
	hasC func() bool

	mu    sync.Mutex
	known map[shape]*unwind.Rules
}

// layout holds the facts that differ between machines.
type layout struct {
	sp, fp, ra, g int // columns; g is that of the register with the running g
	returnAddress int // bytes that a call pushes
	*assembly
}

// assembly decodes a machine's code of the runtime.
type assembly struct {
	switches map[string]func(*crossing) error // by name of the function that changes stacks
	// scan follows the first instructions of a function in assembly.
	scan func(code []byte, a *assembled)
	// savesFP reports whether code begins with the instruction that saves the frame
	// pointer. The previous instruction has made the frame.
	savesFP func(code []byte) bool
	// curg finds the offset of curg in m in the code of systemstack.
	curg func(code []byte) (offset int64, ok bool)
	// callTarget returns the target of the call at the end of code, which ends at an address.
	callTarget func(code []byte, end uint64) (target uint64, ok bool)
}

// layoutOf returns the layout of a machine, nil if it is not known.
func layoutOf(m *arch.Machine) *layout {
	if m.Go == nil || m.AddressSize != 8 {
		return nil
	}
	l := &layout{sp: m.StackPointer, fp: m.FramePointer, ra: m.ReturnAddress, g: m.Go.G}
	switch m.Go.Arch {
	case "amd64":
		l.assembly = amd64
	case "arm64":
		l.assembly = arm64
	default:
		return nil
	}
	if m.PushesReturns() {
		l.returnAddress = m.AddressSize
	}
	return l
}

// New returns the table of a program, and false if the machine is not supported.
func New(p Program) (*Table, bool) {
	l := layoutOf(p.Machine)
	if l == nil {
		return nil, false
	}
	hasC := sync.OnceValue(func() bool {
		_, ok := p.Named("crosscall2")
		return ok
	})
	return &Table{program: p, layout: l, start: Start(p.Machine), hasC: hasC, known: make(map[shape]*unwind.Rules)}, true
}

// Start returns the rules of an outermost frame.
func Start(m *arch.Machine) *unwind.Rules {
	ra := uint32(m.ReturnAddress)
	return &unwind.Rules{
		CFA:           cfi.Rule{Kind: cfi.Register, Register: uint32(m.StackPointer)},
		Registers:     []cfi.RegisterRule{{Column: ra, Rule: cfi.Rule{Kind: cfi.Undefined}}},
		ReturnAddress: uint64(ra),
	}
}

// StartsIn reports whether stacks start in the function called name
// (src/runtime/asm_*.s). A goroutine returns to goexit, rt0_go is the program's first
// function, and a new thread begins in clone.
func StartsIn(name string) bool {
	return name == "runtime.goexit" || name == "runtime.rt0_go" || name == "runtime.clone"
}

// SwitchesIn reports whether the function called name changes stacks.
func SwitchesIn(name string) bool { return switchesAMD64[name] != nil }

// Rules returns the rules that hold at an address without load bias. The error wraps
// cfi.ErrNoFDE if there is no Go function at the address, or if its caller cannot be
// found.
func (t *Table) Rules(pc uint64) (*unwind.Rules, error) {
	fn, ok := t.program.Function(pc)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: .gopclntab has no function at %#x", cfi.ErrNoFDE, pc)
	case isSigreturn(fn.Name) || t.precedesSigreturn(&fn, pc):
		return nil, fmt.Errorf("%w: a signal trampoline is at %#x", cfi.ErrNoFDE, pc)
	case StartsIn(fn.Name) || fn.TopFrame && !t.hasCaller(fn.Name):
		return t.start, nil
	}
	if cross := t.layout.switches[fn.Name]; cross != nil {
		return t.cross(&fn, pc, cross)
	}
	if fn.WritesSP || fn.Depth < 0 {
		return nil, fmt.Errorf("%w: %s, at %#x: %w", cfi.ErrNoFDE, cmp.Or(fn.Name, "a function without a name"), pc, unwind.ErrMovesStack)
	}
	return t.frame(&fn, pc), nil
}

// hasCaller reports whether a function at which the runtime's own walk ends has a caller
// here: a signal handler was entered from the interrupted code, and mstart, if C starts no
// threads, from the function that started the thread.
func (t *Table) hasCaller(name string) bool {
	return name == "runtime.sigtramp" || name == "runtime.mstart" && !t.hasC()
}

// isSigreturn reports whether the kernel returns from signal handlers through the function
// called name, which nothing calls.
func isSigreturn(name string) bool {
	return name == "runtime.sigreturn" || name == "runtime.sigreturn__sigaction"
}

// precedesSigreturn reports whether pc is the byte before such a function, and so the
// look-up address of a return address at its start.
func (t *Table) precedesSigreturn(fn *Function, pc uint64) bool {
	if pc+1 != fn.End {
		return false
	}
	next, ok := t.program.Function(pc + 1)
	return ok && isSigreturn(next.Name)
}

// shape holds everything that the rules of most frames depend on.
type shape struct {
	depth     int
	savesFP   bool
	returnsIn bool // the return address is in its register
	fpFromCFA int64
	// A signal handler has made the function look called: see interrupts.
	interrupts bool
}

// interrupts reports whether nothing calls the function called name: the runtime's signal
// handlers enter it after they have interrupted Go code (runtime/traceback.go, unwindTrap).
func interrupts(name string) bool {
	return name == "runtime.sigpanic" || name == "runtime.asyncPreempt" || name == "runtime.debugCallV2"
}

// interrupted changes the rules of a function to those of one that interrupts. On machines
// with a link register the handler has pushed its value, aligned (runtime/signal_arm64.go,
// preparePanic and pushCall).
func (l *layout) interrupted(r *unwind.Rules, m *arch.Machine) {
	r.Interrupts = true
	if l.returnAddress > 0 {
		return
	}
	const pushed = 16
	r.CFA.Offset += pushed
	for i := range r.Registers {
		rule := &r.Registers[i]
		if rule.Rule.Kind == cfi.Offset {
			rule.Rule.Offset -= pushed
		}
		if rule.Column == uint32(l.ra) {
			rule.Column = uint32(m.ProgramCounter)
			if rule.Rule.Kind != cfi.Offset {
				rule.Rule = cfi.Rule{Kind: cfi.Register, Register: uint32(l.ra)}
			}
		}
	}
	r.ReturnAddress = uint64(m.ProgramCounter)
	r.Registers = sorted(append(r.Registers, cfi.RegisterRule{Column: uint32(l.ra), Rule: cfi.Rule{Kind: cfi.Offset, Offset: -pushed}}))
}

// maxKnown is more than the different depths of any program.
const maxKnown = 1 << 14

// frame returns the rules of a function that has moved the stack pointer only by its depth.
func (t *Table) frame(fn *Function, pc uint64) *unwind.Rules {
	var code [16]byte
	n := min(uint64(len(code)), fn.End-pc)
	isCode := t.program.Code.ReadMemory(code[:n], pc) == nil
	if fn.Assembly {
		if a := t.assembled(fn, pc); len(a.saved) > 0 {
			r := t.savedRules(fn.Depth, a)
			if interrupts(fn.Name) {
				t.layout.interrupted(r, t.program.Machine)
			}
			return r
		}
		return t.rules(shape{depth: fn.Depth, interrupts: interrupts(fn.Name)})
	}
	s := shape{depth: fn.Depth, interrupts: interrupts(fn.Name), savesFP: fn.Depth > 0 && !(isCode && t.layout.savesFP(code[:n]))}
	if s.savesFP {
		s.fpFromCFA = t.layout.compiledFP(fn.Depth)
	}
	s.returnsIn = fn.Depth == 0 && t.layout.returnAddress == 0 && t.callsMorestack(fn, pc)
	return t.rules(s)
}

// callsMorestack reports whether the call that ends after the byte at pc is one of
// morestack. Functions make it before they have a frame.
func (t *Table) callsMorestack(fn *Function, pc uint64) bool {
	var code [8]byte
	if pc+1-fn.Entry < uint64(len(code)) || t.program.Code.ReadMemory(code[:], pc+1-uint64(len(code))) != nil {
		return false
	}
	target, ok := t.layout.callTarget(code[:], pc+1)
	if !ok {
		return false
	}
	called, ok := t.program.Function(target)
	return ok && strings.HasPrefix(called.Name, "runtime.morestack")
}

// compiledFP returns the offset from the CFA at which compiled functions save the frame
// pointer: below the return address.
func (l *layout) compiledFP(depth int) int64 {
	if l.returnAddress > 0 {
		return -int64(l.returnAddress) - 8
	}
	return -int64(depth) - 8
}

// rules returns the rules of a shape, the same ones each time.
func (t *Table) rules(s shape) *unwind.Rules {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.known[s]; r != nil {
		return r
	}
	var a assembled
	if s.savesFP {
		a.save(t.layout.fp, s.fpFromCFA)
	}
	r := t.savedRules(s.depth, &a)
	if s.returnsIn {
		ra := uint32(t.layout.ra)
		for i := range r.Registers {
			if r.Registers[i].Column == ra {
				r.Registers[i].Rule = cfi.Rule{Kind: cfi.Register, Register: ra}
			}
		}
	}
	if s.interrupts {
		t.layout.interrupted(r, t.program.Machine)
	}
	if len(t.known) < maxKnown {
		t.known[s] = r
	}
	return r
}

// savedRules returns the rules of a frame that saves some registers.
func (t *Table) savedRules(depth int, a *assembled) *unwind.Rules {
	l := t.layout
	return &unwind.Rules{
		CFA:           cfi.Rule{Kind: cfi.Register, Register: uint32(l.sp), Offset: int64(depth + l.returnAddress)},
		Registers:     a.rules(l, depth),
		ReturnAddress: uint64(l.ra),
	}
}

// rules returns the rules of the saved registers and of the return address.
func (a *assembled) rules(l *layout, depth int) []cfi.RegisterRule {
	list := make([]cfi.RegisterRule, 0, len(a.saved)+1)
	ra := cfi.Rule{Kind: cfi.Offset, Offset: -int64(l.returnAddress)}
	if l.returnAddress == 0 {
		ra.Offset = -int64(depth)
		if depth == 0 {
			ra = cfi.Rule{Kind: cfi.SameValue}
		}
	}
	for _, s := range a.saved {
		if s.column == l.ra {
			ra = cfi.Rule{Kind: cfi.Offset, Offset: s.offset}
			continue
		}
		list = append(list, cfi.RegisterRule{Column: uint32(s.column), Rule: cfi.Rule{Kind: cfi.Offset, Offset: s.offset}})
	}
	return sorted(append(list, cfi.RegisterRule{Column: uint32(l.ra), Rule: ra}))
}

// assembled is the effect of the first instructions of a function in assembly, which can
// save registers anywhere. The table does not describe it.
type assembled struct {
	saved    []savedRegister
	depth    int // bytes of stack that these instructions take
	prologue int // the depth after the instructions that make the frame itself
}

type savedRegister struct {
	column int
	offset int64 // from the CFA
}

// save records the first place where a register is saved. A later one may hold a value of
// the function itself.
func (a *assembled) save(column int, offset int64) {
	if !slices.ContainsFunc(a.saved, func(s savedRegister) bool { return s.column == column }) {
		a.saved = append(a.saved, savedRegister{column, offset})
	}
}

// maxPrologue is the number of bytes that are followed in a function. crosscall2 of arm64
// saves all its registers in the first 80.
const maxPrologue = 128

// assembled follows the code of a function from its entry to pc, up to the first jump.
func (t *Table) assembled(fn *Function, pc uint64) *assembled {
	var code [maxPrologue]byte
	n := min(maxPrologue, pc-fn.Entry, fn.End-fn.Entry)
	a := new(assembled)
	if t.program.Code.ReadMemory(code[:n], fn.Entry) == nil {
		t.layout.scan(code[:n], a)
	}
	return a
}

func sorted(list []cfi.RegisterRule) []cfi.RegisterRule {
	slices.SortFunc(list, func(a, b cfi.RegisterRule) int { return cmp.Compare(a.Column, b.Column) })
	return list
}
