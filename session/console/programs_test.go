// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package console_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
	"github.com/clewdev/clew/session/hosted"
)

// A build is a program of testdata/programs with a compiler and its flags.
type programBuild struct{ source, compiler, flags string }

func (b programBuild) String() string {
	return filepath.Base(b.source) + " " + b.compiler + " " + b.flags
}

// programCompilers are the compilers for a suffix.
var programCompilers = map[string][]string{
	".c":  {"gcc", "clang-14"},
	".cc": {"g++ -std=c++17", "clang++-14 -std=c++17"},
	".rs": {"rustc -Awarnings --edition=2021 -Cpanic=abort -Ccodegen-units=1 --emit=obj"},
}

// TestPrograms gives the same commands to gdb, for a linked program, and to a console, for its
// object files. Each answer of the console must equal gdb's, or be an error that says that the
// console does not support this.
//
// The programs are in testdata/programs. A line of them with a comment "STOP" is a breakpoint.
// After STOP, and in "//>" lines after it, are commands for the stop. At each stop there are
// also the commands of everyStop, and those of everyVariable for each variable.
func TestPrograms(t *testing.T) {
	requireGCC12(t)
	var all []programBuild
	sources, _ := filepath.Glob("testdata/programs/*.*")
	for _, source := range sources {
		for _, compiler := range programCompilers[filepath.Ext(source)] {
			for _, level := range []string{"0", "2"} {
				flags := "-O" + level
				if filepath.Ext(source) == ".rs" {
					flags = "-Copt-level=" + level
				}
				all = append(all, programBuild{source, compiler, flags})
			}
		}
	}
	if len(sources) < 100 {
		t.Errorf("there are only %d programs", len(sources))
	}
	chosen := sample.Covering(t, all, 12, func(b programBuild) []string { return []string{b.compiler + b.flags} })
	var tally tally
	t.Run("all", func(t *testing.T) {
		for _, b := range chosen {
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				tally.compare(t, b)
			})
		}
	})
	tally.report(t)
}

// everyStop are commands for each stop.
var everyStop = []string{"delete", "info args", "info locals", "bt", "frame", "list"}

// everyVariable are commands for each variable, whose name replaces V.
var everyVariable = []string{"print V", "print/x V", "whatis V", "ptype V", "print &V", "print sizeof(V)", "whatis &V", "print *V", "ptype *V"}

// A tally counts answers.
type tally struct {
	mu                         sync.Mutex
	equal, errors, more, wrong int
	refused                    map[string]int // by reason
}

func (c *tally) count(counter func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counter()
}

// maxRefused is the largest share of answers that may be refusals, in percent.
const maxRefused = 5

func (c *tally) report(t *testing.T) {
	total, refused := c.equal, 0
	for _, n := range c.refused {
		refused += n
	}
	total += refused
	t.Logf("%d answers: %d equal to gdb's, %d refused; %d errors in both, %d types that only the console knows, %d wrong ones of gdb", total, c.equal, refused, c.errors, c.more, c.wrong)
	for _, reason := range slices.Sorted(maps.Keys(c.refused)) {
		t.Logf("%6d  %s", c.refused[reason], reason)
	}
	if refused*100 > total*maxRefused {
		t.Errorf("more than %d%% of the answers are refused", maxRefused)
	}
}

// refusals match the errors that say that the console does not support something.
var refusals = []refusal{
	{regexp.MustCompile(`is a method: |does not call operators`), "methods"},
	{regexp.MustCompile(`^Cannot evaluate function -- may be inlined`), "methods without code, which gdb's printers evaluate"},
	{regexp.MustCompile(`cannot be passed: only numbers, pointers and strings can`), "classes as arguments"},
	{regexp.MustCompile(`pointers to members`), "pointers to members"},
	{regexp.MustCompile(`does not print classes of the C\+\+ library`), "ptype of classes of the C++ library"},
	{regexp.MustCompile(`does not cast from it`), "casts from virtual bases"},
	{regexp.MustCompile(`^value is not located in memory`), "x of a value that is not in memory"},
	{regexp.MustCompile(`^value is not an lvalue: value is not located in memory`), "assignments to parts of values that are not in memory"},
	{regexp.MustCompile(`optimized out: not known in this frame`), "gdb reads a register that a call can have changed"},
	{regexp.MustCompile(`the compiler changed its parameters`), "calls of functions whose parameters GCC changed"},
	{regexp.MustCompile(`requires the program to have a function "malloc"`), "* of a string constant"},
	{regexp.MustCompile(`DW_OP_\w+ of (a )?floating-point numbers? of 16 bytes`), "long double in a location expression"},
	{regexp.MustCompile(`bit-field has no address`), "the address of a bit-field"},
	{regexp.MustCompile(`clew debug --gdb`), "with --gdb"},
	{regexp.MustCompile(`complex.* cannot be passed`), "calls with complex numbers"},
}

