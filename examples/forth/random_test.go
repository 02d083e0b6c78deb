// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/internal/sample"
)

// compare compiles and runs a source, and compares its output and results with those of the
// interpreter. It reports whether both have run.
func compare(t *testing.T, source string, frames bool) bool {
	t.Helper()
	p, err := forth.Compile("test.fth", []byte(source), &forth.Options{FramePointers: frames})
	if err != nil {
		var syntax *forth.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 {
			t.Errorf("%v, want a *SyntaxError with a place", err)
		}
		return false
	}
	if err := p.Code(0x1000, p.Text).Check(); err != nil {
		t.Errorf("%q: %v", source, err)
	}
	var out bytes.Buffer
	s, err := forth.Load(p, &forth.SessionOptions{Output: &out, MaxSteps: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Call(forth.TopLevel)
	var fault *forth.Fault
	if err != nil && (!errors.As(err, &fault) || fault.Line.Line < 1 || fault.Word == "") {
		t.Errorf("%q: %v, want a *Fault with a place", source, err)
	}

	in, want := interpret(source, 100_000)
	switch {
	case want == errUnsupported, want == errStack, errors.Is(err, forth.ErrSteps):
		// The compiled code checks the depth of its stack only sometimes.
		return false
	case want != nil && !errors.Is(err, want), want == nil && err != nil:
		t.Errorf("%q: error %v, want %v", source, err, want)
	case want == nil && !slices.Equal(got, in.stack):
		t.Errorf("%q: leaves %d, want %d", source, got, in.stack)
	case out.String() != in.output.String():
		t.Errorf("%q: prints %q, want %q", source, out.String(), in.output.String())
	}
	return true
}

func TestInterpreterAgrees(t *testing.T) {
	compared := 0
	for _, p := range programs {
		if compare(t, p.source, false) {
			compared++
		}
	}
	if compared < 14 {
		t.Errorf("%d of %d programs compared", compared, len(programs))
	}
}

// TestRandomPrograms compares random programs, most of which compile and end.
func TestRandomPrograms(t *testing.T) {
	n := 150
	if sample.Full() {
		n = 600
	}
	base := sample.Rand(t).Uint64()
	compared := 0
	for seed := range n {
		g := &generator{rand: rand.New(rand.NewPCG(base+uint64(seed), 1))}
		if compare(t, g.program(), seed%2 == 0) {
			compared++
		}
		if t.Failed() {
			t.Fatalf("seed %d", base+uint64(seed))
		}
	}
	if compared < n*9/10 {
		t.Errorf("%d of %d programs compared, want most of them", compared, n)
	}
}

// generator makes programs in which each word checks the depth of the stack.
type generator struct {
	rand    *rand.Rand
	text    strings.Builder
	words   int // w0, w1, ... take two numbers and leave one
	loops   int // around here, in this word
	nested  int
	inWord  bool
	returns int // cells on the return stack here, on top of the innermost loop
}

func (g *generator) printf(format string, args ...any) { fmt.Fprintf(&g.text, format, args...) }

func (g *generator) program() string {
	g.printf("variable v create b variable w variable x\n")
	for range 1 + g.rand.IntN(4) {
		g.printf(": w%d ", g.words)
		g.inWord = true
		// The recursion ends when the first number is 0.
		if g.rand.IntN(3) == 0 {
			g.printf("over 0 <= if drop exit then over 2/ over recurse drop ")
		}
		g.body(2, 1)
		g.printf(";\n")
		g.inWord = false
		g.words++
	}
	for range 1 + g.rand.IntN(3) {
		g.body(0, 2)
		g.printf(". . cr\n")
	}
	return g.text.String()
}

func (g *generator) literal() string {
	switch g.rand.IntN(4) {
	case 0:
		return fmt.Sprint(int64(g.rand.Uint64() >> g.rand.IntN(64)))
	case 1:
		return fmt.Sprint(-int64(g.rand.Uint64()>>1) >> g.rand.IntN(63))
	}
	return fmt.Sprint(g.rand.IntN(20) - 5)
}

// Words by their operands.
var (
	monadic = strings.Fields("1+ 1- 2* 2/ negate invert abs cells 0= 0<> 0< 0>")
	dyadic  = strings.Fields("+ - * and or xor lshift rshift min max = <> < > <= >= u< u> / mod")
)

// body generates code that changes the stack from one depth to another.
func (g *generator) body(from, to int) {
	g.nested++
	depth := from
	for range g.rand.IntN(14) {
		switch k := g.rand.IntN(16); {
		case depth == 0 || k == 0:
			g.printf("%s ", g.literal())
			depth++
		case k == 1:
			g.printf("%s ", monadic[g.rand.IntN(len(monadic))])
		case k == 2:
			g.printf("dup ")
			depth++
		case k == 3:
			g.printf("dup emit ")
		case k == 4:
			g.printf("v %s ", []string{"!", "+!"}[g.rand.IntN(2)])
			depth--
		case k == 5:
			g.printf("%s @ ", []string{"v", "w", "x", "b 1+"}[g.rand.IntN(4)])
			depth++
		case k == 6 && depth >= 2:
			g.printf("7 and b + c! ")
			depth -= 2
		case k == 7 && g.nested < 4:
			g.printf("if ")
			g.body(depth-1, depth)
			g.printf("else ")
			g.body(depth-1, depth)
			g.printf("then ")
		case k == 8 && g.nested < 4:
			g.loop(depth)
		case k == 9 && g.nested < 4:
			g.printf(">r ")
			before := g.returns
			g.returns++
			g.body(depth-1, depth)
			g.printf("r@ drop r> ")
			g.returns = before
			depth++
		case k == 10 && g.loops > 0:
			g.printf("i ")
			depth++
		case k == 11 && depth >= 2:
			g.printf("%s ", []string{"swap", "over +", "tuck drop", "2dup 2drop", "nip dup"}[g.rand.IntN(5)])
		case k == 12 && depth >= 3:
			g.printf("%s ", []string{"rot", "-rot"}[g.rand.IntN(2)])
		case k == 13 && depth >= 2 && g.words > 0:
			g.printf("w%d ", g.rand.IntN(g.words))
			depth--
		case k == 14 && depth >= 2:
			g.printf("%s ", []string{"/mod", "u/mod"}[g.rand.IntN(2)])
		case depth >= 2:
			g.printf("%s ", dyadic[g.rand.IntN(len(dyadic))])
			depth--
		}
	}
	for ; depth < to; depth++ {
		g.printf("%s ", g.literal())
	}
	for ; depth > to; depth-- {
		g.printf("drop ")
	}
	g.nested--
}

func (g *generator) loop(depth int) {
	before := g.returns
	switch g.rand.IntN(4) {
	case 0:
		g.printf("%d 0 do ", 1+g.rand.IntN(5))
	case 1:
		g.printf("%d %d ?do ", g.rand.IntN(3), g.rand.IntN(2)*-3)
	case 2:
		g.printf("%d 0 do ", 1+g.rand.IntN(15))
	default:
		g.printf("5 begin 1- dup while >r ")
		g.body(depth, depth)
		g.printf("r> repeat drop ")
		return
	}
	g.loops++
	g.returns = 0
	g.body(depth, depth)
	switch g.rand.IntN(4) {
	case 0:
		g.printf("i 3 > if leave then loop ")
	case 1:
		g.printf("%d +loop ", 1+g.rand.IntN(4))
	default:
		if g.loops > 1 && g.returns == 0 && before == 0 {
			g.printf("j v +! ")
		}
		g.printf("loop ")
	}
	g.loops--
	g.returns = before
}

// FuzzCompile compiles any source. The result is an error with a place, or a program that ends
// with the output and results of the interpreter.
func FuzzCompile(f *testing.F) {
	for _, p := range programs {
		f.Add(p.source, false)
	}
	for seed := range uint64(10) {
		g := &generator{rand: rand.New(rand.NewPCG(seed, 2))}
		f.Add(g.program(), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, source string, frames bool) {
		compare(t, source, frames)
	})
}
