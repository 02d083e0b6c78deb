// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/examples/forth"
)

// interpreter runs the language by walking the source's structure. It shares only errors with
// the compiler.
type interpreter struct {
	words  map[string]*node // nodes of constants have a number only
	data   []byte
	stack  []int64
	output strings.Builder
	steps  int
	depth  int
}

// node is a piece of source.
type node struct {
	word    string // in lower case; "" is a sequence
	number  int64
	parts   []*node // of a sequence; of if: then, else; of begin: condition, body; of do: body
	called  *node
	literal bool
}

var (
	errUnsupported = errors.New("not supported by the interpreter") // or out of one of its limits
	errStack       = errors.New("the stack is empty")
)

// Ways to leave a node.
const (
	proceed = iota
	leaveLoop
	exitWord
)

type source struct {
	text    string
	current string // the token
}

func (s *source) next() bool {
	s.text = strings.TrimLeftFunc(s.text, func(r rune) bool { return r <= ' ' })
	end := strings.IndexFunc(s.text, func(r rune) bool { return r <= ' ' })
	if end < 0 {
		end = len(s.text)
	}
	s.current, s.text = s.text[:end], s.text[end:]
	return s.current != ""
}

func (s *source) upTo(delimiter string) string {
	if s.text != "" && s.text[0] != '\n' {
		s.text = s.text[1:] // the blank after the word
	}
	before, after, _ := strings.Cut(s.text, delimiter)
	s.text = after
	return before
}

// interpret runs a source that compiles. The error is errUnsupported for unknown words and for
// programs that run too long.
func interpret(text string, steps int) (in *interpreter, err error) {
	in = &interpreter{words: make(map[string]*node), steps: steps}
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(error)
			if !ok || !slices.Contains([]error{errStack, errUnsupported, forth.ErrAddress, forth.ErrDivision}, failed) {
				panic(r)
			}
			err = failed
		}
	}()
	s := &source{text: text}
	top := &node{}
	if _, err := in.sequence(s, top); err != nil {
		return in, err
	}
	for len(in.data) < 8 {
		in.data = append(in.data, 0)
	}
	_, err = in.run(top, new([]item))
	return in, err
}

// sequence parses up to one of the words that end it, and returns that word.
func (in *interpreter) sequence(s *source, n *node, ends ...string) (string, error) {
	for s.next() {
		word := strings.ToLower(s.current)
		if called := in.words[word]; called != nil {
			n.parts = append(n.parts, &node{word: "call", called: called})
			continue
		}
		if slices.Contains(ends, word) {
			return word, nil
		}
		part := &node{word: word}
		var end string
		var err error
		switch word {
		case "\\":
			s.upTo("\n")
			continue
		case "(":
			s.upTo(")")
			continue
		case ":":
			s.next()
			defined := &node{}
			name := strings.ToLower(s.current)
			_, err = in.sequence(s, defined, ";")
			resolve(defined, defined)
			in.words[name] = defined
			if err != nil {
				return "", err
			}
			continue
		case "if":
			then, otherwise := &node{}, &node{}
			if end, err = in.sequence(s, then, "else", "then"); end == "else" {
				_, err = in.sequence(s, otherwise, "then")
			}
			part.parts = []*node{then, otherwise}
		case "begin":
			condition, body := &node{}, &node{}
			if end, err = in.sequence(s, condition, "while", "until", "again"); end == "while" {
				_, err = in.sequence(s, body, "repeat")
			}
			part.word, part.parts = end, []*node{condition, body}
		case "do", "?do":
			body := &node{}
			end, err = in.sequence(s, body, "loop", "+loop")
			part.number = int64(len(end))
			part.parts = []*node{body}
		case "variable", "create":
			for len(in.data)%8 != 0 {
				in.data = append(in.data, 0)
			}
			s.next()
			in.words[strings.ToLower(s.current)] = &node{literal: true, number: int64(len(in.data))}
			if word == "variable" {
				in.data = append(in.data, make([]byte, 8)...)
			}
			continue
		case "s\"", ".\"":
			text := s.upTo("\"")
			in.data = append(in.data, text...)
			n.parts = append(n.parts, &node{literal: true, number: int64(len(in.data) - len(text))})
			part.literal, part.number = true, int64(len(text))
			if word == ".\"" {
				n.parts = append(n.parts, part)
				part = &node{word: "type"}
			}
		case "constant", "allot", ",", "c,", "char", "[char]", "while", "repeat", "until", "again", "else", "then", "loop", "+loop":
			return "", errUnsupported
		default:
			if number, ok := number(s.current); ok && primitives[word] == nil {
				part.literal, part.number = true, number
			}
		}
		if err != nil {
			return "", err
		}
		n.parts = append(n.parts, part)
	}
	return "", nil
}