type refusal struct {
	message *regexp.Regexp
	reason  string
}

func (c *tally) compare(t *testing.T, b programBuild) {
	source, err := filepath.Abs(b.source)
	if err != nil {
		t.Fatal(err)
	}
	objects := programObjects(t, b)
	main := testprogram.Source(t, "start.c", "int run(int); int main(void) { return run(3) & 1; }\n")
	program := filepath.Join(t.TempDir(), "program")
	link := exec.Command("gcc", append([]string{"-g", "-O0", "-Wl,-z,muldefs", "-o", program, main, "-lm"}, objects...)...)
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", link, err, out)
	}
	g := testprogram.StartGDB(t, program)
	if load := programPrinters()[filepath.Ext(source)]; load != "" {
		g.Do(load)
	}
	g.Do("break main\nrun\ndelete")
	p := open(t, console.Options{}, objects...)
	for _, command := range []string{"break run", "delete"} { // so that breakpoints have the same numbers
		if err := p.Execute(command); err != nil {
			t.Fatal(err)
		}
	}
	same := func(command, ours string) string {
		want := g.Do(command)
		got, err := "", error(nil)
		p.output.Reset()
		if err = p.Execute(ours); err == nil || p.output.Len() > 0 {
			got = p.output.String()
		}
		c.judge(t, filepath.Base(source), command, got, err, want)
		return want
	}
	for k, stop := range stopsOf(t, source) {
		same(fmt.Sprintf("break %s:%d", filepath.Base(source), stop.line), fmt.Sprintf("break %s:%d", filepath.Base(source), stop.line))
		if k == 0 {
			same("continue", "call run(3)")
		} else {
			same("continue", "continue")
		}
		if p.session.State() != session.Stopped || t.Failed() && k == 0 {
			if !strings.Contains(b.flags, "2") {
				t.Errorf("line %d is not reached", stop.line)
			}
			return // optimized code can skip the last stops
		}
		var names []string
		for _, command := range everyStop {
			text := same(command, command)
			if command == "info args" || command == "info locals" {
				for _, m := range variableLine.FindAllStringSubmatch(text, -1) {
					names = append(names, m[1])
				}
			}
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			isReference := strings.Contains(g.Do("whatis "+name), "&")
			for _, command := range everyVariable {
				if isReference && command == "ptype *V" {
					continue // gdb takes it for ptype V
				}
				command = strings.ReplaceAll(command, "V", name)
				same(command, command)
			}
		}
		for _, command := range stop.commands {
			same(command, command)
		}
	}
}

var variableLine = regexp.MustCompile(`(?m)^(\w+) = `)

// gdbAnswer matches the beginning of gdb's answers to commands that can fail.
var gdbAnswer = map[string]*regexp.Regexp{
	"print":  regexp.MustCompile(`^\$\d+ = `),
	"ptype":  regexp.MustCompile(`^type = `),
	"whatis": regexp.MustCompile(`^type = `),
	"x":      regexp.MustCompile(`^0x`),
}

// gdbError matches gdb's errors for commands with other answers.
var gdbError = regexp.MustCompile(`^(No (symbol|stack|frame|type|breakpoint|display|line)\b|The program is not being run|Line number \d+ (is )?out of (range)|Argument required|Invalid register |Attempt to take address|Can't take address|Left operand of assignment |value has been optimized out|There is no |\$\d+ = (\(.*&\) )?<error reading variable: Cannot access memory|\$\d+ = Value can't be converted|Cannot |Function ")`)

