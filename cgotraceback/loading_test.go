// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// library is a library that calls the function that it gets.
const library = `
volatile int sink;
__attribute__((noinline)) static void %[1]s_inner(void (*f)(void)) { %[2]s f(); sink++; }
void library_call(void (*f)(void)) { %[1]s_inner(f); sink++; }
`

// TestLoading loads and unloads libraries. A library for which there are no tables yet must
// not get the names or rules of one that was at its addresses before.
func TestLoading(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	var libraries []string
	for i, l := range []struct{ name, more, flags string }{
		{"first", "", "-Wl,--build-id"},
		{"second", "volatile char big[1000]; big[sink & 511] = 1;", "-Wl,--build-id"},
		{"third", "volatile char big[3000]; big[sink & 511] = 1;", "-Wl,--build-id=none"},
		{"fourth", "volatile char big[300]; big[sink & 255] = 1; sink += 5;", "-Wl,--build-id=none"},
	} {
		source := filepath.Join(dir, fmt.Sprint(i, ".c"))
		if err := os.WriteFile(source, fmt.Appendf(nil, library, l.name, l.more), 0o666); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, l.name+".so")
		run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", l.flags, "-o", file, source))
		libraries = append(libraries, file)
	}
	libraries = append(libraries, libraries[0])
	out := output(t, path, append([]string{"dlopen"}, libraries...)...)
	parts := strings.Split(out, "loaded ")
	if len(parts) != len(libraries)+1 {
		t.Fatal(out)
	}
	for i, part := range parts[1:] {
		name := strings.TrimSuffix(filepath.Base(libraries[i]), ".so")
		before, after, _ := strings.Cut(part, "prepared\n")
		for _, m := range regexp.MustCompile(`(?m)^(\w+)_inner `).FindAllStringSubmatch(before, -1) {
			if m[1] != name {
				t.Errorf("%s_inner in a traceback of %s:\n%s", m[1], name, before)
			}
		}
		if !regexp.MustCompile(`(?m)^goCallers .*\n` + name + `_inner .*\.c:3\nlibrary_call .*\.c:4\ncall_library `).MatchString(after) {
			t.Errorf("the frames of %s are missing:\n%s", name, after)
		}
	}
}

