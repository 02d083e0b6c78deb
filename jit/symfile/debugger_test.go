// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package symfile_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/jit"
)

// debug runs a program with generated code under gdb or lldb and returns the
// debugger's output. Entries are the numbers of the functions that the program calls.
func debug(t *testing.T, debugger string, c *jit.Code, images [][]byte, entries []int, commands ...string) string {
	t.Helper()
	tool(t, debugger)
	dir := t.TempDir()
	program := host(t)
	args := []string{fmt.Sprintf("%x", c.Address), write(t, dir, "code", c.Text)}
	for _, i := range entries {
		args = append(args, fmt.Sprintf("%x", c.Functions[i].Offset))
	}
	args = append(args, "--")
	for i, image := range images {
		args = append(args, write(t, dir, fmt.Sprintf("%d.elf", i), image))
	}
	script := strings.ReplaceAll(strings.Join(commands, "\n"), "ARGS", strings.Join(args, " "))
	file := write(t, dir, "commands", []byte(script+"\n"))
	var stdout, stderr string
	if debugger == "gdb" {
		stdout, stderr = run(t, "gdb", "-nx", "-batch", "-iex", "set auto-load off", "-x", file, program)
	} else {
		stdout, stderr = run(t, debugger, "--no-lldbinit", "-b", "-s", file, program)
	}
	return stdout + stderr
}

// expect checks that text contains the parts, regular expressions, in this order.
func expect(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		at := regexp.MustCompile("(?m)" + p).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no %q in its place in\n%s", p, text)
			return
		}
		rest = rest[at[1]:]
	}
}

var gdbStart = []string{"set confirm off", "set width 0", "set height 0", "set breakpoint pending on"}

// TestGDB checks that gdb 13 names, unwinds, breaks and steps by line in one function,
// and in the last of 10,000 adjacent ones.
func TestGDB(t *testing.T) {
	for _, n := range []int{1, 10000} {
		last := n - 1
		f := fmt.Sprintf("f%d", last)
		t.Run(fmt.Sprintf("functions=%d", n), func(t *testing.T) {
			c := callers(t, amd64, n, 0, false)
			got := debug(t, "gdb", c, [][]byte{mustAppend(t, c)}, []int{last}, append(gdbStart,
				"break "+f, "run ARGS", "bt", "info symbol $pc", "info line *$pc",
				"break callee", "continue", "bt", "finish", "continue")...)
			expect(t, got, `^Breakpoint 1, 0x\w+ in `+f+` \(\)`,
				`^#0  0x\w+ in `+f+` \(\)`, `^#1  0x\w+ in main \(`,
				`^`+f+`( \+ 4)? in section \.text of <in-memory`, `^No line number information available for address .*<`+f,
				`^#0  callee \(\)`, `^#1  0x\w+ in `+f+` \(\)`, `^#2  0x\w+ in main \(`,
				`^0x\w+ in `+f+` \(\)`, `^1 calls`, `exited normally`)
			if strings.Contains(got, "overlap") || strings.Contains(got, "warning") {
				t.Errorf("gdb complains: %s", got)
			}
		})
		t.Run(fmt.Sprintf("functions=%d/lines", n), func(t *testing.T) {
			file, line := last%2, 10+4*(last/2)
			at := fmt.Sprintf("/src/file%d.w:%d", file, line+1)
			c := callers(t, amd64, n, 0, true)
			dir := sources(t, line+10)
			got := debug(t, "gdb", c, [][]byte{mustAppend(t, c)}, []int{last, last}, append(gdbStart, "set substitute-path /src "+dir,
				fmt.Sprintf("break file%d.w:%d", file, line+1), "run ARGS", "bt", "info symbol $pc", "info line *$pc",
				"next", "delete 1", "info source", "tbreak "+f, "continue", "step", "step", "bt", "finish")...)
			expect(t, got, `^Breakpoint 1, `+f+` \(\) at `+at, fmt.Sprintf(`^%d\tfile%d line %d$`, line+1, file, line+1),
				`^#0  `+f+` \(\) at `+at, `^#1  0x\w+ in main \(`,
				`^`+f+` \+ 4 in section \.text of <in-memory`,
				fmt.Sprintf(`^Line %d of "/src/file%d.w" starts at address 0x\w+ <%s\+4> and ends at 0x\w+ <%s\+6>`, line+1, file, f, f),
				fmt.Sprintf(`^%d\tfile%d line %d$`, line+2, file, line+2),
				fmt.Sprintf(`^Current source file is /src/file%d.w`, file), `^Producer is Clew`,
				`^Temporary breakpoint 2, `+f+` \(\) at /src/file`, fmt.Sprintf(`^%d\tfile%d line %d$`, line, file, line),
				fmt.Sprintf(`^%d\tfile%d line %d$`, line+1, file, line+1),
				`^callee \(\)`, `^#1  0x\w+ in `+f+` \(\) at `+at, `^#2  0x\w+ in main \(`,
				fmt.Sprintf(`^%d\tfile%d line %d$`, line+2, file, line+2))
		})
	}
}

