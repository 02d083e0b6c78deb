// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Addresses of testdata/execute.c.
const (
	arm64Code = 0x20_0000_0000
	arm64Area = 0x8000
	arm64Data = arm64Code + arm64Area
	arm64Near = arm64Code + 0x10000
	arm64Far  = arm64Code + 0x400_0000

	arm64PC  = arm64Code + arm64Area/2
	arm64BRK = 0xd4200000
)

// Structures of testdata/execute.c.
type (
	arm64State struct {
		X              [31]uint64
		SP, PC, PState uint64
		V              [64]uint64
	}
	arm64Run struct {
		At, Count [2]uint64
		Words     [2][64]uint32
		State     arm64State
	}
	arm64Result struct {
		Signal, Code, Address, Data uint64
		State                       arm64State
	}
)

func (r *arm64Run) put(i int, at uint64, code []byte) {
	r.At[i], r.Count[i] = at, uint64(len(code)/4)
	for k := range len(code) / 4 {
		r.Words[i][k] = binary.LittleEndian.Uint32(code[4*k:])
	}
}

// An arm64Case is one instruction or sequence with its runs: the original, the slot, and a run
// that stops at each of the slot's points.
type arm64Case struct {
	code  []byte
	slot  *Slot
	at    uint64
	first int // of its runs
	stops []Point
}

