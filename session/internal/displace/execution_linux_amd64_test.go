// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	testPC = codeBase + 0x800

	trapTrace = 2 // si_code of a single step
)

// A displaced instruction leaves the same registers, flags, vector registers, memory and fault
// as the original. At every stop in the slot, Points has the state of the original.
func TestExecutesAlike(t *testing.T) {
	p := startTracee(t)
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 1
	if testing.Short() {
		rounds = 0
	}
	var sources [][]byte
	for _, text := range special {
		for range 12 {
			sources = append(sources, []byte(text))
		}
	}
	all := opcodes()
	for range 3000 * rounds {
		sources = append(sources, all[random.IntN(len(all)/opcodeStride)*opcodeStride:][:opcodeStride])
	}
	for _, file := range x86Files[:4] {
		sources = append(sources, sample(t, file.path, 1000*rounds, random)...)
	}
	ran, faulted, differ := map[Kind]int{}, 0, 0
	for _, source := range sources {
		i, err := decodeX86Parts(source)
		if err != nil || !repeatable(&i) {
			continue
		}
		c := newComparison(p, i, random)
		fault, err := c.compare()
		if errors.Is(err, ErrUnsupported) || errors.Is(err, ErrInvalid) {
			continue
		}
		ran[i.kind()]++
		if fault {
			faulted++
		}
		if err != nil {
			t.Errorf("% x: %v\nslot % x %v", c.code, err, c.slot.Code, c.slot.Points)
			if differ++; differ > 20 {
				break
			}
		}
	}
	t.Logf("executed by kind: %v; faults among them: %d", ran, faulted)
	for _, kind := range []Kind{Plain, Jump, Branch, Call, Return, PushFlags, PopFlags, Repeat, Trap} {
		if ran[kind] < 8 {
			t.Errorf("%d instructions of kind %d", ran[kind], kind)
		}
	}
}

// A comparison runs one instruction in two places from the same state.
type comparison struct {
	*tracee
	code   []byte
	slot   *Slot
	at     uint64 // where the slot is
	before state
}

func newComparison(p *tracee, i x86Instruction, random *rand.Rand) *comparison {
	c := &comparison{tracee: p, code: bytes.Clone(i.Code), at: slotBase}
	if random.IntN(4) == 0 {
		c.at = farSlotBase
	}
	if i.RIPRelative {
		// In the data, or sometimes after it.
		d := uint32(dataBase + 64*random.IntN(areaSize/64+8) - testPC - len(c.code))
		binary.LittleEndian.PutUint32(c.code[i.Displacement:], d)
	}
	c.before = randomState(p, random)
	code := c.before.memory[2*areaSize:]
	copy(code, bytes.Repeat([]byte{0xcc}, pageSize))
	copy(code[testPC-codeBase:], c.code)
	return c
}

func randomState(p *tracee, random *rand.Rand) state {
	s := state{memory: make([]byte, memorySize), xstate: make([]byte, maxState)}
	pointer := func() uint64 { return dataBase + 0x1000 + uint64(random.IntN(0x2000))&^uint64(15*random.IntN(2)) }
	value := func() uint64 {
		switch random.IntN(8) {
		case 0, 1, 2, 3:
			return pointer()
		case 4:
			return uint64(random.IntN(256))
		case 5:
			return testPC + 0x100 + uint64(random.IntN(64))
		}
		return random.Uint64()
	}
	for at := 0; at < len(s.memory); at += 8 {
		// popf and iret take flags from here: no TF, NT, AC and ID.
		binary.LittleEndian.PutUint64(s.memory[at:], value()&^0x244100)
	}
	r := &s.registers
	p.must(unix.PtraceGetRegs(p.pid, r))
	for _, to := range []*uint64{&r.Rax, &r.Rbx, &r.Rcx, &r.Rdx, &r.Rsi, &r.Rdi, &r.Rbp, &r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15} {
		*to = value()
	}
	r.Rip = testPC
	r.Rsp = stackBase + 0x2000 + uint64(random.IntN(64))*8
	switch random.IntN(20) {
	case 0:
		r.Rsp = stackBase // the next push faults
	case 1:
		r.Rcx = 1
	case 2:
		r.Rcx = 0
	}
	r.Eflags = random.Uint64()&0x8d5 | 0x202
	if random.IntN(4) == 0 {
		r.Eflags |= 0x400 // DF
	}
	r.Fs_base, r.Gs_base = dataBase, dataBase+0x800
	size := p.regset(unix.PTRACE_GETREGSET, s.xstate)
	s.xstate = s.xstate[:size]
	// Intel SDM volume 1 §13.4: x87 and SSE, the header, then the upper halves.
	s.xstate[512] |= 7
	for at := 160; at < 416; at++ {
		s.xstate[at] = byte(random.Uint32())
	}
	for at := 576; at < 576+256 && at < size; at++ {
		s.xstate[at] = byte(random.Uint32())
	}
	return s
}

