// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// globals prints variables of a program that does not run.
func globals(t *testing.T, program string, names ...string) map[string]string {
	t.Helper()
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := value.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]string)
	for _, name := range names {
		if v, err := info.Global(name, 0); err == nil {
			shown[name], _ = new(print.Printer).Print(v.Read(value.Static(f, info, 0)))
		}
	}
	return shown
}

// gdbGlobals prints variables with gdb.
func gdbGlobals(t *testing.T, program string, names ...string) map[string]string {
	t.Helper()
	args := []string{"-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set width 0"}
	for _, name := range names {
		args = append(args, "-ex", "echo \n@"+name+"=", "-ex", "output "+name)
	}
	out, err := exec.Command(tool(t, "gdb-multiarch"), append(args, program)...).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return gdbNamed(string(out))
}

// gdbNamed returns the values in gdb's output of the form "@NAME=VALUE".
func gdbNamed(text string) map[string]string {
	shown := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok && strings.HasPrefix(name, "@") && !strings.HasPrefix(value, "No symbol") {
			shown[name[1:]] = value
		}
	}
	return shown
}

// TestFloatFormats compares floating-point numbers of all sizes with gdb, for the formats of several
// machines, compilers and flags.
func TestFloatFormats(t *testing.T) {
	var names []string
	for _, name := range []string{"f", "d", "l", "x", "q", "i", "e", "t"} {
		names = append(names, name, name+"_list", name+"_pair")
	}
	for _, test := range []struct {
		compiler, flags string
		least           int    // number of variables
		wrong           string // prefixes of names that gdb prints wrong
		third           string // the text of l, which is 1/3
	}{
		{"gcc", "", 16, "", "0.333333333333333333342"},
		// gdb takes the number for one of the x87, because of its size. It ignores the flags of
		// the compiler.
		{"gcc", "-mlong-double-128", 16, "lx", "0.333333333333333333333333333333333317"},
		{"clang", "", 9, "", "0.333333333333333333342"},
		{"i686-linux-gnu-gcc", "", 16, "", "0.333333333333333333342"},
		// gdb does not know a type with this size and name on the machine.
		{"i686-linux-gnu-gcc", "-m128bit-long-double", 16, "lxt", "0.333333333333333333342"},
		{"aarch64-linux-gnu-gcc", "", 15, "", "0.333333333333333333333333333333333317"},
		{"s390x-linux-gnu-gcc", "", 15, "", "0.333333333333333333333333333333333317"},
		{"riscv64-linux-gnu-gcc", "", 15, "", "0.333333333333333333333333333333333317"},
		{"powerpc64le-linux-gnu-gcc", "", 19, "", "0.333333333333333333333333333333335"},
		{"powerpc64le-linux-gnu-gcc", "-mabi=ieeelongdouble", 19, "", "0.333333333333333333333333333333333317"},
		// Only the object's attributes determine the format.
		{"powerpc64le-linux-gnu-gcc", "-mabi=ieeelongdouble -gno-record-gcc-switches", 19, "", "0.333333333333333333333333333333333317"},
		{"powerpc64-linux-gnu-gcc", "-mcpu=power8", 19, "", "0.333333333333333333333333333333335"},
		{"powerpc-linux-gnu-gcc", "", 9, "", "0.333333333333333333333333333333335"},
		{"m68k-linux-gnu-gcc", "", 9, "", "0.333333333333333333342"},
	} {
		t.Run(test.compiler+" "+test.flags, func(t *testing.T) {
			flags := append(strings.Fields(test.flags), "-nostdlib", "-static")
			program := build(t, test.compiler, "testdata/floats.c", flags...)
			got, want := globals(t, program, names...), gdbGlobals(t, program, names...)
			for _, name := range names {
				if got[name] != want[name] && !strings.Contains(test.wrong, name[:1]) {
					t.Errorf("%s is %s, gdb has %s", name, got[name], want[name])
				}
			}
			if got["l"] != test.third || got["x"] != "" && !strings.HasPrefix(got["x"], "0.333333333333333333") {
				t.Errorf("l is %s and x is %s, expected %s", got["l"], got["x"], test.third)
			}
			if len(got) < test.least {
				t.Errorf("%d variables, expected %d: %v", len(got), test.least, got)
			}
			if test.wrong != "" && want["l"] == got["l"] {
				t.Errorf("gdb has %s, too: the difference needs no reason any more", want["l"])
			}
		})
	}
}