// A displaced instruction has the same effect as the original, also at every stop in its slot:
// the processor or the emulator runs both.
func TestARM64ExecutesAlike(t *testing.T) {
	gcc := testprogram.RequireTool(t, "aarch64-linux-gnu-gcc")
	program := filepath.Join(t.TempDir(), "execute")
	command := []string{program}
	if runtime.GOARCH != "arm64" {
		// With SVE the emulator reads vector registers from a part of the frame that the program does
		// not know.
		command = []string{testprogram.RequireTool(t, "qemu-aarch64"), "-cpu", "max,sve=off", program}
	}
	if out, err := exec.Command(gcc, "-O1", "-static", "-o", program, "testdata/execute.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var cases []arm64Case
	var runs []arm64Run
	for _, code := range arm64Sources(t, random) {
		for _, at := range []uint64{arm64Near, arm64Far} {
			slot, err := Make(arm64(), code, arm64PC, at)
			if err != nil {
				if !errors.Is(err, ErrFar) && !errors.Is(err, ErrExclusive) && !errors.Is(err, ErrUnsupported) {
					t.Error(err)
				}
				continue
			}
			c := arm64Case{code: code[:slot.Size], slot: slot, at: at, first: len(runs)}
			original := arm64Run{State: randomARM64(random)}
			original.put(0, arm64PC, c.code)
			displaced := original
			displaced.put(1, at, slot.Code)
			displaced.State.PC = at
			runs = append(runs, original, displaced)
			for _, p := range slot.Points[1:] {
				stopped := displaced
				stopped.Words[1][p.Offset/4] = arm64BRK
				runs = append(runs, stopped)
				c.stops = append(c.stops, p)
			}
			cases = append(cases, c)
		}
	}
	results := runARM64(t, command, runs)
	endless, faults, kinds, stops, differ := 0, 0, map[Kind]int{}, 0, 0
	for _, c := range cases {
		kinds[c.slot.Instruction.Kind]++
		switch results[c.first].Signal {
		case uint64(syscall.SIGTRAP):
		case uint64(syscall.SIGPROF):
			endless++
			t.Logf("endless: % x", c.code)
		default:
			faults++
		}
		n, err := c.compare(runs, results)
		for again := 0; err != nil && c.slot.Instruction.Kind == Exclusive && again < 4; again++ {
			// A store of a sequence may fail because of an interrupt (Arm ARM, "Synchronization and
			// semaphores"). The two runs then end differently.
			t.Logf("again: % x: %v", c.code, err)
			own := runs[c.first : c.first+2+len(c.stops)]
			copy(results[c.first:], runARM64(t, command, own))
			n, err = c.compare(runs, results)
		}
		stops += n
		if err != nil {
			t.Errorf("% x: %v\nslot %x: % x %v", c.code, err, c.at, c.slot.Code, c.slot.Points)
			if differ++; differ > 20 {
				break
			}
		}
	}
	t.Logf("executed by kind: %v; faults among them: %d; stops on the way: %d", kinds, faults, stops)
	if endless > 4 {
		t.Errorf("%d did not end", endless)
	}
	for _, kind := range []Kind{Plain, Jump, Branch, Call, Return, Trap, Exclusive} {
		if kinds[kind] < 4 {
			t.Errorf("%d instructions of kind %d", kinds[kind], kind)
		}
	}
}

// compare returns the number of stops that were reached.
func (c *arm64Case) compare(runs []arm64Run, results []arm64Result) (reached int, err error) {
	original, displaced := results[c.first], results[c.first+1]
	before := runs[c.first].State
	if original.Signal == uint64(syscall.SIGPROF) && displaced.Signal == original.Signal {
		return 0, nil
	}
	if err := c.same(&displaced, &original, &before); err != nil {
		return 0, err
	}
	for i, p := range c.stops {
		s := results[c.first+2+i]
		if s.State.PC != c.at+uint64(p.Offset) || s.Signal != uint64(syscall.SIGTRAP) {
			continue // the way did not lead there
		}
		reached++
		fix(&s.State, p, &before)
		switch {
		case p.Done:
			err = c.sameState(&s, &original)
		case len(c.code) == 4:
			start := original
			start.State, start.Data = before, s.Data
			start.State.PC = arm64PC
			err = c.sameState(&s, &start)
		}
		if err != nil {
			return reached, fmt.Errorf("at offset %d: %w", p.Offset, err)
		}
	}
	return reached, nil
}

// same compares the ends of both runs.
func (c *arm64Case) same(got, want *arm64Result, before *arm64State) error {
	offset := got.State.PC - c.at
	moved := offset < uint64(len(c.slot.Code))
	if moved {
		p, ok := c.slot.At(int(offset))
		if !ok {
			return fmt.Errorf("stopped at offset %d, which is not a point", offset)
		}
		fix(&got.State, p, before)
	}
	if got.Signal != want.Signal || got.Code != want.Code {
		return fmt.Errorf("signal %d code %d instead of %d code %d", got.Signal, got.Code, want.Signal, want.Code)
	}
	if !moved && got.Address != want.Address {
		return fmt.Errorf("fault at %#x instead of %#x", got.Address, want.Address)
	}
	return c.sameState(got, want)
}

func (c *arm64Case) sameState(got, want *arm64Result) error {
	a, b := &got.State, &want.State
	for i := range a.X {
		if a.X[i] != b.X[i] {
			return fmt.Errorf("x%d is %#x instead of %#x", i, a.X[i], b.X[i])
		}
	}
	for i := range a.V {
		if a.V[i] != b.V[i] {
			return fmt.Errorf("half %d of v%d is %#x instead of %#x", i%2, i/2, a.V[i], b.V[i])
		}
	}
	if a.PC != b.PC || a.SP != b.SP || a.PState != b.PState {
		return fmt.Errorf("pc %#x sp %#x pstate %#x instead of %#x %#x %#x", a.PC, a.SP, a.PState, b.PC, b.SP, b.PState)
	}
	if got.Data != want.Data {
		return errors.New("another memory")
	}
	return nil
}

func fix(s *arm64State, p Point, before *arm64State) {
	s.PC = p.PC
	if p.Fix.Op == FixEntry {
		s.X[p.Fix.Register] = before.X[p.Fix.Register]
	}
}

func runARM64(t *testing.T, command []string, runs []arm64Run) []arm64Result {
	t.Helper()
	var in bytes.Buffer
	binary.Write(&in, binary.LittleEndian, uint64(len(runs)))
	if err := binary.Write(&in, binary.LittleEndian, runs); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	results := make([]arm64Result, len(runs))
	if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, results); err != nil {
		t.Fatal(err)
	}
	return results
}

func randomARM64(random *rand.Rand) arm64State {
	s := arm64State{PC: arm64PC, SP: arm64Data + 0x4000 + 16*random.Uint64N(64), PState: random.Uint64N(16) << 28}
	for i := range s.X {
		switch random.IntN(8) {
		case 0, 1, 2, 3:
			s.X[i] = arm64Data + 0x2000 + 8*random.Uint64N(0x400)
		case 4:
			s.X[i] = random.Uint64N(256)
		case 5:
			s.X[i] = arm64PC + 0x100 + 4*random.Uint64N(64)
		default:
			s.X[i] = random.Uint64()
		}
	}
	for i := range s.V {
		s.V[i] = random.Uint64()
	}
	return s
}

