// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// both has the compilers of both machines.
var both = []struct {
	m        *machine
	compiler string
	cxx      string
}{
	{&amd64, "gcc", "g++"},
	{&arm64, "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"},
	{&amd64, "clang", "clang++"},
	{&arm64, "clang --target=aarch64-linux-gnu", "clang++ --target=aarch64-linux-gnu -I/usr/aarch64-linux-gnu/include"},
}

// TestThread runs code with thread-local variables of every model. Two programs share a block.
func TestThread(t *testing.T) {
	for _, tt := range both {
		if !compiled(tt.m) {
			continue
		}
		for _, flags := range few(t, []string{
			"-O2 -fno-pic", "-O0 -fPIE", "-O2 -fPIC", "-O0 -fPIC", "-O2 -fPIC -ftls-model=local-dynamic", "-O2 -fPIC -ftls-model=initial-exec",
			"-O2 -fPIC -fno-plt", "-O2 -fPIC -fno-plt -ftls-model=local-dynamic",
			"gnu -O2 -fPIC -mtls-dialect=gnu2", "gnu -O0 -fPIC -mcmodel=large", "gnu -O0 -fPIC -mcmodel=large -ftls-model=local-dynamic",
			"arm -O2 -fPIC -mtls-dialect=trad", "arm -O2 -fPIC -mtls-dialect=trad -ftls-model=local-dynamic", "arm -O2 -fPIC -mtls-size=24",
		}, 3) {
			which, rest, only := strings.Cut(flags, " ")
			if only && (which == "gnu" && tt.compiler != "gcc" || which == "arm" && tt.compiler != "aarch64-linux-gnu-gcc") {
				continue
			}
			if which == "gnu" || which == "arm" {
				flags = rest
			}
			t.Run(tt.compiler+" "+flags, func(t *testing.T) {
				paths := []string{
					compile(t, tt.compiler, "tls.c", strings.Fields(flags)...),
					compile(t, tt.compiler, elsewhereSource, strings.Fields(flags)...),
				}
				first, err := at(t, tt.m, farAway, nil, paths...)
				if err != nil {
					t.Fatal(err)
				}
				second := linked{l: newLinker(tt.m, farAway+1<<36, nil)}
				second.l.threads = first.l.threads
				second.p, err = second.l.link(files(t, paths...))
				if err != nil {
					t.Fatal(err)
				}
				a, b := first.p.TLS, second.p.TLS
				if a == nil || b == nil || a.Offset < b.Offset+int64(b.Size) && b.Offset < a.Offset+int64(a.Size) {
					t.Fatalf("%+v and %+v overlap", a, b)
				}
				if tt.m.storage().Below != (a.Offset < 0) || uint64(a.Offset)%a.Align != 0 || a.Align != 32 {
					t.Errorf("offset %d, alignment %d", a.Offset, a.Align)
				}
				x, y := first.symbol(t, "test"), second.symbol(t, "test")
				// Each program has its own variables.
				if got, want := executeAll(t, []linked{first, second}, y, x, x), []string{"421235", "421235", "431736"}; !slices.Equal(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
	}
}

func TestOffsets(t *testing.T) {
	var o offsets
	for _, tt := range []struct{ size, align, want uint64 }{{10, 1, 16}, {8, 8, 32}, {4, 2, 26}, {1 << 15, 4096, 4096}} {
		if got, err := o.reserve(16, tt.size, tt.align); err != nil || got != tt.want {
			t.Errorf("%d bytes: at %d, %v, want %d", tt.size, got, err, tt.want)
		}
	}
	if _, err := o.reserve(16, 1<<15, 1); !errors.Is(err, errTooLarge) {
		t.Errorf("more than there is: %v", err)
	}
	o.free(4096)
	if got, err := o.reserve(16, 1<<15, 1); err != nil || got != 40 {
		t.Errorf("after it was given back: at %d, %v", got, err)
	}
}

// TestCXX links two C++ files that both have an inline function with a static
// variable, a template, a class with virtual functions, and a constructor.
func TestCXX(t *testing.T) {
	const header = `
template <typename T> struct Shape { virtual T area() const { return 1; } virtual ~Shape() {} };
template <typename T> struct Square : Shape<T> { T a; explicit Square(T x) : a(x) {} T area() const override { return a * a; } };
inline int next() { static int n = 100; return ++n; }
inline int variable = 3;
`
	for _, tt := range both {
		if !compiled(tt.m) {
			continue
		}
		for _, flags := range few(t, []string{"-O0 -g -fno-exceptions -fno-rtti", "-O2 -fPIC -fno-exceptions -fno-rtti", "-O2 -fno-rtti"}, 1) {
			t.Run(tt.cxx+" "+flags, func(t *testing.T) {
				one := compile(t, tt.cxx, "one.cc\n"+header+`
void operator delete(void *, unsigned long) noexcept {}
void operator delete(void *) noexcept {}
int other();
struct Before { int v; Before() : v(next()) {} } before;
extern "C" long test() { Square<int> s(5); Shape<int> *p = &s; return p->area() * 1000000 + other() * 1000 + next() + variable + before.v; }
`, strings.Fields(flags)...)
				two := compile(t, tt.cxx, "two.cc\n"+header+`
extern "C" void __cxa_pure_virtual() {}
int other() { Square<int> s(3); Shape<int> *p = &s; variable++; return p->area() + next(); }
`, strings.Fields(flags)...)
				a, err := at(t, tt.m, farAway, nil, one, two)
				if err != nil {
					t.Fatal(err)
				}
				if len(a.p.Init) != 1 {
					t.Errorf("constructors: %#x", a.p.Init)
				}
				// before.v is 101, other() is 9+102 and makes variable 4, next() is 103.
				if got := execute(t, []linked{a}, a.symbol(t, "test")); got != "25111208" {
					t.Errorf("%s, want 25111208", got)
				}
				// The second file's tables do not describe the functions from the first.
				seen := map[string]bool{}
				for _, o := range a.p.Objects {
					for _, f := range fdes(t, openImage(t, o)) {
						start, rest, _ := strings.Cut(f, "-")
						if strings.HasPrefix(rest, start+" ") {
							continue // empty
						}
						if seen[start] {
							t.Errorf("two tables for the code at %s", start)
						}
						seen[start] = true
					}
				}
			})
		}
	}
}

// TestRust links the output of rustc for a source without the standard library.
func TestRust(t *testing.T) {
	if !compiled(&amd64) {
		return // it has amd64's alone
	}
	for _, flags := range []string{"-Copt-level=0 -Cdebuginfo=2", "-Copt-level=3", "-Copt-level=2 -Crelocation-model=static"} {
		t.Run(flags, func(t *testing.T) {
			tool(t, "rustc")
			dir := t.TempDir()
			write(t, dir+"/x.rs", `#![no_std]
#![crate_type = "lib"]
#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
static TABLE: [u8; 5] = [1, 2, 3, 5, 8];
static mut CALLS: i64 = 0;
fn sum(list: &[u8], f: &dyn Fn(u8) -> i64) -> i64 { list.iter().fold(0, |a, &x| a.wrapping_add(f(x))) }
#[no_mangle] pub extern "C" fn test() -> i64 { unsafe { CALLS += 1; sum(&TABLE, &|x| x as i64 * 2) + CALLS * 100 } }
`)
			run(t, "rustc", append(strings.Fields(flags), "--emit=obj", "-Cpanic=abort", "-Ccodegen-units=1", "-o", dir+"/x.o", dir+"/x.rs")...)
			a, err := at(t, &amd64, farAway, nil, dir+"/x.o")
			if errors.Is(err, ErrUndefined) {
				// Without optimization it calls functions of core.
				a, err = at(t, &amd64, farAway, func(name string) (uint64, bool) {
					return 0xdead, strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_ZN4core")
				}, dir+"/x.o")
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := execute(t, []linked{a}, a.symbol(t, "test")); got != "138" {
				t.Errorf("%s, want 138", got)
			}
		})
	}
}

// TestParts links small files, each for one feature.
func TestParts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		flags string
		want  string
	}{
		{"weak definition and strong one", []string{
			"a.c\n__attribute__((weak)) int f(void) { return 1; }\nint g(void);\nlong test(void) { return f() * 10 + g(); }",
			"b.c\nint f(void) { return 2; } int g(void) { return f() + 1; }",
		}, "-O0", "23"},
		{"two weak definitions", []string{
			"a.c\n__attribute__((weak)) int f(void) { return 1; }\nlong test(void) { return f(); }",
			"b.c\n__attribute__((weak)) int f(void) { return 2; }",
		}, "-O0", "1"},
		{"common symbols of several sizes", []string{
			"a.c\nint x[2]; int y; long test(void) { int n = 0; for (int i = 0; i < 100; i++) n += x[i]; return n * 10 + y; }",
			"b.c\nint x[100] __attribute__((aligned(64))); int y = 5; __attribute__((constructor)) void f(void) { for (int i = 0; i < 100; i++) x[i] = 1; }",
		}, "-O0 -fcommon", "1005"},
		{"common symbol and a function's static", []string{
			"a.c\nint x; static int y = 3; long test(void) { x += y; return x; }", "b.c\nint x;",
		}, "-O2 -fcommon", "3"},
		{"constructors by priority", []string{
			"a.c\nint n; __attribute__((constructor)) void f(void) { n = n * 10 + 3; } __attribute__((constructor(101))) void g(void) { n = n * 10 + 1; } long test(void) { return n; }",
			"b.c\nextern int n; __attribute__((constructor(102))) void h(void) { n = n * 10 + 2; } __attribute__((constructor)) void i(void) { n = n * 10 + 4; }",
		}, "-O2", "1234"},
		{"bounds of sections", []string{
			"a.c\n__attribute__((section(\"list\"))) long a = 1; extern long __start_list[], __stop_list[];\nlong test(void) { long n = 0; for (long *p = __start_list; p < __stop_list; p++) n = n * 10 + *p; return n; }",
			"b.c\n__attribute__((section(\"list\"))) long b = 2; __attribute__((section(\"other\"))) long c = 9;",
			"c.c\n__attribute__((section(\"list\"))) long d = 3;",
		}, "-O2", "123"},
		{"weak symbol that is not there", []string{
			"a.c\n__attribute__((weak)) int f(void); __attribute__((weak)) extern int v; long test(void) { return (f ? f() : 7) * 10 + (&v ? v : 8); }",
		}, "-O0 -fPIC", "78"},
		{"absolute symbol", []string{
			"a.c\nextern char constant[]; long test(void) { return (long)constant; }",
			"b.s\n\t.globl constant\n\tconstant = 1234\n",
		}, "-O2 -fPIC", "1234"},
		{"relocations in read-only data and relro", []string{
			"a.c\nstatic int x = 4; static int *const p = &x; static int *const *const q[] = {&p, &p}; static int (*const f)(void); int g(void) { return 5; } int (*const h)(void) = g;\nlong test(void) { return **q[1] * 10 + h() + (f != 0); }",
		}, "-O0 -fPIC", "45"},
		{"large zeroed array", []string{
			"a.c\nstatic char big[256 << 20]; char *volatile p = big; long test(void) { p[255 << 20] = 7; return p[255 << 20] + p[1]; }",
		}, "-O2", "7"},
		{"alignment", []string{
			"a.c\n_Alignas(65536) char a[3]; _Alignas(4096) const char b[5] = \"1234\"; char *volatile p = a; const char *volatile q = b; long test(void) { return ((unsigned long)p & 65535) + ((unsigned long)q & 4095) + q[2]; }",
		}, "-O2", "51"},
		{"debugging information of nothing", []string{
			"a.c\nextern int nowhere; static inline int f(void) { return nowhere; } long test(void) { return 5; }",
		}, "-O2 -g3", "5"},
	} {
		for _, c := range both {
			if !compiled(c.m) {
				continue
			}
			t.Run(tt.name+"/"+c.compiler, func(t *testing.T) {
				var paths []string
				for _, f := range tt.files {
					paths = append(paths, compile(t, c.compiler, f, strings.Fields(tt.flags)...))
				}
				a, err := at(t, c.m, farAway, nil, paths...)
				if err != nil {
					t.Fatal(err)
				}
				if got := execute(t, []linked{a}, a.symbol(t, "test")); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
			})
		}
	}
}
