// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"fmt"
	"testing"
)

// Each line of an object's errors is reported once, also if it comes with others.
func TestProblems(t *testing.T) {
	text := errors.New("text is cut")
	names := errors.New("names are cut")
	both := fmt.Errorf("file: %w", errors.Join(text, names))
	var p Problems
	for _, err := range []error{nil, both, text, fmt.Errorf("file: %w", text), names, both, errors.Join(text, errors.New("more"), names)} {
		p.Add(err)
	}
	if got, want := errors.Join(p.Errors...).Error(), "file: text is cut\nnames are cut\ntext is cut\nmore"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(p.Errors[0], text) {
		t.Error("a new error does not keep its type")
	}
	for i := range 100 {
		p.Add(fmt.Errorf("unit %d", i))
	}
	if len(p.Errors) != maxProblems {
		t.Errorf("%d errors are reported", len(p.Errors))
	}
}
