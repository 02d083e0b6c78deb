// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// Defects that are seeded into the assembly language of compilers: a preserved register that is changed
// and not saved, and one that is saved without a directive. Each is found at the instruction after the
// change.
func TestSeededRegisters(t *testing.T) {
	clobbered, undescribed, rounds := 0, 0, 3
	if sample.Full() {
		rounds = 20
	}
	for _, b := range someBuilds(t, 6) {
		t.Run(b.String(), func(t *testing.T) {
			s := newAssembly(t, b)
			for range rounds {
				clobbered += s.seed(t, s.clobber)
				undescribed += s.seed(t, s.undescribe)
			}
		})
	}
	t.Logf("%d registers that are changed, %d saves without a directive", clobbered, undescribed)
	if clobbered < 200 || undescribed < 100 {
		t.Error("too few defects")
	}
}

// assembly is what a compiler makes of testdata/frames.cc.
type assembly struct {
	machine   string
	functions []assemblyFunction
	lines     []string
	registers []string // that functions preserve, in directives
	random    *rand.Rand
}

// assemblyFunction is a range of lines from .cfi_startproc to .cfi_endproc.
type assemblyFunction struct{ start, end int }

func newAssembly(t *testing.T, b build) *assembly {
	t.Helper()
	command := strings.Fields(b.compiler)
	testprogram.RequireTool(t, command[0])
	s := &assembly{machine: "amd64", random: sample.Rand(t), registers: []string{"rbx", "rbp", "r12", "r13", "r14", "r15"}}
	if strings.Contains(b.compiler, "aarch64") {
		testprogram.RequireTool(t, arm64GCC)
		s.machine, s.registers = "arm64", nil
		for n := 19; n <= 29; n++ {
			s.registers = append(s.registers, fmt.Sprintf("x%d", n))
		}
	}
	args := slices.Concat(command[1:], strings.Fields(b.flags), []string{"-w", "-fPIC", "-S", "-o", "-", "testdata/frames.cc"})
	out, err := exec.Command(command[0], args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		// gas knows neither the tables of symbols of LLVM nor the machine that clang writes for.
		if !strings.HasPrefix(line, "\t.addrsig") {
			s.lines = append(s.lines, strings.TrimSuffix(line, "\n"))
		}
	}
	if s.machine == "arm64" {
		s.lines = slices.DeleteFunc(s.lines, func(line string) bool { return strings.HasPrefix(line, "\t.arch\t") })
		s.lines = slices.Insert(s.lines, 0, "\t.arch armv8.5-a")
	}
	start := 0
	for n, line := range s.lines {
		switch strings.TrimSpace(line) {
		case ".cfi_startproc":
			start = n
		case ".cfi_endproc":
			// The parts of split functions use the registers of each other.
			if !strings.Contains(strings.Join(s.lines[max(0, start-3):n], "\n"), ".cold") {
				s.functions = append(s.functions, assemblyFunction{start, n})
			}
		}
	}
	return s
}

// mentions matches the names of a register and its parts.
func (s *assembly) mentions(register string) *regexp.Regexp {
	switch {
	case s.machine == "arm64":
		return regexp.MustCompile(`\b[xw]` + register[1:] + `\b`)
	case register[1] >= '0' && register[1] <= '9':
		return regexp.MustCompile(`%` + register + `[bwd]?\b`)
	}
	return regexp.MustCompile(`%([re]?` + register[1:] + `|` + register[1:2] + `l)\b`)
}

// changes reports whether a line sets a register. The operand that is set is the last one on amd64
// and the first one on arm64.
func (s *assembly) changes(line, register string) bool {
	name, operands, _ := strings.Cut(strings.TrimSpace(line), "\t")
	operands, _, _ = strings.Cut(operands, "#")
	mentions := s.mentions(register)
	if s.machine == "arm64" {
		first, _, _ := strings.Cut(operands, ",")
		return mentions.MatchString(first) && !strings.HasPrefix(name, "st") && !strings.HasPrefix(name, "c")
	}
	last := strings.TrimSpace(operands[strings.LastIndex(operands, ",")+1:])
	return mentions.FindString(last) == last && last != "" && !strings.HasPrefix(name, "push") && !strings.HasPrefix(name, "cmp") && !strings.HasPrefix(name, "test")
}

func isInstruction(line string) bool {
	return len(line) > 1 && line[0] == '\t' && line[1] >= 'a' && line[1] <= 'z'
}

// unclear matches the lines after which it is not clear where the first change is: labels, padding, branches
// except for calls, and loads from the frame, which may restore the register.
var unclear = regexp.MustCompile(`^[^\t#/]|^\t(\.p2align|j|ret|b\.|b[a-z]{0,2}\t|cb|tb|br|ud2|pop|leave)|\[sp|\(%r[sb]p\), `)

// assemblyDefect is a defect of a function: a line that is replaced, and a line with the instruction at which
// a row then is wrong.
type assemblyDefect struct {
	line        int
	replacement string
	wrong       int
	register    string
}

