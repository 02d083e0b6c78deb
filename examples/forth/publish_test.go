// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/jit"
)

// recorder is a publisher that records its arguments.
type recorder struct {
	mu  sync.Mutex
	on  bool
	log []string
}

var recorded recorder

func init() { jit.Register(jit.StageGDB, "recorder", &recorded) }

func (r *recorder) Publish(c *jit.Code) (jit.Registration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return nil, jit.ErrNotApplicable
	}
	b := &batch{recorder: r}
	for i := range c.Functions {
		f := &c.Functions[i]
		if len(c.Bytes(f)) == 0 || f.Unwind == nil || len(f.Lines) == 0 {
			return nil, fmt.Errorf("%s is described in part only", f.Name)
		}
		b.names = append(b.names, f.Name)
	}
	r.log = append(r.log, "+"+strings.Join(b.names, ","))
	return b, nil
}

type batch struct {
	recorder *recorder
	names    []string // "" of those that are withdrawn
}

// Withdraw implements jit.Registration.
func (b *batch) Withdraw() error { return b.forget(nil) }

// WithdrawFunctions implements jit.Registration.
func (b *batch) WithdrawFunctions(functions ...int) error {
	if len(functions) == 0 {
		return nil
	}
	return b.forget(functions)
}

// forget withdraws functions, or all if there are no arguments.
func (b *batch) forget(functions []int) error {
	b.recorder.mu.Lock()
	defer b.recorder.mu.Unlock()
	if len(functions) == 0 {
		for i := range b.names {
			functions = append(functions, i)
		}
	}
	var names []string
	for _, i := range functions {
		if b.names[i] != "" {
			names = append(names, b.names[i])
			b.names[i] = ""
		}
	}
	b.recorder.log = append(b.recorder.log, "-"+strings.Join(names, ","))
	return nil
}

func TestPublish(t *testing.T) {
	const source = ": one 1 ; : two one one + ; : three two one + ; 3 ."
	for _, c := range []struct {
		perDefinition bool
		want          []string
	}{
		{false, []string{"+space,(digits),u.,.,one,two,three,toplevel", "-two,three,toplevel", "-one", "-space,(digits),u.,."}},
		{true, []string{
			"+space", "+(digits)", "+u.", "+.", "+one", "+two", "+three", "+toplevel",
			"-toplevel", "-three", "-two", "-one", "-", "-", "-", "-", "-.", "-u.", "-(digits)", "-space",
		}},
	} {
		recorded.mu.Lock()
		recorded.on, recorded.log = true, nil
		recorded.mu.Unlock()
		p, err := forth.Compile("test.fth", []byte(source), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := forth.Load(p, &forth.SessionOptions{PerDefinition: c.perDefinition})
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"two", "one"} {
			if err := s.Forget(word); err != nil {
				t.Error(err)
			}
			if _, err := s.Call(word); err == nil {
				t.Errorf("%s was called after it was forgotten", word)
			}
			if err := s.Forget(word); err == nil {
				t.Errorf("%s was forgotten again", word)
			}
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Call("one"); err == nil {
			t.Error("a word was called after Close")
		}
		if s.Failed() != nil {
			t.Error(s.Failed())
		}
		recorded.mu.Lock()
		recorded.on = false
		got, want := slices.Clone(recorded.log), c.want
		recorded.mu.Unlock()
		if !slices.Equal(got, want) {
			t.Errorf("published and withdrawn:\n%q, want\n%q", got, want)
		}
	}
}

// TestBesideCollections runs words in several goroutines during continuous garbage collections,
// which move stacks.
func TestBesideCollections(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	p, err := forth.Compile("test.fth", []byte(": fib dup 2 < if exit then dup 1- recurse swap 2 - recurse + ; : deep ?dup if 1- recurse then ;"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			for i := range 25 {
				if err := collected(p, int64(n+i%5)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

func collected(p *forth.Program, n int64) error {
	s, err := forth.Load(p, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	garbage := make([][]byte, 0, 100)
	for range 100 {
		garbage = append(garbage, make([]byte, 4096))
	}
	if got, err := s.Call("fib", 10+n); err != nil || got[0] != fib(10+n) {
		return fmt.Errorf("fib %d: %d, %v", 10+n, got, err)
	}
	if _, err := s.Call("deep", 5_000); err != nil {
		return err
	}
	if _, err := s.Call("deep", 500_000); !errors.Is(err, forth.ErrReturnStack) {
		return fmt.Errorf("500,000 deep: %v", err)
	}
	_ = garbage
	return nil
}

func fib(n int64) int64 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
