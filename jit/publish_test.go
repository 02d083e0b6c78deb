// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/jit"
)

// calls are the calls of the publishers of this test, in order.
type calls struct {
	mu    sync.Mutex
	calls []string
}

func (c *calls) add(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

func (c *calls) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.calls, " ")
	c.calls = nil
	return all
}

type publisher struct {
	name     string
	calls    *calls
	publish  error
	withdraw error
	faulty   []string
	resolves bool // it needs the names of Code.NameOf
}

func (p *publisher) Publish(c *jit.Code) (jit.Registration, error) {
	var names []string
	var faults jit.FunctionErrors
	for i, f := range c.Functions {
		names = append(names, f.Name)
		if slices.Contains(p.faulty, f.Name) {
			faults = append(faults, c.Fault(i, errors.New("too ugly")))
		}
	}
	p.calls.add(p.name + "+" + strings.Join(names, ","))
	if len(faults) > 0 {
		return nil, fmt.Errorf("refused: %w", faults)
	}
	if p.resolves {
		if _, err := c.Resolve(false); err != nil {
			return nil, err
		}
	}
	if p.publish != nil {
		return nil, p.publish
	}
	return &registration{p, c.Functions[0].Name}, nil
}

type registration struct {
	p    *publisher
	code string
}

func (r *registration) Withdraw() error {
	r.p.calls.add(r.p.name + "-" + r.code)
	return r.p.withdraw
}

func (r *registration) WithdrawFunctions(functions ...int) error {
	r.p.calls.add(fmt.Sprint(r.p.name, "-", r.code, functions))
	return r.p.withdraw
}

func TestRegisterNil(t *testing.T) {
	defer func() {
		if got := recover(); got != `jit: Register(1, "gdb", nil): the publisher is nil` {
			t.Errorf("it panicked with %v", got)
		}
	}()
	jit.Register(jit.StageGDB, "gdb", nil)
}

func TestNilPublication(t *testing.T) {
	var p *jit.Publication
	if err := errors.Join(p.Withdraw(), p.WithdrawFunctions(0), p.Failed(), p.Rejected().Err()); err != nil || p.Publishers() != nil {
		t.Error(err)
	}
}

// TestPublish registers publishers permanently, as programs do. So it is a single test.
func TestPublish(t *testing.T) {
	if jit.Host() == nil {
		t.Skip("the machine is not known")
	}
	all := new(calls)
	perf, gdb := &publisher{name: "perf", calls: all}, &publisher{name: "gdb", calls: all}
	libgcc, libunwind := &publisher{name: "libgcc", calls: all}, &publisher{name: "libunwind", calls: all}
	jit.Register(jit.StageLibunwind, "libunwind", libunwind)
	jit.Register(jit.StagePerf, "perf", perf)
	jit.Register(jit.StageRuntime, "libgcc", libgcc)
	jit.Register(jit.StageGDB, "gdb", gdb)

	code := func(name string) *jit.Code {
		return &jit.Code{Address: 0x1000, Text: make([]byte, 64), Functions: []jit.Function{{Name: name, Size: 64}}}
	}

	p, err := jit.Publish(code("f"))
	if err != nil || p.Failed() != nil {
		t.Fatal(err, p.Failed())
	}
	if got := all.take(); got != "perf+f gdb+f libgcc+f libunwind+f" {
		t.Errorf("published by %s", got)
	}
	if err := p.WithdrawFunctions(0, 1); !errors.Is(err, jit.ErrCode) || all.take() != "" {
		t.Errorf("a function outside of the batch: %v", err)
	}
	if err := p.WithdrawFunctions(0); err != nil {
		t.Error(err)
	}
	if got := all.take(); got != "libunwind-f[0] libgcc-f[0] gdb-f[0] perf-f[0]" {
		t.Errorf("withdrawn by %s", got)
	}

	full := errors.New("disk full")
	perf.publish, libunwind.publish = full, jit.ErrNotApplicable
	p, err = jit.Publish(code("g"))
	if err != nil || !errors.Is(p.Failed(), full) || p.Failed().Error() != "perf: disk full" {
		t.Errorf("one failed: %v, %v", err, p.Failed())
	}
	if got := p.Publishers(); !slices.Equal(got, []string{"gdb", "libgcc"}) {
		t.Errorf("published by %q", got)
	}
	all.take()
	gdb.withdraw = errors.New("busy")
	if err := p.Withdraw(); err == nil || err.Error() != "gdb: busy" {
		t.Errorf("withdraw: %v", err)
	}
	if got := all.take(); got != "libgcc-g gdb-g" {
		t.Errorf("withdrawn by %s", got)
	}

	gdb.publish, libgcc.publish = full, full
	if _, err := jit.Publish(code("h")); !errors.Is(err, full) || strings.Count(err.Error(), "disk full") != 3 {
		t.Errorf("all failed: %v", err)
	}
	perf.publish, gdb.publish, libgcc.publish = jit.ErrNotApplicable, jit.ErrNotApplicable, jit.ErrNotApplicable
	if p, err := jit.Publish(code("i")); err != nil || p.Failed() != nil || len(p.Publishers()) != 0 || p.Withdraw() != nil {
		t.Errorf("no publisher applies: %v", err)
	}
	all.take()

	if _, err := jit.Publish(code("")); !errors.Is(err, jit.ErrCode) {
		t.Errorf("a function without a name: %v", err)
	}
	if _, err := jit.Publish(nil); !errors.Is(err, jit.ErrCode) {
		t.Errorf("no code: %v", err)
	}
	foreign := code("j")
	if foreign.Machine = amd64; jit.Host() == amd64 {
		foreign.Machine = arm64
	}
	if _, err := jit.Publish(foreign); !errors.Is(err, jit.ErrCode) {
		t.Errorf("code of another machine: %v", err)
	}
	if got := all.take(); got != "" {
		t.Errorf("invalid code was published by %s", got)
	}

	perf.publish, gdb.publish, libgcc.publish, libunwind.publish = nil, nil, nil, nil
	gdb.withdraw = nil
	testConcurrent(t, all, code)
	testRejected(t, perf)
	testResolve(t, perf)
	testPublishedTwice(t)
	testPanic(t, perf, libgcc)
}

