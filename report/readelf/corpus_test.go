// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
)

// needReadelf skips the test if readelf is missing or has another version, with other output.
func needReadelf(tb testing.TB) {
	tb.Helper()
	out, err := exec.Command("readelf", "--version").Output()
	if err != nil {
		tb.Skip("skipped: readelf is not installed")
	}
	if first, _, _ := bytes.Cut(out, []byte("\n")); !bytes.Contains(first, []byte(" 2.40")) {
		tb.Skip("skipped: readelf 2.40 is not installed")
	}
}

func option(mode readelf.Mode) string {
	if mode == readelf.Raw {
		return "-wf"
	}
	return "-wF"
}

var modes = []readelf.Mode{readelf.Rows, readelf.Raw}

// comparison is a writer that compares its input with the output of readelf, and keeps neither.
type comparison struct {
	expected io.Reader
	offset   int64
	line     int
	buf      []byte
}

var errDiffers = errors.New("output differs")

func (c *comparison) Write(p []byte) (int, error) {
	if len(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	n, _ := io.ReadFull(c.expected, c.buf[:len(p)])
	if got := c.buf[:n]; !bytes.Equal(got, p) {
		i := 0
		for i < n && got[i] == p[i] {
			i++
		}
		more, _ := io.ReadAll(io.LimitReader(c.expected, 200))
		from := bytes.LastIndexByte(p[:i], '\n') + 1
		return 0, fmt.Errorf("%w at byte %d, line %d:\nreadelf: %.200q\nClew:    %.200q", errDiffers,
			c.offset+int64(i), c.line+bytes.Count(p[:i], []byte("\n"))+1, append(got[from:n:n], more...), p[from:])
	}
	c.offset += int64(n)
	c.line += bytes.Count(p, []byte("\n"))
	return n, nil
}

// compare runs readelf and File on a file, both at once.
func compare(path string, mode readelf.Mode) (faults, err error) {
	f, err := object.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	separate, err := readelf.SeparateFiles(f)
	if err != nil {
		return nil, err
	}
	for _, d := range separate {
		defer d.Close()
	}
	cmd := exec.Command("readelf", option(mode), path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &comparison{expected: out}
	faults = readelf.File(c, f, separate, mode)
	rest, _ := io.ReadAll(io.LimitReader(out, 200))
	io.Copy(io.Discard, out)
	cmd.Wait() // fails for files with a NOBITS section, among others
	switch {
	case errors.Is(faults, errDiffers):
		return nil, faults
	case len(rest) > 0:
		return nil, fmt.Errorf("%w at byte %d: only readelf prints %q", errDiffers, c.offset, rest)
	}
	return faults, nil
}

// compareAll compares every file in every mode.
func compareAll(t *testing.T, paths []string) {
	corpus.Each(t, paths, func(path string) error {
		for _, mode := range modes {
			faults, err := compare(path, mode)
			if err := cmp.Or(err, faults); err != nil {
				return fmt.Errorf("readelf %s: %w", option(mode), err)
			}
		}
		return nil
	})
}

// The output for the system's ELF files, and for C libraries of other machines, is that of
// readelf.
func TestInstalled(t *testing.T) {
	needReadelf(t)
	compareAll(t, corpus.Files(t))
	if len(corpus.CrossLibraries(t)) < 8 {
		t.Skip("skipped: libc6-*-cross is not installed")
	}
}

// assembledDiffers are the sources with different output of the two programs, with the heading
// of the reason in DIFFERENCES.md.
var assembledDiffers = map[string]string{
	"asm/columns.s":       "Columns beyond those it has names for",
	"asm/dwarf64.s":       "64-bit DWARF in .eh_frame",
	"asm/encodings.s":     "Indirect starts",
	"asm/encodings_leb.s": "Starts in LEB128",
	"asm/order.s":         "A CIE after its FDEs",
}

// The output for assembly sources with rare constructs is that of readelf, except for the cases
// in DIFFERENCES.md.
func TestAssembled(t *testing.T) {
	needReadelf(t)
	differences, err := os.ReadFile("DIFFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range testprogram.Sources(t, "asm") {
		t.Run(source, func(t *testing.T) {
			path := testprogram.Assemble(t, source)
			heading := assembledDiffers[source]
			for _, mode := range modes {
				faults, err := compare(path, mode)
				switch {
				case heading != "" && err == nil:
					t.Errorf("readelf %s: the output is the same, DIFFERENCES.md says %q", option(mode), heading)
				case heading == "" && err != nil:
					t.Errorf("readelf %s: %v", option(mode), err)
				case heading == "" && faults != nil:
					t.Errorf("%s: %v", option(mode), faults)
				case heading != "" && !strings.Contains(string(differences), "\n## "+heading+"\n"):
					t.Errorf("DIFFERENCES.md has no heading %q", heading)
				}
			}
		})
	}
}

// The output for files of clang for other machines is that of readelf, except for a relocation
// of MIPS that readelf does not know.
func TestClang(t *testing.T) {
	needReadelf(t)
	targets := []string{
		"x86_64", "i386", "aarch64", "arm", "riscv64", "riscv32", "powerpc64le",
		"powerpc64", "powerpc", "s390x", "mips", "mips64el",
	}
	for _, target := range targets {
		for section, flag := range map[string]string{
			".debug_frame": "-fno-asynchronous-unwind-tables", // with CIEs of version 4
			".eh_frame":    "-fasynchronous-unwind-tables",
		} {
			t.Run(target+section, func(t *testing.T) {
				path := testprogram.BuildWith(t, "clang", "freestanding.c",
					"--target="+target+"-linux-gnu", "-c", "-O2", "-g", "-ffreestanding", flag)
				for _, mode := range modes {
					faults, err := compare(path, mode)
					if faults != nil {
						t.Errorf("%s: %v", option(mode), faults)
					}
					if strings.HasPrefix(target, "mips") && section == ".eh_frame" {
						// The first function starts at 0. Its start is stored at 0x1c.
						if err == nil || !strings.Contains(err.Error(), "00001c..") || !strings.Contains(err.Error(), "000000..") {
							t.Errorf("%v, expected R_MIPS_PC32 to be applied by Clew alone", err)
						}
					} else if err != nil {
						t.Errorf("readelf %s: %v", option(mode), err)
					}
				}
			})
		}
	}
}
