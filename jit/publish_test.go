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
}

func (p *publisher) Publish(c *jit.Code) (jit.Registration, error) {
	p.calls.add(p.name + "+" + c.Functions[0].Name)
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
	if err := p.WithdrawFunctions(0, 1); err != nil {
		t.Error(err)
	}
	if got := all.take(); got != "libunwind-f[0 1] libgcc-f[0 1] gdb-f[0 1] perf-f[0 1]" {
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
	var publishing sync.WaitGroup
	for i := range 8 {
		publishing.Go(func() {
			p, err := jit.Publish(code(fmt.Sprint("k", i)))
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
