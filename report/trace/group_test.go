// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// frames returns frames at addresses, in functions named for them: 0x1010 is in f1000.
func frames(addresses ...uint64) (list []stack.Frame) {
	for _, a := range addresses {
		list = append(list, stack.Frame{PC: a, LookupPC: a, SP: a << 8, Code: stack.Code{Symbol: object.Symbol{Name: fmt.Sprintf("f%x", a&^0xff), Address: a &^ 0xff}}})
	}
	return list
}

func manyStacks() *trace.Threads {
	s := someStacks()
	s.Stacks = s.Stacks[1:] // a stack without frames
	add := func(id int, name string, f []stack.Frame) *stack.Stack {
		s.Stacks = append(s.Stacks, stack.Stack{Thread: &snapshot.Thread{ID: id, Name: name}, Frames: f, Reason: unwind.EndOfStack})
		return &s.Stacks[len(s.Stacks)-1]
	}
	for id := 100; id < 112; id++ {
		add(id, "worker", frames(0x1010, 0x2020, 0x3030))
	}
	add(112, "worker", frames(0x1011, 0x2020, 0x3030)) // at the next instruction
	add(113, "writer \x1b[2J", frames(0x1010, 0x2020, 0x3030))
	add(115, "worker", frames(0x1010, 0x2020, 0x3030))
	add(116, "worker", frames(0x1010, 0x2020, 0x3030)).Reason = unwind.NoRule
	add(117, "worker", frames(0x1010, 0x2020))
	for id := 200; id < 290; id += 2 {
		add(id, "even", frames(0x4040))
	}
	return s
}

func TestGroups(t *testing.T) {
	s := manyStacks()
	s.Grouped = true
	var out bytes.Buffer
	if err := s.Text(&out, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "groups.text", out.Bytes(), *update)

	out.Reset()
	if err := s.JSON(&out); err != nil {
		t.Fatal(err)
	}
	type thread struct {
		TID  int
		Name string
	}
	var got struct {
		Threads []struct {
			thread
			Also   []thread
			Frames []any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	seen := make(map[thread]bool)
	for _, g := range got.Threads {
		for _, member := range append(g.Also, g.thread) {
			if seen[member] {
				t.Errorf("thread %v is listed twice", member)
			}
			seen[member] = true
		}
	}
	if len(got.Threads) != 6 || len(seen) != len(s.Stacks) {
		t.Errorf("%d groups with %d of %d threads", len(got.Threads), len(seen), len(s.Stacks))
	}
}

func TestRecursion(t *testing.T) {
	s := someStacks()
	var deep []uint64
	deep = append(deep, 0x1010)
	for range 5000 {
		deep = append(deep, 0x2020, 0x3030)
	}
	deep = append(deep, 0x2020, 0x4040) // half a round
	for range 9 {
		deep = append(deep, 0x5050) // eight repetitions
	}
	deep = append(deep, 0x6060)
	for range 8 {
		deep = append(deep, 0x7070) // too few repetitions
	}
	deep = append(deep, 0x8080)
	s.Stacks = s.Stacks[:1]
	s.Stacks[0].Frames, s.Stacks[0].Reason, s.Stacks[0].Err = frames(deep...), unwind.EndOfStack, nil
	var out bytes.Buffer
	if err := s.Text(&out, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "recursion.text", out.Bytes(), *update)
	out.Reset()
	if err := s.Text(&out, trace.Options{AllFrames: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "#"); n != len(deep) {
		t.Errorf("%d of %d frames with AllFrames", n, len(deep))
	}
}

// The profile contains every frame, and notes on incomplete stacks.
func TestAddTo(t *testing.T) {
	p := profile.New("threads")
	someStacks().AddTo(p)
	manyStacks().AddTo(p)
	if want := int64(2 + len(manyStacks().Stacks)); p.Total() != want {
		t.Errorf("the total is %d, want %d", p.Total(), want)
	}
	var out bytes.Buffer
	p.Roots = profile.ThreadRoots
	if err := p.Folded(&out); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "\n%s\n%s\n", p.Title, strings.Join(p.Notes, "\n"))
	outputtest.Golden(t, "stacks.folded", out.Bytes(), *update)
}

// The schema names every member of the JSON form.
func TestStackSchema(t *testing.T) {
	var out bytes.Buffer
	s := manyStacks()
	s.Stacks = append(someStacks().Stacks, s.Stacks...)
	s.Registers = true
	s.Stacks[0].Frames[0].Registers = new(unwind.Registers).Kept() // none is known, so no names of registers
	s.Grouped = true
	if err := s.JSON(&out); err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`"([a-z_]+)":`).FindAllStringSubmatch(out.String(), -1) {
		key := match[1]
		if !regexp.MustCompile(`\b` + key + `\b`).MatchString(trace.ThreadSchema) {
			t.Errorf("the schema does not name %q", key)
		}
	}
}
