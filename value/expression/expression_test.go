// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

const (
	codeAt  = 0x400000
	stackAt = 0x7000000
)

// bare is a frame of code without debugging information: registers, and a little memory.
func bare() *frame {
	f := &frame{registers: map[uint64]uint64{0: 5, 3: stackAt, 6: stackAt + 64, 7: stackAt + 16}, pc: codeAt, cfa: stackAt + 80,
		wide: map[uint64][]byte{17: {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0x60, 0x40, 0, 0, 0, 0}},
		maps: []segment{{stackAt, make([]byte, 256)}}}
	stack := f.maps[0].bytes
	binary.LittleEndian.PutUint32(stack[8:], 42)
	binary.LittleEndian.PutUint64(stack[16:], stackAt+8)
	copy(stack[32:], "text\x00")
	return f
}

func evaluate(t *testing.T, text string, c *Context, f value.Frame) (string, error) {
	t.Helper()
	e, err := Compile(text, c)
	if err != nil {
		return "", err
	}
	v, err := e.Evaluate(f)
	if err != nil {
		return "", err
	}
	return (&print.Printer{}).Print(v)
}

func TestWithoutDebuggingInformation(t *testing.T) {
	f := bare()
	s := &store{variables: map[string]value.Value{}}
	c := &Context{Machine: amd64, Convenience: s, Symbol: func(name string) (uint64, bool, bool) {
		switch name {
		case "code":
			return codeAt, true, true
		case "data":
			return stackAt + 8, false, true
		}
		return 0, false, false
	}}
	for _, test := range []struct{ expression, want string }{
		{"*(int *)($rbx + 8)", "42"},
		{"*(int*)($rbx+8) == 42 && $rax == 5", "1"},
		{"**(int **)$rsp", "42"},
		{"*(uint32_t *)($rbx + 8) << 4", "672"},
		{"(char *)($rbx + 32)", `0x7000020 "text"`},
		{"*(char *)($rbx + 32)@4", `"text"`},
		{"((char *)$rbx)[33]", `101 'e'`},
		{"*(long *)$sp", "117440520"},
		{"$pc", "(void (*)()) 0x400000"},
		{"$xmm0.v2_double[0]", "1.5"},
		{"$xmm0.v4_float[2]", "3.5"},
		{"$eax + $al", "10"},
		{"(long)data", "42"},
		{"&data", "(void *) 0x7000008"},
		{"*(int *)&data", "42"},
		{"data", "!'data' has unknown type; cast it to its declared type"},
		{"data + 1", "!'data' has unknown type; cast it to its declared type"},
		{"*(int *)($rbx + 8) = 43", "43"},
		{"*(int *)($rbx + 8)", "43"},
		{"*(int *)$rbp += $rax", "5"},
		{"(float *)1.5", "!Invalid cast."},
		{"$rax = 7, $rax", "7"},
		{"$rdi", "!value of register rdi is not available"},
		{"$x = 3, $x * $x", "9"},
		{"code(1)", "!cannot call functions here"},
		{"*(int *)0", "!Cannot access memory at address 0x0"},
		{"x", `!No symbol "x" in current context.`},
		{"x::y", `!No symbol "x" in current context.`},
		{"(struct s *)0", "!No struct type named s."},
		{"L'x'", "!No type named wchar_t. \"clew debug --gdb\" has it."},
		{"$ + 1", "!Argument to arithmetic operation not a number or boolean."},
		{"size_t", "!Attempt to use a type name as an expression"},
	} {
		got, err := evaluate(t, test.expression, c, f)
		if err != nil {
			got = "!" + Sentence(err)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.expression, got, test.want)
		}
	}
}

