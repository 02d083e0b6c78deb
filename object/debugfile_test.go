// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// split builds a program, moves its debugging information to another file, and returns both
// paths.
func split(t *testing.T, flags ...string) (program, debug string) {
	t.Helper()
	tool(t, "gcc")
	tool(t, "objcopy")
	source := write(t, "inline.c", inlineSource)
	program, debug = source+".out", source+".debug"
	run(t, "gcc", append([]string{"-O2", "-g", "-o", program, source}, flags...)...)
	run(t, "objcopy", "--only-keep-debug", program, debug)
	run(t, "objcopy", "--strip-all", program)
	return program, debug
}

// checkDebugFile checks that the static function outer of f has a name.
func checkDebugFile(t *testing.T, f, debug *File) {
	t.Helper()
	outer, ok := debug.Symbol("outer")
	if !ok {
		t.Fatal("the debug file has no symbol outer")
	}
	symbols, err := f.FindSymbols([]uint64{outer.Address + 3})
	if err != nil || symbols[0].Name != "outer" || symbols[0].Source != DebugSymbols {
		t.Errorf("FindSymbols: %+v, %v", symbols, err)
	}
	if s, ok := f.Symbol("outer"); !ok || s.Address != outer.Address {
		t.Errorf("Symbol: %+v, %v", s, ok)
	}
	list, err := f.Locate(outer.Address + outer.Size/2)
	if err != nil || len(list) == 0 || list[len(list)-1].Function != "outer" {
		t.Errorf("Locate: %+v, %v", list, err)
	}
	if !f.HasDebugInfo() {
		t.Error("HasDebugInfo is false")
	}
}

func TestDebugFileByLink(t *testing.T) {
	for _, tt := range []struct {
		name, place string // "DIR" stands for the program's directory
		root        bool
	}{
		{"beside", "DIR", false},
		{"below", "DIR/.debug", false},
		{"global", "GLOBAL/DIR", false},
		{"root", "GLOBAL/DIR", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program, debug := split(t, "-Wl,--build-id=none")
			run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
			dir, root, global := filepath.Dir(program), "", t.TempDir()
			search := DebugSearch{Directories: []string{global}}
			if tt.root {
				root = t.TempDir()
				search.Root = root
			}
			place := root + strings.NewReplacer("DIR", dir, "GLOBAL", global).Replace(tt.place)
			moved := filepath.Join(place, filepath.Base(debug))
			if err := os.MkdirAll(place, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(debug, moved); err != nil {
				t.Fatal(err)
			}
			f := open(t, program)
			if name, _ := f.DebugLink(); name != filepath.Base(debug) {
				t.Errorf("DebugLink: %q", name)
			}
			d, err := f.OpenDebugFile(search)
			if d == nil {
				t.Fatalf("not found: %v", err)
			}
			checkDebugFile(t, f, d)
			if again, err := f.OpenDebugFile(search); again != d || err != nil {
				t.Errorf("again: %v, %v", again, err)
			}
			// One different byte makes another file.
			if content, err := os.ReadFile(moved); err != nil {
				t.Fatal(err)
			} else if err := os.WriteFile(moved, append(content, 0), 0o644); err != nil {
				t.Fatal(err)
			}
			other := open(t, program)
			if d, err := other.OpenDebugFile(search); d != nil || err == nil || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("with a wrong checksum: %v, %v", d, err)
			}
		})
	}
}