// clobber makes a function change a register that it does not use.
func (s *assembly) clobber(f assemblyFunction) (d assemblyDefect, ok bool) {
	text := strings.Join(s.lines[f.start:f.end], "\n")
	var unused []string
	for _, r := range s.registers {
		if !s.mentions(r).MatchString(text) {
			unused = append(unused, r)
		}
	}
	var instructions []int
	for n := f.start; n < f.end; n++ {
		if isInstruction(s.lines[n]) {
			instructions = append(instructions, n)
		}
	}
	if len(unused) == 0 {
		return d, false
	}
	register, n := unused[s.random.IntN(len(unused))], instructions[s.random.IntN(len(instructions))]
	change := "\tmovq $0, %" + register
	if s.machine == "arm64" {
		change = "\tmov " + register + ", 0"
	}
	return assemblyDefect{n, change + "\n" + s.lines[n], n, register}, true
}

// undescribe removes a directive for a register that is saved. Only instructions without branches are
// between it and the first change.
func (s *assembly) undescribe(f assemblyFunction) (d assemblyDefect, ok bool) {
	var list []assemblyDefect
	met := make(map[string]bool) // later directives are for the code after an epilogue
	for n := f.start; n < f.end; n++ {
		column, found := strings.CutPrefix(strings.TrimSpace(s.lines[n]), ".cfi_offset ")
		if !found {
			continue
		}
		column, _, _ = strings.Cut(column, ",")
		register := s.registerOf(column)
		if register == "" || met[register] {
			continue
		}
		met[register] = true
		for k := n + 1; k < f.end; k++ {
			line := s.lines[k]
			if unclear.MatchString(line) {
				break
			}
			if isInstruction(line) && s.changes(line, register) {
				wrong := k + 1
				for !isInstruction(s.lines[wrong]) && !unclear.MatchString(s.lines[wrong]) {
					wrong++
				}
				if isInstruction(s.lines[wrong]) {
					list = append(list, assemblyDefect{n, "", wrong, register})
				}
				break
			}
		}
	}
	if len(list) == 0 {
		return d, false
	}
	return list[s.random.IntN(len(list))], true
}

// registerOf returns the register of a directive's operand, which is a name or a column; "" for one
// that functions do not preserve.
func (s *assembly) registerOf(operand string) string {
	name := strings.TrimPrefix(operand, "%")
	if s.machine == "arm64" {
		name = "x" + strings.TrimPrefix(name, "w")
	} else if r, ok := map[string]string{"3": "rbx", "6": "rbp", "12": "r12", "13": "r13", "14": "r14", "15": "r15"}[name]; ok {
		name = r
	}
	if !slices.Contains(s.registers, name) {
		return ""
	}
	return name
}

// seed checks the code with one defect in each function that can have it, and returns how many these are.
// Defects at instructions that do not agree without them do not count.
func (s *assembly) seed(t *testing.T, choose func(assemblyFunction) (assemblyDefect, bool)) (count int) {
	t.Helper()
	labelled, defective := slices.Clone(s.lines), slices.Clone(s.lines)
	var list []assemblyDefect
	for _, f := range s.functions {
		d, ok := choose(f)
		if !ok {
			continue
		}
		label := fmt.Sprintf("wrong%d:\n", len(list))
		labelled[d.wrong] = label + labelled[d.wrong]
		if d.line == d.wrong { // the label is between the added instruction and the old one
			change, _, _ := strings.Cut(d.replacement, "\n")
			defective[d.wrong] = change + "\n" + label + s.lines[d.wrong]
		} else {
			defective[d.line], defective[d.wrong] = d.replacement, label+s.lines[d.wrong]
		}
		list = append(list, d)
	}
	agree, _ := s.check(t, labelled, len(list))
	_, findings := s.check(t, defective, len(list))
	for i, d := range list {
		if !agree[i] {
			continue
		}
		count++
		if !slices.ContainsFunc(findings[i], func(f *Finding) bool { return f.Kind == WrongRegister && f.Register == d.register }) {
			t.Errorf("%s, wrong at\n%s\nfindings there: %v", d.register, strings.Join(s.lines[d.wrong-2:d.wrong+1], "\n"), findings[i])
		}
	}
	return count
}

// check checks the code, and returns for each label wrong0, wrong1 and so on whether the row agrees there, and
// the findings that start there.
func (s *assembly) check(t *testing.T, lines []string, labels int) (agree []bool, findings [][]*Finding) {
	t.Helper()
	f := assemble(t, s.machine, strings.Join(lines, "\n"))
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[uint64]int)
	for i := range labels {
		symbol, ok := f.Symbol(fmt.Sprintf("wrong%d", i))
		if !ok {
			t.Fatalf("no label %d", i)
		}
		at[symbol.Address] = i
	}
	agree, findings = make([]bool, labels), make([][]*Finding, labels)
	c := newChecker(section, Code{Memory: f, NoReturn: noReturns(f, nil), Stubs: stubs(f)})
	c.observe = func(i *instruction) {
		if n, ok := at[i.pc]; ok {
			agree[n] = i.verdict == Agree
		}
	}
	r, err := c.run(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Findings {
		if n, ok := at[r.Findings[i].Address]; ok {
			findings[n] = append(findings[n], &r.Findings[i])
		}
	}
	return agree, findings
}
