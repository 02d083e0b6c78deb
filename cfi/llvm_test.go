// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/object"
)

// TestRowsEqualLLVM compares the FDEs and rows of the machine's ELF files with those
// that llvm-dwarfdump prints.
//
// llvm-dwarfdump 14 prints these differently; the test accepts them:
//   - the CFA after DW_CFA_restore_state: it is unchanged, but DWARF 5 §6.4.2.4
//     restores all rules;
//   - DW_CFA_def_cfa_register after an expression: the offset is 0, but libgcc and gdb
//     use the offset before the expression, as libgcrypt's assembly expects;
//   - DW_CFA_GNU_window_save on 32-bit SPARC: the registers of the window are
//     eight bytes apart, but the machine stores words of four;
//     for these three, the test computes rows in llvm-dwarfdump's way and compares
//     them; the correct rows are compared with those of single instructions;
//   - a row that covers no address, between two advances or before the end of the
//     function: left out;
//   - its own register names, such as "W29" on arm64: accepted, but each must stand
//     for one column throughout a machine.
func TestRowsEqualLLVM(t *testing.T) {
	tool, err := exec.LookPath("llvm-dwarfdump")
	if err != nil {
		t.Skip("skipped: llvm-dwarfdump is not installed")
	}
	var mu sync.Mutex
	var files, fdes, rows int
	names := make(map[elf.Machine]*llvmNames)
	named := func(m elf.Machine) *llvmNames {
		mu.Lock()
		defer mu.Unlock()
		if names[m] == nil {
			names[m] = &llvmNames{}
		}
		return names[m]
	}
	corpus.EachGroup(t, llvmGroups(corpus.Files(t)), func(paths []string) error {
		var failures []error
		err := compareLLVM(tool, paths, named, func(c *llvmComparison, err error) {
			mu.Lock()
			defer mu.Unlock()
			if c.fdes > 0 {
				files++
			}
			fdes += c.fdes
			rows += c.rows
			if err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", c.path, err))
			}
		})
		return errors.Join(append(failures, err)...)
	})
	if rows == 0 {
		t.Error("no row was compared")
	}
	t.Logf("%d files with FDEs, %d FDEs, %d rows", files, fdes, rows)
}

// llvmComparison reads the output of llvm-dwarfdump for one file and the file's sections in parallel.
type llvmComparison struct {
	path       string
	fdes, rows int

	names *llvmNames
	x     cfi.Interpreter
	fde   cfi.FDE

	section *cfi.Section
	offsets []uint64 // of the section's FDEs
	inFDE   bool
	printed []llvmRow // of the FDE
	line    []byte
}

type llvmRow struct {
	start uint64
	rules string
}

// llvmGroups divides files into groups for one run of llvm-dwarfdump each, because
// starting it takes ten times as long as a small file.
func llvmGroups(paths []string) [][]string {
	var groups [][]string
	var small []string
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
			groups = append(groups, []string{path})
		} else {
			small = append(small, path)
		}
	}
	return slices.AppendSeq(groups, slices.Chunk(small, 32))
}

// compareLLVM runs llvm-dwarfdump on files, and reports the result of each.
func compareLLVM(tool string, paths []string, names func(elf.Machine) *llvmNames, report func(*llvmComparison, error)) error {
	type file struct {
		*llvmComparison
		sections []*cfi.Section
	}
	var files []file
	arguments := []string{"--eh-frame"}
	for _, path := range paths {
		c := &llvmComparison{path: path}
		f, err := object.Open(path)
		if err != nil {
			report(c, err)
			continue
		}
		defer f.Close()
		sections, err := f.CFISections()
		if err != nil {
			report(c, err)
			continue
		}
		if len(sections) > 0 {
			c.names = names(sections[0].Machine.ELF)
			files, arguments = append(files, file{c, sections}), append(arguments, path)
		}
	}
	if len(files) == 0 {
		return nil
	}
	cmd := exec.Command(tool, arguments...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		return err
	}
	printed := &llvmOutput{Reader: bufio.NewReaderSize(out, 1<<16)}
	for i, f := range files {
		if printed.ended, printed.next = false, ""; i+1 < len(files) {
			printed.next = files[i+1].path + ":\tfile format "
		}
		err := f.read(printed, f.sections)
		for ; !printed.ended; printed.ReadSlice('\n') {
		}
		report(f.llvmComparison, err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, complaint.Bytes())
	}
	return nil
}

