// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"testing"

	"github.com/clewdev/clew/value/expression"
	"github.com/clewdev/clew/value/print"
)

// A function of a class can use members without an object. Names are looked up in locals, then
// members, then all code. The name of a class is also that of its constructors.
func TestExpressionsInClasses(t *testing.T) {
	i := loadCC(t, `
struct Base { int id; Base() : id(3) {} };
struct Sq : Base {
  int s, shadowed;
  static int count;
  Sq(int s) : s(s), shadowed(1) {}
  int area() const {
    int shadowed = 7;
    return s * s + shadowed;
  }
};
int Sq::count = 9;
int s = 100, other = 50;
int t(int n) { Sq q(n); return q.area(); }
`, "-g", "-O0")
	s := newSession(t, i)
	if _, err := s.BreakAt("Sq::area", nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbol(t, s, "_Z1ti"), 5)
	check(t, stop, err, AtBreakpoint)
	f, err := s.Frame()
	if err != nil {
		t.Fatal(err)
	}
	info := i.Info(f.PC)
	c := &expression.Context{Machine: i.machine, Info: info, Address: f.PC}
	for _, test := range []struct{ text, want string }{
		{"s", "5"},
		{"s + 1", "6"},
		{"id", "3"},
		{"::s", "100"},
		{"other", "50"},
		{"this->shadowed", "1"},
		{"count", "9"},
		{"Sq::count", "9"},
		{"*(int *)&s", "5"},
		{"s = 6", "6"},
		{"this->s", "6"},
		{"sizeof(Sq)", "12"},
		{"((Sq *)this)->s", "6"},
		{"((Base *)this)->id", "3"},
		{"nothing", `No symbol "nothing" in current context.`},
		{"Sq::nothing", `No symbol "nothing" in specified context.`},
	} {
		text := func() string {
			e, err := expression.Compile(test.text, c)
			if err != nil {
				return err.Error()
			}
			v, err := e.Evaluate(f)
			if err != nil {
				return err.Error()
			}
			text, err := (&print.Printer{}).Print(v)
			if err != nil {
				return err.Error()
			}
			return text
		}()
		if text != test.want {
			t.Errorf("%s: %s, want %s", test.text, text, test.want)
		}
	}
	// After the line that sets the local.
	if _, err := s.NextLine(); err != nil {
		t.Fatal(err)
	}
	if holds, err := s.Condition("shadowed == 7 && s == 6", f.PC); err != nil {
		t.Error(err)
	} else if f, err := s.Frame(); err != nil {
		t.Error(err)
	} else if ok, err := holds(f); !ok || err != nil {
		t.Errorf("a condition with a member: %v, %v", ok, err)
	}
}