// testPanic publishes a batch whose NameOf panics in the second publisher. The program recovers, and can
// publish the addresses again.
func testPanic(t *testing.T, first, second *publisher) {
	first.calls.take()
	second.resolves = true
	defer func() { second.resolves = false }()
	c := batchOf(0x1000, "")
	c.NameOf = func(int) string { panic("no name") }
	func() {
		defer func() {
			if r := recover(); r != "no name" {
				t.Errorf("recovered %v", r)
			}
		}()
		_, err := jit.Publish(c)
		t.Errorf("it has not panicked: %v", err)
	}()
	if got := first.calls.take(); got != "perf+ gdb+ libgcc+ gdb- perf-" {
		t.Errorf("published and withdrawn by %s", got)
	}
	c.NameOf = func(int) string { return "f" }
	p, err := jit.Publish(c)
	if err != nil || p.Failed() != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(); err != nil {
		t.Error(err)
	}
}

// testConcurrent publishes and withdraws at the same time.
func testConcurrent(t *testing.T, all *calls, code func(string) *jit.Code) {
	var publishing sync.WaitGroup
	for i := range uint64(8) {
		publishing.Go(func() {
			c := code(fmt.Sprint("k", i))
			c.Address += i * 64
			p, err := jit.Publish(c)
			if err != nil {
				t.Error(err)
				return
			}
			p.Withdraw()
		})
	}
	publishing.Wait()
	if n := len(strings.Fields(all.take())); n != 64 {
		t.Errorf("%d calls, expected 64", n)
	}
}

// batchOf returns a batch of functions with the given names, 16 bytes apart.
func batchOf(address uint64, names ...string) *jit.Code {
	c := &jit.Code{Name: "batch", Address: address, Text: make([]byte, 16*len(names))}
	for i, n := range names {
		c.Functions = append(c.Functions, jit.Function{Name: n, Offset: uint64(i) * 16, Size: 16})
	}
	return c
}

