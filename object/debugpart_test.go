// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
)

const shapesHeader = `
namespace geometry {
struct shape {
	virtual ~shape() {}
	virtual double area() const = 0;
};
template <typename T> struct box : shape {
	T w, h;
	box(T w, T h) : w(w), h(h) {}
	double area() const override;
	T larger() const { return w > h ? w : h; }
};
template <typename T> inline double box<T>::area() const { return w * h; }
inline int twice(int n) { volatile int m = n; return m * 2; }
inline int four(int n) { return twice(twice(n)) + 1; }
long name(int n);
int sum(const shape &s, int n);
}
`

var shapesSources = map[string]string{
	"shapes.h": shapesHeader,
	"main.cpp": `#include "shapes.h"
namespace { int local(int n) { return geometry::four(n) + 3; } }
int main(int argc, char **argv) {
	geometry::box<int> b(argc, 2);
	return local(argc) + geometry::sum(b, argc) + b.larger() + geometry::name(argc);
}
`,
	"sum.cpp": `#include "shapes.h"
namespace geometry {
static int count(int n) { return four(n) - twice(n); }
int sum(const shape &s, int n) { box<double> d(n, 1.5); return s.area() + d.area() + count(n); }
long name(int n) { return four(n) * 7L; }
}
`,
}

// buildShapes compiles the program in a new directory.
func buildShapes(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	tool(t, compiler)
	dir := t.TempDir()
	var sources []string
	for name, text := range shapesSources {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"main", "sum"} {
		runIn(t, dir, compiler, append([]string{"-c", "-O2", "-g", "-o", name + ".o", name + ".cpp"}, flags...)...)
		sources = append(sources, name+".o")
	}
	runIn(t, dir, compiler, append([]string{"-no-pie", "-o", "program"}, sources...)...)
	return filepath.Join(dir, "program")
}

// everywhere returns the results of Locate for all of the program's own code.
func everywhere(t *testing.T, f *File) (all [][]Location) {
	t.Helper()
	for _, name := range []string{"main", "_ZN8geometry3sumERKNS_5shapeEi", "_ZN8geometry4nameEi", "_ZNK8geometry3boxIiE4areaEv", "_ZNK8geometry3boxIdE4areaEv"} {
		s, ok := f.Symbol(name)
		if !ok {
			continue
		}
		for a := s.Address; a < s.Address+s.Size; a++ {
			list, err := f.Locate(a)
			if err != nil {
				t.Fatalf("%s+%#x: %v", name, a-s.Address, err)
			}
			all = append(all, list)
		}
	}
	return all
}

