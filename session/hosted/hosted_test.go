// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package hosted

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
)

// fakeCall is a call with the memory of this process.
type fakeCall struct {
	words  []uint64
	floats []float64
	result uint64
	float  float64
}

func (c *fakeCall) Word(n int) uint64 {
	if n < len(c.words) {
		return c.words[n]
	}
	return 0
}

func (c *fakeCall) Float(n int) float64 {
	if n < len(c.floats) {
		return c.floats[n]
	}
	return 0
}

func (c *fakeCall) Return(w uint64)       { c.result = w }
func (c *fakeCall) ReturnFloat(f float64) { c.float = f }

func (c *fakeCall) ReadMemory(p []byte, address uint64) error {
	return guarded(unix.ProcessVMReadv, p, address)
}

func (c *fakeCall) WriteMemory(p []byte, address uint64) error {
	return guarded(unix.ProcessVMWritev, p, address)
}

func guarded(transfer func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error), p []byte, address uint64) error {
	if len(p) == 0 {
		return nil
	}
	local := []unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	n, err := transfer(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(p)}}, 0)
	if n != len(p) {
		return &session.MemoryError{Address: address + uint64(max(n, 0)), Err: err}
	}
	return nil
}

func (c *fakeCall) ReadString(address uint64, limit int) (string, error) {
	return prefix(c, address, uint64(limit))
}