// TestGDBDense checks that the sections of images of single adjacent functions do not
// collide, and that a merged image does not collide with the new function at the place
// of a withdrawn one.
func TestGDBDense(t *testing.T) {
	const n = 60
	c := callers(t, amd64, n, 0, false)
	images := split(t, c, n)
	// The first ten are now one image, without number 5; another function is in its place.
	merged := mustMerge(t, images[:10], func(start uint64) bool { return start != c.Start(&c.Functions[5]) })
	instead := *c
	instead.Functions = []jit.Function{c.Functions[5]}
	instead.Functions[0].Name = "instead"
	instead.Functions[0].Offset = 0
	instead.Address, instead.Text = c.Start(&c.Functions[5]), c.Bytes(&c.Functions[5])
	images = append([][]byte{merged, mustAppend(t, &instead)}, images[10:]...)

	commands := append(gdbStart, "break callee", "run ARGS")
	var want []string
	for i := range n {
		f := &c.Functions[i]
		name := f.Name
		if i == 5 {
			name = "instead"
		}
		// info symbol asks every section. x/i uses the sorted map of sections, as bt
		// does.
		commands = append(commands, fmt.Sprintf("x/i %#x", c.Start(f)), fmt.Sprintf("x/i %#x", c.Start(f)+f.Size-1))
		want = append(want, fmt.Sprintf(`^ *%#x <%s>:`, c.Start(f), name), fmt.Sprintf(`^ *%#x <%s\+10>:\s+ret`, c.Start(f)+f.Size-1, name))
	}
	commands = append(commands, "bt", "continue", "bt")
	want = append(want, `^#1  0x\w+ in f3 \(\)`, `^#2  0x\w+ in main`, `^#1  0x\w+ in instead \(\)`, `^#2  0x\w+ in main`)
	expect(t, debug(t, "gdb", c, images, []int{3, 5}, commands...), want...)
}

// TestGDBRanges checks that gdb finds the last of 10,000 ranges of code in an image.
func TestGDBRanges(t *testing.T) {
	c := callers(t, amd64, 10000, 5, true)
	image := mustMerge(t, split(t, c, 10000), nil)
	got := debug(t, "gdb", c, [][]byte{image}, []int{9999}, append(gdbStart,
		"break callee", "run ARGS", "bt", "info symbol 0x1000000003", "info symbol 0x1000000010")...)
	expect(t, got, `^#1  0x\w+ in f9999 \(\) at /src/file1.w:20007`, `^#2  0x\w+ in main`,
		`^f0 \+ 3 in section \.text of`, `^f1 in section \.text\.1 of`)
}

