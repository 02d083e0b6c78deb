// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import (
	"os/exec"
	"strings"
	"testing"
)

// Most symbols are from gdc 12 and its library.
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

	// Types, parameters and modifiers, one by one.
	{"_D3app1fFvZv", "app.f(void)"},
	{"_D3app1fFghstklmfdeopjqrcbauwnZv", "app.f(byte, ubyte, short, ushort, uint, long, ulong, float, double, real, ifloat, idouble, ireal, cfloat, cdouble, creal, bool, char, wchar, dchar, typeof(null))"},
	{"_D3app1fFOiZv", "app.f(shared(int))"},
	{"_D3app1fFxiZv", "app.f(const(int))"},
	{"_D3app1fFNgiZv", "app.f(inout(int))"},
	{"_D3app1fFNhG4fZv", "app.f(__vector(float[4]))"},
	{"_D3app1fFNnZv", "app.f(typeof(*null))"},
	{"_D3app1fFAiZv", "app.f(int[])"},
	{"_D3app1fFG3iZv", "app.f(int[3])"},
	{"_D3app1fFHiaZv", "app.f(char[int])"},
	{"_D3app1fFPFiZvZv", "app.f(void(int) function)"},
	{"_D3app1fFPUiZvZv", "app.f(extern(C) void(int) function)"},
	{"_D3app1fFDFNaNbiZvZv", "app.f(void(int) pure nothrow delegate)"},
	{"_D3app1fFDxFiZvZv", "app.f(void(int) delegate const)"},
	{"_D3app1fFDyFiZvZv", "app.f(void(int) delegate immutable)"},
	{"_D3app1fFDOFiZvZv", "app.f(void(int) delegate shared)"},
	{"_D3app1fFDNgFiZvZv", "app.f(void(int) delegate inout)"},
	{"_D3app1fFPWiZvZv", "app.f(extern(Windows) void(int) function)"},
	{"_D3app1fFPVZvZv", "app.f(extern(Pascal) void() function)"},
	{"_D3app1fFPRZvZv", "app.f(extern(C++) void() function)"},
	{"_D3app1fFPYZvZv", "app.f(extern(Objective-C) void() function)"},
	{"_D3app1fFB2iaZv", "app.f(Tuple!(int, char))"},
	{"_D3app1fFziZv", "app.f(cent)"},
	{"_D3app1fFzkZv", "app.f(ucent)"},
	{"_D3app1fFIiZv", "app.f(in int)"},
	{"_D3app1fFIKiZv", "app.f(in ref int)"},
	{"_D3app1fFJiZv", "app.f(out int)"},
	{"_D3app1fFKiZv", "app.f(ref int)"},
	{"_D3app1fFLiZv", "app.f(lazy int)"},
	{"_D3app1fFMPiZv", "app.f(scope int*)"},
	{"_D3app1fFNkPiZv", "app.f(return int*)"},
	{"_D3app1fFMNkKiZv", "app.f(scope return ref int)"},
	{"_D3app1fFiXv", "app.f(int...)"},
	{"_D3app1fFiYv", "app.f(int, ...)"},
	{"_D3app1fFYv", "app.f(...)"},
	{"_D3app1fFXv", "app.f(...)"},
	{"_D3app1S1fMxFiZv", "app.S.f(int) const"},
	{"_D3app1S1fMyFiZv", "app.S.f(int) immutable"},
	{"_D3app1S1fMOxFiZv", "app.S.f(int) shared const"},
	{"_D3app1S1fMNgFiZv", "app.S.f(int) inout"},
	{"_D3app1SxS3app1T1fMFZv", ""},
	{"_D3app1fFC3app1CZv", "app.f(app.C)"},
	{"_D3app11__InterfaceZ", "Interface for app"},
	{"_D3app1I11__InterfaceZ", "Interface for app.I"},
	{"_D3app1C7__ClassZ", "ClassInfo for app.C"},
	{"_D3app1fFNzZv", ""},
	{"_D3app1fFzzZv", ""},
	{"_D3app1fFBZv", ""},
	{"_D3app1fFDiZv", ""},
	{"_D3app1fFQaZv", ""},
	{"_D3app1fFQzzzzZv", ""},
	{"_D3app03app1fFZv", "app.app.f()"},
	{"_D3app1xi", "app.x"},
	{"_D3app1xPFZi", "app.x"},
	{"_D3app1fMFZ", ""},
	{"_D3app4mainFZ1gMFZ1hMFZv", "app.main().g().h()"},
	{"_D3app1fFNaNbNcNdNeNfNiNjNlNmZv", "app.f()"},
	{"_D3app1fFAAyaQcZv", "app.f(immutable(char)[][], immutable(char))"},
	{"_D3app1fFPiQcQeZv", "app.f(int*, int*, int*)"},
	{"_D3app6__initZ", "initializer for app"},
	{"_D3app6__init", ""},
	{"_D3app1fUiZv", "app.f(int)"},
	{"_D3app1fWiZv", "app.f(int)"},
	{"_D3app1fVZv", "app.f()"},
	{"_D3app1fRiZv", "app.f(int)"},
	{"_D3app1fYiZv", "app.f(int)"},
	{"_D3app10__postblitMFZ", ""},
	{"_D3app1S10__postblitMFZv", "app.S.this(this)"},
	{"_D0", ""},
	{"_D3appi", "app"},
	{"_D3app1fFDQcZv", ""},
	{"_D3app1fFDFZvDQeZv", "app.f(void() delegate, void() delegate)"},
	{"_D3app1fFS3app1SZv", "app.f(app.S)"},
	{"_D3app1fFE3app1EZv", "app.f(app.E)"},

	// Arguments of templates.
	{"_D3app__T1fVbi0Z1fFZv", "app.f!(false).f()"},
	{"_D3app__T1fVbi1Z1fFZv", "app.f!(true).f()"},
	{"_D3app__T1fVai10Z1fFZv", `app.f!('\x0a').f()`},
	{"_D3app__T1fVui233Z1fFZv", `app.f!('\u00e9').f()`},
	{"_D3app__T1fVwi128512Z1fFZv", `app.f!('\U0001f600').f()`},
	{"_D3app__T1fVhi7Z1fFZv", "app.f!(7u).f()"},
	{"_D3app__T1fVti7Z1fFZv", "app.f!(7u).f()"},
	{"_D3app__T1fVki7Z1fFZv", "app.f!(7u).f()"},
	{"_D3app__T1fVmi7Z1fFZv", "app.f!(7uL).f()"},
	{"_D3app__T1fViN7Z1fFZv", "app.f!(-7).f()"},
	{"_D3app__T1fVPinZ1fFZv", "app.f!(null).f()"},
	{"_D3app__T1fVdeA8P1Z1fFZv", "app.f!(0xA.8p1).f()"},
	{"_D3app__T1fVdeN8P3Z1fFZv", "app.f!(-0x8.p3).f()"},
	{"_D3app__T1fVdeN8PN3Z1fFZv", "app.f!(-0x8.p-3).f()"},
	{"_D3app__T1fVdeNANZ1fFZv", "app.f!(NaN).f()"},
	{"_D3app__T1fVdeINFZ1fFZv", "app.f!(Inf).f()"},
	{"_D3app__T1fVdeNINFZ1fFZv", "app.f!(-Inf).f()"},
	{"_D3app__T1fVqc8P1c8P2Z1fFZv", "app.f!(0x8.p1+0x8.p2i).f()"},
	{"_D3app__T1fVAyaa3_616263Z1fFZv", `app.f!("abc").f()`},
	{"_D3app__T1fVAyaa2_0a00Z1fFZv", `app.f!("\n\x00").f()`},
	{"_D3app__T1fVAyaa5_0d0c0b09ffZ1fFZv", `app.f!("\r\f\v\t\xff").f()`},
	{"_D3app__T1fVAyuw1_61Z1fFZv", `app.f!("a"w).f()`},
	{"_D3app__T1fVAywd1_61Z1fFZv", `app.f!("a"d).f()`},
	{"_D3app__T1fVAiA2i1i2Z1fFZv", "app.f!([1, 2]).f()"},
	{"_D3app__T1fVHiaA1i1i97Z1fFZv", "app.f!([1:97]).f()"},
	{"_D3app__T1fVHiiA2i1i2i3i4Z1fFZv", "app.f!([1:2, 3:4]).f()"},
	{"_D3app__T1fVS3app1SS2i1i2Z1fFZv", "app.f!(app.S(1, 2)).f()"},
	{"_D3app__T1fVPFZvf_D3app1gFZvZ1fFZv", "app.f!(app.g()).f()"},
	{"_D3app__T1fS3app1gZ1fFZv", "app.f!(app.g).f()"},
	{"_D3app__T1fS_D3app1gFZvZ1fFZv", "app.f!(app.g()).f()"},
	{"_D3app__T1fX4abcdZ1fFZv", "app.f!(abcd).f()"},
	{"_D3app__T1fHTiZ1fFZv", "app.f!(int).f()"},
	{"_D3app__T1fTiTaZ1fFZv", "app.f!(int, char).f()"},
	{"_D3app__U1fTiZQfFZv", "app.f!(int).f()"},
	{"_D3app9__T1fTiZ1fFZv", ""},
	{"_D3app8__T1fTiZ1fFZv", "app.f!(int).f()"},
	{"_D3app__T1fZ1fFZv", "app.f!().f()"},
	{"_D3app__T1fTi", ""},
	{"_D3app__T1fViZ1fFZv", ""},
	{"_D3app__T1fYiZ1fFZv", ""},
	{"_D3app__T1fVdeG8P1Z1fFZv", ""},
	{"_D3app__T1fVde8Q1Z1fFZv", ""},
	{"_D3app__T1fVAyaa3_6162Z1fFZv", ""},
	{"_D3app__T1fVAyaa1_6gZ1fFZv", ""},
	{"_D3app__T1fVAyaa1_61Z1fMxFZv", `app.f!("a").f() const`},
	{"_D3app__T1fVAAyaA2a1_61a1_62Z1fFZv", `app.f!(["a", "b"]).f()`},
	{"_D3app__T1fVde0A8PN1022Z1fFZv", "app.f!(0x0.A8p-1022).f()"},
	{"_D3app__T1fVqcN8P1c8P2Z1fFZv", "app.f!(-0x8.p1+0x8.p2i).f()"},
	{"_D3app__T1fVqc8P1e8P2Z1fFZv", ""},
	{"_D3app__T1fVaA1i5Z1fFZv", "app.f!([5]).f()"},
	{"_D3app__T1fVai99999999999Z1fFZv", ""},
	{"_D3app__T1fVS3app1SS1i2Z1fFZv", "app.f!(app.S(2)).f()"},
	{"_D3app__T1fVAia1_61Z1fFZv", `app.f!("a").f()`},
	{"_D3app__T1fX9abZ1fFZv", ""},
	{"_D3app__T1fS99_D3gZ1fFZv", ""},
	{"_D3app__T1fVPFZvfiZ1fFZv", ""},
	{"_D3app__T1fS11_D3app1gFZvZ1fFZv", "app.f!(app.g()).f()"},
}

