// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// Addresses in the memory of a test.
const (
	testG0   = 0x10000
	testG    = 0x20000
	testM    = 0x30000
	testCurg = 0xb8

	g0Stack = 0x7f0000
	gStack  = 0xc000
)

// goroutine is a thread's m with a goroutine, as Go 1.26 lays them out.
func goroutine(sp, pc uint64) memory {
	return memory{
		testG0 + gM: testM, testG + gM: testM, testM + mG0: testG0, testM + testCurg: testG,
		testG + gStackHigh: gStack + 0x800, testG + gSched + gobufSP: sp, testG + gSched + gobufPC: pc,
	}
}

// The runtime's code of Go 1.26 from which the layout is read.
var (
	systemstack = bytesOf("55 4889e5 ffd7 90909090 488b5830 488b83b8000000 488b6038 5d c3")
	asmcgocall  = bytesOf("55 4889e5 4889e2 488b6638 e800000000 488b7c2408 488b7708 482b3424 4889f4 5d c3")
	noswitch    = bytesOf("55 4889e5 4889e2 e800000000 488b3424 4889f4 5d c3")
	cgocallback = bytesOf("55 4889e5 4883ec18 ffd0 488d442428 c3")
	nanotime    = bytesOf("55 4889e5 4883ec10 4989e4 ffd0 4c89e4 5d c3")
	mcall       = bytesOf("55 4889e5 41ffd4 90")
	morestack   = bytesOf("48896f60 e800000000 90")
)

func TestCrossings(t *testing.T) {
	const pc, fp = 0x401234, 0xc0f8
	for _, tt := range []struct {
		name string
		code []byte
		at   uint64 // of the return address
		sp   uint64
		g    uint64
		in   memory
		want [4]uint64 // pc, sp, fp, g
	}{
		{"runtime.systemstack", systemstack, 6, g0Stack, testG0, memory{
			testG + gSched: gStack, gStack: fp, gStack + 8: pc}, [4]uint64{pc, gStack + 16, fp, testG}},
		{"runtime.asmcgocall", asmcgocall, 16, g0Stack, testG0, memory{
			g0Stack + 8: testG, g0Stack: 0x800, gStack: fp, gStack + 8: pc}, [4]uint64{pc, gStack + 16, fp, testG}},
		{"runtime.asmcgocall", noswitch, 12, g0Stack, testG0, memory{
			g0Stack: g0Stack + 0x40, g0Stack + 0x40: fp, g0Stack + 0x48: pc}, [4]uint64{pc, g0Stack + 0x50, fp, testG0}},
		// Two callbacks: the inner one's frame is at g0Stack, the outer one's above it. Their
		// arguments are in the frame of the caller, after the return address.
		{"runtime.cgocallback", cgocallback, 10, gStack, testG, memory{
			testG0 + gSched: g0Stack, g0Stack: g0Stack + 0x100, gStack + 8: g0Stack + 0x80, g0Stack + 48: g0Stack + 0x80,
			g0Stack + 24: fp + 1, g0Stack + 32: pc + 1}, [4]uint64{pc + 1, g0Stack + 40, fp + 1, testG}},
		{"runtime.cgocallback", cgocallback, 10, gStack, testG, memory{
			testG0 + gSched: g0Stack, g0Stack: g0Stack + 0x100, g0Stack + 0x100: 0, gStack + 8: g0Stack + 0x180,
			g0Stack + 48: g0Stack + 0x80, g0Stack + 0x130: g0Stack + 0x180,
			g0Stack + 0x118: fp, g0Stack + 0x120: pc}, [4]uint64{pc, g0Stack + 0x128, fp, testG}},
		// The first callback on a thread that C made: the saved word in its frame is its own address.
		{"runtime.cgocallback", cgocallback, 10, gStack, testG, memory{
			testG0 + gSched: g0Stack, g0Stack: g0Stack, gStack + 8: g0Stack + 0x80, g0Stack + 48: g0Stack + 0x80,
			g0Stack + 24: fp, g0Stack + 32: pc}, [4]uint64{pc, g0Stack + 40, fp, testG}},
		// The second callback: the saved word is the address of the first one, below the argument.
		{"runtime.cgocallback", cgocallback, 10, gStack, testG, memory{
			testG0 + gSched: g0Stack, g0Stack: g0Stack + 0x40, gStack + 8: g0Stack + 0x80, g0Stack + 48: g0Stack + 0x80,
			g0Stack + 0x40: g0Stack + 0x40, g0Stack + 0x70: 0,
			g0Stack + 24: fp, g0Stack + 32: pc}, [4]uint64{pc, g0Stack + 40, fp, testG}},
		{"runtime.nanotime1", nanotime, 13, g0Stack, testG0, memory{
			gStack + 16: fp, gStack + 24: pc}, [4]uint64{pc, gStack + 32, fp, testG0}},
	} {
		m := goroutine(0, 0)
		for a, v := range tt.in {
			m[a] = v
		}
		frames, reason, err := step(t, machineAMD64, program(machineAMD64, tt.code, Function{Name: tt.name, WritesSP: true, Assembly: true}), m,
			codeBase+tt.at, tt.sp, tt.g)
		if len(frames) != 2 || frames[1] != tt.want {
			t.Errorf("%s: %#x, expected %#x; %v: %v", tt.name, frames, tt.want, reason, err)
		}
	}
}

