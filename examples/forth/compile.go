// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cell is the size of a number, in bytes.
const cell = 8

// Limits of a program, so that the cost of compiling is proportional to the size of the source.
const (
	maxSource = 256 << 10 // bytes
	maxData   = 1 << 20   // bytes
	maxNested = 100       // nested control structures, and items on a word's return stack
)

// TopLevel is the name of the word with the code outside definitions.
const TopLevel = "toplevel"

//go:embed prelude.fth
var prelude []byte

const preludeFile = "prelude.fth"

// word is a definition.
type word struct {
	name       string
	file       string
	start, end position
	ops        []op
	labels     int

	control []control
	returns []item // items on the return stack at the current op
	dead    bool   // the current op is unreachable
}

// item is an item on the return stack.
type item uint8

const (
	itemCell item = iota // of >r
	itemLoop             // limit and index
)

// control is an open control structure.
type control struct {
	kind    controlKind
	opener  token
	label   int // later in the word, or for loops and begin the target of the branch back
	leave   int // of a loop: target of leave
	end     int // of a loop: target of ?do after it, or -1 with do
	returns []item
}

type controlKind uint8

const (
	controlForward controlKind = iota // if, else, while: a label later in the word
	controlBegin                      // the target of a branch back
	controlDo
)

// definition is the meaning of a name.
type definition struct {
	kind  definitionKind
	value int64 // a number, or the index of a word
}

type definitionKind uint8

const (
	definedWord definitionKind = iota
	definedNumber
)

// compiler compiles source to ops.
type compiler struct {
	file       string
	scanner    scanner
	words      []*word
	top        *word
	word       *word // current definition, or top
	dictionary map[string]definition
	data       []byte
	typeWord   int64 // the prelude's word type
}

// parse compiles the prelude and a source to ops. The last word is TopLevel.
func parse(file string, source []byte) (words []*word, data []byte, err error) {
	if len(source) > maxSource {
		return nil, nil, &SyntaxError{file, 1, 1, fmt.Sprintf("%d bytes of source; the limit is %d", len(source), maxSource)}
	}
	c := &compiler{dictionary: make(map[string]definition)}
	for _, f := range []struct {
		name   string
		source []byte
	}{{preludeFile, prelude}, {file, source}} {
		c.file, c.scanner = f.name, newScanner(f.source)
		c.top = &word{name: TopLevel, file: f.name, start: position{1, 1}}
		c.word = c.top
		if err := c.compile(); err != nil {
			return nil, nil, err
		}
		if f.name == preludeFile {
			c.typeWord = c.dictionary["type"].value
		}
	}
	return append(c.words, c.top), c.data, nil
}

func (c *compiler) compile() error {
	for {
		t, ok := c.scanner.token()
		if !ok {
			break
		}
		if err := c.token(t); err != nil {
			return err
		}
	}
	end := token{at: position{c.scanner.line, c.scanner.column}}
	if c.word != c.top {
		return c.errorf(end, "the definition of %s has no ;", c.word.name)
	}
	return c.finish(end)
}

func (c *compiler) token(t token) error {
	name := lower(t.text)
	// As in every Forth, definitions of the program hide built-in words.
	if d, ok := c.dictionary[name]; ok {
		if d.kind == definedWord {
			c.emit(t, opCall, d.value)
		} else {
			c.emit(t, opLiteral, d.value)
		}
		return nil
	}
	if run, ok := immediates()[name]; ok {
		return run(c, t)
	}
	if code, ok := primitives()[name]; ok {
		return c.primitive(t, code)
	}
	n, err := parseNumber(t.text)
	if err != nil {
		return c.errorf(t, "%q is neither a word nor a number", t.text)
	}
	c.emit(t, opLiteral, n)
	return nil
}

