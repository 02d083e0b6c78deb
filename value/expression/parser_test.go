// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

var amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)

// letters define names without a program: a single lower-case letter is a variable, an upper-case one
// a type.
type letters struct{ Context }

func (l *letters) symbol(scope, name string) (*symbol, error) {
	switch {
	case scope != "":
		return &symbol{name: scope + "::" + name}, nil
	case len(name) == 1 && name[0] >= 'A' && name[0] <= 'Z':
		return &symbol{name: name, typ: value.IntOf(amd64, name, 4, true)}, nil
	case len(name) == 1:
		return &symbol{name: name}, nil
	}
	return nil, noSymbol(name)
}

func (l *letters) language() value.Language { return value.C }

func (l *letters) template(string) bool { return false }

func (l *letters) typeNamed(keyword, name string) (*value.Type, error) {
	if keyword != "" {
		name = keyword + " " + name
	}
	if strings.Contains(name, "::") {
		return nil, noSymbol(name)
	}
	return value.IntOf(amd64, name, 4, true), nil
}

// text writes a tree with all its parentheses.
func text(n *node) string {
	var b strings.Builder
	switch n.op {
	case literalOf:
		if n.string != nil {
			fmt.Fprintf(&b, "%q", n.string)
		} else if n.operand.form.kind == value.Float {
			fmt.Fprintf(&b, "%v", n.operand.float())
		} else {
			fmt.Fprintf(&b, "%d", n.operand.bits)
		}
	case variableOf:
		b.WriteString(n.symbol.name)
	case registerOf:
		b.WriteString("%" + n.register.name)
	case convenienceOf:
		b.WriteString("$" + n.text)
	case historyOf:
		fmt.Fprintf(&b, "history(%d, %v)", n.index, n.relative)
	case typeOf:
		b.WriteString("<" + n.typ.String() + ">")
	default:
		b.WriteString("(" + n.op.String())
		switch n.op {
		case castTo, memoryAs:
			fmt.Fprintf(&b, "%s<%s>", map[operator]string{castTo: "cast", memoryAs: "at"}[n.op], n.typ)
		case preIncrement, preDecrement:
			b.WriteString("pre")
		}
		for _, x := range []*node{n.x, n.y, n.z} {
			if x != nil {
				b.WriteString(" " + text(x))
			}
		}
		for _, x := range n.arguments {
			b.WriteString(" " + text(x))
		}
		if n.text != "" {
			b.WriteString(" " + n.text)
		}
		b.WriteString(")")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{"a", "a"},
		{" 1 + 2 * 3 ", "(+ 1 (* 2 3))"},
		{"(1 + 2) * 3", "(* (+ 1 2) 3)"},
		{"1 - 2 - 3", "(- (- 1 2) 3)"},
		{"a = b = c", "(= a (= b c))"},
		{"a += b -= 1", "(+= a (-= b 1))"},
		{"a ? b : c ? d : e", "(?: a b (?: c d e))"},
		{"a ? b ? 1 : 2 : 3", "(?: a (?: b 1 2) 3)"},
		{"a = b ? c : d", "(= a (?: b c d))"},
		{"a || b && c | d ^ e & f == g < h << i + j * k", "(|| a (&& b (| c (^ d (& e (== f (< g (<< h (+ i (* j k))))))))))"},
		{"a * b + c << d > e != f & g ^ h | i && j || k", "(|| (&& (| (^ (& (!= (> (<< (+ (* a b) c) d) e) f) g) h) i) j) k)"},
		{"a @ b + 1 << 2", "(<< (@ a (+ b 1)) 2)"},
		{"*a@2", "(@ (* a) 2)"},
		{"-a.b", "(- (. a b))"},
		{"!a->b[c]", "(! ([] (-> a b) c))"},
		{"*a++", "(* (++ a))"},
		{"++*a", "(++pre (* a))"},
		{"- -a", "(- (- a))"},
		{"a--b", ""},
		{"a- -b", "(- a (- b))"},
		{"&a[1]", "(& ([] a 1))"},
		{"(T)a", "(cast<T> a)"},
		{"(T)-a", "(cast<T> (- a))"},
		{"(a)-b", "(- a b)"},
		{"(T)(a)", "(cast<T> a)"},
		{"(a)(b, c)", "(() a b c)"},
		{"(T)*a", "(cast<T> (* a))"},
		{"(a)*b", "(* a b)"},
		{"(T)&a", "(cast<T> (& a))"},
		{"(T)a.b + 1", "(+ (cast<T> (. a b)) 1)"},
		{"(T *)a", "(cast<T *> a)"},
		{"(char **)a", "(cast<char **> a)"},
		{"*(struct s *)a", "(* (cast<struct s *> a))"},
		{"(unsigned)a", "(cast<unsigned int> a)"},
		{"(long unsigned int)a", "(cast<unsigned long> a)"},
		{"(unsigned long long)a", "(cast<unsigned long long> a)"},
		{"(const char *const)a", "(cast<const char * const> a)"},
		{"(int (*)(int, char *, ...))a", "(cast<int (*)(int, char *, ...)> a)"},
		{"(int (*)[3])a", "(cast<int (*)[3]> a)"},
		{"(int [2][3])a", "(cast<int [2][3]> a)"},
		{"(int *[2])a", "(cast<int *[2]> a)"},
		{"(int (*(*)(void))[4])a", "(cast<int (*(*)(void))[4]> a)"},
		{"{int} a + 1", "(+ (at<int> a) 1)"},
		{"{T *} $rsp", "(at<T *> %rsp)"},
		{"sizeof a + 1", "(+ (sizeof a) 1)"},
		{"sizeof (int) - 1", "(- (sizeof <int>) 1)"},
		{"sizeof (a)[1]", "(sizeof ([] a 1))"},
		{"sizeof(T *)", "(sizeof <T *>)"},
		{"T", "<T>"},
		{"struct s *", "<struct s *>"},
		{"unsigned char", "<unsigned char>"},
		{"(T)", "<T>"},
		{"f()", "(() f)"},
		{"f(1, a = 2, (3, 4))", "(() f 1 (= a 2) (, 3 4))"},
		{"a, b, c", "(, (, a b) c)"},
		{"a[1, 2]", "([] a (, 1 2))"},
		{"$rax + $foo + $ + $$ + $$3 + $7", "(+ (+ (+ (+ (+ %rax $foo) history(0, true)) history(1, true)) history(3, true)) history(7, false))"},
		{"$_", "$_"},
		{"$pc", "%pc"},
		{"main::x", "main::x"},
		{"'t.c'::x", "t.c::x"},
		{"t.c::x + 1", "(+ t.c::x 1)"},
		{"::x", "::::x"},
		{"a.x::y", "a.x::y"},                  // in the file a.x
		{"a ? b : c = d", "(= (?: a b c) d)"}, // as in gdb; a syntax error in C
		{"'a' + '\\n' + '\\x41' + '\\101' + '\\''", "(+ (+ (+ (+ 97 10) 65) 65) 39)"},
		{`"ab" "c\0\""`, `"abc\x00\"\x00"`},
		{`"é"`, `"é` + `\x00"`},
		{`a == "x"[0]`, `(== a ([] "x\x00" 0))`},
		{"0x10 + 010 + 0b11 + 0d9 + 5u + 6UL + 7ll", "(+ (+ (+ (+ (+ (+ 16 8) 3) 9) 5) 6) 7)"},
		{"1.5 + .5 + 1e3 + 0x1.8p1 + 1.5f + 2.l + 09.5 + 1e-3", "(+ (+ (+ (+ (+ (+ (+ 1.5 0.5) 1000) 3) 1.5) 2) 9.5) 0.001)"},
		{"0xe+1", "(+ 14 1)"},
		{"a<b>c", "(> (< a b) c)"},
		{"a>>=1", "(>>= a 1)"},
		{"a->b.c->d", "(-> (. (-> a b) c) d)"},
		{"'a'", "97"},
	} {
		n, err := parse(test.expression, &letters{Context{Machine: amd64}})
		switch {
		case test.want == "" && err == nil:
			t.Errorf("%s: %s, want an error", test.expression, text(n))
		case test.want != "" && err != nil:
			t.Errorf("%s: %v", test.expression, err)
		case err == nil && text(n) != test.want:
			t.Errorf("%s: %s, want %s", test.expression, text(n), test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct {
		expression string
		column     int
		want       string
	}{
		{"", 1, "The expression is empty."},
		{"1 +", 4, "A syntax error in expression, near `'."},
		{"1 2", 3, "A syntax error in expression, near `2'."},
		{"(1", 3, "A syntax error in expression, near `'."},
		{"1)", 2, "Junk after end of expression."},
		{"()", 2, "A syntax error in expression, near `)'."},
		{"1 + * 2 +", 10, "A syntax error in expression, near `'."},
		{"&&a", 1, "A syntax error in expression, near `&&a'."},
		{"sizeof int", 8, "A syntax error in expression, near `int'."},
		{"a + nosuch", 5, `No symbol "nosuch" in current context.`},
		{"nosuch b", 1, `No symbol "nosuch" in current context.`},
		{"(nosuch *)a", 2, `No symbol "nosuch" in current context.`},
		{"a.1", 2, "A syntax error in expression, near `.1'."},
		{"a->", 4, "A syntax error in expression, near `'."},
		{"f(1,)", 5, "A syntax error in expression, near `)'."},
		{"a ? b", 6, "A syntax error in expression, near `'."},
		{"a[1", 4, "A syntax error in expression, near `'."},
		{"08", 1, `Invalid number "08".`},
		{"1u2", 1, `Invalid number "1u2".`},
		{"0x", 1, `Invalid number "0x".`},
		{"1_0", 1, `Invalid number "1_0".`},
		{"a + 1.5q", 5, `Invalid number "1.5q".`},
		{"18446744073709551616", 1, "Numeric constant too large."},
		{"'", 1, "Unmatched single quote."},
		{"''", 1, "A character constant must contain at least one character."},
		{"a + \"abc", 5, "Unterminated string in expression."},
		{"1 # 2", 3, "Invalid character '#' in expression."},
		{"(long char)a", 11, "A syntax error in expression, near `)a'."},
		{"(struct)a", 8, "A syntax error in expression, near `)a'."},
		{"(int [99999999999999999])a", 6, "The array type is too large."},
		{"(unsigned signed)a", 17, "A syntax error in expression, near `)a'."},
		{"(unsigned void)a", 2, "No type named unsigned void."},
		{"sizeof(unsigned _Bool)", 8, "No type named unsigned _Bool."},
		{strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000), 501, "The expression is nested more than 500 levels deep."},
		{strings.Repeat("-", 1001) + "1", 499, ""},
		{strings.Repeat("1+", 1000) + "1", 1002, "The expression is nested more than 500 levels deep."},
		{"a" + strings.Repeat("[1]", 600), 1502, "The expression is nested more than 500 levels deep."},
		{"sizeof(int" + strings.Repeat("(*", 600), 0, ""},
		{strings.Repeat("1,", maxText), maxText + 1, "The expression is longer than 65536 bytes."},
	} {
		_, err := parse(test.expression, &letters{Context{Machine: amd64}})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.40s: %v, want a *Error", test.expression, err)
			continue
		}
		if test.want != "" && (e.Message != test.want || e.Column != test.column) {
			t.Errorf("%.40s: %d: %s, want %d: %s", test.expression, e.Column, e, test.column, test.want)
		}
	}
}