// TestLLDB checks the same with lldb 14. On Linux its loader of registered files is off
// by default.
func TestLLDB(t *testing.T) {
	lldb := []string{"settings set plugin.jit-loader.gdb.enable on", "settings set target.x86-disassembly-flavor att"}
	for _, n := range []int{1, 10000} {
		last := n - 1
		f := fmt.Sprintf("f%d", last)
		t.Run(fmt.Sprintf("functions=%d", n), func(t *testing.T) {
			c := callers(t, amd64, n, 0, false)
			got := debug(t, "lldb-14", c, [][]byte{mustAppend(t, c)}, []int{last}, append(lldb,
				"breakpoint set --name "+f, "run ARGS", "bt", "breakpoint set --name callee", "continue", "bt")...)
			expect(t, got, `stop reason = breakpoint 1`, `frame #0: 0x\w+ JIT\(0x\w+\)`+"`"+f, `frame #1: 0x\w+ host`+"`main",
				`stop reason = breakpoint 2`, `frame #0: 0x\w+ host`+"`callee", `frame #1: 0x\w+ JIT\(0x\w+\)`+"`"+f+` \+ 6`, `frame #2: 0x\w+ host`+"`main")
		})
		t.Run(fmt.Sprintf("functions=%d/lines", n), func(t *testing.T) {
			file, line := last%2, 10+4*(last/2)
			c := callers(t, amd64, n, 0, true)
			got := debug(t, "lldb-14", c, [][]byte{mustAppend(t, c)}, []int{last}, append(lldb,
				"settings set target.source-map /src "+sources(t, line+10),
				fmt.Sprintf("breakpoint set --file file%d.w --line %d", file, line+1), "run ARGS", "bt", "next", "bt")...)
			expect(t, got, `stop reason = breakpoint 1`, fmt.Sprintf("%s at file%d.w:%d:3", f, file, line+1), `frame #1: 0x\w+ host`+"`main",
				`stop reason = step over`, fmt.Sprintf("%s at file%d.w:%d", f, file, line+2), fmt.Sprintf("file%d line %d", file, line+2), `frame #1: 0x\w+ host`+"`main")
		})
	}
	t.Run("ranges", func(t *testing.T) {
		c := callers(t, amd64, 50, 5, false)
		got := debug(t, "lldb-14", c, [][]byte{mustMerge(t, split(t, c, 50), nil)}, []int{49}, append(lldb,
			"breakpoint set --name callee", "run ARGS", "bt")...)
		expect(t, got, `frame #1: 0x\w+ JIT\(0x\w+\)`+"`"+`f49 \+ 6`, `frame #2: 0x\w+ host`+"`main")
	})
}

// TestRanges checks that gdb and lldb know functions of a batch in each of its ranges.
func TestRanges(t *testing.T) {
	c := callers(t, amd64, 9, 5, true)
	parts := *c
	parts.Functions = slices.Clone(c.Functions)
	low, high := c.Functions[3].Offset, c.Functions[6].Offset
	parts.Text = c.Text[:low-5]
	parts.Ranges = []jit.Range{{Address: c.Address + low, Text: c.Text[low : high-5]}, {Address: c.Address + high, Text: c.Text[high:]}}
	for i := range parts.Functions {
		f := &parts.Functions[i]
		f.Range = i / 3
		f.Offset -= []uint64{0, low, high}[f.Range]
	}
	image := mustAppend(t, &parts)
	got := debug(t, "gdb", c, [][]byte{image}, []int{4, 8}, append(gdbStart, "break callee", "run ARGS", "bt", "continue", "bt", "info symbol 0x1000000003")...)
	expect(t, got, `^#1  0x\w+ in f4 \(\) at /src/file0.w:19`, `^#2  0x\w+ in main`, `^#1  0x\w+ in f8 \(\)`, `^#2  0x\w+ in main`, `^f0 \+ 3 in section \.text of`)
	got = debug(t, "lldb-14", c, [][]byte{mustMerge(t, [][]byte{image}, nil)}, []int{4, 8}, "settings set plugin.jit-loader.gdb.enable on",
		"breakpoint set --name callee", "run ARGS", "bt", "continue", "bt")
	expect(t, got, `frame #1: 0x\w+ JIT\(0x\w+\)`+"`"+`f4 at file0`, `frame #2: 0x\w+ host`, `frame #1: 0x\w+ JIT\(0x\w+\)`+"`"+`f8 at file0`, `frame #2: 0x\w+ host`)
}