// TestFortranReals reads gfortran's real(kind=16), which has IEEE's format, and real(kind=10), which
// has the x87's. Both have 16 bytes.
func TestFortranReals(t *testing.T) {
	program := build(t, "gfortran", "testdata/reals.f90")
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := value.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	main, _ := f.Symbol("MAIN__")
	scopes, err := info.Scopes(main.Address)
	if err != nil || len(scopes) != 1 {
		t.Fatal(scopes, err)
	}
	args := []string{"-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "list MAIN__"}
	names := []string{"third", "most", "least", "both", "tenth", "pair", "eighth", "fourth"}
	for _, name := range names {
		args = append(args, "-ex", "set language c", "-ex", "set $v = reals::"+name, "-ex", "set language fortran",
			"-ex", "echo \n@"+name+"=", "-ex", "output $v")
	}
	out, err := exec.Command(tool(t, "gdb"), append(args, program)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := gdbNamed(string(out))
	for _, name := range names {
		v := scopes[0].Lookup(name)
		if v == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		got, err := new(print.Printer).Print(v.Read(value.Static(f, info, 0)))
		if got == "" || got != want[name] {
			t.Errorf("%s is %s (%v), gdb has %s", name, got, err, want[name])
		}
	}
	if text, err := exec.Command(program).Output(); err != nil || !strings.Contains(string(text), want["third"]) {
		t.Errorf("the program prints %q (%v), without %s", text, err, want["third"])
	}
}

// TestFloatValue compares the bytes of FloatValue with those that the compiler writes.
func TestFloatValue(t *testing.T) {
	numbers := []float64{1.0 / 3, -2.25, 0, math.Copysign(0, -1), 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	var list []string
	for _, n := range numbers {
		switch {
		case math.IsNaN(n):
			list = append(list, `__builtin_nan("")`)
		case math.IsInf(n, 0):
			list = append(list, map[bool]string{false: "", true: "-"}[n < 0]+"__builtin_inf()")
		default:
			list = append(list, strconv.FormatFloat(n, 'x', -1, 64))
		}
	}
	source := filepath.Join(t.TempDir(), "list.c")
	text := "typedef TYPE number;\nnumber list[] = {" + strings.Join(list, ", ") + "};\nvoid _start(void) {}\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const longDouble = "-DTYPE=long double"
	for _, test := range [][2]string{
		{"gcc", "-DTYPE=float"}, {"gcc", "-DTYPE=double"}, {"gcc", "-DTYPE=_Float128"}, {"gcc", longDouble},
		{"i686-linux-gnu-gcc", longDouble}, {"aarch64-linux-gnu-gcc", longDouble}, {"s390x-linux-gnu-gcc", longDouble},
		{"powerpc64le-linux-gnu-gcc", longDouble}, {"powerpc64-linux-gnu-gcc", longDouble}, {"m68k-linux-gnu-gcc", longDouble},
	} {
		t.Run(test[0]+" "+test[1], func(t *testing.T) {
			f, err := object.Open(build(t, test[0], source, test[1], "-nostdlib", "-static"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := value.Open(f)
			if err != nil {
				t.Fatal(err)
			}
			v, err := info.Global("list", 0)
			if err != nil {
				t.Fatal(err)
			}
			all := v.Read(value.Static(f, info, 0))
			for k, n := range numbers {
				want, err := all.Index(int64(k)).Bytes()
				if err != nil {
					t.Fatal(err)
				}
				typ := all.Index(int64(k)).Type()
				made := value.FloatValue(typ, n, nil)
				got, err := made.Bytes()
				back, _ := made.Float()
				switch {
				case err != nil:
					t.Error(n, err)
				case math.IsNaN(n) && math.IsNaN(back): // there are several NaNs
				case !bytes.Equal(got, want) && !math.IsInf(n, 0) || back != n && float32(back) != float32(n):
					t.Errorf("%v is %x, which is %v; the compiler has %x", n, got, back, want)
				}
			}
		})
	}
}