// resolve makes recurse call its definition.
func resolve(n, definition *node) {
	if n.word == "recurse" {
		n.word, n.called = "call", definition
	}
	for _, p := range n.parts {
		resolve(p, definition)
	}
}

func number(text string) (int64, bool) {
	if len(text) == 3 && text[0] == '\'' && text[2] == '\'' {
		return int64(text[1]), true
	}
	base := 10
	if after, found := strings.CutPrefix(text, "$"); found {
		text, base = after, 16
	}
	if n, err := strconv.ParseInt(text, base, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseUint(text, base, 64)
	return int64(n), err == nil
}

// item is an item on the return stack: a cell, or a loop.
type item struct {
	loop         bool
	value, limit int64
}

func (in *interpreter) run(n *node, returns *[]item) (int, error) {
	if in.steps--; in.steps < 0 || len(in.stack) > 1000 || in.output.Len() > 1<<16 {
		return proceed, errUnsupported
	}
	if n.literal {
		in.stack = append(in.stack, n.number)
		return proceed, nil
	}
	switch n.word {
	case "":
		for _, p := range n.parts {
			if way, err := in.run(p, returns); way != proceed || err != nil {
				return way, err
			}
		}
		return proceed, nil
	case "call":
		if n.called.literal {
			return in.run(n.called, returns)
		}
		if in.depth++; in.depth > 400 {
			return proceed, errUnsupported
		}
		_, err := in.run(n.called, new([]item))
		in.depth--
		return proceed, err
	case "exit":
		return exitWord, nil
	case "leave":
		return leaveLoop, nil
	case "if":
		return in.conditional(n, returns)
	case "until", "while", "again":
		return in.begin(n, returns)
	case "do", "?do":
		return in.loop(n, returns)
	case "pause":
		return proceed, nil
	}
	return proceed, in.primitive(n.word, returns)
}

func (in *interpreter) pop() int64 {
	if len(in.stack) == 0 {
		panic(errStack)
	}
	n := in.stack[len(in.stack)-1]
	in.stack = in.stack[:len(in.stack)-1]
	return n
}

func (in *interpreter) conditional(n *node, returns *[]item) (int, error) {
	if in.pop() != 0 {
		return in.run(n.parts[0], returns)
	}
	return in.run(n.parts[1], returns)
}

func (in *interpreter) begin(n *node, returns *[]item) (int, error) {
	for {
		if way, err := in.run(n.parts[0], returns); way != proceed || err != nil {
			return way, err
		}
		switch n.word {
		case "until":
			if in.pop() != 0 {
				return proceed, nil
			}
		case "while":
			if in.pop() == 0 {
				return proceed, nil
			}
			if way, err := in.run(n.parts[1], returns); way != proceed || err != nil {
				return way, err
			}
		}
	}
}

func (in *interpreter) loop(n *node, returns *[]item) (int, error) {
	index, limit := in.pop(), in.pop()
	if n.word == "?do" && index == limit {
		return proceed, nil
	}
	at := len(*returns)
	*returns = append(*returns, item{true, index, limit})
	for {
		way, err := in.run(n.parts[0], returns)
		if way == exitWord || err != nil {
			return way, err
		}
		if way == leaveLoop {
			*returns = (*returns)[:at]
			return proceed, nil
		}
		l := &(*returns)[at]
		step := int64(1)
		if n.number == int64(len("+loop")) {
			step = in.pop()
		}
		// The distance above limit-1, which the index must not cross.
		before := l.value - l.limit
		l.value += step
		after := before + step
		if step >= 0 && before < 0 && after >= 0 || step < 0 && before >= 0 && after < 0 {
			*returns = (*returns)[:at]
			return proceed, nil
		}
	}
}

func flag(b bool) int64 {
	if b {
		return -1
	}
	return 0
}

// primitives take their operands, the top last, and return their results.
var primitives = make(map[string]func(in *interpreter, a []int64) []int64)

// operands has the numbers of operands.
var operands = make(map[string]int)

func init() {
	define := func(n int, words map[string]func(in *interpreter, a []int64) []int64) {
		for word, f := range words {
			primitives[word], operands[word] = f, n
		}
	}
	type values = []int64
	one := func(f func(a int64) int64) func(*interpreter, []int64) []int64 {
		return func(_ *interpreter, a []int64) []int64 { return values{f(a[0])} }
	}
	two := func(f func(a, b int64) int64) func(*interpreter, []int64) []int64 {
		return func(_ *interpreter, a []int64) []int64 { return values{f(a[0], a[1])} }
	}
	type words = map[string]func(*interpreter, []int64) []int64
	define(0, words{"cr": func(in *interpreter, _ []int64) []int64 { in.output.WriteByte('\n'); return nil },
		"space": func(in *interpreter, _ []int64) []int64 { in.output.WriteByte(' '); return nil }})
	define(1, words{
		"dup":  func(_ *interpreter, a []int64) []int64 { return values{a[0], a[0]} },
		"drop": func(*interpreter, []int64) []int64 { return nil },
		"?dup": func(_ *interpreter, a []int64) []int64 {
			if a[0] == 0 {
				return a
			}
			return values{a[0], a[0]}
		},
		"1+": one(func(a int64) int64 { return a + 1 }), "1-": one(func(a int64) int64 { return a - 1 }),
		"2*": one(func(a int64) int64 { return a << 1 }), "2/": one(func(a int64) int64 { return a >> 1 }),
		"negate": one(func(a int64) int64 { return -a }), "invert": one(func(a int64) int64 { return ^a }),
		"abs": one(func(a int64) int64 { return max(a, -a) }), "cells": one(func(a int64) int64 { return a * 8 }),
		"0=": one(func(a int64) int64 { return flag(a == 0) }), "0<>": one(func(a int64) int64 { return flag(a != 0) }),
		"0<": one(func(a int64) int64 { return flag(a < 0) }), "0>": one(func(a int64) int64 { return flag(a > 0) }),
		"@":    func(in *interpreter, a []int64) []int64 { return values{int64(in.cell(a[0]).Uint64())} },
		"c@":   func(in *interpreter, a []int64) []int64 { return values{int64(in.memory(a[0], 1)[0])} },
		"?":    func(in *interpreter, a []int64) []int64 { in.printf("%d ", int64(in.cell(a[0]).Uint64())); return nil },
		"emit": func(in *interpreter, a []int64) []int64 { in.output.WriteByte(byte(a[0])); return nil },
		".":    func(in *interpreter, a []int64) []int64 { in.printf("%d ", a[0]); return nil },
		"u.":   func(in *interpreter, a []int64) []int64 { in.printf("%d ", uint64(a[0])); return nil },
		"spaces": func(in *interpreter, a []int64) []int64 {
			if a[0] > 1000 {
				panic(errUnsupported)
			}
			in.printf("%s", strings.Repeat(" ", int(max(a[0], 0))))
			return nil
		},
	})
	define(2, words{
		"2dup": func(_ *interpreter, a []int64) []int64 { return values{a[0], a[1], a[0], a[1]} }, "2drop": func(*interpreter, []int64) []int64 { return nil },
		"swap": func(_ *interpreter, a []int64) []int64 { return values{a[1], a[0]} }, "over": func(_ *interpreter, a []int64) []int64 { return values{a[0], a[1], a[0]} },
		"nip": func(_ *interpreter, a []int64) []int64 { return values{a[1]} }, "tuck": func(_ *interpreter, a []int64) []int64 { return values{a[1], a[0], a[1]} },
		"+": two(func(a, b int64) int64 { return a + b }), "-": two(func(a, b int64) int64 { return a - b }), "*": two(func(a, b int64) int64 { return a * b }),
		"and": two(func(a, b int64) int64 { return a & b }), "or": two(func(a, b int64) int64 { return a | b }), "xor": two(func(a, b int64) int64 { return a ^ b }),
		"lshift": two(func(a, b int64) int64 { return a << (b & 63) }), "rshift": two(func(a, b int64) int64 { return int64(uint64(a) >> (b & 63)) }),
		"min": two(func(a, b int64) int64 { return min(a, b) }), "max": two(func(a, b int64) int64 { return max(a, b) }),
		"/": two(func(a, b int64) int64 { divisor(b); return a / b }), "mod": two(func(a, b int64) int64 { divisor(b); return a % b }),
		"/mod": func(_ *interpreter, a []int64) []int64 { divisor(a[1]); return values{a[0] % a[1], a[0] / a[1]} },
		"u/mod": func(_ *interpreter, a []int64) []int64 {
			divisor(a[1])
			q, r := bits.Div64(0, uint64(a[0]), uint64(a[1]))
			return values{int64(r), int64(q)}
		},
		"=": two(func(a, b int64) int64 { return flag(a == b) }), "<>": two(func(a, b int64) int64 { return flag(a != b) }),
		"<": two(func(a, b int64) int64 { return flag(a < b) }), ">": two(func(a, b int64) int64 { return flag(a > b) }),
		"<=": two(func(a, b int64) int64 { return flag(a <= b) }), ">=": two(func(a, b int64) int64 { return flag(a >= b) }),
		"u<": two(func(a, b int64) int64 { return flag(uint64(a) < uint64(b)) }), "u>": two(func(a, b int64) int64 { return flag(uint64(a) > uint64(b)) }),
		"!": func(in *interpreter, a []int64) []int64 { in.cell(a[1]).Set(uint64(a[0])); return nil },
		"+!": func(in *interpreter, a []int64) []int64 {
			c := in.cell(a[1])
			c.Set(c.Uint64() + uint64(a[0]))
			return nil
		},
		"c!":   func(in *interpreter, a []int64) []int64 { in.memory(a[1], 1)[0] = byte(a[0]); return nil },
		"type": typeText,
	})
	define(3, words{
		"rot":  func(_ *interpreter, a []int64) []int64 { return values{a[1], a[2], a[0]} },
		"-rot": func(_ *interpreter, a []int64) []int64 { return values{a[2], a[0], a[1]} },
	})
}

func (in *interpreter) printf(format string, args ...any) { fmt.Fprintf(&in.output, format, args...) }

func typeText(in *interpreter, a []int64) []int64 {
	if a[1] < 0 || a[1] > 1000 { // the compiled one goes round the numbers
		panic(errUnsupported)
	}
	for i := range a[1] {
		in.output.WriteByte(in.memory(a[0]+i, 1)[0])
	}
	return nil
}

func divisor(b int64) {
	if b == 0 {
		panic(forth.ErrDivision)
	}
}

// cell is memory of the data space.
type cell []byte

func (c cell) Uint64() uint64 { return binary.LittleEndian.Uint64(c) }
func (c cell) Set(n uint64)   { binary.LittleEndian.PutUint64(c, n) }

func (in *interpreter) cell(address int64) cell { return in.memory(address, 8) }

func (in *interpreter) memory(address, size int64) []byte {
	if address < 0 || address > int64(len(in.data))-size {
		panic(forth.ErrAddress)
	}
	return in.data[address:][:size]
}

// primitive runs a word that is built in.
func (in *interpreter) primitive(word string, returns *[]item) error {
	r := *returns
	switch word {
	case ">r":
		*returns = append(r, item{value: in.pop()})
	case "r>":
		in.stack = append(in.stack, r[len(r)-1].value)
		*returns = r[:len(r)-1]
	case "r@":
		in.stack = append(in.stack, r[len(r)-1].value)
	case "unloop":
		*returns = r[:len(r)-1]
	case "i", "j":
		n := 0
		for at := len(r) - 1; at >= 0; at-- {
			if !r[at].loop {
				continue
			}
			if n == int(word[0]-'i') {
				in.stack = append(in.stack, r[at].value)
				return nil
			}
			n++
		}
		return errUnsupported
	default:
		f, ok := primitives[word]
		if !ok {
			return errUnsupported
		}
		n := operands[word]
		if len(in.stack) < n {
			return errStack
		}
		a := slices.Clone(in.stack[len(in.stack)-n:])
		in.stack = append(in.stack[:len(in.stack)-n], f(in, a)...)
	}
	return nil
}
