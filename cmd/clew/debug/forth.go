// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
)

// forthLanguage calls words: "10 fib" or "fib(10)".
type forthLanguage struct {
	program *forth.Program
	session *forth.Session
	file    string
}

// Functions returns the words that the source defines.
func (l *forthLanguage) Functions() []string {
	var names []string
	for _, f := range l.program.Functions {
		if len(f.Lines) > 0 && f.Lines[0].File == l.file {
			names = append(names, f.Name)
		}
	}
	return names
}

// Call prepares the call of a word with numbers on the data stack.
func (l *forthLanguage) Call(text string) (*console.Call, error) {
	word, numbers, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	function, words, err := l.session.Enter(word, numbers...)
	if err != nil {
		return nil, fmt.Errorf("%w; the program has %s", err, strings.Join(l.Functions(), ", "))
	}
	return &console.Call{
		Text: text, Function: function, Begin: words[1],
		Arguments: session.Arguments{Words: words[:]},
		Stopped:   l.session.Flush,
		Result: func(*session.Stop) (string, error) {
			stack, err := l.session.Leave()
			return join(stack), err
		},
	}, nil
}

// splitWords splits "fib(10)" or "10 fib" into the word and its numbers.
func splitWords(text string) (word string, numbers []int64, err error) {
	fields := strings.Fields(text)
	if name, list, ok := strings.Cut(text, "("); ok && strings.HasSuffix(list, ")") && strings.TrimSpace(name) != "" {
		list = strings.TrimSuffix(list, ")")
		fields = append(strings.Fields(strings.ReplaceAll(list, ",", " ")), strings.TrimSpace(name))
	}
	if len(fields) == 0 {
		return "", nil, fmt.Errorf("no word is given; write it like 10 fib, or fib(10)")
	}
	for _, f := range fields[:len(fields)-1] {
		n, err := strconv.ParseInt(f, 0, 64)
		if err != nil {
			return "", nil, fmt.Errorf("%q is not a number; write it like 10 fib, or fib(10)", f)
		}
		numbers = append(numbers, n)
	}
	return fields[len(fields)-1], numbers, nil
}

func join(numbers []int64) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(texts, " ")
}

// Locals returns the data stack, which the registers of the innermost word determine.
func (l *forthLanguage) Locals(f *session.Frame) []string {
	if !f.Innermost() {
		return nil
	}
	belowColumn, topColumn := uint64(3), uint64(0) // rbx, rax (psABI amd64, Table 3.36)
	if jit.Host().ELF == elf.EM_AARCH64 {
		belowColumn = 19 // and x0
	}
	below, _ := f.Register(belowColumn)
	top, _ := f.Register(topColumn)
	stack, ok := l.session.DataStack(below, top)
	if !ok {
		return nil
	}
	if len(stack) == 0 {
		return []string{"data stack is empty"}
	}
	return []string{"data stack = " + join(stack)}
}
