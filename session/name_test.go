// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

func TestNames(t *testing.T) {
	for _, test := range []struct {
		name, symbol string
		want         bool
	}{
		{"ns::hidden", "_ZN2ns6hiddenEi", true},
		{"hidden", "_ZN2ns6hiddenEi", true},
		{"::ns::hidden", "_ZN2ns6hiddenEi", true},
		{"s::hidden", "_ZN2ns6hiddenEi", false},
		{"dden", "_ZN2ns6hiddenEi", false},
		{"ns::hidden(int)", "_ZN2ns6hiddenEi", true},
		{"hidden( int )", "_ZN2ns6hiddenEi", true},
		{"hidden(double)", "_ZN2ns6hiddenEi", false},
		{"hidden()", "_ZN2ns6hiddenEi", false},
		{"a::ns::hidden", "_ZN2ns6hiddenEi", false},
		{"Sq::area", "_ZNK2Sq4areaEv", true},
		{"Sq::area()", "_ZNK2Sq4areaEv", true},
		{"Sq::area() const", "_ZNK2Sq4areaEv", true},
		{"Sq::area() volatile", "_ZNK2Sq4areaEv", false},
		{"Sq::Sq", "_ZN2SqC1Ei", true},
		{"Sq::~Sq", "_ZN2SqD1Ev", true},
		{"ns::Vec<int>::sum", "_ZNK2ns3VecIiE3sumEv", true},
		{"ns::Vec::sum", "_ZNK2ns3VecIiE3sumEv", true},
		{"Vec<long>::sum", "_ZNK2ns3VecIiE3sumEv", false},
		{"largest", "_Z7largestIiET_S0_S0_", true},
		{"largest<int>", "_Z7largestIiET_S0_S0_", true},
		{"largest<int>(int, int)", "_Z7largestIiET_S0_S0_", true},
		{"largest<char>", "_Z7largestIiET_S0_S0_", false},
		{"ns::V::operator()", "_ZN2ns1VclEi", true},
		{"operator()(int)", "_ZN2ns1VclEi", true},
		{"operator<", "_ZltRK1AS1_", true},
		{"operator<<", "_ZltRK1AS1_", false},
		{"(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEi", true},
		{"f(int)", "_ZN12_GLOBAL__N_11fEi", true},
		{"r::opt", "_ZN1r3opt17h0123456789abcdefE", true},
		{"opt", "_ZN1r3opt17h0123456789abcdefE", true},
		{"_ZN2ns6hiddenEi", "_ZN2ns6hiddenEi", true},
		{"plain", "plain", true},
		{"ns::hidden", "_ZN2ns6hiddenEi.cold", false},
		{"", "_ZN2ns6hiddenEi", false},
		{"ns::", "_ZN2ns6hiddenEi", false},
		{"hidden(", "_ZN2ns6hiddenEi", false},
		{")>::(", "_ZN2ns6hiddenEi", false},
	} {
		if got := isNamed(test.symbol, test.name); got != test.want {
			of, _ := demangled(test.symbol)
			t.Errorf("%q for %s (%q): %v", test.name, test.symbol, of, got)
		}
	}
}

