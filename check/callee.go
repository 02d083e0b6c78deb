// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"bytes"
	"debug/elf"
	"strings"

	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/object"
)

// noReturnNames are functions that do not return, by their linkage names.
var noReturnNames = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`
		abort exit _exit _Exit quick_exit __assert_fail __assert_perror_fail __assert
		__stack_chk_fail __stack_chk_fail_local __fortify_fail __chk_fail __libc_fatal
		longjmp _longjmp siglongjmp __longjmp_chk __libc_siglongjmp __libc_longjmp pthread_exit
		__pthread_unwind __pthread_unwind_next err errx verr verrx
		__cxa_throw __cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_call_terminate
		__cxa_call_unexpected __cxa_pure_virtual __cxa_deleted_virtual __cxa_throw_bad_array_new_length
		__clang_call_terminate _Unwind_Resume _ZSt9terminatev _ZSt10unexpectedv
		__libc_start_main __libc_start_call_main __gnat_raise_exception
		rust_begin_unwind rust_panic _gfortran_stop_string _gfortran_runtime_error
		_gfortran_runtime_error_at _gfortran_os_error _gfortran_os_error_at _gfortran_error_stop_string
		g_assertion_message_expr g_assertion_message _dl_signal_error
		runtime.gopanic runtime.throw runtime.fatalthrow runtime.panicmem runtime.panicdottype runtime.panicdivide
		runtime.panicgonil runtime.panicshift runtime.panicmakeslicelen runtime.panicmakeslicecap`) {
		noReturnNames[name] = true
	}
}

// noReturnPrefixes are those of C++'s helpers that throw, of LLVM's that report errors, and of Go's that
// panic.
var noReturnPrefixes = []string{"runtime.goPanic", "_ZSt17__throw_", "_ZSt16__throw_", "_ZSt18__throw_", "_ZSt19__throw_", "_ZSt20__throw_", "_ZSt21__throw_",
	"_ZSt22__throw_", "_ZSt23__throw_", "_ZSt24__throw_", "_ZSt25__throw_", "_ZSt26__throw_", "_ZSt27__throw_", "_ZSt28__throw_", "_ZSt29__throw_", "_ZSt30__throw_", "_ZSt31__throw_",
	"_ZN4llvm18report_fatal_error", "_ZN4llvm25llvm_unreachable_internal"}

func noReturnName(name string) bool {
	name = strings.TrimSuffix(name, "@plt")
	if noReturnNames[name] {
		return true
	}
	for _, prefix := range noReturnPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// stubUnit divides the size of every machine's stubs of a procedure linkage table.
const stubUnit = 8

// noReturns returns the entries of functions of a file, of its stubs, and of those that it
// imports, that do not return by their names.
func noReturns(f *object.File, imports map[uint64]string) map[uint64]bool {
	m := map[uint64]bool{}
	for address, name := range imports {
		if noReturnName(name) {
			m[address] = true
		}
	}
	for s := range f.Symbols() {
		if (s.Type == elf.STT_FUNC || s.Type == elf.STT_NOTYPE) && s.Address != 0 && noReturnName(s.Name) {
			m[s.Address] = true
		}
	}
	var addresses []uint64
	for _, s := range stubs(f) {
		for at := s.Start; at < s.End && len(addresses) < 1<<20; at += stubUnit {
			addresses = append(addresses, at)
		}
	}
	symbols, err := f.FindSymbols(addresses)
	if err != nil {
		return m
	}
	for i, s := range symbols {
		if s.Address == addresses[i] && noReturnName(s.Name) {
			m[s.Address] = true
		}
	}
	return m
}

// noReturnAttributes returns a function that reports whether DW_AT_noreturn says that a call does
// not return, as Code.stops; nil without debugging information.
func noReturnAttributes(f *object.File) func(start, next uint64) bool {
	if !f.HasDebugInfo() {
		return nil
	}
	return func(start, next uint64) bool {
		known, _ := f.NoReturn(start, next) // an error means that nothing is known
		return known
	}
}

const (
	maxWritesDepth = 4
	maxWritesSize  = 16 << 10 // bytes
)

// writes returns a set of columns that contains all those that a function changes. It is
// asked only where a value is in a register that functions may change.
func (c *checker) writes(pc uint64, depth int) uint64 {
	if set, ok := c.written[pc]; ok {
		return set
	}
	const all = ^uint64(0)
	if depth > maxWritesDepth {
		return all
	}
	if c.written == nil {
		c.written = map[uint64]uint64{}
	}
	c.written[pc] = all // for recursion
	index := c.fdeAt(pc)
	if index < 0 {
		return all
	}
	f := c.fdes[index]
	if f.End-f.Start > maxWritesSize || !c.spend(int(f.End-f.Start)/bytesPerJob) {
		return all
	}
	code := make([]byte, f.End-f.Start)
	if c.memory.ReadMemory(code, f.Start) != nil {
		return all
	}
	set := uint64(0)
	var operations []lift.Operation
	for at := uint64(0); at < uint64(len(code)) && set != all; {
		i := lift.Instruction{Right: lift.NoRegister}
		var ok bool
		operations, ok = c.machine.Decode(code[at:], f.Start+at, &i, operations[:0])
		if !ok || i.Size == 0 {
			set = all
			break
		}
		set |= i.Clobbered
		for k := range operations {
			if to, ok := operations[k].Writes(); ok {
				set |= 1 << to
			}
		}
		switch i.Flow {
		case lift.FlowNext, lift.FlowReturn, lift.FlowStop:
		case lift.FlowBranch, lift.FlowJump:
			if i.Target < f.Start || i.Target >= f.End {
				set = all
			}
		case lift.FlowCall:
			set |= c.writes(i.Target, depth+1)
			if c.abi.Link != lift.NoRegister {
				set |= 1 << c.abi.Link
			}
		default:
			set = all
		}
		at += uint64(i.Size)
	}
	c.written[pc] = set
	return set
}

// maxCalleePaths bounds the instructions at which paths of a called function start.
const maxCalleePaths = 256

// neverReturns reports whether no path through a function returns, by calls of functions that
// are known not to return. It is asked only if an instruction is undecided otherwise.
func (c *checker) neverReturns(pc uint64, depth int) bool {
	if known, ok := c.returning[pc]; ok {
		return !known
	}
	if c.noReturn[pc] {
		return true
	}
	if c.returning == nil {
		c.returning = map[uint64]bool{}
	}
	c.returning[pc] = true // for recursion
	index := c.fdeAt(pc)
	if depth > maxWritesDepth || index < 0 || c.fdes[index].Start != pc || c.fdes[index].End-pc > maxWritesSize {
		return false
	}
	code := make([]byte, c.fdes[index].End-pc)
	if !c.spend(len(code)/bytesPerJob) || c.memory.ReadMemory(code, pc) != nil {
		return false
	}
	if c.pathsReturn(code, pc, depth) {
		return false
	}
	c.returning[pc] = false
	return true
}

// pathsReturn follows the paths through a function until one returns, or may.
func (c *checker) pathsReturn(code []byte, start uint64, depth int) bool {
	size := uint64(len(code))
	seen := make(map[uint64]bool)
	work := []uint64{0}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		called := false // the instruction before is a call, or padding after one
		for !seen[at] {
			if at >= size && called {
				break // no compiler lets a call return to another function
			}
			i := lift.Instruction{Right: lift.NoRegister}
			if at < size {
				_, _ = c.machine.Decode(code[at:], start+at, &i, c.spare[:0])
			}
			called = i.Flow == lift.FlowCall || i.Flow == lift.FlowCallIndirect || called && i.Padding
			if i.Size == 0 || len(work) > maxCalleePaths || !c.spend(1) {
				return true
			}
			seen[at] = true
			target := i.Target - start
			at += uint64(i.Size)
			switch i.Flow {
			case lift.FlowNext, lift.FlowCallIndirect:
				continue
			case lift.FlowStop:
			case lift.FlowBranch:
				if target >= size {
					return true
				}
				work = append(work, target)
				continue
			case lift.FlowJump:
				if target < size {
					at = target
					continue
				}
				if !c.neverReturns(i.Target, depth+1) {
					return true
				}
			case lift.FlowCall:
				if !c.neverReturns(i.Target, depth+1) {
					continue
				}
			default:
				return true
			}
			break
		}
	}
	return false
}

