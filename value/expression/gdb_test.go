// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// answers is the output of testdata/print.py.
type answers struct {
	Maps []struct {
		Start uint64
		Bytes string
		Path  string
	}
	Registers map[string]uint64
	XMM       []string
	Answers   [][3]string // expression, text, error
}

// stopLine returns the number of the line at which a program is stopped.
func stopLine(t testing.TB, name string) int {
	source, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "// STOP") {
			return i + 1
		}
	}
	t.Fatal(name + " has no line to stop at")
	return 0
}

// ask prints expressions with gdb, and returns the frame as it was before.
func ask(t *testing.T, source, expressions string) (*answers, *frame, symbols) {
	gdb := tool(t, "gdb")
	path, file, info := build(t, source, "-O0")
	output := filepath.Join(t.TempDir(), "answers.json")
	command := exec.Command(gdb, "-nx", "-q", "-batch", "-x", "testdata/print.py", path)
	command.Env = append(os.Environ(), "SOURCE="+source, "LINE="+fmt.Sprint(stopLine(t, source)), "EXPRESSIONS=testdata/"+expressions, "OUTPUT="+output, "DEBUGINFOD_URLS=", "LC_ALL=C")
	said, err := command.CombinedOutput()
	text, readErr := os.ReadFile(output)
	if readErr != nil {
		t.Fatalf("gdb: %v, %v\n%s", err, readErr, said)
	}
	a := &answers{}
	if err := json.Unmarshal(text, a); err != nil {
		t.Fatal(err)
	}
	f := &frame{registers: map[uint64]uint64{}, wide: map[uint64][]byte{}, info: info}
	for _, m := range a.Maps {
		b, err := hex.DecodeString(m.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		f.maps = append(f.maps, segment{m.Start, b})
		if m.Path == path && f.bias == 0 {
			f.bias = m.Start
		}
	}
	for name, v := range a.Registers {
		if column, ok := amd64.Column(name); ok {
			f.registers[column] = v
		}
	}
	for n, x := range a.XMM {
		b, err := hex.DecodeString(x)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(b)
		f.wide[uint64(17+n)] = b
	}
	f.pc = a.Registers["rip"]
	f.cfa = a.Registers["rbp"] + 16
	return a, f, symbols{slices.Collect(file.Symbols()), f.bias}
}

// store keeps the convenience variables and the history of a test.
type store struct {
	variables map[string]value.Value
	history   []value.Value
}

func (s *store) Get(name string) (value.Value, bool) {
	v, ok := s.variables[name]
	return v, ok
}

func (s *store) Set(name string, v value.Value) error {
	s.variables[name] = v
	return nil
}

func (s *store) value(n int, relative bool) (value.Value, error) {
	if relative {
		n = len(s.history) - n
	}
	if n > len(s.history) {
		return value.Value{}, fmt.Errorf("History has not yet reached $%d.", n)
	}
	if n <= 0 {
		return value.Value{}, nil
	}
	return s.history[n-1], nil
}

// different are expressions of program.c with results that differ from gdb's, and the reasons.
var different = map[string]string{
	"t.c::counter":              "a file is named without quotes too",
	"program.c::counter + 0":    "a file is named without quotes too",
	"&first.bits":               "a bit field has no address, as in C",
	"first.bits@2":              "a bit field has no address, as in C",
	"(bool)5":                   "bool is known without a header",
	"(int[2])numbers":           "gdb makes a pointer of the array and takes that for the numbers",
	"i()":                       "gdb calls the address that is the number",
	"alignof(int)":              "C23 has alignof",
	"typeof(i)":                 "typeof is a type",
	"sizeof(typeof(i))":         "typeof is a type",
	"sizeof(typeof(p))":         "typeof is a type",
	"i::x":                      "only functions have variables",
	"$xmm0":                     "vectors have no 16-bit floating-point numbers",
	"(unsigned long)1e19":       "gdb goes through a signed number",
	"(_Bool)0.1":                "what is not 0 is true: C11 §6.3.1.2",
	"(int)":                     "a type in parentheses is a type",
	"(short int unsigned)65536": "the words of a type come in any order: C11 §6.7.2",
	"(double long)1":            "the words of a type come in any order: C11 §6.7.2",
}

// differentClasses are the same for classes.cc.
var differentClasses = map[string]string{
	"this->nosuch":      "methods are not looked for",
	"::shapes::corners": "the global namespace is for names outside of namespaces",
	"shapes::nosuch":    "the message does not say that the scope is a namespace",
	"derived::nosuch":   "the message does not say that the scope is a class",
	"plain()":           "gdb calls the address that is the number",
	"pick":              "of several functions the first is shown, not the last",
	"&pick":             "of several functions the first is shown, not the last",
	"U'x'":              "the type must be in the program",
	"U'\\U0001f600'":    "the type must be in the program",
	"L\"wide\"":         "the type must be in the program",
	"'\\x'":             "all invalid escape sequences have one message",
	"'\\q'":             "an unknown escape sequence is an error",
	"1e+":               "an exponent has digits",
	"1.5.5":             "a number ends where its letters and dots end: C11 §6.4.8",
	"a b":               "the first unknown name is reported",
	"@":                 "the message repeats the operator",
}

func TestGDB(t *testing.T) {
	t.Run("C", func(t *testing.T) { testGDB(t, "program.c", "expressions.txt", 500, different) })
	t.Run("C++", func(t *testing.T) { testGDB(t, "classes.cc", "classes.txt", 100, differentClasses) })
}

// testGDB compares the results of expressions in a program with gdb's.
func testGDB(t *testing.T, source, expressions string, least int, different map[string]string) {
	a, f, names := ask(t, source, expressions)
	s := &store{variables: map[string]value.Value{}}
	c := &Context{Machine: amd64, Info: f.info, Address: f.pc - f.bias, Convenience: s, History: s.value}
	printer := &print.Printer{Symbols: names}
	if len(a.Answers) < least {
		t.Fatalf("gdb printed %d expressions", len(a.Answers))
	}
	seen := map[string]bool{}
	for _, answer := range a.Answers {
		text, failed := "", ""
		e, err := Compile(answer[0], c)
		var v value.Value
		if err == nil {
			v, err = e.Evaluate(f)
		}
		if err == nil {
			text, err = printer.Print(v)
			if err != nil {
				err = at(err, 1)
			}
		}
		if err == nil {
			s.history = append(s.history, frozen(v))
		} else {
			var e *Error
			if !errors.As(err, &e) || e.Column < 1 || e.Column > len(answer[0])+1 {
				t.Errorf("%s: %#v is not an error in the text", answer[0], err)
			}
			failed = err.Error()
		}
		if text == answer[1] && failed == answer[2] {
			continue
		}
		if _, ok := different[answer[0]]; ok {
			seen[answer[0]] = true
			continue
		}
		t.Errorf("%s\n\tis   %s%s\n\twant %s%s", answer[0], text, failed, answer[1], answer[2])
	}
	for expression := range different {
		if !seen[expression] {
			t.Errorf("%s is not different any more", expression)
		}
	}
}

// frozen returns a copy of a value, as the history contains it.
func frozen(v value.Value) value.Value {
	if _, ok := v.Address(); ok {
		return v
	}
	b, err := v.Bytes()
	if err != nil {
		return v
	}
	return value.Constant(v.Type(), b, v.Frame())
}