// loadCC makes an image of C++ code.
func loadCC(t testing.TB, source string, flags ...string) *Image {
	t.Helper()
	testprogram.RequireTool(t, "g++")
	dir := t.TempDir()
	path, out := filepath.Join(dir, "test.cc"), filepath.Join(dir, "test.o")
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("g++", append([]string{"-c", "-fno-exceptions", "-o", out, path}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, text)
	}
	f, err := object.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	i, err := LoadImage(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	return i
}

func TestLocateScopes(t *testing.T) {
	const source = `
namespace ns {
template<class T> struct Vec { T d; T sum() const { return d; } };
int hidden(int a) { return a + 1; }
double hidden(double a) { return a * 2; }
inline __attribute__((always_inline)) int small(int a) { return a * 3 + 1; }
}
struct Sq { int s; int area() const; };
int Sq::area() const { return s * s; }
int use(int n) { ns::Vec<int> v{n}; Sq q{n}; return v.sum() + q.area() + ns::hidden(n) + ns::small(n); }
`
	for _, flags := range [][]string{{"-g", "-O0"}, {"-O0"}} {
		i := loadCC(t, source, flags...)
		s := newSession(t, i)
		for _, test := range []struct {
			location string
			want     []string
		}{
			{"ns::hidden", []string{"_ZN2ns6hiddenEi", "_ZN2ns6hiddenEd"}},
			{"hidden", []string{"_ZN2ns6hiddenEi", "_ZN2ns6hiddenEd"}},
			{"ns::hidden(double)", []string{"_ZN2ns6hiddenEd"}},
			{"hidden(int)", []string{"_ZN2ns6hiddenEi"}},
			{"_ZN2ns6hiddenEi", []string{"_ZN2ns6hiddenEi"}},
			{"*ns::hidden(double)", []string{"_ZN2ns6hiddenEd"}},
			{"*hidden(double)+4", []string{"_ZN2ns6hiddenEd"}},
			{"Sq::area", []string{"_ZNK2Sq4areaEv"}},
			{"ns::Vec<int>::sum", []string{"_ZNK2ns3VecIiE3sumEv"}},
			{"test.cc:ns::hidden(int)", []string{"_ZN2ns6hiddenEi"}},
			{"ns::area", nil},
			{"other.cc:ns::hidden", nil},
		} {
			if test.location == "test.cc:ns::hidden(int)" && len(flags) == 1 {
				continue // only debugging information names files
			}
			addresses, err := s.Locate(test.location)
			var got []string
			for _, address := range addresses {
				f, _ := i.Function(address)
				got = append(got, f.Name)
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) || (err != nil) != (test.want == nil) || err != nil && !errors.Is(err, ErrNotFound) {
				t.Errorf("%q, %s: %q, %v, want %q", flags, test.location, got, err, test.want)
			}
		}
		if len(flags) < 2 {
			continue
		}
		inlined, err := s.Locate("ns::small")
		if err != nil || len(inlined) == 0 {
			t.Errorf("inlined calls: %#x, %v", inlined, err)
		}
		for _, address := range inlined {
			if f, _ := i.Function(address); f.Name != "_Z3usei" {
				t.Errorf("an inlined call in %s", f.Name)
			}
		}
	}
}

// Assembly code gives its functions no types.
func TestLabels(t *testing.T) {
	ret := map[string]string{"amd64": "nop\nret\n", "arm64": "ret\n"}[runtime.GOARCH]
	i := load(t, ".text\n.globl first, second\nfirst:\n"+ret+"second:\nalias:\n"+ret+
		".type typed,%function\ntyped:\n"+ret+"inner:\n"+ret+".size typed,.-typed\n.Lhidden:\n"+ret+".data\ndatum: .quad 1\n")
	s := newSession(t, i)
	size := uint64(map[string]int{"amd64": 2, "arm64": 4}[runtime.GOARCH])
	start := i.Ranges()[0].Start
	want := []Function{{"first", start, size}, {"second", start + size, size}, {"alias", start + size, size}, {"typed", start + 2*size, 2 * size}}
	got := slices.Clone(i.Functions())
	for _, f := range want {
		n := slices.Index(got, f)
		if n < 0 {
			t.Fatalf("%v is not among %v", f, got)
		}
		got = slices.Delete(got, n, n+1)
		if addresses, err := s.Locate(f.Name); err != nil || len(addresses) == 0 {
			t.Errorf("%s: %#x, %v", f.Name, addresses, err)
		}
		if addresses, err := s.Locate("*" + f.Name); err != nil || !slices.Equal(addresses, []uint64{f.Start}) {
			t.Errorf("*%s: %#x, %v", f.Name, addresses, err)
		}
		if address, ok := i.Symbol(f.Name); !ok || address != f.Start {
			t.Errorf("symbol %s: %#x, %v", f.Name, address, ok)
		}
	}
	if len(got) != 0 {
		t.Errorf("functions too many: %v", got)
	}
	for offset, name := range map[uint64]string{0: "first", size - 1: "first", 2 * size: "typed", 3 * size: "typed"} {
		if f, ok := i.Function(start + offset); !ok || f.Name != name {
			t.Errorf("at %d: %v", offset, f)
		}
	}
	if stop := call(t, s, "first"); stop.Reason != Returned {
		t.Error(stop)
	}
}
