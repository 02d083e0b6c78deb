// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"fmt"
	"testing"
)

// What is wrong with an object is told once, also where it comes with something else.
func TestToldOnce(t *testing.T) {
	text := errors.New("text is cut")
	names := errors.New("names are cut")
	both := fmt.Errorf("file: %w", errors.Join(text, names))
	var a addresses
	for _, err := range []error{nil, both, text, fmt.Errorf("file: %w", text), names, both, errors.Join(text, errors.New("more"), names)} {
		a.fail(err)
	}
	if got, want := errors.Join(a.errs...).Error(), "file: text is cut\nnames are cut\ntext is cut\nmore"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(a.errs[0], text) {
		t.Error("an error that is told whole is no longer what it was")
	}
	for i := range 100 {
		a.fail(fmt.Errorf("unit %d", i))
	}
	if len(a.errs) != maxTold {
		t.Errorf("%d errors are told", len(a.errs))
	}
}