func TestDebugFileByBuildID(t *testing.T) {
	program, debug := split(t, "-Wl,--build-id")
	f := open(t, program)
	id := f.BuildID()
	if want := buildID(t, program); fmt.Sprintf("%x", id) != want {
		t.Fatalf("BuildID() = %x, readelf has %s", id, want)
	}
	root := t.TempDir()
	dir := filepath.Join(root, "debug", ".build-id", fmt.Sprintf("%x", id[:1]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// Distributions have a link from the ID to the file, with an absolute path below the root.
	if err := os.Rename(debug, filepath.Join(root, "debug", "file.debug")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/debug/file.debug", filepath.Join(dir, fmt.Sprintf("%x.debug", id[1:]))); err != nil {
		t.Fatal(err)
	}
	if d, err := f.OpenDebugFile(DebugSearch{Directories: []string{filepath.Join(root, "debug")}}); d != nil || err != nil {
		t.Errorf("the link leads nowhere without the root, but: %v, %v", d, err)
	}
	outside := filepath.Join(t.TempDir(), "debug")
	if err := os.MkdirAll(filepath.Join(outside, ".build-id", fmt.Sprintf("%x", id[:1])), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "debug", "file.debug"), filepath.Join(outside, ".build-id", fmt.Sprintf("%x", id[:1]), fmt.Sprintf("%x.debug", id[1:]))); err != nil {
		t.Fatal(err)
	}
	// A root with some of the files does not use files outside of it.
	if d, err := open(t, program).OpenDebugFile(DebugSearch{Root: t.TempDir(), Directories: []string{outside}}); d == nil {
		t.Errorf("outside of the root: not found: %v", err)
	}
	d, err := f.OpenDebugFile(DebugSearch{Root: root, Directories: []string{"/debug"}})
	if d == nil {
		t.Fatalf("not found: %v", err)
	}
	checkDebugFile(t, f, d)
	if section, err := f.EHFrame(); section == nil || err != nil {
		t.Errorf("EHFrame: %v, %v", section, err)
	}
	// The debug file has the section table of the program, but not its bytes.
	if section, _ := d.EHFrame(); section != nil {
		t.Errorf("EHFrame of the debug file has %d bytes", len(section.Data))
	}
}

func TestDebugFrameOfTheDebugFile(t *testing.T) {
	program, debug := split(t, "-fno-asynchronous-unwind-tables", "-Wl,--build-id=none")
	run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
	f := open(t, program)
	if section, err := f.DebugFrame(); section != nil || err != nil {
		t.Errorf("before: %v, %v", section, err)
	}
	if d, err := f.OpenDebugFile(DebugSearch{}); d == nil {
		t.Fatal(err)
	}
	section, err := f.DebugFrame()
	if section == nil || err != nil {
		t.Fatalf("%v, %v", section, err)
	}
	outer, _ := f.Symbol("outer")
	for fde := range section.FDEs() {
		if fde.Start == outer.Address {
			return
		}
	}
	t.Errorf("no FDE at %#x", outer.Address)
}

// buildID returns the build ID that readelf prints.
func buildID(t *testing.T, path string) string {
	t.Helper()
	_, id, _ := strings.Cut(run(t, "readelf", "-n", path), "Build ID: ")
	id, _, _ = strings.Cut(id, "\n")
	return id
}

func TestBuildIDAgreesWithReadelf(t *testing.T) {
	files := append(cross(t), command(t, "node"), command(t, "gdb"), command(t, "readelf"))
	for _, path := range files {
		f := open(t, path)
		if got, want := fmt.Sprintf("%x", f.BuildID()), buildID(t, path); got != want {
			t.Errorf("%s: %q, readelf has %q", path, got, want)
		}
	}
}

func TestMiniDebugInfo(t *testing.T) {
	tool(t, "xz")
	program, debug := split(t)
	mini := debug + ".mini"
	run(t, "objcopy", "--strip-debug", debug, mini)
	run(t, "xz", mini)
	run(t, "objcopy", "--add-section", ".gnu_debugdata="+mini+".xz", program)
	f, d := open(t, program), open(t, debug)
	outer, ok := d.Symbol("outer")
	if !ok {
		t.Fatal("no symbol outer")
	}
	symbols, err := f.FindSymbols([]uint64{outer.Address + 3})
	if err != nil || symbols[0].Name != "outer" || symbols[0].Source != MiniDebugSymbols {
		t.Errorf("FindSymbols: %+v, %v", symbols, err)
	}
	if s, ok := f.Symbol("outer"); !ok || s.Source != MiniDebugSymbols {
		t.Errorf("Symbol: %+v, %v", s, ok)
	}
}

// TestBombs decompresses sections with a decompressed size, claimed or real, above the
// limit for the file.
func TestBombs(t *testing.T) {
	tool(t, "gcc")
	tool(t, "objcopy")
	tool(t, "xz")
	program := write(t, "program", "")
	source := write(t, "empty.c", "int main(void) { return 0; }\n")
	run(t, "gcc", "-o", program, source)
	zeros := write(t, "zeros", "")
	if err := os.Truncate(zeros, 64<<20); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"zlib", "zlib-gnu", "zstd", "xz"} {
		t.Run(method, func(t *testing.T) {
			bomb := program + "." + method
			if method == "xz" {
				run(t, "xz", "-1", "-k", zeros)
				run(t, "objcopy", "--add-section", ".gnu_debugdata="+zeros+".xz", program, bomb)
			} else {
				run(t, "objcopy", "--add-section", ".debug_info="+zeros, "--compress-debug-sections="+method, program, bomb)
			}
			data, err := os.ReadFile(bomb)
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewFile(data, bomb)
			if err != nil {
				t.Fatal(err)
			}
			n := allocated(func() {
				if method == "xz" {
					if _, err = f.FindSymbols([]uint64{1}); err == nil {
						t.Error("FindSymbols: no error")
					}
				} else if _, err = f.Locate(1); err == nil {
					t.Error("Locate: no error")
				}
			})
			t.Log(err)
			if n > 4*slack+16*uint64(len(data)) {
				t.Errorf("%d bytes allocated for a file of %d", n, len(data))
			}
		})
	}
}

