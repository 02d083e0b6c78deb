// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import (
	"os/exec"
	"strings"
	"testing"
)

// Most symbols are of gdc 12 and its library.
var symbols = []struct{ symbol, name string }{
	{"_Dmain", "D main"},
	{"_D3app1d1C2goMFDFiZiG3dPyiZi", "app.d.C.go(int(int) delegate, double[3], immutable(int)*)"},
	{"_D3app1d1C4propMFNaNbNdNfZi", "app.d.C.prop()"},
	{"_D3app1d1C6__ctorMFiZCQuQsQs", "app.d.C.this(int)"},
	{"_D3app1d1C6__dtorMFZv", "app.d.C.~this()"},
	{"_D3app1d1C6__initZ", "initializer for app.d.C"},
	{"_D3app1d1C6__vtblZ", "vtable for app.d.C"},
	{"_D3app1d12__ModuleInfoZ", "ModuleInfo for app.d"},
	{"_D3app1d1C__T3runTmTAyaTaTnZQpFNbNimQqaQnZi", "app.d.C.run!(ulong, immutable(char)[], char, typeof(null)).run(ulong, immutable(char)[], char, typeof(null))"},
	{"_D3app1d4mainUZ9__lambda3MFNaNbNiNfiZi", "app.d.main().__lambda3(int)"},
	{"_D3app1d__T4PairTiVii3ZQm3sumMFNbNiiAxaHAyaiZi", "app.d.Pair!(int, 3).Pair.sum(int, const(char)[], int[immutable(char)[]])"},
	{"_D3app1d__T4PairTiVii3ZQm__T6deeperTiZQkMFNbNiNfPiKSQByQBx__TQByTiVii3ZQCiZi", "app.d.Pair!(int, 3).Pair.deeper!(int).deeper(int*, ref app.d.Pair!(int, 3).Pair)"},
	{"_D3std5stdio17LockingTextReader10__postblitMFZv", "std.stdio.LockingTextReader.this(this)"},
	{"_D3std5stdio4File__T16BinaryWriterImplVbi1ZQx10__postblitMFNbNiZv", "std.stdio.File.BinaryWriterImpl!(true).BinaryWriterImpl.__postblit()"},
	{"_D3std12experimental9allocator18RCISharedAllocator10__postblitMOFNaNbNiNfZv", "std.experimental.allocator.RCISharedAllocator.__postblit() shared"},
	{"_D3foo__T3barVAyaa3_616263Vai97Vdd0A8P1VNN3Z1xi", ""},
	{"_D3foo__T3barVAyaa3_616263Vai97Vlin5Z1xi", ""},
	{"_D3foo__T3barVAyaa3_616263Vai97VlN5ZQt1xi", ""},
	{"_D3foo__T3barVAyaa3_616209Vai97VlN5VhA2i1i2Z1xi", `foo.bar!("ab\t", 'a', -5L, [1, 2]).x`},
	{"_D3foo3barFiZ", ""},
	{"_D3foo", ""},
	{"_D", ""},
	{"_D3fooQaZ", ""},
	{"_D99999999999999999999foo", ""},
	{"_Z3fooi", ""},
}

func TestDemangle(t *testing.T) {
	for _, test := range symbols {
		if name, ok := Demangle(test.symbol); name != test.name || ok != (test.name != "") {
			t.Errorf("%s: %q, %v, want %q", test.symbol, name, ok, test.name)
		}
	}
}

// TestAgainstFilt compares the table with what binutils makes of it.
func TestAgainstFilt(t *testing.T) {
	if _, err := exec.LookPath("c++filt"); err != nil {
		t.Skip("skipped: c++filt is not installed")
	}
	var in strings.Builder
	for _, test := range symbols {
		in.WriteString(test.symbol + "\n")
	}
	cmd := exec.Command("c++filt", "--format=dlang")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		got, ok := Demangle(symbols[k].symbol)
		if !ok {
			got = symbols[k].symbol
		}
		if got != want {
			t.Errorf("%s: %q, c++filt has %q", symbols[k].symbol, got, want)
		}
	}
}

// FuzzDemangle takes any symbol: there is a name of a bounded length, or none.
func FuzzDemangle(f *testing.F) {
	for _, test := range symbols {
		f.Add(test.symbol)
	}
	f.Add("_D3foo" + strings.Repeat("A", 1000) + "i")
	f.Add("_D" + strings.Repeat("__T1aS", 500))
	f.Fuzz(func(t *testing.T, symbol string) {
		name, ok := Demangle(symbol)
		if ok != (name != "") || len(name) > 2*maxText {
			t.Fatalf("%d bytes, %v", len(name), ok)
		}
	})
}
