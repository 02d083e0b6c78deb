// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/session"
)

// AbortError is the error of a call in which a C library would raise SIGABRT.
type AbortError struct {
	Message string // the text that the C library would print, "" for abort itself
}

func (e *AbortError) Error() string {
	if e.Message == "" {
		return "the code called abort"
	}
	return e.Message
}

// nameError adds the name of the function to its error. Errors that end the call stay.
func nameError(name string, err error) error {
	if err == nil || errors.As(err, new(*session.ExitError)) || errors.As(err, new(*AbortError)) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (l *Library) endFunctions() map[string]function {
	exit := func(c call) error { return &session.ExitError{Code: int(int32(c.Word(0)))} }
	fail := func(message string) function {
		return func(call) error { return &AbortError{message} }
	}
	return map[string]function{
		"exit": exit, "_exit": exit, "_Exit": exit,
		"abort":            fail(""),
		"__stack_chk_fail": fail("stack smashing detected"),
		"__chk_fail":       fail("buffer overflow detected"),
		"__assert_fail":    assertFail,
		"rand": func(c call) error {
			// The example of C11 §7.22.2.2, with all 31 bits.
			l.seed = l.seed*1103515245 + 12345
			c.Return(l.seed >> 16 & 0x7fffffff)
			return nil
		},
		"srand": func(c call) error {
			l.seed = uint64(uint32(c.Word(0)))
			return nil
		},
	}
}

// assertFail is __assert_fail(assertion, file, line, function), which assert calls.
func assertFail(c call) error {
	var text [3]string
	for i, n := range []int{0, 1, 3} {
		var err error
		if text[i], err = readString(c, c.Word(n)); err != nil {
			return err
		}
	}
	return &AbortError{fmt.Sprintf("%s:%d: %s: Assertion `%s' failed.", text[1], uint32(c.Word(2)), text[2], text[0])}
}
