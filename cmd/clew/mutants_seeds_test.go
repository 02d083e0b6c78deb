// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
)

// seed is an undamaged file for mutants, and the commands that read it.
type seed struct {
	name string // of the file, in its own directory
	data []byte

	// commands are command lines. {} is the path of the mutant, {dir} its directory,
	// {pid} a process that waits (see live).
	commands []string

	// others are undamaged files in the same directory.
	others map[string][]byte

	// pack compresses the file of the mutant. It may be nil.
	pack func([]byte) ([]byte, error)

	// given: the user names the file on the command line, so a pipe may block.
	given bool

	// live: the mutant is a file of a process that waits: its jitdump, its perf map,
	// debugging information or source. A jitdump is mapped, and changed in place.
	live bool
}

// Names of the files of the process that waits, in its directory.
const (
	liveProgram = "mutated"
	liveParts   = "mutated.dwo"
	liveSource  = "mutated.c"
	liveDump    = "jit-1.dump"
	liveMap     = "perf.map" // copied to /tmp with the ID of the process in its name
)

var (
	objectCommands = []string{
		"table {}", "table --raw {}", "table --json {}", "table --format=readelf {}", "table --format=go {}", "table --format=asm {}",
		"at {} main", "at {} f+1 --json", "at {} 0x1139", "at --source {} main", "at --source {} 0x7f0012340010", "jit {}",
		"check {}", "check --json {}", "check --sarif {}", "synth --func * {}", "synth --func * --output {dir}/out {}",
	}
	coreCommands = []string{
		"stack {}", "stack --args --locals {}", "stack --json {}", "stack --folded {}", "stack --goroutines {}", "stack --source --args {}",
		"jit {}", "jit --json {}", "jit show jit_code {}", "check {}",
	}
	recordingCommands = []string{"perf {}", "perf --samples {}", "perf --json {}", "perf --folded {}", "perf --speedscope {dir}/out {}", "jit {}"}
	codeCommands      = []string{"jit {}", "jit --json {}", "jit show fib {}", "jit show --json {} 0x1000", "jit extract --all {} -o {dir}/out", "table {}", "check {}"}
	liveCommands      = []string{
		"stack {pid}", "stack --args --locals {pid}", "stack --source --args {pid}", "stack --hold --args --json {pid}", "stack --folded {pid}",
		"jit {pid}", "jit show jit_code {pid}", "stack --watch 1ms -n 3 {pid}", "check {pid}",
	}
	scriptCommands = []string{"debug {dir}/program.o --batch {}"}
	dapCommands    = []string{"dap {}"} // not of clew: see mutantWorker
)

// seeds returns the seeds of every format that clew reads.
func seeds(t *testing.T) (list []seed) {
	t.Helper()
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	add := func(commands []string, paths ...string) {
		for _, path := range paths {
			list = append(list, seed{name: filepath.Base(path), data: read(path), commands: commands})
		}
	}
	glob := func(pattern string) []string {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		return paths
	}
	add(objectCommands, glob("../../object/testdata/*.elf")...)
	add(objectCommands, glob("../../value/testdata/*.elf")...)
	add(objectCommands, glob("../../jit/symfile/testdata/runtimes/*.elf")...)
	add(objectCommands, glob("../../session/link/testdata/*.o")...)
	add(codeCommands, glob("../../jit/perf/testdata/*.dump")...)
	// The files in testdata/mutants have broken the command in the past.
	add(recordingCommands, "../../snapshot/perfdata/testdata/true.data", "testdata/mutants/min-perf-span.data")
	add(objectCommands, "testdata/mutants/min-ptype.o")
	list = append(list, seed{name: "min-ptype.gdb", given: true, data: read("testdata/mutants/min-ptype.gdb"), commands: scriptCommands,
		others: map[string][]byte{"program.o": read("testdata/mutants/min-ptype.o")}})
	// Files that debugging information names.
	for _, part := range []struct{ program, file string }{{"split4.elf", "split4.dwp"}, {"split5.elf", "split5.dwo"}, {"shared.elf", "shared.debug"}} {
		folder := "../../value/testdata/"
		list = append(list, seed{name: part.file, data: read(folder + part.file), others: map[string][]byte{part.program: read(folder + part.program)},
			commands: []string{"at --source {dir}/" + part.program + " main", "table {dir}/" + part.program, "table {}"}})
	}
	list = append(list, seed{name: "perf-1.map", data: []byte("1000 20 fib\n1020 10 two words\n0x1040 8 hexadecimal\n1000 20 again\n2000 0 sizeless\n"), commands: codeCommands})
	program := filepath.Join(t.TempDir(), "program.o")
	testprogram.RequireTool(t, "gcc")
	if out, err := exec.Command("gcc", "-c", "-O1", "-g", "-o", program, "../../session/dap/testdata/program.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list = append(list, seed{name: "script.gdb", given: true, data: []byte(mutatedScript), commands: scriptCommands,
		others: map[string][]byte{"program.o": read(program)}})
	list = append(list, seed{name: "editor.dap", given: true, data: editorMessages(), commands: dapCommands})
	return append(list, processSeeds(t, read)...)
}