// judge compares an answer with gdb's.
func (c *tally) judge(t *testing.T, source, command, got string, err error, want string) {
	t.Helper()
	verb, _, _ := strings.Cut(command, " ")
	verb, _, _ = strings.Cut(verb, "/")
	gdbFailed := gdbAnswer[verb] != nil && !gdbAnswer[verb].MatchString(want) || gdbError.MatchString(want)
	ours, theirs := comparableAnswer(got, source), comparableAnswer(want, source)
	if ownTarget.MatchString(command) {
		ours, theirs = targetText.ReplaceAllString(ours, "$1"), targetText.ReplaceAllString(theirs, "$1")
	}
	if strings.HasPrefix(theirs, "[Inferior 1 ") && strings.HasPrefix(ours, "run(3) = ") {
		return // both have ended
	}
	switch {
	case err == nil && strings.Contains(theirs, "is not available on integers of more than 8 bytes"):
		c.count(func() { c.more++ }) // gdb does not compare i128
	case err != nil && gdbFailed:
		c.count(func() { c.errors++ })
	case err == nil && ours == theirs:
		c.count(func() { c.equal++ })
	case err == nil && strings.HasSuffix(ours, "= <optimized out>") && strings.HasPrefix(theirs, "value has been optimized out"):
		c.count(func() { c.equal++ })
	case err != nil && theirs == "N = <optimized out>" && strings.Contains(err.Error(), "optimized out"):
		c.count(func() { c.equal++ })
	case err == nil && gdbFailed && (verb == "whatis" || verb == "ptype" || strings.Contains(command, "sizeof")):
		// gdb needs the value, which it does not know.
		c.count(func() { c.more++ })
	case known(source, command, theirs) != "":
		if err != nil && verb != "ptype" && !slices.ContainsFunc(refusals, func(r refusal) bool { return r.message.MatchString(err.Error()) }) {
			t.Errorf("%s\nerror %v, where gdb has %s", command, err, theirs)
		}
		c.count(func() { c.wrong++ })
	case err != nil:
		k := slices.IndexFunc(refusals, func(r refusal) bool { return r.message.MatchString(err.Error()) })
		if k < 0 {
			t.Errorf("%s\nerror %v\nwant %s", command, err, theirs)
			return
		}
		c.refuse(refusals[k].reason)
	case unknownValue.MatchString(ours) && isUnknown(ours, theirs):
		c.refuse("gdb reads a register that a call can have changed")
	default:
		t.Errorf("%s\ngot  %s\nwant %s", command, ours, theirs)
	}
}