func TestDemangle(t *testing.T) {
	for _, test := range symbols {
		if name, ok := Demangle(test.symbol); name != test.name || ok != (test.name != "") {
			t.Errorf("%s: %q, %v, want %q", test.symbol, name, ok, test.name)
		}
	}
}

// TestDemangleBounds rejects a type nested deeper than maxDepth, a name longer than maxText, and a
// back reference to itself.
func TestDemangleBounds(t *testing.T) {
	nested := func(n int) string { return "_D3app1fF" + strings.Repeat("A", n) + "iZv" }
	if name, ok := Demangle(nested(50)); name != "app.f(int"+strings.Repeat("[]", 50)+")" || !ok {
		t.Errorf("50 arrays: %q, %v", name, ok)
	}
	// Each type is a function with two parameters of the previous type, so that its name doubles.
	doubled := "_D3app1fFPFiZv"
	for range 20 {
		doubled += "PFQcQdZv"
	}
	for name, symbol := range map[string]string{
		"arrays deeper than maxDepth":  nested(maxDepth + 1),
		"a name longer than maxText":   "_D3app16385" + strings.Repeat("x", maxText+1) + "FZv",
		"doubled types":                doubled + "Zv",
		"a reference to itself":        "_D3app1fFQaZv",
		"a reference before the start": "_D3app1fFQzzzzZv",
		"more list items than bytes":   "_D3app__T1fVAiA1000000000iZ1fFZv",
	} {
		if got, ok := Demangle(symbol); ok || got != "" {
			t.Errorf("%s: %d bytes, %v", name, len(got), ok)
		}
	}
}

// TestAgainstFilt compares the table with the names that binutils prints.
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

// FuzzDemangle demangles arbitrary symbols. The name has a bounded length.
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