// parseNumber parses decimal numbers, hexadecimal numbers with $, and characters in quotes.
func parseNumber(text string) (int64, error) {
	if len(text) == 3 && text[0] == '\'' && text[2] == '\'' {
		return int64(text[1]), nil
	}
	digits, base := text, 10
	if hexadecimal, ok := strings.CutPrefix(text, "$"); ok {
		digits, base = hexadecimal, 16
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(digits, base, 64)
	return int64(n), err
}

func (c *compiler) errorf(t token, format string, args ...any) error {
	return &SyntaxError{c.file, int(t.at.line), int(t.at.column), fmt.Sprintf(format, args...)}
}

// emit adds an op to the word.
func (c *compiler) emit(t token, code opcode, n int64) *op {
	w := c.word
	w.ops = append(w.ops, op{code: code, n: n, at: t.at})
	return &w.ops[len(w.ops)-1]
}

func (c *compiler) primitive(t token, code opcode) error {
	w := c.word
	switch code {
	case opToR:
		if len(w.returns) >= maxNested {
			return c.errorf(t, "more than %d items on the return stack", maxNested)
		}
		w.returns = append(w.returns, itemCell)
	case opFromR, opRFetch:
		if len(w.returns) == 0 || w.returns[len(w.returns)-1] != itemCell {
			return c.errorf(t, "%s without >r", t.text)
		}
		if code == opFromR {
			w.returns = w.returns[:len(w.returns)-1]
		}
	}
	if c.fold(t, code) {
		return nil
	}
	c.emit(t, code, 0)
	return nil
}

// fold replaces an op and the literals before it by its result, and reports whether it did.
func (c *compiler) fold(t token, code opcode) bool {
	ops := c.word.ops
	literals := 0
	for literals < 2 && literals < len(ops) && ops[len(ops)-1-literals].code == opLiteral {
		literals++
	}
	if literals == 0 {
		return false
	}
	var a int64
	if literals == 2 {
		a = ops[len(ops)-2].n
	}
	n, operands := fold(code, a, ops[len(ops)-1].n)
	if operands == 0 || operands > literals {
		return false
	}
	c.word.ops = ops[:len(ops)-operands]
	c.emit(t, opLiteral, n)
	return true
}

// literal removes and returns the literal before a word that needs a number at compile time.
func (c *compiler) literal(t token) (int64, error) {
	ops := c.word.ops
	if len(ops) == 0 || ops[len(ops)-1].code != opLiteral {
		return 0, c.errorf(t, "%s needs a number before it that is known at compile time", t.text)
	}
	c.word.ops = ops[:len(ops)-1]
	return ops[len(ops)-1].n, nil
}

func (c *compiler) label() int {
	c.word.labels++
	return c.word.labels - 1
}

// place adds a label. The return stack must have the same items on every path to it.
func (c *compiler) place(t token, label int, returns []item) error {
	w := c.word
	if w.dead {
		w.returns, w.dead = slices.Clone(returns), false
	} else if !slices.Equal(w.returns, returns) {
		return c.errorf(t, "the return stack differs between the paths to %s", t.text)
	}
	c.emit(t, opLabel, int64(label)).depth = depthOf(returns)
	return nil
}

func depthOf(returns []item) (d depth) {
	for _, i := range returns {
		if i == itemLoop {
			d.loops++
		} else {
			d.cells++
		}
	}
	return d
}

// finish ends a word.
func (c *compiler) finish(end token) error {
	w := c.word
	if n := len(w.control); n > 0 {
		open := w.control[n-1].opener
		return c.errorf(open, "%s is not closed", open.text)
	}
	if !w.dead && len(w.returns) > 0 {
		return c.errorf(end, "%d items left on the return stack", len(w.returns))
	}
	w.end = end.at
	if !w.dead {
		c.emit(end, opReturn, 0)
	}
	return nil
}

// name returns the name after a defining word.
func (c *compiler) name(t token) (string, error) {
	name, ok := c.scanner.token()
	if !ok {
		return "", c.errorf(t, "%s without a name", t.text)
	}
	if message := nameError(name.text); message != "" {
		return "", c.errorf(name, "%s", message)
	}
	return name.text, nil
}

// define defines the name after a defining word.
func (c *compiler) define(t token, d definition) error {
	name, err := c.name(t)
	if err == nil {
		c.dictionary[lower(name)] = d
	}
	return err
}

// align aligns the end of the data space to a cell.
func (c *compiler) align() {
	for len(c.data)%cell != 0 {
		c.data = append(c.data, 0)
	}
}

// allot adds bytes to the data space.
func (c *compiler) allot(t token, n int64) error {
	if n < 0 || n > maxData-int64(len(c.data)) {
		return c.errorf(t, "%d bytes after %d bytes of data; the limit is %d", n, len(c.data), maxData)
	}
	c.data = append(c.data, make([]byte, n)...)
	return nil
}

func (c *compiler) comma(t token, n int64) error {
	if err := c.allot(t, cell); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(c.data[len(c.data)-cell:], uint64(n))
	return nil
}

// lower returns the form of a name for look-up: Forth ignores case.
func lower(name string) string { return strings.ToLower(name) }