// mutatedScript calls no function, because a mutant could call it with other arguments.
const mutatedScript = "info functions\ninfo types\nptype struct list\nwhatis first\nlist fib\nbreak fib\ninfo breakpoints\ninfo line sum\n" +
	"disassemble fib\nprint counter + 1\nprint first\nprint *first.next\nx/4x &numbers\ninfo symbol fib\n"

// editorMessages returns messages of an editor.
func editorMessages() []byte {
	var b bytes.Buffer
	for i, body := range []string{
		`"initialize","arguments":{"adapterID":"clew","linesStartAt1":true,"pathFormat":"path"}`,
		`"launch","arguments":{"program":"fib.o","call":"fib(10)","stopOnEntry":true}`,
		`"setBreakpoints","arguments":{"source":{"path":"/src/fib.c"},"breakpoints":[{"line":3,"condition":"n == 3"}]}`,
		`"threads"`, `"stackTrace","arguments":{"threadId":1}`, `"scopes","arguments":{"frameId":1}`,
		`"variables","arguments":{"variablesReference":1}`, `"evaluate","arguments":{"expression":"n + 1"}`, `"disconnect"`,
	} {
		text := fmt.Sprintf(`{"seq":%d,"type":"request","command":%s}`, i+1, body)
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	return b.Bytes()
}

// processSeeds returns the seeds of a process that waits, and of its core.
func processSeeds(t *testing.T, read func(string) []byte) (list []seed) {
	p := startMutated(t, t.TempDir())
	for _, file := range []string{liveParts, liveSource} {
		list = append(list, seed{name: file, data: read(filepath.Join(p.dir, file)), commands: liveCommands, live: true})
	}
	perfMap := []byte("10000000 20 jit_code\n10000020 20 other\n10000000 8 jit_code2\n")
	list = append(list, seed{name: liveMap, data: perfMap, commands: liveCommands, live: true})
	e := perf.Encoder{Order: binary.NativeEndian}
	e.Header(&perf.Header{Order: binary.NativeEndian, Machine: jit.Host().ELF, PID: uint32(p.PID), Time: 1})
	err := errors.Join(e.DebugInfo(1, 0x10000000, []perf.DebugEntry{{Address: 0x10000000, Line: 7, File: "/src/a.js"}}),
		e.Load(2, &perf.Load{Index: 1, Address: 0x10000000, Name: "jit_code", Code: make([]byte, 32)}))
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, seed{name: liveDump, data: e.Data, commands: liveCommands, live: true})

	core := read(testprogram.GCore(t, p.PID))
	add := func(name string, pack func([]byte) ([]byte, error)) {
		list = append(list, seed{name: name, data: core, commands: coreCommands, pack: pack})
	}
	add("core", nil)
	dump := stacktest.Minidump(t, stacktest.Take(t, p.PID), stacktest.MinidumpOptions{})
	list = append(list, seed{name: "minidump", data: dump, commands: coreCommands})
	add("core.zst", func(b []byte) ([]byte, error) {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return w.EncodeAll(b, nil), nil
	})
	add("core.lz4", func(b []byte) ([]byte, error) {
		var out bytes.Buffer
		w := lz4.NewWriter(&out)
		_, err := w.Write(b)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	})
	return list
}

// liveProcess is a process that waits, with the directory of its files.
type liveProcess struct {
	*testprogram.Process
	dir string
}

func inFolder(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

// startMutated builds the program in a directory, and starts it there.
func startMutated(t *testing.T, dir string) liveProcess {
	t.Helper()
	source, err := os.ReadFile(testprogram.Path("programs/" + liveSource))
	if err != nil {
		t.Fatal(err)
	}
	// The header is put in, so that all is in one file.
	header, err := os.ReadFile(testprogram.Path("programs/ready.h"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(source), "#include \"ready.h\"\n", string(header), 1)
	if err := os.WriteFile(filepath.Join(dir, liveSource), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	testprogram.RequireTool(t, "gcc")
	build := inFolder(dir, "gcc", "-static", "-O1", "-g", "-gsplit-dwarf", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-c", liveSource)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := inFolder(dir, "gcc", "-static", "-o", liveProgram, "mutated.o").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return liveProcess{testprogram.Start(t, filepath.Join(dir, liveProgram), filepath.Join(dir, liveDump)), dir}
}