// An error in a debug file names that file, not the program.
func TestDamagedDebugFileIsNamed(t *testing.T) {
	program, debug := split(t)
	run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
	intact := open(t, program)
	if _, err := intact.OpenDebugFile(DebugSearch{}); err != nil {
		t.Fatal(err)
	}
	main, ok := intact.Symbol("main")
	if !ok {
		t.Fatal("no main")
	}
	data, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range open(t, debug).Sections() {
		if s.Name == ".debug_info" {
			data[s.Offset+4] = 99 // the version of the first unit
		}
	}
	damaged := filepath.Join(filepath.Dir(program), "damaged")
	if err := os.WriteFile(damaged, data, 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "objcopy", "--remove-section=.gnu_debuglink", program)
	run(t, "objcopy", "--add-gnu-debuglink="+damaged, program)
	f := open(t, program)
	if _, err := f.OpenDebugFile(DebugSearch{}); err != nil {
		t.Fatal(err)
	}
	_, located := f.Locate(main.Address)
	_, found := f.FunctionsAt(main.Address)
	want := damaged + ": .debug_info at 0x0: DWARF version 99\n" + damaged + ": .debug_info: no unit can be read"
	for _, err := range []error{located, found} {
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %v", err, want)
		}
	}
}

// A .gnu_debuglink to the file itself is ignored without an error, as in gdb. A debug file in
// another place is still found.
func TestDebugLinkToItself(t *testing.T) {
	for _, id := range []string{"-Wl,--build-id=none", "-Wl,--build-id=0x1234567890abcdef"} {
		program, debug := split(t, id)
		run(t, "objcopy", "--add-gnu-debuglink="+program, program)
		f := open(t, program)
		if link, _ := f.DebugLink(); link != filepath.Base(program) {
			t.Fatalf("the link leads to %s", link)
		}
		if d, err := f.OpenDebugFile(DebugSearch{Directories: []string{}}); d != nil || err != nil {
			t.Errorf("%s: %v, %v", id, d, err)
		}
		if id == "-Wl,--build-id=none" {
			continue
		}
		global := filepath.Join(t.TempDir(), "debug")
		at := filepath.Join(global, filepath.Dir(program), filepath.Base(program))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(debug, at); err != nil {
			t.Fatal(err)
		}
		d, err := f.OpenDebugFile(DebugSearch{Directories: []string{global}})
		if d == nil || err != nil {
			t.Fatalf("%v, %v", d, err)
		}
		checkDebugFile(t, f, d)
	}
}
