// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/expression"
)

// conditions returns a session with testdata/condition.c, the addresses of its
// line of hits, and the function.
func conditions(t testing.TB) (s *Session, hit []uint64, sum uint64) {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "condition.o")
	source, err := filepath.Abs("testdata/condition.c")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O0", "-c", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	file, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := LoadImage(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	s = newSession(t, i)
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(string(text[:strings.Index(string(text), "// HIT")]), "\n")
	if hit, err = s.Locate(fmt.Sprintf("condition.c:%d", line)); err != nil {
		t.Fatal(err)
	}
	sum, _ = s.Symbol("sum")
	return s, hit, sum
}

func TestCondition(t *testing.T) {
	s, hit, sum := conditions(t)
	for _, test := range []struct {
		condition string
		stops     int
		result    uint64
	}{
		{"i == 500", 1, 1500},
		{"i == 500 && p->next", 1, 1500},
		{"i == 501 && p->next", 0, 1500},
		{"i % 100 == 0 && p == nodes", 10, 1500},
		{"p->key == 2 && i < 10", 5, 1500},
		{"$sp != $pc && i == 7", 1, 1500},
		{"result >= 1497 && n == 1000", 2, 1500},
		{"i == 999 && (result = 0, 1)", 1, 2},
	} {
		f, err := s.Condition(test.condition, hit[0])
		if err != nil {
			t.Errorf("%s: %v", test.condition, err)
			continue
		}
		b, err := s.Break(hit[0], &BreakpointOptions{Condition: f})
		if err != nil {
			t.Fatal(err)
		}
		stop, err := s.Call(sum, 1000)
		stops := 0
		for ; err == nil && stop.Reason == AtBreakpoint; stops++ {
			if stop.Err != nil {
				t.Errorf("%s: %v", test.condition, stop.Err)
			}
			stop, err = s.Continue()
		}
		check(t, stop, err, Returned)
		if stops != test.stops || stop.Result != test.result {
			t.Errorf("%s: %d stops and %d, want %d and %d", test.condition, stops, stop.Result, test.stops, test.result)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConditionErrors(t *testing.T) {
	s, hit, sum := conditions(t)
	for text, column := range map[string]int{
		"j == 1": 1, "i == 1 && p->prev": 12, "i ==": 5, "p * 2": 3, "sum": 0, "struct node": 1, "sum(1)": 1, "sizeof(sum(1)) > 1": 0, "$nosuch == 1": 9, "nodes[0] == 1": 10,
	} {
		_, err := s.Condition(text, hit[0])
		var e *expression.Error
		if column == 0 && err != nil || column > 0 && (!errors.As(err, &e) || e.Column != column) {
			t.Errorf("%s: %v at %+v, want column %d", text, err, e, column)
		}
	}
	// An error that depends on the frame is reported at the hit, which stops.
	f, err := s.Condition("*(long *)(i - i)", hit[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Break(hit[0], &BreakpointOptions{Condition: f}); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(sum, 1)
	check(t, stop, err, AtBreakpoint)
	var e *expression.Error
	if !errors.As(stop.Err, &e) || e.Message != "Cannot access memory at address 0x0" {
		t.Errorf("%v", stop.Err)
	}
}

func BenchmarkCondition(b *testing.B) {
	for _, text := range []string{"$pc == 0", "n == 500", "i == -1 && p->next", "p->key == 3"} {
		b.Run(text, func(b *testing.B) {
			s, hit, sum := conditions(b)
			f, err := s.Condition(text, hit[0])
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Break(hit[0], nil); err != nil {
				b.Fatal(err)
			}
			if stop, err := s.Call(sum, 1); err != nil || stop.Reason != AtBreakpoint {
				b.Fatal(stop, err)
			}
			frame := s.innermost()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
