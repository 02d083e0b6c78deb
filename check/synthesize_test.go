// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
)

var (
	amd64Machine = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64Machine = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

// section writes the table of a function at an address.
func (s *Synthesis) section(t testing.TB, m *arch.Machine, start, size uint64) *cfi.Section {
	t.Helper()
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: start &^ 0xfff}
	if err := e.Program(s.Unwind, start, size); err != nil {
		t.Fatal(err)
	}
	return &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
}

// agreement counts instructions of functions whose two tables are compared.
type agreement struct {
	functions, bytes  int
	cold, landings    int // parts elsewhere, and call sites with a landing pad
	whole             int // functions without a gap
	instructions      int // at which the compiler's rows are right
	equal, equivalent int
	different         int
	unsure            int // the state on all paths, also of exceptions, does not say
	undecided         [reasons]int
}

func (a *agreement) String() string {
	var why []string
	for n, count := range a.undecided {
		if count > 0 {
			why = append(why, fmt.Sprintf("%d %v", count, Reason(n)))
		}
	}
	return fmt.Sprintf("%d functions (%d bytes, %d cold parts, %d call sites with a landing pad), %d wholly decided; %d instructions that agree with the compiler's rows: %d equal, %d equivalent, %d different, %d unsure; in gaps: %s",
		a.functions, a.bytes, a.cold, a.landings, a.whole, a.instructions, a.equal, a.equivalent, a.different, a.unsure, strings.Join(why, ", "))
}

// compareSynthesized makes the tables of functions of a file from their code, and compares them with
// the compiler's at each instruction at which these are right.
func compareSynthesized(t testing.TB, f *object.File, a *agreement, choose func(n int) []int) {
	t.Helper()
	section, err := f.EHFrame()
	if err != nil || section == nil {
		t.Fatal(f.Name(), err)
	}
	isGo := func(uint64) bool { return false }
	code := Code{Memory: newRelocated(f, nil), NoReturn: noReturns(f, nil), Stubs: stubs(f), KeepsNone: isGo, size: f.StoredSize()}
	c := newChecker(section, code)
	c.fdes = section.Index().Ranges()
	c.setBudget(c.size)
	c.owner, c.results = make([]int, len(c.fdes)), make([]result, len(c.fdes))
	var ranges []Range
	for _, r := range c.fdes {
		ranges = append(ranges, Range{r.Start, r.End})
	}
	s, err := NewSynthesizer(f.Machine(), code, ranges)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range choose(len(c.fdes)) {
		for i := range c.owner {
			c.owner[i] = -1
		}
		c.units, c.work, c.joins = c.units[:0], 1<<30, 0
		c.check(n, true)
		u := &c.unit
		if u.failed != NoReason || len(u.parts) == 0 || !u.parts[0].entered {
			continue
		}
		compareFunction(t, s, u, a)
	}
}

// piecesOf returns what the compiler's table says about the pieces of a function: the parts that the
// first one leads to with a frame, and the landing pads. The list has their indexes in u.parts.
func piecesOf(u *unit) (known Pieces, list []int) {
	list = []int{0}
	for k := range u.parts {
		p := &u.parts[k]
		if k > 0 {
			if p.entered {
				continue // another function
			}
			known.Cold, list = append(known.Cold, Range{p.start, p.end}), append(list, k)
		}
		for _, l := range p.landings {
			arguments := int64(0)
			if n := rowAt(p.rows, l.start, -1); n >= 0 {
				arguments = p.rows[n].arguments
			}
			known.Landings = append(known.Landings, Landing{l.start, l.end, l.pad, arguments})
		}
	}
	return known, list
}