func runIn(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	tool(t, name)
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// names makes results comparable with those of a program in another directory.
func names(all [][]Location, calls bool) string {
	var b strings.Builder
	for _, list := range all {
		if !calls {
			list = list[len(list)-1:]
		}
		for _, at := range list {
			if !calls {
				at.File, at.Line, at.Column = "", 0, 0
				at.Function = at.Function[strings.LastIndexByte(at.Function, ':')+1:] // nor namespaces
			}
			fmt.Fprintf(&b, "%s %s:%d:%d %v; ", at.Function, filepath.Base(at.File), at.Line, at.Column, at.Inlined)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// pack moves the split units of a program to a package.
func pack(dwp string) func(t *testing.T, program string) {
	return func(t *testing.T, program string) {
		dir := filepath.Dir(program)
		runIn(t, dir, dwp, "-e", "program", "-o", "program.dwp")
		units, err := filepath.Glob(filepath.Join(dir, "*.dwo"))
		if err != nil || len(units) != 2 {
			t.Fatalf("%q, %v", units, err)
		}
		for _, unit := range units {
			if err := os.Remove(unit); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// share moves the common information of a program and a copy of it to another file.
func share(t *testing.T, program string, flags ...string) {
	dir := filepath.Dir(program)
	runIn(t, dir, "cp", "program", "copy")
	runIn(t, dir, "dwz", append(flags, "-m", "shared.debug", "-M", "shared.debug", "program", "copy")...)
	f := open(t, program)
	if name, id := f.DebugAltLink(); name != "shared.debug" || len(id) == 0 {
		t.Fatalf("%q, %x", name, id)
	}
}

func shareGNU(t *testing.T, program string)    { share(t, program) }
func shareDWARF5(t *testing.T, program string) { share(t, program, "--dwarf-5") }

// TestDebugParts compares the results for a program with those for the same program with all
// debugging information in one file.
func TestDebugParts(t *testing.T) {
	plain := make(map[string][][]Location)
	type partsTest struct {
		name, compiler, flags string
		after                 func(t *testing.T, program string)
	}
	tests := []partsTest{
		{"gcc, DWARF 2", "g++", "-gdwarf-2 -gstrict-dwarf", nil},
		{"gcc, DWARF 3", "g++", "-gdwarf-3", nil},
		{"gcc, DWARF 4, split", "g++", "-gdwarf-4 -gsplit-dwarf", nil},
		{"gcc, DWARF 5, split", "g++", "-gdwarf-5 -gsplit-dwarf", nil},
		{"clang, DWARF 4, split", "clang++", "-gdwarf-4 -gsplit-dwarf", nil},
		{"clang, DWARF 5, split", "clang++", "-gdwarf-5 -gsplit-dwarf", nil},
		{"gcc, DWARF 4, package", "g++", "-gdwarf-4 -gsplit-dwarf", pack("dwp")},
		{"clang, DWARF 4, package", "clang++", "-gdwarf-4 -gsplit-dwarf", pack("llvm-dwp")},
		{"clang, DWARF 5, package", "clang++", "-gdwarf-5 -gsplit-dwarf", pack("llvm-dwp")},
		{"gcc, DWARF 4, types", "g++", "-gdwarf-4 -fdebug-types-section", nil},
		{"gcc, DWARF 5, types", "g++", "-gdwarf-5 -fdebug-types-section", nil},
		{"gcc, DWARF 4, split types", "g++", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section", nil},
		{"gcc, DWARF 5, split types", "g++", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section", nil},
		{"gcc, DWARF 4, package of types", "g++", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section", pack("dwp")},
		{"clang, DWARF 5, package of types", "clang++", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section", pack("llvm-dwp")},
		{"gcc, DWARF 4, dwz", "g++", "-gdwarf-4", shareGNU},
		{"gcc, DWARF 5, dwz", "g++", "-gdwarf-5", shareGNU},
		{"gcc, .debug_sup", "g++", "-gdwarf-5", shareDWARF5},
	}
	for _, test := range sample.Covering(t, tests, 5, func(test partsTest) []string {
		return append(strings.Split(test.name, ", "), strings.Fields(test.flags)...)
	}) {
		t.Run(test.name, func(t *testing.T) {
			program := buildShapes(t, test.compiler, strings.Fields(test.flags)...)
			if test.after != nil {
				test.after(t, program)
			}
			f := open(t, program)
			if _, err := f.OpenDebugFile(DebugSearch{}); err != nil {
				t.Fatal(err)
			}
			if plain[test.compiler] == nil {
				plain[test.compiler] = everywhere(t, open(t, buildShapes(t, test.compiler)))
			}
			calls := !strings.Contains(test.flags, "strict") // DWARF 2 has no inlined calls in several pieces
			got, want := names(everywhere(t, f), calls), names(plain[test.compiler], calls)
			if got != want {
				g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
				for i := range w {
					if i >= len(g) || g[i] != w[i] {
						t.Fatalf("at instruction byte %d of %d:\n%s\nwant\n%s", i, len(w), g[min(i, len(g)-1)], w[i])
					}
				}
			}
			if calls && !strings.Contains(got, "_ZN8geometry4fourEi") {
				t.Errorf("no inlined call:\n%s", got)
			}
		})
	}
}

// TestForeignParts opens programs with other files that belong to another program, are
// truncated or missing. That is an error, with the results that the program itself gives.
func TestForeignParts(t *testing.T) {
	split := buildShapes(t, "g++", "-gsplit-dwarf")
	dir := filepath.Dir(split)
	data, err := os.ReadFile(filepath.Join(dir, "main.dwo"))
	if err != nil {
		t.Fatal(err)
	}
	shared := buildShapes(t, "g++")
	share(t, shared)
	tests := []struct {
		name, program, part string
		content             []byte
		want                string
	}{
		{"another unit's file", split, "sum.dwo", data, "another build"},
		{"half a file", split, "main.dwo", data[:len(data)/2], "main.dwo"},
		{"an empty file", split, "main.dwo", []byte{}, "main.dwo"},
		{"no file", split, "main.dwo", nil, "file does not exist"},
		{"another supplementary file", shared, "shared.debug", data, "expected"},
		{"no supplementary file", shared, "shared.debug", nil, "file does not exist"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			part := filepath.Join(filepath.Dir(test.program), test.part)
			before, err := os.ReadFile(part)
			if err != nil {
				t.Fatal(err)
			}
			defer os.WriteFile(part, before, 0o644)
			os.Remove(part)
			if test.content != nil {
				if err := os.WriteFile(part, test.content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f := open(t, test.program)
			if _, err := f.OpenDebugFile(DebugSearch{}); err != nil {
				t.Fatal(err)
			}
			var problem error
			for _, name := range []string{"main", "_ZN8geometry3sumERKNS_5shapeEi"} {
				s, _ := f.Symbol(name)
				for a := s.Address; a < s.Address+s.Size; a++ {
					list, err := f.Locate(a)
					if len(list) == 0 || list[len(list)-1].Line == 0 {
						t.Fatalf("%s+%#x: %+v, %v", name, a-s.Address, list, err)
					}
					problem = errors.Join(problem, err)
				}
			}
			if problem = errors.Join(problem, f.Damage()); problem == nil || !strings.Contains(problem.Error(), test.want) {
				t.Errorf("%v, want %q", problem, test.want)
			}
		})
	}
}

// TestDebugOpener finds the other files through the caller's function.
func TestDebugOpener(t *testing.T) {
	program := buildShapes(t, "g++", "-gsplit-dwarf")
	dir := filepath.Dir(program)
	elsewhere := t.TempDir()
	for _, name := range []string{"main.dwo", "sum.dwo"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(elsewhere, name)); err != nil {
			t.Fatal(err)
		}
	}
	asked := make(map[string]DebugKind)
	f := open(t, program)
	_, err := f.OpenDebugFile(DebugSearch{Open: func(kind DebugKind, name string, _ []byte) (*os.File, error) {
		if kind == SeparateDebug {
			return nil, nil
		}
		asked[filepath.Base(name)] = kind
		return os.Open(filepath.Join(elsewhere, filepath.Base(name)))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if list := everywhere(t, f); !strings.Contains(names(list, true), "_ZN8geometry4fourEi") {
		t.Errorf("no inlined call: %v", list)
	}
	want := map[string]DebugKind{"program.dwp": PackagedDebug, "main.dwo": SplitDebug, "sum.dwo": SplitDebug}
	if !maps.Equal(asked, want) {
		t.Errorf("opened %v", asked)
	}
}

// If root uses a split unit of another user, source files that this user may not read are
// not opened.
func TestSourceOfPlantedPart(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give files to other users")
	}
	program := buildShapes(t, "g++", "-gsplit-dwarf")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.Chown(filepath.Join(filepath.Dir(program), "main.dwo"), 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	f := open(t, program)
	if _, err := f.OpenDebugFile(DebugSearch{}); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		source, err := f.OpenSource(secret)
		if err == nil {
			source.Close()
		}
		return err
	}
	if err := read(); err != nil {
		t.Error(err)
	}
	s, ok := f.Symbol("main")
	if !ok {
		t.Fatal("there is no main")
	}
	if _, err := f.Locate(s.Address); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, expected that user 65534 may not read it", err)
	}
}
