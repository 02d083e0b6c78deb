// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package console_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session/console"
)

// TestLikeGDB gives the same commands to gdb, for a linked program, and to a console, for
// its object file. The output must be the same except for addresses and for text about the
// program. The counterpart of gdb's "run" is a call.
func TestLikeGDB(t *testing.T) {
	t.Chdir("testdata")
	tests := []gdbTest{
		{"step", "fib.c", []string{"-O0"}, "fib(4)",
			"break fib;run;s;s;s;s;n;n;n;s;bt;info args;up;info locals;p n;p a+n;p &n;down;finish;n;n;n;n", ""},
		{"next over recursion", "fib.c", []string{"-O0"}, "fib(5)",
			"tbreak fib;run;n;n;n;n;n;bt;finish", ""},
		{"conditions", "fib.c", []string{"-O0"}, "fib(8)",
			"break fib if n == 3;run;c;bt;p total;c 2;info locals;condition 1 n==1 && total > 20;c;p total;ignore 1 2;c;p total;delete;c", ""},
		{"finish", "fib.c", []string{"-O0"}, "fib(4)", "break fib if n==1;run;bt;finish;finish;p $;p $$;p $1+1;up", ""},
		{"nested", "fib.c", []string{"-O0"}, "fib(4)", "break fib if n == 3;run;p fib(2) + n;p n;p fib(3);bt;return;bt;p $;p fib(3);n;return 5;bt;p fib(3);finish;p $;bt;p fib(3);n;p fib(3);bt;up;up;info args", ""},
		{"nested faults", "rooms.c", []string{"-O0"}, "walk(2)", "break measure;run;set unwindonsignal on;delete;p measure((room_t *)16);bt;set unwindonsignal off;p measure((room_t *)16);bt;p half(3);p half(3) + half(1);up 2;info args;p *r;p walk(1)", ""},
		{"watch", "fib.c", []string{"-O0"}, "fib(3)", "break fib;run;delete;watch total;c;c;bt;c;info watchpoints", ""},
		{"watch a local", "fib.c", []string{"-O0"}, "fib(3)", "break fib if n == 2;run;n;n;watch a;c;c", ""},
		{"stepi", "fib.c", []string{"-O0"}, "fib(3)", "break fib;run;stepi;stepi;nexti;nexti 3;x/3i $pc;display/i $pc;si;si", ""},
		{"until", "rooms.c", []string{"-O0"}, "walk(3)", "break walk;run;n;n;n;n;n;until;until;advance measure;info args;p *r;p r->next->number;p/x r->number;ptype r;whatis *r;whatis r;until;until;until;until", ""},
		{"until a place", "fib.c", []string{"-O0"}, "fib(5)",
			"break fib if n == 4;run;delete;until 10;bt;until 11;p a;tbreak fib;c;bt;up;until 11;bt", ""},
		{"until another function", "rooms.c", []string{"-O0"}, "walk(2)", "break make;run;delete;until measure;bt;advance measure;bt", ""},
		{"parts and tail calls", "parts.c", []string{"-O2", "-gdwarf-4"}, "route(3)",
			"tbreak split;run;step;step;next;tbreak rare;c;finish;until 21;bt 1;step;tbreak leaf;c;bt;up;until 49;bt;tbreak leaf;c;up;up;advance 49;bt;finish", ""},
		{"structures", "rooms.c", []string{"-O0"}, "walk(2)",
			"break make;run;info args;n;n;n;n;n;n;p *r;p r->name;p &r->name;p r->kind;p/d r->kind;p (int)MINOTAUR;p sizeof(*r);p *r->name@2;p r->size;p r->size * 2;ptype room_t;ptype enum kind;whatis r->size;p greeting;p *greeting;p &made;p made;x/s greeting;x/2dw r;x/2xb r->name;x/4cb r->name;output r->number;p name;bt;finish;p $;p $.number;p *$", ""},
		{"assign", "rooms.c", []string{"-O0"}, "walk(3)",
			"break make;run;set var number = 40;p number;p number = 41;p number += 1;set $n = 5;p $n * 2;p $n = $n + 1;finish;p $->number;p $$2;p $nothing;p -5 / 2;p 10 % 3;p 1.5 + 1;p 'a';p 1 == 1;p sizeof(int);p 5 > 3 && 0;p ~5;p 1 << 4;p/t 10;p/o 8;p/c 65;p/x -1;p/u (char)-1;p/z 5;p/f 3;p/a 0", ""},
		{"display", "rooms.c", []string{"-O0"}, "walk(2)", "break make;run;display number;display/x kind;display name;info display;n;n;undisplay 2;n;c;info display", ""},
		{"arguments of many types", "rooms.c", []string{"-O0"}, `sum(1, 2, 3.5, "four", 5)`,
			"break sum;run;info args;bt;p text;p c + a;p d;p/x d;whatis d;ptype text;p text[0];p *text@4;p &text[1];finish", ""},
		{"floats", "rooms.c", []string{"-O0"}, "half(3)", "break half;run;p x;p x / 2;p -x;finish", ""},
		{"optimized", "inlined.c", []string{"-O2"}, "squares(4)", "break squares;run;b add;c;c;p b;p seen;bt 1;finish;n", ""},
		{"optimized steps", "rooms.c", []string{"-O1"}, "walk(3)", "break walk;run;n;n;n;n;p i;p first->number;s;s;s;bt;finish", ""},
		{"inlined", "inlined.c", []string{"-O2"}, "squares(2)", "break add;run;bt 1;s;bt 1;info locals;p seen", ""},
		{"frames", "fib.c", []string{"-O0"}, "fib(6)", "break fib if n == 1;run;frame;frame 2;up;up 2;down;down 10;f 1;bt 2;frame function fib;p n;bt 1", ""},
		{"list", "rooms.c", []string{"-O0"}, "walk(2)", "break walk;run;list;l;l -;list make;l;list 5,9;list rooms.c:30;info line make", ""},
		{"breakpoints", "rooms.c", []string{"-O0"}, "walk(2)", "break walk;break rooms.c:27;tbreak make;info breakpoints;run;c;info breakpoints;disable 2;c;enable 2;delete 1;info breakpoints", ""},
		{"reads", "fib.c", []string{"-O0"}, "fib(3)", "break fib;run;delete;rwatch total;c;c;delete 2;c", ""},
		{"accesses", "fib.c", []string{"-O0"}, "fib(3)", "break fib;run;delete;awatch total;c;c;delete 2;c", ""},
		{"watched locations", "rooms.c", []string{"-O0"}, "walk(3)",
			"watch -l made if made == 2;break make;ignore 2 1;run;c;condition 2 number == 1;c;condition 2;delete 1;c", ""},
		{"formats of memory", "rooms.c", []string{"-O0"}, "walk(2)",
			"break measure;run;x/2tw r;x/2uh r;x/f &r->size;x/4xb r->name;x/5c r->name;x/2xb r->name;x;x/c r->name;x;x;x/2i measure;x;x/a &greeting;x/2s r->name;print/x r->number;print/d r->kind;p/c r->name;p/z r->number;p/t r->number;p/o r->number;p/a r->number;p/u r->number;output/x r->number", ""},
		{"return", "fib.c", []string{"-O0"}, "fib(4)",
			"break fib if n == 2;run;bt;return 7;bt 1;next;p a;return nosuch;up;bt 1", ""},
		{"return to a breakpoint", "fib.c", []string{"-O0"}, "fib(4)", "break fib if n == 1;run;break 10;return (char)300;c;p a;delete;c", ""},
		{"return of other types", "rooms.c", []string{"-O0"}, "walk(2)",
			"break measure;run;return 2.5;next;p size;delete;c", ""},
		{"return from optimized code", "rooms.c", []string{"-O1"}, "walk(3)", "break make;run;return 0;p first;p i", ""},
		{"jump", "fib.c", []string{"-O0"}, "fib(4)",
			"break fib;run;next;delete;break 11;jump 11;set var a = 5;set var b = 6;p a + b;break 10;jump 10;p a;jump nosuch;tbreak 8;jump 8;delete;finish", ""},
		{"printf", "rooms.c", []string{"-O0"}, "walk(2)",
			`break make;run;printf "%d %s %c %5.2f %x %lu %%\n", number, greeting, 65, 1.5, -1, 7;printf "%5d|%-5d|%05d|%s\n", 1, 2, 3, name;printf "%s\n", "lit";printf "a\tb\n"` +
				`;printf "%hhd\n", 300;printf "%hd\n", 3;printf "%s\n", 0;printf "%c\n", 0x41;printf "%g %e\n", 1.5, 1.5;printf "%g %g %G\n", 1e10, 123456789.0, 0.00001;printf "%lld %zu\n", 1, 2;printf "%td\n", 1;printf "%s|\n", number` +
				`;printf "%5s|%-5s|%.2s|\n", "abc", "abc", "abc";printf "%#x %+d % d %o\n", 255, 3, 4, 8;printf "%lf\n", 1.5;printf "%f %e|%8g|\n", 0.0/0, 0.0/0, 1.0/0;printf "%d\n", 1.9;printf "%f\n", 3;printf "%p %5p|\n", 0, 16;printf "%u %lu %d\n", -1, -1, 5000000000` +
				`;printf;printf "x;printf %d, 5;printf "%d\n";printf "%d\n", 1, 2;printf "%q\n", 1;printf "%n\n", 1;printf "%*d\n", 1, 2;printf "%a\n", 1.5;printf "%jd\n", 1;printf "\q\n";printf "a" 5` +
				`;printf "%hd %hu %hx %ho\n", 70000, 70000, -1, -1;printf "%f %g %5.1f %+f|%G %E|%05f|% f|%-6f|\n", 1.0/0, -1.0/0, 1.0/0, 1.0/0, 1.0/0, 1.0/0, 1.0/0, 1.0/0, 1.0/0` +
				`;printf "%5c|\n", 65;printf "%Lf\n", 1.5;printf "%-8x|%8x|%08x\n", 1, 2, 3;printf "%#x %#o\n", 0, 8;printf "%.3d|%+.2f|%.0f\n", 5, 2.345, 2.5;printf "%+x\n", 5;printf "%#d\n", 5;printf "%";printf "%5";finish;printf "%s %d\n", $->name, $->number`, ""},
		{"list sizes", "rooms.c", []string{"-O0"}, "walk(2)",
			"break make;run;show listsize;set listsize 4;show listsize;list;list;list -;list walk;list;list 20,25;list 20,;list ,20;set listsize 3;list 20;set listsize 1;list 30;list;set listsize unlimited;show listsize;list 20;set listsize 0;show listsize;set listsize nosuch;set listsize 2 + 3;show listsize;frame;list", ""},
		{"show", "rooms.c", []string{"-O0"}, "walk(2)",
			"show confirm;show listsize;p 5;p \"x\";p number;show values;p 1;p 2;p 3;p 4;p 5;p 6;p 7;p 8;p 9;show values;show values 4;show values 12;show values 1;show directories;show height;show width", ""},
		{"lines and symbols", "rooms.c", []string{"-O0"}, "walk(2)",
			"break make;run;info line;info line 27;info line 28;info line 3;info line 31;info line 200;info line make;info line walk;info line rooms.c:30;info line rooms.c:200;info line *make+3;info line *make;info line *5;info symbol make;info symbol make+3;info symbol &made;info symbol greeting;info symbol 5;info symbol number", ""},
		{"declarations", "rooms.c", []string{"-O0"}, "walk(2)",
			"info variables made;info variables greet;info variables ^m;info variables nosuch;info types kind;info types room;info types ^s;info types unsigned;info types float;info types nosuch;info functions ^ma[kp];info functions ^walk;info functions measure", ""},
		{"C++ declarations", "shapes.cc", []string{"-O0", "-fno-rtti"}, "visit(3)",
			"info variables ^space;info variables both;info types shape;info types char16;info functions ^visit;info functions shape::[adps]", ""},
		{"C++ names", "shapes.cc", []string{"-O0", "-fno-rtti"}, "visit(3)",
			"break with;run;info args;bt 1;up;info locals;down;n;n;info locals;p plain;p m;p twice;p/x twice;p/a twice;p *s;p count;p &space::count;x/i twice;x/a &count;x/s text;p *text@7;p text[0];p wide[1];p half;p names;output names;display names;display/s text;p/r both;finish", ""},
		{"methods", "account.cc", []string{"-O0", "-fno-rtti"}, "pay(4)",
			"break account::add;run;condition 1 cents > 2 && n > 3;info breakpoints;c;bt;p get();p this->get() + 1;p limit(2);p account::limit(3);p length();p area(2);p *this;n;n;p before;p get() == cents;delete 1;display get();undisplay 1;up;p a.get();p a.add(10);p a.cents;p a.length();p measure(a, &a);whatis a.get();set var n = a.get();p n;p a.add(n) + a.get();p a.add();down;finish", ""},
		{"stops in methods", "account.cc", []string{"-O0", "-fno-rtti"}, "pay(4)",
			"break measure;run;break account::area if scale == 3;p s.area(2);p s.area(3);bt;p get();p cents;finish;bt;p s.sides;p n->length();c", ""},
		{"C++ text in UTF-8", "shapes.cc", []string{"-O0", "-fno-rtti"}, "visit(3)",
			"break with;run;info args;bt 1;up;info locals;down;n;n;info locals;p plain;p m;p twice;p/x twice;p/a twice;p *s;p count;p &space::count;x/i twice;x/a &count;x/s text;p *text@7;p text[0];p wide[1];p half;p names;output names;display names;display/s text;p/r both;finish", "C.UTF-8"},
	}
	// Compiled by clang, these show uninitialised variables. On arm64 the stack of a program
	// that gdb starts has other contents.
	uninitialised := []string{"step", "watch a local"}
	some := map[string]int{"gcc": 14, "clang-14": 6}
	for _, cc := range []string{"gcc", "clang-14"} {
		sampled := tests
		if runtime.GOARCH == "amd64" { // on an emulated machine, -skip chooses
			sampled = sample.Covering(t, tests, some[cc], func(c gdbTest) []string { return []string{c.source} })
		}
		for _, test := range sampled {
			if cc != "gcc" && runtime.GOARCH == "arm64" && slices.Contains(uninitialised, test.name) {
				continue
			}
			t.Run(strings.TrimPrefix(cc+" "+test.name, "gcc "), func(t *testing.T) {
				if cc == "gcc" {
					requireGCC12(t)
				}
				likeGDB(t, cc, test)
			})
		}
	}
}