// TestManyLibraries loads many libraries one after the other. The tables of small ones share
// mappings, of which a process can only have 65530, and keep no file open.
func TestManyLibraries(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	source, file := filepath.Join(dir, "many.c"), filepath.Join(dir, "many.so")
	if err := os.WriteFile(source, []byte("int many(int x) { return x + 1; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id=0x"+strings.Repeat("5a", 20), "-o", file, source))
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mappings := func(n int) (count int) {
		args := []string{"dlopen"}
		for i := range n {
			name := filepath.Join(dir, fmt.Sprint(i, ".so"))
			id := append(bytes.Repeat([]byte{0x5a}, 19), byte(i))
			if err := os.WriteFile(name, bytes.Replace(content, bytes.Repeat([]byte{0x5a}, 20), id, 1), 0o777); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		out := output(t, path, args...)
		_, after, _ := strings.Cut(out, "\nmappings ")
		if _, err := fmt.Sscan(after, &count); err != nil {
			t.Fatal(out)
		}
		return count
	}
	if one, many := mappings(1), mappings(200); many > one+50 {
		t.Errorf("%d mappings after 200 libraries, %d after one", many, one)
	}
}

// TestRemovedLibrary loads a library whose file is then removed: its tables are made from memory,
// where only its exported functions have names.
func TestRemovedLibrary(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	source, file := filepath.Join(dir, "removed.c"), filepath.Join(dir, "removed.so")
	if err := os.WriteFile(source, fmt.Appendf(nil, library, "removed", "volatile char big[300]; big[sink & 255] = 1;"), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", "-o", file, source))
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("REMOVE", "1")
	var out string
	for range 5 { // the tables can be made before the file is removed
		if err := os.WriteFile(file, content, 0o777); err != nil {
			t.Fatal(err)
		}
		out = output(t, path, "dlopen", file)
		_, after, _ := strings.Cut(out, "prepared\n")
		if regexp.MustCompile(`(?m)^goCallers .*\n\[removed.so\] .*\nlibrary_call .*\ncall_library `).MatchString(after) {
			return
		}
	}
	t.Errorf("frames of the library are missing:\n%s", out)
}

// TestReplacedLibrary loads a library without a build ID whose file is then replaced by one with
// the same code, but another name. That name is not used.
func TestReplacedLibrary(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"former", "latter"} {
		source, file := filepath.Join(dir, name+".c"), filepath.Join(dir, name+".so")
		if err := os.WriteFile(source, fmt.Appendf(nil, library, name, ""), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id=none", "-o", file, source))
		files = append(files, file)
	}
	t.Setenv("REPLACE", files[1])
	out := output(t, path, "dlopen", files[0])
	_, after, _ := strings.Cut(out, "prepared\n")
	if !regexp.MustCompile(`(?m)^goCallers .*\n(\[former.so\]|former_inner) .*\nlibrary_call .*\ncall_library `).MatchString(after) {
		t.Errorf("want the frames of the library that was loaded:\n%s", out)
	}
}

// TestReloading unloads libraries while they are read from memory.
func TestReloading(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	source, file := filepath.Join(dir, "reload.c"), filepath.Join(dir, "reload.so")
	var code bytes.Buffer
	for i := range 3000 { // enough for the reading to take a while
		fmt.Fprintf(&code, "int reload%d(int x) { volatile char b[%d]; b[x & 7] = 1; return x + b[1]; }\n", i, 16+i%900)
	}
	if err := os.WriteFile(source, code.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("gcc", "-O1", "-shared", "-fPIC", "-Wl,--build-id=0x"+strings.Repeat("5a", 20), "-o", file, source))
	if out := output(t, path, "reload", file); !strings.Contains(out, "reloaded\n") {
		t.Error(out)
	}
}

// TestSymbolizing unloads a library while its functions are named, as when a profile is written.
func TestSymbolizing(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	for _, id := range []string{"sha1", "none"} {
		source, file := filepath.Join(dir, "symbolize.c"), filepath.Join(dir, id+".so")
		if err := os.WriteFile(source, fmt.Appendf(nil, library, "symbolize", ""), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id="+id, "-o", file, source))
		if out := output(t, path, "symbolize", file); !strings.Contains(out, " times\n{Walks:") {
			t.Errorf("build ID %s: %.3000s", id, out)
		}
	}
}

// TestNextVersion loads a library, and then another one from the same file, whose segments are
// as large: it has no build ID, and the names of two functions are exchanged.
func TestNextVersion(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	source, file := filepath.Join(dir, "replaced.c"), filepath.Join(dir, "replaced.so")
	for _, name := range []string{"alpha", "omega"} {
		code := fmt.Sprintf(library, name, "") + fmt.Sprintf("int %s_inner(void) { return sink; }\n", map[string]string{"alpha": "omega", "omega": "alpha"}[name])
		if err := os.WriteFile(source, []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id=none", "-o", filepath.Join(dir, name+".so"), source))
	}
	t.Setenv("RENAME", file)
	out := output(t, path, "dlopen", filepath.Join(dir, "alpha.so"), filepath.Join(dir, "omega.so"))
	var got []string
	for _, part := range strings.Split(out, "prepared\n")[1:] {
		got = append(got, regexp.MustCompile(`(alpha|omega)_inner `).FindString(part))
	}
	if strings.Join(got, "") != "alpha_inner omega_inner " {
		t.Errorf("%q in:\n%s", got, out)
	}
}

// TestHostileLibraries loads a library with notes outside of its memory, and one whose file is
// replaced by a FIFO.
func TestHostileLibraries(t *testing.T) {
	path := build(t, nil)
	dir := t.TempDir()
	source, file := filepath.Join(dir, "hostile.c"), filepath.Join(dir, "hostile.so")
	if err := os.WriteFile(source, fmt.Appendf(nil, library, "hostile", ""), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("gcc", "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-o", file, source))
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	for i := range int(le.Uint16(content[56:])) { // e_phnum
		header := content[int(le.Uint64(content[32:]))+56*i:]
		if elf.ProgType(le.Uint32(header)) == elf.PT_NOTE {
			le.PutUint64(header[16:], 1<<28) // p_vaddr
			le.PutUint64(header[48:], 4)     // p_align: the dynamic linker reads notes of 8
		}
	}
	noted := filepath.Join(dir, "noted.so")
	if err := os.WriteFile(noted, content, 0o777); err != nil {
		t.Fatal(err)
	}
	if out := output(t, path, "dlopen", noted); !strings.Contains(out, "\nmappings ") {
		t.Error(out)
	}
	t.Setenv("REMOVE", "1")
	t.Setenv("FIFO", "1")
	// The tables can have been made before the file was replaced.
	if out := output(t, path, "dlopen", file); !regexp.MustCompile(`\n(\[hostile.so\]|library_call) `).MatchString(out) || !strings.Contains(out, "\nmappings ") {
		t.Error(out)
	}
}

// TestOptions crashes with a limit of frames, and with one of memory.
func TestOptions(t *testing.T) {
	path := build(t, nil)
	t.Setenv("NAMES_ONLY", "1")
	t.Setenv("MAX_FRAMES", "5")
	if got := functions(traced(t, output(t, path, "overflow"))); strings.Join(got, " ") != "overflow overflow overflow overflow overflow" {
		t.Errorf("C frames %q, want 5", got)
	}
	// The tables are made from the start of the program on, so that some can be larger.
	t.Setenv("MAX_FRAMES", "0")
	t.Setenv("MAX_MEMORY", "1")
	out := output(t, path, "dlopen", "libstdc++.so.6")
	var micros, size int
	_, took, _ := strings.Cut(out, "took ")
	if _, err := fmt.Sscan(took, &micros, &size); err != nil || size > 1000 {
		t.Errorf("tables above the limit: %s", out)
	}
	if got := functions(traced(t, output(t, path, "segv"))); len(got) == 0 {
		t.Error("no C frame")
	}
	if !hasRust(nil) {
		return
	}
	// The lines of Rust's library are cut off, and do not vanish as a whole.
	t.Setenv("NAMES_ONLY", "")
	t.Setenv("MAX_MEMORY", "2500000")
	out = output(t, path, "callers")
	_, memory, _ := strings.Cut(out, "TableMemory:")
	if _, err := fmt.Sscan(memory, &size); err != nil || size < 2400000 || size > 2500000 {
		t.Errorf("tables of %d bytes with a limit of 2500000:\n%s", size, out)
	}
}

// TestPreparingLLVM measures the tables of a library with 50 MB of code, in a file of 110 MB.
func TestPreparingLLVM(t *testing.T) {
	const llvm = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"
	info, err := os.Stat(llvm)
	if err != nil {
		t.Skip("skipped: libLLVM-14 is not installed")
	}
	out := output(t, build(t, nil), "dlopen", llvm)
	var micros, size int64
	_, took, _ := strings.Cut(out, "took ")
	if _, err := fmt.Sscan(took, &micros, &size); err != nil {
		t.Fatal(out)
	}
	t.Logf("%d ms, %d KiB for %d KiB", micros/1000, size>>10, info.Size()>>10)
	if size < 1<<20 || size > info.Size()/20 {
		t.Errorf("the tables take %d bytes for a file of %d, more than 5%%", size, info.Size())
	}
}