// testRejected publishes a batch in which some functions are at fault: for all publishers, and for
// one.
func testRejected(t *testing.T, one *publisher) {
	c := batchOf(0x1000, "a", "", "empty", "d", "e", "f")
	c.Functions[2].Size = 0
	one.faulty = []string{"d", "f"}
	defer func() { one.faulty = nil }()
	one.calls.take()
	p, err := jit.Publish(c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.Rejected() {
		got = append(got, fmt.Sprint(f.Index, " ", f))
	}
	want := []string{
		`1 function 1 at 0x1010: invalid description of generated code: it has no name`,
		`3 function "d" at 0x1030: perf: too ugly`,
		`5 function "f" at 0x1050: perf: too ugly`,
	}
	if !slices.Equal(got, want) || p.Failed() == nil || p.Failed().Error() != p.Rejected().Error() || !errors.Is(p.Failed(), jit.ErrCode) {
		t.Errorf("rejected %q: %v", got, p.Failed())
	}
	if got := one.calls.take(); got != "perf+a,d,e,f perf+a,e gdb+a,d,e,f libgcc+a,d,e,f libunwind+a,d,e,f" {
		t.Errorf("published by %s", got)
	}
	if err := p.WithdrawFunctions(1, 2, 3, 4); err != nil {
		t.Error(err)
	}
	if got := one.calls.take(); got != "libunwind-a[1 2] libgcc-a[1 2] gdb-a[1 2] perf-a[1]" {
		t.Errorf("withdrawn by %s", got)
	}
	if err := p.Withdraw(); err != nil {
		t.Error(err)
	}
	one.calls.take()

	c.Functions = c.Functions[1:2]
	if p, err := jit.Publish(c); p != nil || !errors.Is(err, jit.ErrCode) {
		t.Errorf("all functions at fault: %v", err)
	}
	c.Functions[0] = jit.Function{}
	if p, err := jit.Publish(c); err != nil || len(p.Publishers()) != 0 || p.Withdraw() != nil {
		t.Errorf("empty functions: %v", err)
	}
}

// testResolve publishes names and lines that are functions.
func testResolve(t *testing.T, one *publisher) {
	calls := 0
	c := batchOf(0x1000, "", "b", "", "")
	c.Functions[2].Size = 0
	c.NameOf = func(i int) string { calls++; return []string{"a", "x", "x", ""}[i] }
	c.LinesOf = func(i int) []jit.Line { calls++; return []jit.Line{{Offset: uint64(10 * i), File: "f", Line: i + 1}} }
	one.faulty = []string{"b"}
	p, err := jit.Publish(c)
	one.faulty = nil
	if err != nil || calls > 0 || one.calls.take() != "perf+,b, perf+, gdb+,b, libgcc+,b, libunwind+,b," {
		t.Fatal(err, calls)
	}
	// The error has the index in the whole batch, also after a function that was left out.
	for offset, want := range map[uint64]string{0: "function 0", 0x30: "function 3"} {
		if _, err := jit.Publish(batchOf(0x1000+offset, "again")); err == nil || !strings.Contains(err.Error(), "it overlaps "+want+` of batch "batch", 0x10`) {
			t.Errorf("a function without a name: %v, want %s", err, want)
		}
	}
	if err := p.Withdraw(); err != nil {
		t.Error(err)
	}
	one.calls.take()

	if d, err := c.Resolve(false); err == nil || err.Error() != "function 3 at 0x1030: invalid description of generated code: it has no name" ||
		d.Functions[0].Name != "a" || d.Functions[1].Name != "b" || calls != 2 {
		t.Errorf("%v, %d calls", err, calls)
	}
	c.Functions = c.Functions[:3]
	d, err := c.Resolve(true)
	if err != nil || len(d.Functions[1].Lines) != 1 || c.Functions[0].Name != "" || calls != 5 {
		t.Errorf("%v, %d calls", err, calls)
	}
	if again, err := d.Resolve(true); again != d || err != nil {
		t.Error("it was resolved twice")
	}
	c.Functions[1].Size = 10
	if _, err := c.Resolve(true); err == nil || !strings.Contains(err.Error(), "a line at +0xa, past its 0xa bytes of code") {
		t.Errorf("lines past the end: %v", err)
	}
	if !jit.Listening() {
		t.Error("Listening is false, although a registered publisher does not implement Listener")
	}
}

// testPublishedTwice publishes addresses that are published.
func testPublishedTwice(t *testing.T) {
	first, err := jit.Publish(batchOf(0x1000, "a", "b", "c", "d"))
	if err != nil {
		t.Fatal(err)
	}
	twice := batchOf(0x1008, "u", "v")
	const uAt = `function "u" at 0x1008: published already: it overlaps function "a" of batch "batch", 0x10 bytes at 0x1000`
	_, err = jit.Publish(twice)
	if !errors.Is(err, jit.ErrPublished) || err.Error() != uAt+"\n"+
		`function "v" at 0x1018: published already: it overlaps function "b" of batch "batch", 0x10 bytes at 0x1010` {
		t.Errorf("both: %v", err)
	}
	if err := first.WithdrawFunctions(1, 2); err != nil {
		t.Fatal(err)
	}
	second, err := jit.Publish(twice)
	if err != nil || second.Failed().Error() != uAt || len(second.Rejected()) != 1 {
		t.Fatal(err, second.Failed())
	}
	if _, err := jit.Publish(batchOf(0x1020, "w")); !errors.Is(err, jit.ErrPublished) || !strings.Contains(err.Error(), `overlaps function "v"`) {
		t.Errorf("the function that was not rejected: %v", err)
	}
	if err := second.WithdrawFunctions(0, 1); err != nil {
		t.Fatal(err)
	}
	third, err := jit.Publish(batchOf(0x1010, "x", "y"))
	if err != nil || third.Failed() != nil {
		t.Fatal(err, third.Failed())
	}
	if err := errors.Join(first.Withdraw(), second.Withdraw(), third.Withdraw(), third.Withdraw()); err != nil {
		t.Error(err)
	}
	again, err := jit.Publish(batchOf(0x1000, "a", "b", "c", "d"))
	if err != nil || again.Failed() != nil || again.Withdraw() != nil {
		t.Error(err, again.Failed())
	}
}
