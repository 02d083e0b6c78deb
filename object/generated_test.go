// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
	"github.com/clewdev/clew/object"
)

// text is generated code in memory. The image that describes it does not contain it.
type text struct {
	address uint64
	bytes   []byte
}

func (m text) ReadMemory(p []byte, addr uint64) error {
	if at := addr - m.address; at <= uint64(len(m.bytes)) && uint64(len(p)) <= uint64(len(m.bytes))-at {
		copy(p, m.bytes[at:])
		return nil
	}
	return errors.New("no code here")
}

// frame sets up a frame pointer, calls twice and returns.
const frame = "\x55\x48\x89\xe5" + "\xe8\x00\x00\x00\x00" + "\xe8\x00\x00\x00\x00" + "\x5d\xc3"

// generated returns the image of functions at 0x401000: "framed" with a prologue,
// twice, "plain" without, "rows" with rows of no line and of another file.
func generated(t *testing.T) (*object.File, text) {
	t.Helper()
	c := &jit.Code{Machine: arch.Lookup(62, 2, 1), Address: 0x401000}
	add := func(name string, code string, lines ...jit.Line) {
		c.Functions = append(c.Functions, jit.Function{Name: name, Offset: uint64(len(c.Text)), Size: uint64(len(code)), Lines: lines})
		c.Text = append(c.Text, code...)
	}
	add("framed", frame, jit.Line{Offset: 0, File: "/src/a.w", Line: 10}, jit.Line{Offset: 4, File: "/src/a.w", Line: 11, Column: 7},
		jit.Line{Offset: 9, File: "/src/a.w", Line: 12}, jit.Line{Offset: 14, File: "/src/a.w", Line: 13})
	add("plain", strings.Repeat("\x90", 8)+"\xc3", jit.Line{Offset: 0, File: "/src/a.w", Line: 20}, jit.Line{Offset: 3, File: "/src/a.w", Line: 22})
	add("framed", frame, jit.Line{Offset: 0, File: "/src/lib/a.w", Line: 30}, jit.Line{Offset: 9, File: "/src/lib/a.w", Line: 31})
	add("rows", strings.Repeat("\x90", 15)+"\xc3", jit.Line{Offset: 0, File: "/src/a.w", Line: 40}, jit.Line{Offset: 3},
		jit.Line{Offset: 6, File: "/src/lib/a.w", Line: 41}, jit.Line{Offset: 9, File: "/src/a.w", Line: 40}, jit.Line{Offset: 12, File: "/src/a.w", Line: 45})
	add("unknown", frame)
	image, err := symfile.Append(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	// Published images are merged with images of other code.
	other := &jit.Code{Machine: c.Machine, Address: 0x500000, Text: []byte(frame), Functions: []jit.Function{
		{Name: "other", Size: uint64(len(frame)), Lines: []jit.Line{{File: "/src/a.w", Line: 22}, {Offset: 9, File: "/src/a.w", Line: 23}}},
	}}
	second, err := symfile.Append(nil, other)
	if err != nil {
		t.Fatal(err)
	}
	if image, err = symfile.Merge(nil, [][]byte{image, second}, func(uint64) bool { return true }); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, image, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := object.NewFile(image, path)
	if err != nil {
		t.Fatal(err)
	}
	return f, text{c.Address, c.Text}
}

func TestLinesOfGeneratedCode(t *testing.T) {
	f, code := generated(t)
	for _, tt := range []struct {
		addr uint64
		want string
	}{
		{0x400fff, " 0 0: 0-0"},
		{0x401000, "/src/a.w 10 0: 401000-401004"},
		{0x401005, "/src/a.w 11 7: 401004-401009"},
		{0x40100f, "/src/a.w 13 0: 40100e-401010"},
		{0x401018, "/src/a.w 22 0: 401013-401019"},
		{0x401019, "/src/lib/a.w 30 0: 401019-401022"},
		{0x40102c, "/src/a.w 40 0: 401029-40102f"}, // without a line: gdb 13 takes the one before
		{0x40102f, "/src/lib/a.w 41 0: 40102f-401032"},
		{0x401033, "/src/a.w 40 0: 401032-401035"},
		{0x401038, "/src/a.w 45 0: 401035-401039"},
		{0x401039, " 0 0: 0-0"},
	} {
		r, err := f.LineRange(tt.addr)
		if got := fmt.Sprintf("%s %d %d: %x-%x", r.File, r.Line, r.Column, r.Start, r.End); got != tt.want || err != nil || r.Line != 0 && !r.Statement {
			t.Errorf("%#x: %s, %v, %v; want %s", tt.addr, got, r.Statement, err, tt.want)
		}
	}
	for _, tt := range []struct {
		file string
		line int
		want []uint64
	}{
		{"a.w", 10, []uint64{0x401004}},
		{"/src/a.w", 10, []uint64{0x401004}},
		{"src/a.w", 11, []uint64{0x401004}},
		{"lib/a.w", 11, []uint64{0x401022}}, // the next with code there is 30
		{"ib/a.w", 11, nil},
		{"a.w", 21, []uint64{0x401013, 0x500000}}, // the code of the second cannot be read
		{"a.w", 40, []uint64{0x401029}},           // two places in one function
		{"a.w", 46, nil},
		{"a.w", 0, nil},
		{"a.w", -1, nil},
		{"", 10, nil},
	} {
		if got, err := f.FindLine(code, tt.file, tt.line); !slices.Equal(got, tt.want) || err != nil {
			t.Errorf("%s:%d: %#x, %v; want %#x", tt.file, tt.line, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		name  string
		after []uint64
	}{
		{"framed", []uint64{0x401004, 0x401022}},
		{"plain", []uint64{0x401010}},
		{"unknown", []uint64{0x40103d}},
		{"nobody", nil},
	} {
		functions, err := f.Functions(tt.name)
		if err != nil {
			t.Error(err)
		}
		var after []uint64
		for i := range functions {
			if at, err := f.FunctionsAt(functions[i].Entry + 1); err != nil || len(at) != 1 || at[0].Name != tt.name || at[0].Entry != functions[i].Entry || !at[0].Ranges[0].Contains(functions[i].Entry+1) {
				t.Errorf("FunctionsAt(%#x): %+v, %v", functions[i].Entry+1, at, err)
			}
			addr, err := f.AfterPrologue(code, functions[i].Entry)
			if err != nil {
				t.Error(err)
			}
			after = append(after, addr)
		}
		if !slices.Equal(after, tt.after) {
			t.Errorf("%s: %#x, want %#x", tt.name, after, tt.after)
		}
	}
}

// TestLinesOfGeneratedCodeAgreeWithGDB compares the rows of the image with gdb.
func TestLinesOfGeneratedCodeAgreeWithGDB(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("skipped: gdb is not installed")
	}
	f, code := generated(t)
	args := []string{"-nx", "-q", "-batch", f.Name()}
	for i := range code.bytes {
		args = append(args, "-ex", fmt.Sprintf("info line *%#x", code.address+uint64(i)))
	}
	cmd := exec.Command("gdb", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != len(code.bytes) {
		t.Fatalf("%d answers for %d addresses:\n%s", len(answers), len(code.bytes), out)
	}
	row := regexp.MustCompile(` (\d+) of "(.*)" starts at address 0x([0-9a-f]+)(?: <.*?>)?\s+and ends at 0x([0-9a-f]+)`)
	for i, answer := range answers {
		want := " 0 0 0"
		if m := row.FindStringSubmatch(answer); m != nil {
			want = fmt.Sprintf("%s %s %s %s", m[2], m[1], m[3], m[4])
		}
		r, err := f.LineRange(code.address + uint64(i))
		if got := fmt.Sprintf("%s %d %x %x", r.File, r.Line, r.Start, r.End); got != want || err != nil {
			t.Errorf("%#x: %s, %v; gdb has %s", code.address+uint64(i), got, err, answer)
		}
	}
}