// gdbErrors are answers of gdb 13 that are wrong. The patterns match a command, an end of line, and
// gdb's answer.
var gdbErrors = []refusal{
	{regexp.MustCompile(`^lambda.cc: (bt|up)\n(?s:.*)\(struct \{\.\.\.\}( &)?, int\) \(f=`), "it adds parameters to the name of an instance for a lambda"},
	{regexp.MustCompile(`^lambda.cc: (continue|bt|frame)\n(?s:.*)run::\$_1::operator\(\)`), "it takes the name of a method of a lambda from the symbol"},
	{regexp.MustCompile(`^lambda.cc: (print|whatis|ptype).* [&*]?null\n|^lambda.cc: print sizeof\(null\)\n|(?ms)^lambda.cc: info locals\n.*\bnull = 0$`), "it takes decltype(nullptr) for int"},
	{regexp.MustCompile(`^lambda.cc: print/x __closure\nN = 0x0`), "it shows a pointer without a target as 0"},
	{regexp.MustCompile(`^arguments.cc: print taker.constant\(fixed\)\nN = 1`), "it passes a constant object to a method that can change it"},
	{regexp.MustCompile(`^lambda.cc: (print|whatis) overload\n`), "it shows the last of several functions"},
	{regexp.MustCompile(`^nested.cc: print (limit|Vertex::Grey|\(Vertex::Colour\)3)\n`), "it does not look in the class of an inlined method"},
	{regexp.MustCompile(`^closures.rs: break closures.rs:12\n`), "it names the line of the function around an inlined closure"},
	{regexp.MustCompile(`^closures.rs: print self.0\n`), "it has .0 for structures, not for references to them"},
	{regexp.MustCompile(`^states.rs: print sizeof`), "it takes the size of a variant for that of an enum"},
	{regexp.MustCompile(`^shapes.cc: info locals\nNo locals`), "it leaves out variables of a block that has not begun"},
	{regexp.MustCompile(`^references.cc: (print|whatis) [*&+-]*n(--)?\n`), "it cannot use a typedef of a reference"},
	{regexp.MustCompile(`^\w+.rs: ptype \*\w+\ntype = (int|long)$`), "it takes * of anything"},
	{regexp.MustCompile(`^(enums.rs: ptype \*empty)\n`), "it takes * of anything"},
	{regexp.MustCompile(`^(errors|parser|tokens).rs: print sizeof`), "it takes the size of a variant for that of an enum"},
	{regexp.MustCompile(`^errors.rs: .*\n(?s:.*)never = .*Infallible>::Err|^errors.rs: print(/x)? never\n`), "it takes a variant that cannot exist"},
	{regexp.MustCompile(`^errors.rs: .*\n(?s:.*)pairs=.*\(size=(0|\d{15,})\)|^errors.rs: (info args|print(/x)? (pairs|depth))\n`), "it takes lost members for zero"},
	{regexp.MustCompile(`^(shared|cow).rs: .*\n(?s:.*)A?[Rr]c\(strong=1, weak=0\) = \{value = [\w' ]+, strong`), "its printers show one element of a slice"},
	{regexp.MustCompile(`^(cow|slices).rs: .*\n(?s:.*)(\*mut str \[|Box<\[)`), "its printers have no boxes of slices"},
	{regexp.MustCompile(`^patterns.rs: print keys\.\d\.0\nfield name expected`), "it takes 0.0 for a number"},
	{regexp.MustCompile(`^parser.rs: print expression.right.op\n`), "it has fields of variants for enums, not for references to them"},
	{regexp.MustCompile(`^methods.cc: print \S+Shape::area\(\)\nA syntax error`), "it has no calls of a method of a base class"},
	{regexp.MustCompile(`^wide.rs: print (0xffffffffffffffff|18446744073709551615)\nN = -1`), "it takes a large number for a negative one"},
	{regexp.MustCompile(`^(counters|\w+).rs: print \w+[.[]\w+\]?\nNo symbol '[A-Z]+' in current context`), "it looks for a name only in the scope of the function"},
	{regexp.MustCompile(`^states.c: (print(/[xd])? to\b|info locals\nto = IDLE)`), "it takes a state of a switch for another one"},
	{regexp.MustCompile(`^openhash.c: (bt|up|info args)\n(?s:.*)\bm ?= ?0x0\b`), "it reads a register that a call can have changed"},
	{regexp.MustCompile(`^lexer.c: info locals\n(?s:.*)begin = <optimized out>`), "it takes labels for variables"},
	{regexp.MustCompile(`^documents.cc: (print(/x)? link|info args)\n(?s:.*)_vptr[.$]Node = 0x0`), "it looks for a virtual base at a wrong place"},
	{regexp.MustCompile(`^documents.cc: print Node::live\nN = 100`), "it shows the initial value of a variable"},
	{regexp.MustCompile(`^documents.cc: (print|info symbol) Anchor::clone\n`), "it does not use the name of a virtual function"},
	{regexp.MustCompile(`^(variants|events).cc: .*\n(?s:.*) = <incomplete type>`), "it does not find the definition of std::string"},
	{regexp.MustCompile(`^(policy|expression).cc: print (Limit|Rows|Columns|\(T\)3)\nNo symbol`), "it does not look in the class of an inlined method"},
	{regexp.MustCompile(`^modes.cc: (bt|up)\n(?s:.*)key=4, key@entry=30`), "it reads a register that a call can have changed"},
	{regexp.MustCompile(`^modes.cc: .*\nNo symbol "(Lock|Unlock|Input)"`), "it does not look in the class around the class of a method in a program without namespaces"},
	{regexp.MustCompile(`^modes.cc: ptype \*handlers\n`), "it leaves out that a pointer to members is constant"},
	{regexp.MustCompile(`^cells.cc: .*\nNo symbol "(words|whole|span|real)"`), "it does not look in unnamed members of this"},
	{regexp.MustCompile(`^cells.cc: info locals\nPlain = Plain`), "it takes enumerators for variables"},
	{regexp.MustCompile(`^clones.cc: print piano.serial\nCannot access memory`), "it looks for a virtual base at a wrong place"},
	{regexp.MustCompile(`^(words|lambda).cc: .*\nNo (symbol|type) "(taken|names|Class|version)"`), "it does not look in some inline namespaces"},
	{regexp.MustCompile(`^flags.cc: print (threshold|start)\nNo symbol`), "it does not look in some inline namespaces"},
	{regexp.MustCompile(`^words.cc: print \(text::Class\)0\nA syntax error`), "it does not look in some inline namespaces"},
	{regexp.MustCompile(`^shops.cc: print ::stock\nNo symbol`), "it does not follow using after ::"},
	{regexp.MustCompile(`^bank.cc: print b::audit\n.*Finding`), "it takes a method of a local class for the function"},
	{regexp.MustCompile(`^slots.cc: (bt|up|down|frame)\n(?s:.*)std::function<`), "it shows parameters after names with types of functions, and the path of a file as compiled"},
	{regexp.MustCompile(`^slots.cc: .*\n(?s:.*)run\(int\)::<lambda`), "it does not canonicalize names with lambdas"},
	{regexp.MustCompile(`^lists.cc: (continue|bt|bt 1|frame|down)\n(?s:.*)\(Person &, struct \{...\}\)`), "it does not understand names with lambdas"},
	{regexp.MustCompile(`^lists.cc: whatis \*rows\ntype = short \[3\]\[4\]`), "it does not follow a reference that is optimized out"},
	{regexp.MustCompile(`^relay.cc: (bt|up|down|frame|frame 2)\n(?s:.*), this@entry=ADDR, `), "it reads a register that a call can have changed"},
	{regexp.MustCompile(`^pipeline.c: bt( 2)?\n.*\n.* shared \(.*\n.* in work |^relay.cc: bt\n.*\n.* relay::Guard::apply \(.*\n.* in work `), "it leaves out the function around an inlined call that ends with a tail call"},
	{regexp.MustCompile(`^pipeline.c: (continue|bt|frame|down)\n(?s:.*)even \(n=0, n@entry=4\)`), "it does not see clang's tail calls of DWARF 5"},
	{regexp.MustCompile(`^units.cc: info locals\ncolours(?s:.*)r = <synthetic pointer>`), "it leaves out variables, and shows lost members as pointers"},
	{regexp.MustCompile(`^recursion.c: (bt|up)\n(?s:.*)low=1, low@entry=0`), "it reads a register that a call can have changed"},
	{regexp.MustCompile(`^lu.c: .*\nCannot perform pointer math on incomplete types`), "it does not know the size of a row of an array of variable length"},
	{regexp.MustCompile(`^(strings.c: print/x out|matrix.c: print/x pq|variants.cc: print/x (first|rest)|dispatch.c: print/x (narrow|p)|window.c: print/x raw|words.cc: print/x (sum|words)|cells.cc: print/x to)\nN = 0x0`), "it shows a pointer without a target as 0"},
	{regexp.MustCompile(`^\w+.(cc|rs): .*\n(?s:.*)Python Exception`), "its printers fail"},
	{regexp.MustCompile(`^\w+.(cc|rs): .*\n(?s:.*)Cannot create a lazy string`), "its printers fail"},
	{regexp.MustCompile(`^window.c: (info locals|bt full)\n(?s:.*)\n\s*values = [^\n]*\n\s*raw = `), "it leaves out variables of known values"},
	{regexp.MustCompile(`^stdlib.cc: print(/x)? nothing\n`), "it takes lost members for zero"},
	{regexp.MustCompile(`^(arrays.c|templates.cc): (print(/x)? (letters|text)|info locals)\n(?s:.*)([hf]\\000|synthetic pointer)`), "it takes lost elements for zero"},
}

