// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Functions can be called any number of times: the bodies that it reads do not count against
// the budget of records.
func TestFunctionsAgain(t *testing.T) {
	f, err := Open(testprogram.Build(t, "goarguments"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 60 {
		if list, err := f.Functions("nosuch"); err != nil || len(list) > 0 {
			t.Fatalf("%v, %v", list, err)
		}
	}
	list, err := f.Functions("main.length")
	if err != nil || len(list) < 2 {
		t.Fatalf("%d functions, %v", len(list), err)
	}
	for _, call := range list {
		at, err := f.FunctionsAt(call.Ranges[0].Low)
		if err != nil || len(at) < 2 || at[0].Name != "main.length" || !at[0].Inlined {
			t.Errorf("at %#x: %+v, %v", call.Ranges[0].Low, at, err)
		}
	}
}

// A file remembers the Go functions that were looked up by their names, and that there is none with a
// name: a search reads the whole table.
func TestGoFunctionNamed(t *testing.T) {
	f, err := Open(testprogram.Build(t, "goarguments"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{"main.main", "main.missing"} {
		function, ok := f.GoFunctionNamed(name)
		if ok != (name == "main.main") || ok && function.Name != name {
			t.Errorf("%s: %+v, %t", name, function, ok)
		}
		if known, found := f.goNames[name]; !found || known != (goNamed{function, ok}) {
			t.Errorf("%s: %+v, %t is remembered", name, known, found)
		}
		if again, found := f.GoFunctionNamed(name); again != function || found != ok {
			t.Errorf("%s: %+v after %+v", name, again, function)
		}
	}
}