// TestMachines evaluates registers and memory of machines with other registers and byte orders.
func TestMachines(t *testing.T) {
	for _, machine := range []struct {
		name  string
		m     *arch.Machine
		frame *frame
		want  map[string]string
	}{
		{"arm64", arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB), &frame{pc: codeAt,
			registers: map[uint64]uint64{0: 0x1122334455667788, 29: 64, 30: 7, 31: 128},
			wide:      map[uint64][]byte{65: {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0x60, 0x40, 0, 0, 0, 0}}},
			map[string]string{"$x0": "1234605616436508552", "$w0": "1432778632", "$sp": "(void *) 0x80", "$fp": "(void *) 0x40", "$lr": "7", "$pc": "(void (*)()) 0x400000",
				"$d1": "1.5", "$s1": "0", "$v1.v2_double[0]": "1.5", "$v1.v4_float[2]": "3.5", "$x1": "!value of register x1 is not available",
				"$cpsr": "!value of register cpsr is not available", "$w31": "void", "(char)200": "200 '\\310'"}},
		{"s390", arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB), &frame{pc: codeAt,
			registers: map[uint64]uint64{2: stackAt, 15: stackAt}, maps: []segment{{stackAt, []byte{0, 0, 0, 42, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}}}},
			map[string]string{"*(int *)$r2": "42", "*(short *)($r2 + 2)": "42", "*(double *)($r2 + 4)": "1.5", "$sp": "(void *) 0x7000000", "{char[2]} ($r2 + 4)": `"?\370"`}},
	} {
		for text, want := range machine.want {
			got, err := evaluate(t, text, &Context{Machine: machine.m}, machine.frame)
			if err != nil {
				got = "!" + Sentence(err)
			}
			if got != want {
				t.Errorf("%s: %s: %s, want %s", machine.name, text, got, want)
			}
		}
	}
}