// arm64Sources are instructions of every form that is rewritten, with all kinds of labels, and
// instructions of programs.
func arm64Sources(t *testing.T, random *rand.Rand) [][]byte {
	var out [][]byte
	add := func(ops ...uint32) { out = append(out, words(ops...)) }
	register := func() uint32 { return random.Uint32N(32) }
	for range 40 {
		add(0x10000000 | random.Uint32()&0xe0ffffff) // adr, adrp
		near := (random.Uint32N(0x2000) - 0x1000) & 0x7ffff
		if random.IntN(2) == 0 {
			near = (arm64Data - arm64PC) / 4 // data
		}
		for _, opc := range []uint32{0x18000000, 0x58000000, 0x98000000, 0xd8000000, 0x1c000000, 0x5c000000, 0x9c000000} {
			add(opc | near<<5 | register())
		}
		add(0x58000000 | random.Uint32()&0xffffff) // mostly a fault
		add(0x14000000 | random.Uint32()&0x1ffffff)
		add(0x94000000 | random.Uint32()&0x1ffffff)
		add(0x14000000 | near)
		add(0x94000000 | near)
		add(0x54000000 | near<<5 | random.Uint32N(16))
		add(0x34000000 | random.Uint32()&0x81000000 | near<<5 | register())
		add(0x36000000 | random.Uint32()&0x81f80000 | near&0x3fff<<5 | register())
		add(0xd61f0000 | register()<<5)
		add(0xd63f0000 | register()<<5)
		add(0xd65f0000 | register()<<5)
		add(0xd71f0800 | register()<<5 | register())
		add(0xd73f0800 | register()<<5 | register())
		add(0xd63f081f | register()<<5)
		add(0xd61f0c1f | register()<<5)
		add(0xd65f0bff)
		add(sequenceOf(random)...)
	}
	for range 4 {
		add(0x14000000)                                                       // to itself: never ends in its place
		out = out[:len(out)-1]                                                // so not that
		add(0xd4200020)                                                       // brk 1
		add(0x00000007)                                                       // udf
		add(0xd503237f)                                                       // paciasp
		add(0xd503245f)                                                       // bti c
		add(0xd503201f)                                                       // nop
		add(0x0420bc20|random.Uint32N(32), 0x04200000|0x40|random.Uint32()&3) // movprfx z, and an instruction
	}
	count := 1500
	if testing.Short() {
		count = 300
	}
	library := "/usr/aarch64-linux-gnu/lib/libc.so.6"
	if runtime.GOARCH == "arm64" {
		library = "/lib/aarch64-linux-gnu/libc.so.6"
	}
	return append(out, sampleARM64(t, library, count, random)...)
}

// sequenceOf returns an exclusive sequence, with or without an exit.
func sequenceOf(random *rand.Rand) []uint32 {
	pair := [][2]uint32{
		{0xc85ffc20, 0xc804fc25}, // ldaxr x0, [x1]; stlxr w4, x5, [x1]
		{0x885f7c20, 0x88047c25}, // ldxr w0, [x1]; stxr w4, w5, [x1]
		{0xc87f0c20, 0xc8247c25}, // ldxp x0, x3, [x1]; stxp w4, x5, xzr, [x1]
	}[random.IntN(3)]
	ops := []uint32{pair[0]}
	switch random.IntN(4) {
	case 0:
		ops = append(ops, 0xeb02001f, 0x54000061) // cmp x0, x2; b.ne to after the store's branch
	case 1:
		ops = append(ops, 0xb5000900) // cbnz x0, far after
	case 2:
		ops = append(ops, 0x10000806) // adr x6
	}
	for range random.IntN(6) {
		ops = append(ops, 0x91000400) // add x0, x0, 1
	}
	ops = append(ops, pair[1])
	if random.IntN(4) > 0 {
		ops = append(ops, 0x35000004|-uint32(len(ops))&0x7ffff<<5) // cbnz w4, load
	}
	return ops
}

// sampleARM64 returns instructions of a program, with the code after them.
func sampleARM64(t *testing.T, path string, count int, random *rand.Rand) [][]byte {
	f, err := elf.Open(path)
	if err != nil {
		t.Logf("%s is not installed", path)
		return nil
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for len(out) < count {
		at := 4 * random.IntN(len(text)/4)
		op := binary.LittleEndian.Uint32(text[at:])
		switch {
		case op>>24 == 0xd5 && op>>12 != 0xd5032: // system registers, which the emulator needs itself
		case arm64FormOf(op) == arm64System:
		default:
			out = append(out, text[at:min(at+Lookahead, len(text))])
		}
	}
	return out
}