// TestInlined checks that gdb and lldb show a frame for each inlined call, before and after merging,
// and stop at a line of one.
func TestInlined(t *testing.T) {
	c := inlined(t, amd64, 20)
	images := map[string][][]byte{
		"appended": {mustAppend(t, c)},
		"merged":   {mustMerge(t, split(t, c, 10), nil)},
	}
	for name, images := range images {
		t.Run("gdb/"+name, func(t *testing.T) {
			got := debug(t, "gdb", c, images, []int{7}, append(gdbStart, "break callee", "run ARGS", "bt", "tbreak outer.w:32", "finish",
				"bt", "tbreak file1.w:108", "continue", "bt", "info line inner1")...)
			expect(t, got, `^#0  callee \(\)`, `^#1  0x\w+ in inner1 \(\) at /src/inner\.w:41`, `^#2  outer \(\) at /src/outer\.w:31`,
				`^#3  f7 \(\) at /src/file1\.w:107`, `^#4  0x\w+ in main \(`,
				`^Temporary breakpoint 2\.\d+, outer \(\) at /src/outer\.w:32`, `^#0  outer \(\) at /src/outer\.w:32`, `^#1  f7 \(\) at /src/file1\.w:107`, `^#2  0x\w+ in main`,
				`^Temporary breakpoint 3\.\d+, f7 \(\) at /src/file1\.w:108`, `^#0  f7 \(\) at /src/file1\.w:108`, `^#1  0x\w+ in main`, `^Line 41 of "/src/inner.w" starts at address 0x\w+ <f`)
			if strings.Contains(got, "DW_AT") || strings.Contains(got, "complaint") {
				t.Errorf("gdb complains: %s", got)
			}
		})
		t.Run("lldb/"+name, func(t *testing.T) {
			got := debug(t, "lldb-14", c, images, []int{7}, "settings set plugin.jit-loader.gdb.enable on",
				"breakpoint set --name callee", "run ARGS", "bt")
			expect(t, got, `frame #0: 0x\w+ host`+"`callee", `frame #1: 0x\w+ JIT\(0x\w+\)`+"`"+`f7 \[inlined\] inner1 at inner\.w:41`,
				`frame #2: 0x\w+ JIT\(0x\w+\)`+"`"+`f7 \[inlined\] outer at outer\.w:31`, `frame #3: 0x\w+ JIT\(0x\w+\)`+"`"+`f7 at file1\.w:107:7`, `frame #4: 0x\w+ host`+"`main")
		})
	}
}

// TestCachedCode checks that code from a cache, at another address, has the image that it would have had
// there, and that gdb knows it.
func TestCachedCode(t *testing.T) {
	if jit.Host() != amd64 {
		t.Skip("skipped: the code is for amd64")
	}
	c := inlined(t, amd64, 20)
	data, err := c.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var cached jit.Code
	if err := cached.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	c.Address += 0x5000
	cached.Address, cached.Text = c.Address, c.Text
	image := mustAppend(t, &cached)
	if !bytes.Equal(image, mustAppend(t, c)) {
		t.Error("the images differ")
	}
	got := debug(t, "gdb", &cached, [][]byte{image}, []int{7}, append(gdbStart, "break callee", "run ARGS", "bt")...)
	expect(t, got, `^#1  0x\w+ in inner1 \(\) at /src/inner\.w:41`, `^#2  outer \(\)`, `^#3  f7 \(\) at /src/file1\.w:107`, `^#4  0x\w+ in main \(`)
	t.Logf("%d functions: %d bytes serialised, %d as an image", len(c.Functions), len(data), len(image))
}

// TestHost: the program works without a debugger.
func TestHost(t *testing.T) {
	c := callers(t, amd64, 3, 0, false)
	dir := t.TempDir()
	out, _ := run(t, host(t), fmt.Sprintf("%x", c.Address), write(t, dir, "code", c.Text), "0", "b", "--",
		write(t, dir, "image.elf", mustAppend(t, c)))
	if !bytes.Equal([]byte(out), []byte("2 calls\n")) {
		t.Errorf("it printed %q", out)
	}
}
