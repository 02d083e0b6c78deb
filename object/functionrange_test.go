// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// A label within a function is not a function, and one after it is.
func TestFunctionRange(t *testing.T) {
	source := filepath.Join(t.TempDir(), "labels.s")
	text := `	.text
	.globl f, inside, after, last
	.type f, @function
f:	.zero 8
inside:	.zero 8
	.size f, . - f
after:	.zero 4
last:	.zero 4
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(filepath.Dir(source), "labels.so")
	if text, err := exec.Command(testprogram.RequireTool(t, "gcc"), "-nostdlib", "-shared", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	addresses := map[string]uint64{}
	for s := range f.Symbols() {
		addresses[s.Name] = s.Address
	}
	start := addresses["f"]
	for _, test := range []struct{ offset, low, high uint64 }{{0, 0, 16}, {7, 0, 16}, {8, 0, 16}, {15, 0, 16}, {16, 16, 20}, {20, 20, 24}} {
		r, ok := f.FunctionRange(start + test.offset)
		if !ok || r.Low != start+test.low || r.High < start+test.high || test.high <= 20 && r.High != start+test.high {
			t.Errorf("+%d: %#x to %#x, %t, of %#x", test.offset, r.Low, r.High, ok, start)
		}
	}
	if r, ok := f.FunctionRange(1); ok {
		t.Errorf("%#x", r)
	}
}