func known(source, command, answer string) string {
	for _, k := range gdbErrors {
		if k.message.MatchString(source + ": " + command + "\n" + answer) {
			return k.reason
		}
	}
	return ""
}

func (c *tally) refuse(reason string) {
	c.count(func() {
		if c.refused == nil {
			c.refused = map[string]int{}
		}
		c.refused[reason]++
	})
}

var unknownValue = regexp.MustCompile(`<optimized out>|<error: [^>]* of 16 bytes>|<error reading variable [^>]* of 16 bytes\)>|<error: value has been optimized out>|=\.\.\.`)

// isUnknown reports whether an answer is like gdb's, but with fewer known values.
func isUnknown(ours, theirs string) bool {
	parts := unknownValue.Split(ours, -1)
	for k := range parts {
		parts[k] = regexp.QuoteMeta(parts[k])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*?") + "$").MatchString(theirs)
}

var (
	programAddress = regexp.MustCompile(`\b0x(0000)?[57][0-9a-f]{11}\b`)
	programNumber  = regexp.MustCompile(`(?m)^(Value returned is |(?:Temporary )?[Bb]reakpoint )?\$?\d+(?:\.\d+)?( = |,| at)`)
	programPath    = regexp.MustCompile(`[\w./-]*testdata/programs/`)
	mainFrame      = regexp.MustCompile(`(?m)^#\d+ +(ADDR in )?main \(.*\n?(No locals\.\n?)?`)
	// gdb decodes names of C as if they were Ada's: names.0 is names, and run.names is run[names].
	characterTarget = regexp.MustCompile(`(char \*\) ADDR( <\S+>)?) ".*`) // it has no end
	// gdb 13 calls all pointers of Rust *mut, except in names of the compiler.
	rustBox       = regexp.MustCompile(`alloc::boxed::Box<(\w[\w:]*), alloc::alloc::Global>`)
	rustFunction  = regexp.MustCompile(`<\w+::run>`)
	rustPointer   = regexp.MustCompile(`&mut |&|\*const `)
	warning       = regexp.MustCompile(`warning: (RTTI symbol not found|\((Internal e|E)rror: pc) .*\n`)
	symbolHash    = regexp.MustCompile(`::h[0-9a-f]{16}\b`)
	rustFunctions = regexp.MustCompile(`\*mut fn \(|\bfn \(`)
	lostEntry     = regexp.MustCompile(`, \w+@entry=@ADDR: <optimized out>`)
	imageName     = regexp.MustCompile(`(?m)( in section \.\w+)\S*( of .*)?$`)
	localNumber   = regexp.MustCompile(`([< ]|^)(\w+)(?:\.constprop|\.part|\.isra)?\.\d+(\+\d+>|>| in section )`)
	localName     = regexp.MustCompile(`([< ]|^)(\w+)\.([A-Za-z_]\w*)(\+\d+>|>| in section )`)
	constantCopy  = regexp.MustCompile(`^(\w+)\.(constprop|part|isra)( in section )`)
	functorBytes  = regexp.MustCompile(`(_M_pod_data = ).*?(}, _M_manager)|((?:this adjustment|virtual table offset) )\d{14,15}\b`) // they have addresses
	ownTarget     = regexp.MustCompile(`^print &\w+$`)                                                                              // text after it depends on other variables
	targetText    = regexp.MustCompile(`(ADDR(?: <\S+>)?) [uUL]?".*`)
)

// comparableAnswer removes from an answer what differs between a program and a call.
func comparableAnswer(text, source string) string {
	text = programAddress.ReplaceAllString(warning.ReplaceAllString(text, ""), "ADDR")
	text = symbolHash.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "std::optional<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >>", "std::optional<std::string>") // a printer of types, which the test removes
	text = strings.ReplaceAll(text, "std::optional<std::basic_string_view<char, std::char_traits<char> >>", "std::optional<std::string_view>")
	text = functorBytes.ReplaceAllString(text, "$1$3...$2")
	text = strings.ReplaceAll(text, "<run(int)", "<run")
	text = lostEntry.ReplaceAllString(text, "")
	text = atEntry.ReplaceAllString(text, "=")
	text = programNumber.ReplaceAllString(text, "${1}N$2")
	if filepath.Ext(source) == ".rs" {
		text = rustFunction.ReplaceAllString(text, "<run>")
		text = rustBox.ReplaceAllString(text, "*mut $1")
		text = rustFunctions.ReplaceAllString(text, "fn(")
		text = rustPointer.ReplaceAllString(text, "*mut ")
	}
	text = programPath.ReplaceAllString(text, "")
	text = strings.TrimPrefix(text, "Continuing.\n")
	text = characterTarget.ReplaceAllString(text, "$1")
	text = strings.ReplaceAll(text, "unsigned int __int128", "unsigned __int128")
	text = localNumber.ReplaceAllString(text, "$1$2$3")
	text = constantCopy.ReplaceAllString(text, "$1$3")
	text = localName.ReplaceAllString(text, "$1$2[$3]$4")
	text = imageName.ReplaceAllString(text, "$1")
	text = mainFrame.ReplaceAllString(text, "")
	return strings.TrimSpace(text)
}