// compare reports whether the instruction faulted, and the difference of the two runs.
func (c *comparison) compare() (fault bool, err error) {
	c.slot, err = Make(amd64(), c.code, testPC, c.at)
	if errors.Is(err, ErrFar) && c.at == farSlotBase {
		c.at = slotBase
		c.slot, err = Make(amd64(), c.code, testPC, c.at)
	}
	if err != nil {
		return false, err
	}
	c.write(c.at, append(bytes.Clone(c.slot.Code), bytes.Repeat([]byte{0xcc}, MaxSlot-len(c.slot.Code))...))

	c.set(&c.before, testPC)
	original := c.run(unix.PTRACE_SINGLESTEP)
	fault = original.signal != unix.SIGTRAP
	if err := c.stepThrough(&original); err != nil {
		return fault, fmt.Errorf("stepped: %w", err)
	}
	// Without steps, to a trap at the target of the original.
	to := original.registers.Rip
	if fault || original.code != trapTrace || to < codeBase || to >= codeBase+pageSize ||
		c.before.memory[2*areaSize+to-codeBase] != 0xcc {
		return fault, nil
	}
	if !bytes.Equal(original.memory[2*areaSize:], c.before.memory[2*areaSize:]) {
		return fault, nil // it has written where the trap is
	}
	c.set(&c.before, c.at)
	ran := c.run(unix.PTRACE_CONT)
	ran.registers.Rip--
	if c.slot.Instruction.Kind == PushFlags {
		// TF, which the stepped original pushed.
		at := ran.registers.Rsp - stackBase + areaSize
		original.memory[at+1] &^= 1
	}
	if err := same(&ran.state, &original.state, 0); err != nil {
		return fault, fmt.Errorf("run: %w", err)
	}
	return fault, nil
}

// stepThrough steps through the slot.
func (c *comparison) stepThrough(original *stop) error {
	c.set(&c.before, c.at)
	for range 6 {
		s := c.run(unix.PTRACE_SINGLESTEP)
		offset := int64(s.registers.Rip - c.at)
		if offset < 0 || offset >= int64(len(c.slot.Code)) {
			if s.signal != original.signal || s.code != original.code {
				return fmt.Errorf("%v code %d instead of %v code %d", s.signal, s.code, original.signal, original.code)
			}
			return same(&s.state, &original.state, 0)
		}
		point, ok := c.slot.At(int(offset))
		if !ok {
			return fmt.Errorf("stopped at offset %d, which is not a point", offset)
		}
		s.registers.Rip = point.PC
		hidden := 0 // bytes below the stack pointer that the original has not written
		switch fix := point.Fix; {
		case fix.Op == FixAdd && fix.Register == x86RSP:
			s.registers.Rsp += fix.Value
			hidden = 8
		case fix.Op == FixSet && fix.Register == x86RCX:
			s.registers.Rcx = fix.Value
		case fix.Op != FixNone:
			return fmt.Errorf("fix %v", fix)
		}
		if s.signal != unix.SIGTRAP || s.code != trapTrace {
			return c.sameFault(&s, original, hidden)
		}
		after := same(&s.state, &original.state, hidden)
		before := same(&s.state, &c.before, hidden)
		switch {
		case point.Done && after != nil:
			return fmt.Errorf("at offset %d, done: %w", offset, after)
		case !point.Done && after != nil && before != nil:
			return fmt.Errorf("at offset %d, not done: %w", offset, before)
		case original.registers.Rip == testPC && after == nil:
			return nil // an iteration of a string instruction, or a branch to itself
		}
	}
	return errors.New("never left the slot")
}