// llvmOutput is the output of llvm-dwarfdump for several files. The output of a file ends
// before the heading of the next one.
type llvmOutput struct {
	*bufio.Reader
	next  string
	ended bool
}

func (o *llvmOutput) ReadSlice(delimiter byte) ([]byte, error) {
	if o.ended {
		return nil, io.EOF
	}
	line, err := o.Reader.ReadSlice(delimiter)
	if err == nil && o.next != "" && strings.HasPrefix(string(line), o.next) {
		line, err = nil, io.EOF
	}
	o.ended = err != nil && err != bufio.ErrBufferFull
	return line, err
}

func (c *llvmComparison) read(lines *llvmOutput, sections []*cfi.Section) error {
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		if err == bufio.ErrBufferFull && bytes.HasPrefix(line, []byte("  DW_CFA_")) {
			for err == bufio.ErrBufferFull {
				_, err = lines.ReadSlice('\n')
			}
			continue
		}
		if err != nil {
			return err
		}
		line = line[:len(line)-1]
		switch {
		case bytes.HasPrefix(line, []byte("  DW_CFA_")), len(line) == 0:
		case bytes.HasPrefix(line, []byte("  0x")):
			if !c.inFDE {
				return fmt.Errorf("a row outside of an FDE: %q", line)
			}
			start, rules, _ := strings.Cut(string(line[4:]), ": ")
			at, err := strconv.ParseUint(start, 16, 64)
			if err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			c.printed = append(c.printed, llvmRow{at, rules})
		case bytes.HasSuffix(line, []byte(" contents:")):
			if err := c.endSection(); err != nil {
				return err
			}
			if c.section, err = c.choose(sections, string(bytes.TrimSuffix(line, []byte(" contents:")))); err != nil {
				return err
			}
			if c.section != nil {
				for f := range c.section.FDEs() {
					c.offsets = append(c.offsets, f.Offset)
				}
			}
		case line[0] != ' ':
			if err := c.endFDE(); err != nil {
				return err
			}
			if bytes.Contains(line, []byte(" FDE ")) {
				if err := c.startFDE(string(line)); err != nil {
					return err
				}
			}
		}
	}
	return c.endSection()
}

func (c *llvmComparison) choose(sections []*cfi.Section, name string) (*cfi.Section, error) {
	var chosen *cfi.Section
	for _, s := range sections {
		if (s.Kind == cfi.DebugFrame) != (name == ".debug_frame") || len(s.Data) == 0 {
			continue
		}
		if chosen != nil {
			return nil, fmt.Errorf("two sections %s", name)
		}
		chosen = s
	}
	return chosen, nil
}

func (c *llvmComparison) endSection() error {
	if err := c.endFDE(); err != nil {
		return err
	}
	if len(c.offsets) > 0 {
		return fmt.Errorf("%d FDEs from %s+%#x on that llvm-dwarfdump does not print", len(c.offsets), c.section.Name, c.offsets[0])
	}
	return nil
}

// startFDE parses a line such as
// "00000018 00000014 0000001c FDE cie=00000000 pc=000023d0...000023f2".
func (c *llvmComparison) startFDE(line string) error {
	var offset, length, pointer, cie, start, end uint64
	if _, err := fmt.Sscanf(line, "%x %x %x FDE cie=%x pc=%x...%x", &offset, &length, &pointer, &cie, &start, &end); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	if len(c.offsets) == 0 || c.offsets[0] != offset {
		return fmt.Errorf("llvm-dwarfdump has an FDE at %#x, expected one of %#x", offset, c.offsets[:min(1, len(c.offsets))])
	}
	c.offsets, c.inFDE = c.offsets[1:], true
	if err := c.section.FDEAt(offset, &c.fde); err != nil {
		return err
	}
	if f := &c.fde; f.CIE.Offset != cie || f.Start != start || f.End != end {
		return fmt.Errorf("%v with CIE %#x, but llvm-dwarfdump prints %q", f, f.CIE.Offset, line)
	}
	return nil
}