// stopsOf returns the stops of a program.
func stopsOf(t *testing.T, source string) (list []programStop) {
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		_, commands, found := strings.Cut(line, "// STOP")
		more, isMore := strings.CutPrefix(strings.TrimSpace(line), "//>")
		switch {
		case found:
			list = append(list, programStop{line: n})
		case isMore && len(list) > 0:
			commands = more
		default:
			continue
		}
		last := &list[len(list)-1]
		for command := range strings.SplitSeq(commands, ";") {
			if command = strings.TrimSpace(command); command != "" {
				last.commands = append(last.commands, command)
			}
		}
	}
	return list
}

type programStop struct {
	line     int
	commands []string
}

// programPrinters are commands for gdb that load the printers of a language's library.
var programPrinters = sync.OnceValue(func() map[string]string {
	root, _ := exec.Command("rustc", "--print", "sysroot").Output()
	return map[string]string{
		".cc": "python import sys; sys.path.insert(0, '/usr/share/gcc/python')\n" +
			"python from libstdcxx.v6 import register_libstdcxx_printers; register_libstdcxx_printers(None)\n" +
			"python gdb.type_printers[:] = []", // the short names of types
		".rs": fmt.Sprintf("python import sys; sys.path.insert(0, %q)\n", strings.TrimSpace(string(root))+"/lib/rustlib/etc") +
			"python import gdb_lookup; gdb_lookup.register_printers(gdb)",
	}
})