// compareFunction compares the tables of the parts of a unit with those from its code.
func compareFunction(t testing.TB, s *Synthesizer, u *unit, a *agreement) {
	t.Helper()
	known, parts := piecesOf(u)
	first := &u.parts[0]
	made, err := s.Pieces(first.start, first.end-first.start, known)
	if err != nil {
		t.Fatal(err)
	}
	a.functions++
	a.landings += len(known.Landings)
	compareUnreached(t, &s.checker.unit, u)
	whole := true
	for i, k := range parts {
		whole = whole && made[i].Undecided == 0
		a.bytes += int(u.parts[k].end - u.parts[k].start)
		if k > 0 {
			a.cold++
		}
		comparePart(t, u, &u.parts[k], made[i], a)
	}
	if whole {
		a.whole++
	}
}

// comparePart compares the table of one part.
func comparePart(t testing.TB, u *unit, p *part, got *Synthesis, a *agreement) {
	t.Helper()
	var rows []row
	made := newChecker(&cfi.Section{Machine: u.c.section.Machine}, Code{})
	if got.Unwind != nil {
		made = newChecker(got.section(t, u.c.section.Machine, p.start, p.end-p.start), Code{})
		made.work = 1 << 30
		for fde := range made.section.FDEs() {
			rows = made.rows(nil, fde)
		}
	}
	reported := 0
	u.replay(p, func(i *instruction, _ int32, st *state) {
		if i.verdict != Agree {
			return
		}
		a.instructions++
		gap, ok := slices.BinarySearchFunc(got.Gaps, i.pc-p.start, func(g Gap, at uint64) int {
			switch {
			case g.End <= at:
				return -1
			case g.Offset > at:
				return 1
			}
			return 0
		})
		if ok {
			a.undecided[got.Gaps[gap].Reason]++
			return
		}
		n := rowAt(rows, i.pc, -1)
		if n < 0 {
			t.Fatalf("%#x: no row and no gap", i.pc)
		}
		if equalRows(&rows[n], &p.rows[i.row]) {
			a.equal++
			return
		}
		switch v, _ := made.compare(&rows[n], st, i.pc, nil); v {
		case Agree:
			a.equivalent++
		case Undecided:
			a.unsure++
		default:
			a.different++
			if reported++; reported < 3 {
				var list []mismatch
				made.compare(&rows[n], st, i.pc, &list)
				t.Errorf("%#x in the function at %#x: %+v", i.pc, p.start, list)
			}
		}
	})
}

// compareUnreached compares the compiler's rows with the code that only Synthesize reaches, because
// it does not know that a call before it does not return.
func compareUnreached(t testing.TB, made, u *unit) {
	t.Helper()
	if made.failed != NoReason {
		return
	}
	for k := range made.parts {
		made.replay(&made.parts[k], func(i *instruction, _ int32, st *state) {
			if k := u.find(i.pc); st.trust == guess || k >= 0 && u.instructions[k].reached {
				return
			}
			part := u.partOf(i.pc)
			if part < 0 {
				return
			}
			p := &u.parts[part]
			if n := rowAt(p.rows, i.pc, -1); n >= 0 {
				if v, _ := u.c.compare(&p.rows[n], st, i.pc, nil); v == Disagree {
					t.Errorf("%#x in the function at %#x: only the made table decides, and disagrees with the compiler's", i.pc, p.start)
				}
			}
		})
	}
}

// equalRows reports whether two rows have the same rules.
func equalRows(a, b *row) bool {
	return a.cfa == b.cfa && a.cfa.Kind == cfi.Register && a.returnAddress == b.returnAddress && a.signed == b.signed && (!a.signed || a.key == b.key) && slices.Equal(a.rules, b.rules)
}

