// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// FuzzEvaluate compiles and evaluates arbitrary texts. The result is a value that can be printed, or
// an error with a column in the text.
func FuzzEvaluate(f *testing.F) {
	corpus, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		f.Fatal(err)
	}
	// TestGDB evaluates all of them. Every run begins with the seeds: hundreds would take
	// seconds.
	n := 0
	for line := range strings.Lines(string(corpus)) {
		if n++; n%16 == 0 {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	for _, text := range []string{"*(int (*(*)[3])(int, ...))0", "{struct node} $rsp", "L'\\777777777777'", "\"\\xffffffffff\"", "x@2147483647@2147483647",
		strings.Repeat("(", 600), strings.Repeat("*", 600) + "i", strings.Repeat("a?", 400), "$9999999999999999999", "sizeof(int[4294967296][4294967296])", "{char[1099511627776]} $rsp = \"abc\"", "'\\"} {
		f.Add(text)
	}
	frame, c := worked(f)
	s := &store{variables: map[string]value.Value{}}
	c.Convenience, c.History = s, s.value
	c.Call = func(_ value.Frame, function value.Value, _ []value.Value) (value.Value, error) {
		return value.Constant(function.Type().Elem(), make([]byte, function.Type().Elem().Size()), nil), nil
	}
	printer := &print.Printer{}
	f.Fuzz(func(t *testing.T, text string) {
		clear(s.variables)
		e, err := Compile(text, c)
		if err == nil {
			check(t, text, typeError(e))
			var v value.Value
			if v, err = e.Evaluate(frame); err == nil {
				printer.Text(v)
				printer.Print(v)
			}
			_, trueErr := e.True(frame)
			check(t, text, trueErr)
		}
		check(t, text, err)
		if err == nil && len(s.history) < 10 {
			v, _ := e.Evaluate(frame)
			s.history = append(s.history, v)
		}
	})
}

func typeError(e *Expression) error {
	_, err := e.Type()
	return err
}

func check(t *testing.T, text string, err error) {
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Column < 1 || e.Column > len(text)+1) {
		t.Errorf("%q: %#v is not an error in the text", text, err)
	}
}