// programObjects compiles a program. Besides its object file there is one with functions that
// the session does not provide, and one that defines the other undefined symbols: functions of
// the C++ and Rust libraries that are never called, because they throw or panic.
func programObjects(t *testing.T, b programBuild) []string {
	name := strings.TrimSuffix(filepath.Base(b.source), filepath.Ext(b.source))
	object := testprogram.Compile(t, name+".o", b.source, append(strings.Fields(b.compiler+" "+b.flags), objectFlags(b.source)...)...)
	objects := []string{object}
	if filepath.Ext(b.source) == ".cc" {
		objects = append(objects, testprogram.Compile(t, "support.o", "testdata/programs/support/support.cc", "g++", "-std=c++17", "-O1", "-c", "-fno-exceptions"))
		archive, err := exec.Command("g++", "-print-file-name=libstdc++.a").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"tree.o", "list.o", "hashtable_c++0x.o", "hash_bytes.o"} {
			text, err := exec.Command("ar", "p", strings.TrimSpace(string(archive)), member).Output()
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, testprogram.Source(t, member, string(text)))
		}
	}
	if filepath.Ext(b.source) == ".rs" { // division of u128 and i128
		archive, err := exec.Command("gcc", "-print-libgcc-file-name").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"_umoddi3.o", "_udivdi3.o", "_moddi3.o", "_divdi3.o"} {
			text, err := exec.Command("ar", "p", strings.TrimSpace(string(archive)), member).Output()
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, testprogram.Source(t, member, string(text)))
		}
	}
	defined, undefined := map[string]bool{}, map[string]bool{}
	library, err := hosted.New(&hosted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range library.Functions() {
		defined[f.Name] = true
	}
	library.Close()
	for _, path := range objects {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.Symbols()
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			if s.Section == elf.SHN_UNDEF {
				undefined[s.Name] = true
			} else {
				defined[s.Name] = true
			}
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(undefined)) {
		if name != "" && !defined[name] && name != "_GLOBAL_OFFSET_TABLE_" {
			instruction := "ud2"
			if strings.Contains(name, "shim_is_unstable") {
				instruction = "ret" // an empty function
			}
			fmt.Fprintf(&text, ".globl %[1]q\n%[1]q: %[2]s\n", name, instruction)
		}
	}
	text.WriteString(".section .note.GNU-stack\n")
	return append(objects, testprogram.Compile(t, "stubs.o", testprogram.Source(t, "stubs.s", text.String()), "gcc", "-c"))
}

func objectFlags(source string) []string {
	switch {
	case filepath.Ext(source) == ".rs":
		return []string{"-g"}
	case filepath.Base(source) == "relay.cc":
		return []string{"-gdwarf-4", "-w", "-c", "-fPIC"} // gdb 13 does not find clang's tail calls of DWARF 5
	}
	return []string{"-g", "-w", "-c", "-fPIC"}
}