// If no frame has the arguments of a callback, its caller is not found. Frames that lead to
// lower addresses are not followed.
func TestCallbackFromNowhere(t *testing.T) {
	m := goroutine(0, 0)
	for a, v := range (memory{
		testG0 + gSched: g0Stack, g0Stack: g0Stack + 0x100, g0Stack + 0x100: g0Stack, gStack + 8: g0Stack + 0x80,
		g0Stack + 48: 1, g0Stack + 0x130: 2}) {
		m[a] = v
	}
	p := program(machineAMD64, cgocallback, Function{Name: "runtime.cgocallback", WritesSP: true, Assembly: true})
	if frames, reason, err := step(t, machineAMD64, p, m, codeBase+10, gStack, testG); len(frames) != 1 || reason != unwind.UnreadableMemory || err == nil {
		t.Errorf("%#x, %v: %v", frames, reason, err)
	}
}

// twoFunctions is a program of systemstack and another function.
func twoFunctions(m *arch.Machine, name string, code []byte) Program {
	p := program(m, append(code[:len(code):len(code)], systemstack...), Function{})
	border := codeBase + uint64(len(code))
	switching := Function{Name: name, Entry: codeBase, End: border, WritesSP: true, Assembly: true}
	system := Function{Name: "runtime.systemstack", Entry: border, End: border + uint64(len(systemstack))}
	p.Function = func(address uint64) (Function, bool) {
		if address < border {
			return switching, address >= codeBase
		}
		return system, address < system.End
	}
	p.Named = func(name string) (Function, bool) { return system, name == system.Name }
	return p
}

func TestCrossingsOfTheScheduler(t *testing.T) {
	const pc, fp = 0x401234, 0xc0f8
	m := goroutine(gStack+0x40, pc)
	m[g0Stack] = testG       // mcall's argument
	m[gStack+0x30] = fp      // pushed by mcall
	m[testG+gSched+40] = fp  // bp of the gobuf
	m[gStack+0x38] = pc + 99 // a return address that is not used
	of := func(name string, code []byte) ([][4]uint64, unwind.Reason, error) {
		return step(t, machineAMD64, twoFunctions(machineAMD64, name, code), m, codeBase+uint64(len(code))-1, g0Stack, testG0)
	}
	want := [4]uint64{pc, gStack + 0x40, fp, testG}
	for name, code := range map[string][]byte{"runtime.mcall": mcall, "runtime.morestack": morestack} {
		if frames, reason, err := of(name, code); len(frames) != 2 || frames[1] != want {
			t.Errorf("%s: %#x, expected %#x; %v: %v", name, frames, want, reason, err)
		}
	}
	// The goroutine has left the thread: the scheduler's stack starts there.
	m[testM+testCurg] = 0
	for name, code := range map[string][]byte{"runtime.mcall": mcall, "runtime.morestack": morestack} {
		if frames, reason, err := of(name, code); len(frames) != 1 || reason != unwind.EndOfStack {
			t.Errorf("%s without a goroutine: %#x, %v: %v", name, frames, reason, err)
		}
	}
}

// step walks from a frame to the next one, and returns the program counter, the stack
// pointer, the frame pointer and g of both.
func step(t *testing.T, machine *arch.Machine, p Program, m memory, pc, sp, g uint64) (frames [][4]uint64, reason unwind.Reason, err error) {
	t.Helper()
	table, _ := New(p)
	modules := new(unwind.Modules)
	modules.Add(codeBase, codeBase+0x1000, &unwind.Module{Name: "test", Source: table})
	w := unwind.Walker{Machine: machine, Modules: modules, Memory: m, MaxFrames: 2}
	l := layoutOf(machine)
	var r unwind.Registers
	// The innermost frame is looked up at its PC, here the byte before a return address.
	r.PC = pc - 1
	r.Set(uint64(l.sp), sp)
	r.Set(uint64(l.g), g)
	r.Set(12, gStack)
	for f := range w.Walk(&r) {
		at := [4]uint64{f.PC}
		for i, column := range []int{l.sp, l.fp, l.g} {
			at[i+1], _ = f.Registers.Get(uint64(column))
		}
		frames = append(frames, at)
	}
	return frames, w.Reason(), w.Err()
}