func (c *comparison) sameFault(s, original *stop, hidden int) error {
	if c.before.registers.Rsp == stackBase && c.slot.Instruction.Kind == Call {
		return nil // of two faults the other came first, see the package's documentation
	}
	if s.signal != original.signal || s.code != original.code {
		return fmt.Errorf("%v code %d instead of %v code %d", s.signal, s.code, original.signal, original.code)
	}
	// The address of a trap can be that of the instruction or, with AMX processors and int1, of the
	// next one. It has the same distance from the copy in the slot.
	into := original.address - testPC
	if s.address != original.address && (s.address-c.at != into || into > uint64(len(c.code))) {
		return fmt.Errorf("fault at %#x instead of %#x", s.address, original.address)
	}
	return same(&s.state, &original.state, hidden)
}

// same compares the states, except the program counter if want has none, hidden bytes below the
// stack pointer, and data that only the kernel and the x87 unit use.
func same(got, want *state, hidden int) error {
	a, b := got.registers, want.registers
	a.Orig_rax, b.Orig_rax = 0, 0
	if a != b {
		return fmt.Errorf("registers\n%+v instead of\n%+v", a, b)
	}
	for at := range got.xstate {
		// FIP and FDP, and the bits of parts in their initial state.
		if at >= 8 && at < 24 || at >= 464 && at < 576 {
			continue
		}
		if got.xstate[at] != want.xstate[at] {
			return fmt.Errorf("extended state at %d: %#x instead of %#x", at, got.xstate[at], want.xstate[at])
		}
	}
	if bytes.Equal(got.memory, want.memory) {
		return nil
	}
	for at := range got.memory {
		below := int(want.registers.Rsp-stackBase) + areaSize - at
		if got.memory[at] != want.memory[at] && (below <= 0 || below > hidden) {
			return fmt.Errorf("memory at %#x: %#x instead of %#x", at, got.memory[at], want.memory[at])
		}
	}
	return nil
}

// A system call leaves the original's return address in rcx. An interrupted one is restarted in
// the slot.
func TestSystemCall(t *testing.T) {
	p := startTracee(t)
	random := rand.New(rand.NewPCG(1, 2))
	code := []byte{0x0f, 0x05}
	i, err := decodeX86Parts(code)
	p.must(err)
	c := newComparison(p, i, random)
	c.before.registers.Rax = unix.SYS_GETPPID
	c.slot, err = Make(amd64(), code, testPC, slotBase)
	p.must(err)
	p.write(slotBase, c.slot.Code)

	c.set(&c.before, testPC)
	original := c.run(unix.PTRACE_CONT) // to the trap after it
	original.registers.Rip--
	c.set(&c.before, slotBase)
	ran := c.run(unix.PTRACE_CONT)
	ran.registers.Rip--
	if err := same(&ran.state, &original.state, 0); err != nil {
		t.Error(err)
	}
	if got := original.registers; got.Rip != testPC+2 || got.Rcx != testPC+2 {
		t.Errorf("pc %#x, rcx %#x", got.Rip, got.Rcx)
	}
	c.set(&c.before, slotBase)
	for range 2 {
		s := c.run(unix.PTRACE_SINGLESTEP)
		point, ok := c.slot.At(int(s.registers.Rip - slotBase))
		if !ok || !point.Done || point.PC != testPC+2 {
			t.Fatalf("stopped at %#x: %v", s.registers.Rip, point)
		}
		if point.Fix.Op == FixSet {
			s.registers.Rcx = point.Fix.Value
		}
		if s.registers.Rcx != testPC+2 {
			t.Errorf("rcx %#x at %#x", s.registers.Rcx, s.registers.Rip)
		}
	}

	c.before.registers.Rax = unix.SYS_PAUSE
	c.set(&c.before, slotBase)
	for range 3 {
		p.must(unix.PtraceCont(p.pid, 0))
		p.must(unix.Kill(p.pid, unix.SIGUSR1))
		if signal := p.wait(); signal != unix.SIGUSR1 {
			t.Fatal(signal)
		}
		var r unix.PtraceRegs
		p.must(unix.PtraceGetRegs(p.pid, &r))
		// Before the system call has begun, or during it.
		if point, ok := c.slot.At(int(r.Rip - slotBase)); !ok || point.Offset > 2 {
			t.Errorf("interrupted at %#x", r.Rip)
		}
	}
}