// callBefore returns the call that ends at an address, nil if none does.
func (u *unit) callBefore(pc uint64) *instruction {
	k := u.partOf(pc - 1)
	if k < 0 {
		return nil
	}
	p := &u.parts[k]
	for n := uint64(1); n <= min(uint64(u.c.abi.MaxSize), pc-p.start); n++ {
		if k := p.at[pc-p.start-n] - 1; k >= 0 && uint64(u.instructions[k].Size) == n && u.instructions[k].reached {
			return &u.instructions[k]
		}
	}
	return nil
}

// stopsWork is the work of a look into the debugging information.
const stopsWork = 1 << 10

// stopsAt reports whether an instruction is a call that is found not to return, and notes it.
func (u *unit) stopsAt(i *instruction) bool {
	c := u.c
	switch {
	case i.Flow != lift.FlowCall || c.noReturn[i.Target]:
		return false
	case c.neverReturns(i.Target, 0):
	case c.stops == nil || !c.spend(stopsWork) || !c.stops(i.Target, i.pc+uint64(i.Size)):
		return false
	}
	if c.noReturn == nil {
		c.noReturn = map[uint64]bool{}
	}
	c.noReturn[i.Target] = true
	return true
}

// stopCalls finds calls of functions that never return, in a unit with undecided instructions.
// It reports whether it has found one.
func (u *unit) stopCalls() bool {
	found := false
	for k := range u.instructions {
		if i := &u.instructions[k]; i.reached && u.stopsAt(i) {
			found = true
		}
	}
	return found
}

// retAMD64 is the amd64 instruction ret.
const retAMD64 = 0xc3

// callsAfterReturn is in libgcc's __morestack (morestack.S): mov 8(%rbp),%r10; inc %r10. A function whose
// stack is too small calls __morestack, followed by ret and the function's body. __morestack calls the
// body, on a new stack, and then returns to the ret.
var callsAfterReturn = []byte{0x4c, 0x8b, 0x55, 0x08, 0x49, 0xff, 0xc2}

const maxMorestack = 1 << 8 // bytes

// splitsStack reports whether the function at an address is libgcc's __morestack for amd64.
func (c *checker) splitsStack(pc uint64) bool {
	if known, ok := c.splits[pc]; ok {
		return known
	}
	if c.splits == nil {
		c.splits = map[uint64]bool{}
	}
	found := c.abi.Link == lift.NoRegister && len(c.splits) < maxSplits && c.spend(maxMorestack/bytesPerJob) &&
		bytes.Contains(c.read(nil, pc, maxMorestack), callsAfterReturn)
	c.splits[pc] = found
	return found
}

const maxSplits = 1 << 16 // functions that are looked at