// A value of a type of the C++ library is shown as by gdb with the library's printers. With
// the letter r it is shown as by gdb without them.
func TestLibraryTypes(t *testing.T) {
	p := open(t, console.Options{}, compileBy(t, "gcc", "testdata/shapes.cc", "-g", "-fno-rtti"))
	for command, want := range map[string]string{
		"p both":   "{first = 1, second = 2}",
		"p/x both": "{first = 0x1, second = 0x2}",
		"p/r both": "{<std::__pair_base<int, int>> = {<No data fields>}, first = 1, second = 2}",
	} {
		if got := p.do(command); !strings.HasSuffix(strings.TrimSpace(got), " = "+want) {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// The frame pointer in a frame of a tail call is the caller's.
func TestFrameBaseOfTailCall(t *testing.T) {
	p := open(t, console.Options{}, compileBy(t, "clang-14", "testdata/parts.c", "-O2", "-fno-omit-frame-pointer", "-gdwarf-4"))
	p.do("break leaf")
	p.do("call route(3)")
	p.do("up")
	if got := p.do("info frame"); !strings.Contains(got, " in second (") || !strings.Contains(got, "tail call frame") || strings.Contains(got, "Arglist at") {
		t.Error(got)
	}
}

// Outside of calls, expressions follow the language of the object files, as in gdb.
func TestObjectLanguage(t *testing.T) {
	for source, want := range map[string][]string{"testdata/shapes.cc": {"true", "bool"}, "testdata/rooms.c": {"1", "int"}} {
		p := open(t, console.Options{}, compileBy(t, "gcc", source, "-g", "-fno-rtti"))
		if got := strings.TrimSpace(p.do("p 1 == 1")); got != "$1 = "+want[0] {
			t.Errorf("%s: 1 == 1: %s", source, got)
		}
		if got := strings.TrimSpace(p.do("whatis 1 && 1")); got != "type = "+want[1] {
			t.Errorf("%s: 1 && 1: %s", source, got)
		}
	}
}

// gdbTest has commands for gdb and for a console.
type gdbTest struct {
	name, source string
	flags        []string
	call         string // also in main of the linked program
	commands     string
	locale       string // "" for C
}

func likeGDB(t *testing.T, cc string, test gdbTest) {
	commands := strings.Split(test.commands, ";")
	want := gdbTranscript(t, cc, test, commands)
	p := open(t, console.Options{UTF8: strings.HasSuffix(test.locale, ".UTF-8")}, compileBy(t, cc, test.source, append(test.flags, "-g")...))
	for _, command := range commands {
		if command == "run" {
			command = "call " + test.call
		}
		got := comparable(p.do(command), test.call)
		expected := want[0]
		want = want[1:]
		if got != expected && !t.Failed() {
			t.Errorf("%s\ngot\n%s\nwant\n%s", command, got, expected)
		} else if got != expected {
			t.Logf("%s\ngot\n%s\nwant\n%s", command, got, expected)
		}
	}
}

// compileBy is compile with another compiler.
func compileBy(t *testing.T, cc, source string, flags ...string) string {
	t.Helper()
	if cc == "gcc" {
		return compile(t, source, flags...)
	}
	path := filepath.Join(t.TempDir(), "it.o")
	cmd := exec.Command(testprogram.RequireTool(t, cc), append(flags, "-c", "-o", path, source)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// gdbTranscript returns gdb's output for each command.
func gdbTranscript(t *testing.T, compiler string, test gdbTest, commands []string) (list []string) {
	t.Helper()
	cc := testprogram.RequireTool(t, "gcc")
	folder := t.TempDir()
	main := filepath.Join(folder, "start.c")
	name, _, _ := strings.Cut(test.call, "(")
	text := fmt.Sprintf("%sint main(int argc, char **argv) { %s; return 0; }\n", declarations[name], test.call)
	if err := os.WriteFile(main, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	object, program := filepath.Join(folder, "it.o"), filepath.Join(folder, "program")
	for _, args := range [][]string{
		append(append([]string{testprogram.RequireTool(t, compiler), "-g", "-c", "-o", object}, test.flags...), "-Dmain=unused", test.source),
		{cc, "-g", "-O0", "-no-pie", "-o", program, main, object}, // so that addresses are long before it runs
	} {
		cmd := exec.Command(args[0], args[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	g := testprogram.StartGDB(t, program, "LC_ALL="+cmp.Or(test.locale, "C"))
	for _, command := range commands {
		list = append(list, comparable(g.Do(command), test.call))
	}
	return list
}

// declarations declare the functions that the tests call.
var declarations = map[string]string{
	"fib": "int fib(int);", "walk": "double walk(int);", "squares": "int squares(int);",
	"sum": "long sum(int, long, double, const char *, unsigned char);", "half": "float half(float);", "visit": "int visit(int);", "pay": "int pay(int);", "route": "int route(int);",
}

// hexadecimal matches addresses, including those before the program runs.
var hexadecimal = regexp.MustCompile(`0x[0-9a-f]{4,16}`)

// atEntry matches entry values. They come from a compiled caller, which a function that the
// session calls does not have.
var atEntry = regexp.MustCompile(`=(<optimized out>, )?\w+@entry=`)

// inFile matches the program of a symbol, for which a console has the object file.
var inFile = regexp.MustCompile(`( in section \S+) of \S+$`)

// comparable removes the text that differs between a program and a call: frames of main,
// the end, and gdb's notes about threads.
func comparable(text, call string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "GDB", "Clew"), "from gdb>", "from Clew>")
		line = inFile.ReplaceAllString(line, "$1")
		line = atEntry.ReplaceAllString(line, "=")
		line = strings.TrimRight(hexadecimal.ReplaceAllString(line, "ADDR"), " ")
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "[Thread debugging"), strings.HasPrefix(line, "Using host lib"),
			strings.HasPrefix(line, "warning:"), strings.HasPrefix(line, "This normally should not happen"), strings.Contains(line, "(y or n) [answered Y;"), strings.HasPrefix(line, "Starting program: "), strings.HasPrefix(line, "#") && strings.Contains(line, " main (argc="), strings.HasPrefix(line, "into the labyrinth"),
			strings.HasPrefix(line, "When the function is done executing"), strings.HasPrefix(line, "the expression has no value"), strings.HasPrefix(line, "Address not mapped"):
			continue
		case strings.HasPrefix(line, "main (argc="), strings.Contains(line, " in main (argc="):
			return strings.Join(append(lines, "(the end)"), "\n")
		case strings.HasPrefix(line, "[Inferior 1"), strings.HasPrefix(line, call+" = "), strings.HasPrefix(line, call+" returned"):
			line = "(the end)"
		}
		// gdb's errors begin with a capital letter, and many end with a period.
		lines = append(lines, strings.TrimSuffix(strings.ToLower(line[:1])+line[1:], "."))
	}
	return strings.Join(lines, "\n")
}
