// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"slices"
	"sync"
)

// immediates are the words that run at compile time.
var immediates = sync.OnceValue(func() map[string]func(*compiler, token) error {
	return map[string]func(*compiler, token) error{
		"\\": comment('\n'), "(": comment(')'),
		":": (*compiler).colon, ";": (*compiler).semicolon, "recurse": (*compiler).recurse, "exit": (*compiler).exit,
		"if": (*compiler).ifWord, "else": (*compiler).elseWord, "then": (*compiler).then,
		"begin": (*compiler).begin, "until": (*compiler).until, "again": (*compiler).again,
		"while": (*compiler).while, "repeat": (*compiler).repeat,
		"do": (*compiler).do, "?do": (*compiler).do, "loop": (*compiler).loop, "+loop": (*compiler).loop,
		"leave": (*compiler).leave, "unloop": (*compiler).unloop, "i": (*compiler).index, "j": (*compiler).index,
		"variable": (*compiler).variable, "constant": (*compiler).constant, "create": (*compiler).create,
		"allot": (*compiler).allotWord, ",": (*compiler).commaWord, "c,": (*compiler).commaWord,
		"char": (*compiler).char, "[char]": (*compiler).char, "s\"": (*compiler).text, ".\"": (*compiler).text,
	}
})

func comment(end byte) func(*compiler, token) error {
	return func(c *compiler, t token) error {
		if _, ok := c.scanner.until(end, true); !ok {
			return c.errorf(t, "the comment has no %q", end)
		}
		return nil
	}
}

func (c *compiler) colon(t token) error {
	if c.word != c.top {
		return c.errorf(t, "a definition inside %s", c.word.name)
	}
	name, err := c.name(t)
	if err != nil {
		return err
	}
	c.word = &word{name: name, file: c.file, start: t.at}
	c.words = append(c.words, c.word)
	return nil
}

func (c *compiler) semicolon(t token) error {
	if c.word == c.top {
		return c.errorf(t, "; without :")
	}
	if err := c.finish(t); err != nil {
		return err
	}
	// Only now, so that a word can call the word that it replaces.
	c.dictionary[lower(c.word.name)] = definition{definedWord, int64(len(c.words) - 1)}
	c.word = c.top
	return nil
}

func (c *compiler) recurse(t token) error {
	if c.word == c.top {
		return c.errorf(t, "recurse outside of a definition")
	}
	c.emit(t, opCall, int64(len(c.words)-1))
	return nil
}

func (c *compiler) exit(t token) error {
	c.emit(t, opReturn, 0).depth = depthOf(c.word.returns)
	c.word.dead = true
	return nil
}

// open begins a control structure, close ends the innermost.
func (c *compiler) open(s control) error {
	if len(c.word.control) >= maxNested {
		return c.errorf(s.opener, "more than %d nested control structures", maxNested)
	}
	s.returns = slices.Clone(c.word.returns)
	c.word.control = append(c.word.control, s)
	return nil
}

func (c *compiler) close(t token, kind controlKind, opener string) (control, error) {
	w := c.word
	n := len(w.control)
	if n == 0 || w.control[n-1].kind != kind {
		return control{}, c.errorf(t, "%s without %s", t.text, opener)
	}
	s := w.control[n-1]
	w.control = w.control[:n-1]
	return s, nil
}

func (c *compiler) ifWord(t token) error {
	label := c.label()
	c.emit(t, opBranchZero, int64(label))
	return c.open(control{kind: controlForward, opener: t, label: label})
}

func (c *compiler) elseWord(t token) error {
	s, err := c.close(t, controlForward, "if")
	if err != nil {
		return err
	}
	label := c.label()
	c.emit(t, opBranch, int64(label))
	// If this branch has left the word, it does not limit the return stack at then.
	dead, returns := c.word.dead, c.word.returns
	c.word.dead = true
	if err := c.place(t, s.label, s.returns); err != nil {
		return err
	}
	if err := c.open(control{kind: controlForward, opener: t, label: label}); err != nil {
		return err
	}
	if !dead {
		c.word.control[len(c.word.control)-1].returns = slices.Clone(returns)
	}
	return nil
}

func (c *compiler) then(t token) error {
	s, err := c.close(t, controlForward, "if")
	if err != nil {
		return err
	}
	return c.place(t, s.label, s.returns)
}

func (c *compiler) begin(t token) error {
	label := c.label()
	if err := c.place(t, label, c.word.returns); err != nil {
		return err
	}
	return c.open(control{kind: controlBegin, opener: t, label: label})
}

// back adds a branch to the begin of a control structure.
func (c *compiler) back(t token, s control, code opcode) error {
	if !c.word.dead && !slices.Equal(c.word.returns, s.returns) {
		return c.errorf(t, "the return stack differs from that at %s", s.opener.text)
	}
	c.emit(t, code, int64(s.label))
	return nil
}

func (c *compiler) until(t token) error {
	s, err := c.close(t, controlBegin, "begin")
	if err != nil {
		return err
	}
	return c.back(t, s, opBranchZero)
}