func TestCall(t *testing.T) {
	_, file, info := build(t, "program.c", "-O0")
	f, _ := info.Functions("work")
	var called []string
	c := &Context{Machine: amd64, Info: info, Address: f[0].Entry,
		Call: func(_ value.Frame, function value.Value, arguments []value.Value) (value.Value, error) {
			address, _ := function.Address()
			text := fmt.Sprintf("%#x", address)
			for _, a := range arguments {
				n, err := a.Uint()
				if err != nil {
					return value.Value{}, err
				}
				text += fmt.Sprintf(" %s %d", a.Type(), n)
			}
			called = append(called, text)
			return value.Constant(function.Type().Elem(), []byte{6, 0, 0, 0}, nil), nil
		}}
	symbol, _ := file.Symbol("add")
	for _, text := range []string{"add(5) + 1", "(*add)(5.5) + 1", "(&add)('\\5') + 1"} {
		if got, err := evaluate(t, text, c, value.Static(&frame{}, info, 0)); err != nil || got != "7" {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if want := fmt.Sprintf("%#x int 5", symbol.Address); len(called) != 1 || called[0] != want {
			t.Errorf("%s: called %q, want %s", text, called, want)
		}
		called = nil
	}
	for text, want := range map[string]string{
		"add()":     "Too few arguments in function call.",
		"add(1, 2)": "Too many arguments in function call.",
	} {
		if _, err := evaluate(t, text, c, value.Static(&frame{}, info, 0)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if e, err := Compile("sizeof(add(1))", c); err != nil {
		t.Error(err)
	} else if _, err := e.Evaluate(nil); err != nil || len(called) != 0 {
		t.Errorf("%v, called %q", err, called)
	}
}

func TestType(t *testing.T) {
	_, _, info := build(t, "program.c", "-O0")
	f, _ := info.Functions("work")
	c := &Context{Machine: amd64, Info: info, Address: f[0].Entry + 50}
	for _, test := range []struct {
		expression, want string
		isType           bool
	}{
		{"node_t", "node_t", true},
		{"struct node *", "struct node *", true},
		{"p->next", "struct node *", false},
		{"*p", "node_t", false},
		{"p->name", "char [8]", false},
		{"p->bits + 1", "unsigned int", false},
		{"numbers[2] * gd", "double", false},
		{"add(1 / 0)", "int", false},
		{"*(int *)0", "int", false},
		{"$rip", "void (*)()", false},
		{"i++", "int", false},
		{"p - p", "long", false},
	} {
		e, err := Compile(test.expression, c)
		if err != nil {
			t.Errorf("%s: %v", test.expression, err)
			continue
		}
		typ, err := e.Type()
		if err != nil || typ.String() != test.want || e.IsType() != test.isType {
			t.Errorf("%s: %v, %v, %v", test.expression, typ, err, e.IsType())
		}
	}
	// Errors that occur in every frame are found without one.
	for text, column := range map[string]int{"i + p->nosuch": 6, "p * 2": 3, "*gd": 1, "i && first": 3} {
		e, err := Compile(text, c)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, err = e.Type()
		var what *Error
		if !errors.As(err, &what) || what.Column != column {
			t.Errorf("%s: %v at %+v, want column %d", text, err, what, column)
		}
	}
}

func TestAssign(t *testing.T) {
	f := bare()
	c := &Context{Machine: amd64}
	target := value.At(value.Base(amd64, "short"), stackAt, f)
	e, err := Compile("70000 + 1.5", c)
	if err != nil {
		t.Fatal(err)
	}
	source, err := e.Evaluate(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := Assign(target, source); err != nil {
		t.Fatal(err)
	}
	if n, err := target.Uint(); err != nil || int64(n) != 4465 {
		t.Errorf("%d, %v", int64(n), err)
	}
	if err := Assign(source, target); err == nil {
		t.Error("a constant was assigned to")
	}
	if err := Assign(value.At(value.Base(amd64, "int"), stackAt, value.Static(f, nil, 0)), source); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
		t.Errorf("%v", err)
	}
}

func TestConditionsAllocateNothing(t *testing.T) {
	f, c := worked(t)
	for _, text := range conditions {
		e, err := Compile(text, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.True(f); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if n := testing.AllocsPerRun(100, func() { e.True(f) }); n != 0 {
			t.Errorf("%s allocates %v times", text, n)
		}
	}
}

var conditions = []string{"$rax == 5", "i == 500", "i == 0 && p->next", "numbers[i & 3] > 2 || counter", "scale > 1.5", "p->u.i != 4 && p->name[1] == 0", "*argv == 0", "list[i] == &first"}

// worked returns a frame of the function work with zeros in its memory.
func worked(t testing.TB) (*frame, *Context) {
	_, file, info := build(t, "program.c", "-O0")
	functions, err := info.Functions("work")
	if err != nil {
		t.Fatal(err)
	}
	f := bare()
	f.info = info
	f.pc = functions[0].Entry + 50
	f.cfa = stackAt + 200
	clear(f.maps[0].bytes)
	for _, s := range file.Segments() {
		if s.Vaddr != 0 && s.Memsz < 1<<20 {
			f.maps = append(f.maps, segment{s.Vaddr, make([]byte, s.Memsz)})
		}
	}
	if v, ok := variable(t, info, f, "p").Address(f); ok {
		f.WriteMemory(binary.LittleEndian.AppendUint64(nil, stackAt), v)
	}
	if v, ok := variable(t, info, f, "argv").Address(f); ok {
		f.WriteMemory(binary.LittleEndian.AppendUint64(nil, stackAt), v)
	}
	return f, &Context{Machine: amd64, Info: info, Address: f.pc}
}

func variable(t testing.TB, info *value.Info, f *frame, name string) *value.Variable {
	scopes, err := info.Scopes(f.pc)
	if err != nil {
		t.Fatal(err)
	}
	return scopes[0].Lookup(name)
}

func BenchmarkTrue(b *testing.B) {
	f, c := worked(b)
	for _, text := range conditions {
		b.Run(text, func(b *testing.B) {
			e, err := Compile(text, c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.True(f)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	_, c := worked(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile("i == 500 && p->next", c); err != nil {
			b.Fatal(err)
		}
	}
}

// The numbers of Rust have the sizes and kinds that their names say.
func TestRustNumberTypes(t *testing.T) {
	for name, want := range map[string]string{"i8": "1 signed", "u16": "2", "i64": "8 signed", "usize": "8", "isize": "8 signed",
		"f32": "4 float", "f64": "8 float", "f8": "", "f16": "", "fsize": "", "u7": "", "i": "", "": "", "e8": ""} {
		got := ""
		if typ := rustNumberType(amd64, name); typ != nil {
			got = fmt.Sprint(typ.Size())
			switch {
			case typ.Kind() == value.Float:
				got += " float"
			case typ.Signed():
				got += " signed"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