func (c *llvmComparison) endFDE() error {
	if !c.inFDE {
		return nil
	}
	c.inFDE = false
	c.fdes++
	printed := c.printed[:0]
	for i, r := range c.printed {
		if r.start < c.fde.End && (i+1 == len(c.printed) || c.printed[i+1].start > r.start) {
			printed = append(printed, r)
		}
	}
	c.printed = c.printed[:0]
	n := 0
	var failure error
	same := func(row *cfi.Row) bool {
		if n == len(printed) {
			failure = fmt.Errorf("%v: a row at %#x that llvm-dwarfdump does not print", &c.fde, row.Start)
			return false
		}
		want := printed[n]
		c.line = c.names.render(c.line[:0], c.section, row)
		if string(c.line) != want.rules {
			// New columns can appear here.
			if err := c.names.learn(c.section, row, want.rules); err != nil {
				failure = fmt.Errorf("%v: %#x: %q: %w", &c.fde, row.Start, want.rules, err)
				return false
			}
			c.line = c.names.render(c.line[:0], c.section, row)
		}
		if string(c.line) != want.rules || row.Start != want.start {
			failure = fmt.Errorf("%v:\n%#x %s, expected\n%#x %s", &c.fde, row.Start, c.line, want.start, want.rules)
			return false
		}
		n++
		return true
	}
	if c.peculiar() {
		if c.step(true, same); failure == nil {
			failure = c.stepsEqualRows()
		}
	} else {
		for row := range c.x.Rows(&c.fde) {
			if !same(row) {
				break
			}
		}
	}
	if c.rows += n; failure != nil {
		return failure
	}
	if err := c.x.Err(); err != nil {
		return err
	}
	if n < len(printed) {
		return fmt.Errorf("%v: no row at %#x: %s", &c.fde, printed[n].start, printed[n].rules)
	}
	return nil
}

// peculiar reports whether the FDE has instructions that llvm-dwarfdump executes differently.
func (c *llvmComparison) peculiar() bool {
	var ins cfi.Instruction
	for d := c.fde.Decode(); d.Next(&ins); {
		switch ins.Op {
		case cfi.CFARestoreState, cfi.CFADefCFAExpression, cfi.CFAGNUWindowSave:
			return true
		}
	}
	return false
}

// step yields the rows of the FDE by executing single instructions; with likeLLVM as
// llvm-dwarfdump executes them.
func (c *llvmComparison) step(likeLLVM bool, yield func(*cfi.Row) bool) {
	c.x.Start(&c.fde)
	row := c.x.Row()
	emit := func(start, end uint64) bool {
		if start >= end {
			return true
		}
		row.Start, row.End = start, end
		return yield(row)
	}
	var ins cfi.Instruction
	for d := c.fde.Decode(); d.Next(&ins); {
		start, cfa := c.x.Location(), row.CFA
		if !c.x.Execute(c.fde.CIE, &ins) {
			return
		}
		switch {
		case likeLLVM && ins.Op == cfi.CFARestoreState:
			row.CFA = cfa
		case likeLLVM && ins.Op == cfi.CFADefCFARegister && cfa.Kind == cfi.ValExpression:
			row.CFA.Offset = 0
		case likeLLVM && ins.Op == cfi.CFAGNUWindowSave:
			for i := range row.Registers {
				if r := &row.Registers[i]; r.Column >= 16 && r.Column < 32 {
					r.Offset = 8 * (int64(r.Column) - 16)
				}
			}
		}
		if !emit(start, min(c.x.Location(), c.fde.End)) {
			return
		}
	}
	emit(c.x.Location(), c.fde.End)
}

// stepsEqualRows compares the rows of single instructions with those of Rows.
func (c *llvmComparison) stepsEqualRows() error {
	var steps []cfi.Row
	c.step(false, func(row *cfi.Row) bool {
		kept := *row
		kept.Registers = slices.Clone(row.Registers)
		steps = append(steps, kept)
		return true
	})
	n := 0
	for row := range c.x.Rows(&c.fde) {
		if n == len(steps) || row.Start != steps[n].Start || row.End != steps[n].End ||
			row.CFA != steps[n].CFA || !slices.Equal(row.Registers, steps[n].Registers) {
			return fmt.Errorf("%v: row %d is %v, and %v instruction by instruction", &c.fde, n, row, steps)
		}
		n++
	}
	if n != len(steps) {
		return fmt.Errorf("%v: %d rows, and %d instruction by instruction", &c.fde, n, len(steps))
	}
	return nil
}