// program calls functions of a library.
type program struct {
	t         *testing.T
	functions map[string]function
	output    bytes.Buffer
	hosted    *Library
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{t: t}
	l, err := New(&Options{Output: &p.output, HeapSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p.hosted, p.functions = l, l.functions()
	return p
}

func (p *program) try(name string, arguments ...any) (*fakeCall, error) {
	p.t.Helper()
	c := new(fakeCall)
	for _, a := range arguments {
		switch a := a.(type) {
		case string:
			c.words = append(c.words, p.text(a))
		case int:
			c.words = append(c.words, uint64(a))
		case uint64:
			c.words = append(c.words, a)
		case float64:
			c.floats = append(c.floats, a)
		default:
			p.t.Fatalf("an argument of %T", a)
		}
	}
	f := p.functions[name]
	if f == nil {
		p.t.Fatalf("no function %s", name)
	}
	return c, f(c)
}

func (p *program) call(name string, arguments ...any) uint64 {
	p.t.Helper()
	c, err := p.try(name, arguments...)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return c.result
}

// text writes a string to the heap and returns its address.
func (p *program) text(s string) uint64 {
	p.t.Helper()
	address := p.hosted.heap.allocate(uint64(len(s) + 1))
	if err := writeString(new(fakeCall), address, s); err != nil {
		p.t.Fatal(err)
	}
	return address
}

func (p *program) string(address uint64) string {
	p.t.Helper()
	s, err := readString(new(fakeCall), address)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func TestStrings(t *testing.T) {
	p := newProgram(t)
	for _, test := range []struct {
		function  string
		arguments []any
		want      int
	}{
		{"strlen", []any{"minotaur"}, 8},
		{"strcmp", []any{"a", "a"}, 0},
		{"strcmp", []any{"a", "b"}, -1},
		{"strcmp", []any{"ab", "a"}, 'b'},
		{"strcmp", []any{"\xff", "a"}, 0xff - 'a'},
		{"strncmp", []any{"thread", "three", 3}, 0},
		{"strncmp", []any{"thread", "three", 5}, -4},
		{"strncmp", []any{"x", "y", 0}, 0},
		{"memcmp", []any{"abc", "abd", 3}, -1},
		{"memcmp", []any{"abc", "abd", 2}, 0},
		{"atoi", []any{" -42rooms"}, -42},
		{"atoi", []any{"none"}, 0},
		{"abs", []any{-5}, 5},
		{"abs", []any{0xfffffffe}, 2},
		{"labs", []any{-1 << 40}, 1 << 40},
	} {
		if got := int(p.call(test.function, test.arguments...)); got != test.want {
			t.Errorf("%s(%v) = %d, want %d", test.function, test.arguments, got, test.want)
		}
	}

	s := p.text("left right left")
	for _, test := range []struct {
		function  string
		arguments []any
		want      int // offset, -1 is NULL
	}{
		{"strchr", []any{s, int('r')}, 5},
		{"strrchr", []any{s, int('l')}, 11},
		{"strchr", []any{s, 0}, 15},
		{"strchr", []any{s, int('x')}, -1},
		{"strstr", []any{s, "right"}, 5},
		{"strstr", []any{s, "up"}, -1},
		{"memchr", []any{s, int('g'), 15}, 7},
		{"memchr", []any{s, int('g'), 3}, -1},
	} {
		want := uint64(0)
		if test.want >= 0 {
			want = s + uint64(test.want)
		}
		if got := p.call(test.function, test.arguments...); got != want {
			t.Errorf("%s(%v) = %#x, want %#x", test.function, test.arguments, got, want)
		}
	}

	to := p.call("malloc", 64)
	p.call("strcpy", to, "way")
	p.call("strcat", to, " out")
	if got := p.string(to); got != "way out" {
		t.Errorf("strcpy and strcat make %q", got)
	}
	p.call("memset", to, int('!'), 63)
	p.call("strncpy", to, "in", 5)
	got := make([]byte, 6)
	new(fakeCall).ReadMemory(got, to)
	if string(got) != "in\x00\x00\x00!" {
		t.Errorf("strncpy makes %q", got)
	}
}

// The ranges overlap, in both directions, and are longer than a chunk.
func TestMemmove(t *testing.T) {
	p := newProgram(t)
	const n = 3*chunk + 17
	at := p.call("malloc", n+100)
	pattern := func(i int) byte { return byte(i*7 + i>>8) }
	for _, shift := range [][2]uint64{{0, 100}, {100, 0}} {
		want := make([]byte, n)
		for i := range want {
			want[i] = pattern(i)
		}
		if err := new(fakeCall).WriteMemory(want, at+shift[0]); err != nil {
			t.Fatal(err)
		}
		p.call("memmove", at+shift[1], at+shift[0], n)
		got := make([]byte, n)
		if err := new(fakeCall).ReadMemory(got, at+shift[1]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("memmove from +%d to +%d differs", shift[0], shift[1])
		}
	}
}

func TestHeap(t *testing.T) {
	p := newProgram(t)
	a, b := p.call("malloc", 24), p.call("malloc", 100)
	if a%granule != 0 || b%granule != 0 || b < a+24 {
		t.Errorf("malloc gives %#x and %#x", a, b)
	}
	p.call("memset", a, 0xff, 24)
	c := p.call("realloc", a, 48)
	word := make([]byte, 48)
	new(fakeCall).ReadMemory(word, c)
	if !bytes.Equal(word, append(bytes.Repeat([]byte{0xff}, 24), make([]byte, 24)...)) {
		t.Errorf("realloc keeps % x", word)
	}
	if reused := p.call("calloc", 3, 8); reused != a {
		t.Errorf("calloc returns %#x, want the freed block at %#x", reused, a)
	}
	if p.call("calloc", -1, 16) != 0 || p.call("malloc", -1) != 0 || p.call("malloc", 1<<20+1) != 0 {
		t.Error("malloc or calloc returns more memory than the heap has")
	}
	for _, address := range []uint64{c, b, a, 0} {
		p.call("free", address)
	}
	if h := p.hosted.heap; h.next != h.start || len(h.free) != 0 || len(h.sizes) != 0 {
		t.Errorf("after all blocks were freed, the heap is %+v", h)
	}
	for _, address := range []any{a, b + 8, 5} {
		if _, err := p.try("free", address); !errors.Is(err, errFree) {
			t.Errorf("free(%#x): %v", address, err)
		}
	}
	// Blocks do not overlap, in any order of malloc and free.
	sizes := make(map[uint64]int)
	var blocks []uint64
	for i := range 2000 {
		if i%3 == 2 {
			at := (i * 7919) % len(blocks)
			p.call("free", blocks[at])
			delete(sizes, blocks[at])
			blocks = append(blocks[:at], blocks[at+1:]...)
			continue
		}
		n := 1 + (i*31)%200
		address := p.call("malloc", n)
		for other, size := range sizes {
			if address < other+uint64(size) && other < address+uint64(n) {
				t.Fatalf("%d bytes at %#x and %d at %#x", n, address, size, other)
			}
		}
		sizes[address] = n
		blocks = append(blocks, address)
	}
}

func TestInvalidPointers(t *testing.T) {
	p := newProgram(t)
	for name, arguments := range map[string][]any{
		"puts": {16}, "strlen": {0}, "memset": {0, 0, 10}, "memcpy": {p.call("malloc", 8), 8, 8},
		"strcmp": {"a", 0}, "printf": {0}, "write": {1, 64, 5}, "strcpy": {0, "x"}, "strncpy": {0, "x", 5},
	} {
		_, err := p.try(name, arguments...)
		var memory *session.MemoryError
		if !errors.As(err, &memory) {
			t.Errorf("%s with an invalid pointer: %v", name, err)
		}
	}
	if p.output.Len() != 0 {
		t.Errorf("printed %q", p.output.String())
	}
}

func TestEnds(t *testing.T) {
	p := newProgram(t)
	_, err := p.try("exit", 3)
	var exit *session.ExitError
	if !errors.As(err, &exit) || exit.Code != 3 {
		t.Errorf("exit(3): %v", err)
	}
	_, err = p.try("__assert_fail", "n > 0", "fib.c", 7, "fib")
	var abort *AbortError
	if want := "fib.c:7: fib: Assertion `n > 0' failed."; !errors.As(err, &abort) || abort.Message != want {
		t.Errorf("__assert_fail: %v", err)
	}
	if _, err = p.try("__stack_chk_fail"); !errors.As(err, &abort) {
		t.Errorf("__stack_chk_fail: %v", err)
	}
}

func TestMath(t *testing.T) {
	p := newProgram(t)
	if c, err := p.try("sqrt", 2.0); err != nil || c.float != math.Sqrt2 {
		t.Errorf("sqrt(2) = %v, %v", c.float, err)
	}
	if c, err := p.try("sqrtf", session.Float32(2)); err != nil || math.Float32frombits(uint32(math.Float64bits(c.float))) != float32(math.Sqrt2) {
		t.Errorf("sqrtf(2) = %v, %v", c.float, err)
	}
	if c, err := p.try("pow", 2.0, 10.0); err != nil || c.float != 1024 {
		t.Errorf("pow(2, 10) = %v, %v", c.float, err)
	}
}

func TestOutput(t *testing.T) {
	p := newProgram(t)
	p.call("puts", "minotaur")
	p.call("putchar", int('x'))
	p.call("write", 1, "thread", 3)
	if p.call("printf", " %d %s %.1f\n", 7, "rooms", 2.5) != 13 {
		t.Error("printf does not return the length of its output")
	}
	if want := "minotaur\nxthr 7 rooms 2.5\n"; p.output.String() != want {
		t.Errorf("printed %q, want %q", p.output.String(), want)
	}
	to := p.call("malloc", 8)
	if n := p.call("snprintf", to, 5, "%d", 1234567); n != 7 || p.string(to) != "1234" {
		t.Errorf("snprintf: %d, %q", n, p.string(to))
	}
	for _, invalid := range []string{"%", "%y", "%Lf", "%2000000d", "%.*d"} {
		if _, err := p.try("printf", invalid, 1<<30); err == nil {
			t.Errorf("printf(%q) succeeds", invalid)
		}
	}
}

var formats = []struct {
	format string
	words  []int
	floats []float64
}{
	{"%d|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%08.3d", []int{1, 2, 3, 4, 5, 6, 7, -8, 9}, nil},
	{"%d %i %u %hd %hhd %ld %lld %zu %jd %td", []int{-1, 1 << 31, -1, 0x18001, 0x1ff, -1 << 40, 1 << 62, -1, -2, -3}, nil},
	{"%x|%#x|%X|%#X|%o|%#o|%#x|%#o|%08x|%#08x|%#.5x|%-#8x|", []int{255, 255, 255, 255, 8, 8, 0, 0, 255, 255, 255, 255}, nil},
	{"%.0d|%.0x|%+.0d|%5.0d|", []int{0, 0, 0, 0}, nil},
	{"%c%c|%5c|%-5c|%%", []int{'a', 'b', 'c', 'd'}, nil},
	{"%*d|%-*d|%*d|%.*d|%.*d|", []int{6, 1, 6, 2, -6, 3, 4, 5, -1, 6}, nil},
	{"%p|%20p|%p", []int{0x1234, 0xabc, 0}, nil},
	{"%f|%.0f|%#.0f|%10.2f|%-10.2f|%010.2f|%+f|% f", nil, []float64{1.5, 2.5, 3, 3.14159, -2.718, -1.5, 1, 2}},
	{"%e|%.2e|%E|%12.3e|%e", nil, []float64{12345.678, 0.00012, 1e100, -3, 0}},
	{"%g|%g|%g|%g|%g|%g|%g", nil, []float64{100000, 1000000, 0.0001, 0.00001, 1.5, 0, 123456789}},
	{"%.3g|%G|%#g|%10g|%.0g|%.10g", nil, []float64{1234.5, 1e-10, 1, 2, 3.7, 1.0 / 3}},
	{"%f|%e|%g|%F|%10f|%010f|%-8f|", nil, []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Inf(1), math.Inf(1), math.Inf(-1), math.NaN()}},
	{"%a|%A|%a|%.2a", nil, []float64{1, 0.5, -1e10, 1.5}},
}

// printf prints the same as the C library of this machine.
func TestFormatsMatchCLibrary(t *testing.T) {
	cc := testprogram.RequireTool(t, "gcc")
	var source strings.Builder
	source.WriteString("#include <math.h>\n#include <stdio.h>\n#include <string.h>\n" +
		"double d(unsigned long n) { double x; memcpy(&x, &n, 8); return x; }\nint main(void) {\n")
	for _, f := range formats {
		fmt.Fprintf(&source, "printf(%q \"\\n\"", f.format)
		for _, w := range f.words {
			fmt.Fprintf(&source, ", %dL", w)
		}
		for _, x := range f.floats {
			fmt.Fprintf(&source, ", d(%#xUL)", math.Float64bits(x))
		}
		source.WriteString(");\n")
	}
	source.WriteString("printf(\"%s|%10s|%-10s|%.2s|%10.2s|\\n\", \"clew\", \"a\", \"b\", \"thread\", \"out\"); return 0; }\n")
	folder := t.TempDir()
	path := filepath.Join(folder, "formats.c")
	if err := os.WriteFile(path, []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(folder, "formats")
	if out, err := exec.Command(cc, "-w", "-o", binary, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	for _, f := range formats {
		arguments := []any{f.format + "\n"}
		for _, w := range f.words {
			arguments = append(arguments, w)
		}
		for _, x := range f.floats {
			arguments = append(arguments, x)
		}
		p.call("printf", arguments...)
	}
	p.call("printf", "%s|%10s|%-10s|%.2s|%10.2s|\n", "clew", "a", "b", "thread", "out")
	got := strings.Split(p.output.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Errorf("got  %q\nwant %q", got[min(i, len(got)-1)], line)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, test := range formats {
		f.Add(test.format, uint64(5), 1.5)
	}
	f.Add("%", uint64(0), 0.0)
	f.Add("%999999999999999999999d", uint64(0), 0.0)
	f.Fuzz(func(t *testing.T, text string, word uint64, float float64) {
		p := newProgram(t)
		if len(text) > 1000 {
			return
		}
		at := p.text(text)
		c := &fakeCall{words: []uint64{at, word, word, word, at}, floats: []float64{float, float}}
		out, err := format(c, 0)
		if err == nil && len(out) > maxFormatted {
			t.Errorf("%d bytes", len(out))
		}
	})
}