func (c *compiler) again(t token) error {
	s, err := c.close(t, controlBegin, "begin")
	if err != nil {
		return err
	}
	err = c.back(t, s, opBranch)
	c.word.dead = true
	return err
}

// while keeps begin innermost, for repeat.
func (c *compiler) while(t token) error {
	s, err := c.close(t, controlBegin, "begin")
	if err != nil {
		return err
	}
	label := c.label()
	c.emit(t, opBranchZero, int64(label))
	if err := c.open(control{kind: controlForward, opener: t, label: label}); err != nil {
		return err
	}
	c.word.control = append(c.word.control, s)
	return nil
}

func (c *compiler) repeat(t token) error {
	if err := c.again(t); err != nil {
		return err
	}
	s, err := c.close(t, controlForward, "while")
	if err != nil {
		return err
	}
	return c.place(t, s.label, s.returns)
}

func (c *compiler) do(t token) error {
	w := c.word
	s := control{kind: controlDo, opener: t, label: c.label(), leave: c.label(), end: -1}
	if lower(t.text) == "?do" {
		s.end = c.label()
		c.emit(t, opQuestionDo, int64(s.end))
	} else {
		c.emit(t, opDo, 0)
	}
	if err := c.open(s); err != nil {
		return err
	}
	w.returns = append(w.returns, itemLoop)
	return c.place(t, s.label, w.returns)
}

func (c *compiler) loop(t token) error {
	s, err := c.close(t, controlDo, "do")
	if err != nil {
		return err
	}
	inside := append(slices.Clone(s.returns), itemLoop)
	s.returns = inside
	code := opLoop
	if lower(t.text) == "+loop" {
		code = opPlusLoop
	}
	if err := c.back(t, s, code); err != nil {
		return err
	}
	if err := c.place(t, s.leave, inside); err != nil {
		return err
	}
	c.emit(t, opUnloop, 0)
	c.word.returns = inside[:len(inside)-1]
	if s.end < 0 {
		return nil
	}
	return c.place(t, s.end, c.word.returns)
}

func (c *compiler) leave(t token) error {
	w := c.word
	for i := len(w.control) - 1; i >= 0; i-- {
		if s := w.control[i]; s.kind == controlDo {
			if !w.dead && !slices.Equal(w.returns, append(slices.Clone(s.returns), itemLoop)) {
				return c.errorf(t, "the return stack differs from that at %s", s.opener.text)
			}
			c.emit(t, opBranch, int64(s.leave))
			w.dead = true
			return nil
		}
	}
	return c.errorf(t, "leave outside of a loop")
}

func (c *compiler) unloop(t token) error {
	w := c.word
	if len(w.returns) == 0 || w.returns[len(w.returns)-1] != itemLoop {
		return c.errorf(t, "unloop outside of a loop")
	}
	c.emit(t, opUnloop, 0)
	w.returns = w.returns[:len(w.returns)-1]
	return nil
}

// index compiles i, the index of the innermost loop, or j, that of the loop around it.
func (c *compiler) index(t token) error {
	loops := 0
	if lower(t.text) == "j" {
		loops = 1
	}
	returns := c.word.returns
	for n := len(returns) - 1; n >= 0; n-- {
		if returns[n] != itemLoop {
			continue
		}
		if loops == 0 {
			c.emit(t, opIndex, 0).depth = depthOf(returns[n+1:])
			return nil
		}
		loops--
	}
	return c.errorf(t, "%s outside of a loop", t.text)
}

func (c *compiler) variable(t token) error {
	if err := c.create(t); err != nil {
		return err
	}
	return c.allot(t, cell)
}

func (c *compiler) create(t token) error {
	c.align()
	return c.define(t, definition{definedNumber, int64(len(c.data))})
}

func (c *compiler) constant(t token) error {
	n, err := c.literal(t)
	if err != nil {
		return err
	}
	return c.define(t, definition{definedNumber, n})
}

func (c *compiler) allotWord(t token) error {
	n, err := c.literal(t)
	if err != nil {
		return err
	}
	return c.allot(t, n)
}

func (c *compiler) commaWord(t token) error {
	n, err := c.literal(t)
	if err != nil {
		return err
	}
	if lower(t.text) == "," {
		return c.comma(t, n)
	}
	if err := c.allot(t, 1); err != nil {
		return err
	}
	c.data[len(c.data)-1] = byte(n)
	return nil
}

func (c *compiler) char(t token) error {
	text, ok := c.scanner.token()
	if !ok {
		return c.errorf(t, "%s without a character", t.text)
	}
	c.emit(t, opLiteral, int64(text.text[0]))
	return nil
}

// text compiles s", which leaves the address and the length of a text, or .", which prints it.
func (c *compiler) text(t token) error {
	text, ok := c.scanner.until('"', false)
	if !ok {
		return c.errorf(t, "the text has no \" in its line")
	}
	address := len(c.data)
	if err := c.allot(t, int64(len(text))); err != nil {
		return err
	}
	copy(c.data[address:], text)
	c.emit(t, opLiteral, int64(address))
	c.emit(t, opLiteral, int64(len(text)))
	if t.text[0] == '.' {
		c.emit(t, opCall, c.typeWord)
	}
	return nil
}