// everything chooses all functions.
func everything(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// some chooses functions for a sample, or all for a full run.
func some(t testing.TB, count int) func(n int) []int {
	return func(n int) []int {
		if sample.Full() || n <= count {
			return everything(n)
		}
		list := sample.Rand(t).Perm(n)[:count]
		slices.Sort(list)
		return list
	}
}

// The rows of functions from their bytes are equivalent to the compiler's.
func TestSynthesizeLibraries(t *testing.T) {
	arm64 := testprogram.Emulations["arm64"]
	root := arm64.Root()
	for _, path := range []string{
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/bin/bash",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		root + "/lib/libc.so.6", root + "/lib/libstdc++.so.6", root + "/lib/libgcc_s.so.1", root + "/lib/libm.so.6",
		testprogram.ARM64File("usr/lib/aarch64-linux-gnu/libcrypto.so.3"), testprogram.ARM64File("usr/lib/aarch64-linux-gnu/libLLVM-14.so.1"), testprogram.ARM64File("bin/bash"),
	} {
		t.Run(path, func(t *testing.T) {
			f, err := object.Open(path)
			if err != nil {
				t.Skipf("skipped: %s is not installed", path)
			}
			defer f.Close()
			var a agreement
			compareSynthesized(t, f, &a, some(t, 1000))
			t.Log(&a)
			// Paths of exceptions, which only the language-specific data shows, can make the content
			// of a slot unknown to the comparison: at 3 instructions of libstdc++ for arm64.
			if a.unsure > 3 {
				t.Errorf("%d rows are unsure", a.unsure)
			}
		})
	}
}

// The rows of functions of compilers, on both machines.
func TestSynthesizeCompiled(t *testing.T) {
	for _, b := range someBuilds(t, 6) {
		t.Run(b.String(), func(t *testing.T) {
			var a agreement
			compareSynthesized(t, b.compile(t), &a, everything)
			t.Log(&a)
			if a.functions < 10 || (a.equal+a.equivalent)*100 < a.instructions*98 || a.landings == 0 || a.unsure > 0 {
				t.Error("too little is decided")
			}
		})
	}
}

// text returns the rows and gaps of a table, and an error if the table cannot be encoded.
func (s *Synthesis) text(t testing.TB, m *arch.Machine, size int) string {
	t.Helper()
	var b strings.Builder
	if s.Unwind != nil {
		c := newChecker(s.section(t, m, 0x1000, uint64(size)), Code{})
		c.work = 1 << 20
		for fde := range c.section.FDEs() {
			for _, r := range c.rows(nil, fde) {
				fmt.Fprintf(&b, "%d: %s", r.start-0x1000, strings.TrimPrefix(c.ruleCFA(r.cfa), "CFA = "))
				for i, number := range c.abi.Preserved {
					if r.rules[i].Kind != cfi.Unspecified {
						b.WriteString(", " + c.ruleRegister(int(number), r.rules[i]))
					}
				}
				if r.returnAddress != (cfi.Rule{Kind: cfi.Offset, Offset: -c.abi.CFAOffset}) && r.returnAddress.Kind != cfi.Unspecified {
					b.WriteString(", " + c.ruleRegister(c.abi.ReturnAddress, r.returnAddress))
				}
				if r.signed {
					fmt.Fprintf(&b, ", signed %c", 'A'+rune(r.key))
				}
				b.WriteString("\n")
			}
		}
	}
	for _, g := range s.Gaps {
		fmt.Fprintf(&b, "%v\n", g)
	}
	return b.String()
}

var synthesizeTests = []struct {
	name  string
	arm64 bool
	code  string // bytes in hexadecimal; words for arm64
	want  string
}{
	{"a leaf", false, "8d0437 c3", "0: rsp+8\n"},
	{"a saved register", false, "53 4883ec10 31db 4883c410 5b c3", "0: rsp+8\n1: rsp+16, rbx at CFA-16\n5: rsp+32, rbx at CFA-16\n11: rsp+16, rbx at CFA-16\n12: rsp+8\n"},
	// asm_trampoline.S of CPython 3.13: push rbp, mov rbp, call *rcx, pop rbp, ret.
	{"CPython's trampoline", false, "55 4889e5 ffd1 5d c3", "0: rsp+8\n1: rsp+16, rbp at CFA-16\n4: rbp+16, rbp at CFA-16\n7: rsp+8\n"},
	// The frame of CPython's shim, as preset.CPythonShim has it, with its pushes.
	{"CPython's shim", false, "55 4889e5 4157 4156 4155 4154 53 50 ffd0 4883c408 5b 415c 415d 415e 415f 5d c3",
		"0: rsp+8\n1: rsp+16, rbp at CFA-16\n4: rbp+16, rbp at CFA-16\n" +
			"6: rbp+16, rbp at CFA-16, r15 at CFA-24\n8: rbp+16, rbp at CFA-16, r14 at CFA-32, r15 at CFA-24\n" +
			"10: rbp+16, rbp at CFA-16, r13 at CFA-40, r14 at CFA-32, r15 at CFA-24\n12: rbp+16, rbp at CFA-16, r12 at CFA-48, r13 at CFA-40, r14 at CFA-32, r15 at CFA-24\n" +
			"13: rbp+16, rbx at CFA-56, rbp at CFA-16, r12 at CFA-48, r13 at CFA-40, r14 at CFA-32, r15 at CFA-24\n" +
			"21: rbp+16, rbp at CFA-16, r12 at CFA-48, r13 at CFA-40, r14 at CFA-32, r15 at CFA-24\n23: rbp+16, rbp at CFA-16, r13 at CFA-40, r14 at CFA-32, r15 at CFA-24\n" +
			"25: rbp+16, rbp at CFA-16, r14 at CFA-32, r15 at CFA-24\n27: rbp+16, rbp at CFA-16, r15 at CFA-24\n29: rbp+16, rbp at CFA-16\n30: rsp+8\n"},
	{"an aligned frame of gcc", false, "4c8d542408 4883e4e0 41ff72f8 55 4889e5 4152 ffd0 415a 5d 498d62f8 c3",
		"0: rsp+8\n9: r10+0\n14: r10+0, rbp by an expression\n17: r10+0, rbp by an expression\n21: an expression, rbp by an expression\n23: r10+0, rbp by an expression\n24: r10+0\n28: rsp+8\n"},
	{"a lost register", false, "31db c3", "0: rsp+8\n2: rsp+8, rbx lost\n"},
	{"a register in another one", false, "4889da 31db 4889d3 c3", "0: rsp+8\n5: rsp+8, rbx in rdx\n8: rsp+8\n"},
	{"two depths that meet", false, "85ff 7401 50 90 c3", "0: rsp+8\n5: rsp+8, return address lost\n+0x5 to +0x7: stack depth not known\n"},
	{"code that no path reaches", false, "c3 53 90 5b c3", "0: rsp+8\n1: rsp+8, return address lost\n+0x1 to +0x2: not reached\n+0x3 to +0x5: not reached\n"},
	{"an unknown depth", false, "4889fc c3", "0: rsp+8\n3: rsp+8, return address lost\n+0x3 to +0x4: stack depth not known\n"},
	{"a stack pointer in an argument", false, "4889fc", "0: rsp+8\n"},
	{"not an instruction", false, "06", "+0x0 to +0x1: not decoded\n"},
	{"CPython's trampoline for arm64", true, "a9bf7bfd 910003fd d63f0060 a8c17bfd d65f03c0", "0: sp+0\n4: sp+16, x29 at CFA-16, x30 at CFA-8\n8: x29+16, x29 at CFA-16, x30 at CFA-8\n16: sp+0\n"},
	{"a signed return address", true, "d503233f f81f0ffe 94000000 f84107fe d50323bf d65f03c0",
		"0: sp+0\n4: sp+0, signed A\n8: sp+16, x30 at CFA-16, signed A\n16: sp+0, signed A\n20: sp+0\n"},
	{"signed with key B", true, "d503237f f81f0ffe 94000000 f84107fe d65f0fff", "0: sp+0\n4: sp+0, signed B\n8: sp+16, x30 at CFA-16, signed B\n16: sp+0, signed B\n"},
	{"vector registers", true, "6dbe27e8 f9000bfe 94000000 f9400bfe 6cc227e8 d65f03c0",
		"0: sp+0\n4: sp+32, d8 at CFA-32, d9 at CFA-24\n8: sp+32, d8 at CFA-32, d9 at CFA-24, x30 at CFA-16\n20: sp+0\n"},
	{"a loop without end", true, "14000000", "0: sp+0\n"},
}

func TestSynthesize(t *testing.T) {
	for _, test := range synthesizeTests {
		t.Run(test.name, func(t *testing.T) {
			m, code := amd64Machine, decodeHex(t, test.code)
			if test.arm64 {
				m = arm64Machine
				for i := range len(code) / 4 {
					slices.Reverse(code[4*i : 4*i+4])
				}
			}
			s, err := Synthesize(code, m)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.text(t, m, len(code)); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func decodeHex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The table of CPython's trampoline is the one that CPython writes for perf, except that the
// latter keeps the rule of rbp after the pop.
func TestSynthesizeCPython(t *testing.T) {
	for code, landing := range map[string]bool{"55 4889e5 ffd1 5d c3": false, "f30f1efa 55 4889e5 ffd1 5d c3": true} {
		code := decodeHex(t, code)
		theirs, err := preset.CPythonPerf(amd64Machine, landing)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Synthesize(code, amd64Machine)
		if err != nil || s.Undecided > 0 {
			t.Fatal(s, err)
		}
		got, want := s.text(t, amd64Machine, len(code)), (&Synthesis{Unwind: theirs}).text(t, amd64Machine, len(code))
		want = strings.Replace(want, "4: rsp+8\n", "", 1) // equal to the row before it
		if strings.TrimSuffix(want, ", rbp at CFA-16\n")+"\n" != got {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

func TestSynthesizeErrors(t *testing.T) {
	if _, err := Synthesize([]byte{0xc3}, nil); !errors.Is(err, ErrMachine) {
		t.Error(err)
	}
	if _, err := Synthesize([]byte{0xc3}, arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)); !errors.Is(err, ErrMachine) {
		t.Error(err)
	}
	if _, err := Synthesize(nil, amd64Machine); !errors.Is(err, ErrCode) {
		t.Error(err)
	}
	s, err := NewSynthesizer(amd64Machine, Code{Memory: bytesAt{0x1000, []byte{0xc3}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Range{{0x1000, 0x1002}, {0xfff, 0x1000}, {0x1000, 0x1000}, {^uint64(0) - 1, 2}} {
		if _, err := s.Function(r.Start, r.End-r.Start); !errors.Is(err, ErrCode) {
			t.Errorf("%#x: %v", r, err)
		}
	}
	if r, err := s.Function(0x1000, 1<<40); err != nil || r.Unwind != nil || r.Gaps[0].Reason != TooLarge {
		t.Error(r, err)
	}
}

// FuzzSynthesize checks the table of arbitrary code: no row disagrees with the code.
func FuzzSynthesize(f *testing.F) {
	for _, test := range synthesizeTests {
		code := decodeHex(f, test.code)
		if test.arm64 {
			for i := range len(code) / 4 {
				slices.Reverse(code[4*i : 4*i+4])
			}
		}
		f.Add(code, test.arm64)
	}
	f.Fuzz(func(t *testing.T, code []byte, arm64 bool) {
		if len(code) == 0 || len(code) > 1<<12 {
			return
		}
		m := amd64Machine
		if arm64 {
			m = arm64Machine
		}
		s, err := Synthesize(code, m)
		if err != nil {
			t.Fatal(err)
		}
		end := uint64(0)
		for _, g := range s.Gaps {
			if g.Offset < end || g.End <= g.Offset || g.End > uint64(len(code)) || g.Reason == NoReason {
				t.Fatalf("%v", s.Gaps)
			}
			end = g.End
		}
		if s.Unwind == nil {
			return
		}
		section := s.section(t, m, syntheticBase, uint64(len(code)))
		r, err := Section(section, Code{Memory: bytesAt{syntheticBase, code}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Findings {
			if r.Findings[i].Kind != NotRestored {
				t.Errorf("%v\n%s", &r.Findings[i], s.text(t, m, len(code)))
			}
		}
	})
}

// Complete makes the tables that a batch lacks, and no others.
func TestComplete(t *testing.T) {
	text := decodeHex(t, "53 90 5b c3 cc cc cc cc 4889fc c3 c3")
	given, err := cfi.NewBuilder(cfi.EntryCIE(amd64Machine)).Program()
	if err != nil {
		t.Fatal(err)
	}
	code := &jit.Code{Machine: amd64Machine, Address: 0x7f0012340000, Text: text, Functions: []jit.Function{
		{Name: "f", Offset: 0, Size: 4}, {Name: "g", Offset: 8, Size: 4}, {Name: "h", Offset: 12, Size: 1, Unwind: given},
	}}
	list, err := Complete(code)
	if err != nil {
		t.Fatal(err)
	}
	if list[0].Undecided != 0 || list[0].Unwind != code.Functions[0].Unwind || list[1].Undecided != 1 || list[2] != nil || code.Functions[2].Unwind != given {
		t.Errorf("%+v", list)
	}
	if got, want := list[0].text(t, amd64Machine, 4), "0: rsp+8\n1: rsp+16, rbx at CFA-16\n3: rsp+8\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := code.Check(); err != nil {
		t.Error(err)
	}
	if _, err := Complete(&jit.Code{Machine: amd64Machine}); !errors.Is(err, jit.ErrCode) {
		t.Error(err)
	}
}

// Rows are those of the table that Function makes, without the gaps.
func TestRowsEqualTable(t *testing.T) {
	arm64 := testprogram.Emulations["arm64"]
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libc.so.6", arm64.Root() + "/lib/libc.so.6"} {
		f, err := object.Open(path)
		if err != nil {
			t.Logf("%s is not installed", path)
			continue
		}
		defer f.Close()
		section, err := f.EHFrame()
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSynthesizer(f.Machine(), Code{Memory: f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, r := range sample.Of(t, section.Index().Ranges(), 300) {
			size := r.End - r.Start
			expressions := &cfi.Section{Machine: f.Machine()}
			rows, err := s.Rows(r.Start, size, expressions)
			if err != nil {
				t.Fatal(err)
			}
			made, err := s.Function(r.Start, size)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if made.Unwind != nil {
				table := made.section(t, f.Machine(), r.Start, size)
				var x cfi.Interpreter
				for fde := range table.FDEs() {
					for row := range x.Rows(fde) {
						if row.Register(uint64(f.Machine().ReturnAddress)).Kind != cfi.Undefined {
							want = append(want, rowText(row, table))
						}
					}
				}
			}
			var got []string
			for i := range rows {
				got = append(got, rowText(&rows[i], expressions))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %#x:\n%s\nexpected\n%s", path, r.Start, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			count += len(rows)
		}
		t.Logf("%s: %d rows", path, count)
	}
}

// rowText returns a row with the bytes of its expressions.
func rowText(r *cfi.Row, s *cfi.Section) string {
	rule := func(r cfi.Rule) string {
		if r.Kind == cfi.Expression || r.Kind == cfi.ValExpression {
			return fmt.Sprintf("%v %x", r.Kind, s.Data[r.Offset:r.Offset+int64(r.Register)])
		}
		return fmt.Sprintf("%v %d %d", r.Kind, r.Register, r.Offset)
	}
	text := fmt.Sprintf("%#x-%#x CFA %s signed %t", r.Start, r.End, rule(r.CFA), r.Signed)
	for _, c := range r.Registers {
		text += fmt.Sprintf(", %d: %s", c.Column, rule(c.Rule))
	}
	return text
}
