// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/jit"
)

// described returns a batch whose names and lines are functions, which count their calls.
func described(address uint64, n int, calls *int) *jit.Code {
	c := code(address, n)
	lines := make([][]jit.Line, n)
	names := make([]string, n)
	for i := range c.Functions {
		f := &c.Functions[i]
		names[i], lines[i] = f.Name, f.Lines
		f.Name, f.Lines = "", nil
	}
	c.NameOf = func(i int) string { *calls++; return names[i] }
	c.LinesOf = func(i int) []jit.Line { *calls++; return lines[i] }
	return c
}

func TestOnDemand(t *testing.T) {
	p := &Publisher{OnDemand: time.Hour, AllowSecond: true}
	if p.Listening() || !new(Publisher).Listening() {
		t.Error("without a debugger only a publisher without OnDemand may get a reader")
	}
	calls := 0
	publish := func(at uint64, n int) jit.Registration {
		t.Helper()
		r, err := p.Publish(described(at, n, &calls))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b, c := publish(0x100000, 3), publish(0x200000, 3), publish(0x300000, 1)
	if s := p.Stats(); s.Functions != 0 || calls != 0 {
		t.Errorf("%+v, %d calls", s, calls)
	}
	if _, err := p.Publish(code(0x200000, 1)); !errors.Is(err, jit.ErrPublished) || !strings.Contains(err.Error(), "it overlaps function 0 of batch") {
		t.Errorf("code that is published: %v", err)
	}
	if err := b.WithdrawFunctions(3); !errors.Is(err, jit.ErrCode) {
		t.Errorf("withdrew function 3 of 3: %v", err)
	}
	if err := errors.Join(a.Withdraw(), b.WithdrawFunctions(0, 2)); err != nil {
		t.Error(err)
	}
	p.Flush()
	if s := p.Stats(); s.Functions != 2 || s.Files != 1 || calls != 4 {
		t.Errorf("%+v, %d calls", s, calls)
	}
	if err := errors.Join(a.Withdraw(), b.WithdrawFunctions(0), b.Withdraw(), c.Withdraw(), c.Withdraw()); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.Functions != 0 || s.Files != 0 {
		t.Errorf("%+v", s)
	}

	// A function whose name turns out to be invalid is omitted.
	bad := described(0x100000, 2, &calls)
	names := bad.NameOf
	bad.NameOf = func(i int) string {
		if i == 0 {
			return "a\x00b"
		}
		return names(i)
	}
	r, err := p.Publish(bad)
	if err != nil {
		t.Fatal(err)
	}
	p.Flush()
	if s := p.Stats(); s.Functions != 1 {
		t.Errorf("%+v", s)
	}
	if err := r.Withdraw(); err != nil {
		t.Error(err)
	}
	if _, err := p.Publish(&jit.Code{}); !errors.Is(err, jit.ErrCode) {
		t.Errorf("an invalid batch: %v", err)
	}
}

func BenchmarkListening(b *testing.B) {
	saved := Default.OnDemand
	Default.OnDemand = time.Second
	defer func() { Default.OnDemand = saved }()
	b.ReportAllocs()
	for range b.N {
		if jit.Listening() {
			b.Fatal("nobody listens")
		}
	}
}

// BenchmarkUnheard publishes functions with names and lines through jit.Publish while no debugger
// is attached.
func BenchmarkUnheard(b *testing.B) {
	saved := Default.OnDemand
	Default.OnDemand = time.Second
	defer func() { Default.OnDemand = saved }()
	for _, batch := range []int{1000, 1} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			const functions = 100_000
			calls := 0
			codes := make([]*jit.Code, functions/batch)
			for i := range codes {
				codes[i] = described(1<<40+uint64(i*batch)*stride, batch, &calls)
			}
			publications := make([]*jit.Publication, len(codes))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				for i, c := range codes {
					p, err := jit.Publish(c)
					if err != nil || len(p.Publishers()) != 1 {
						b.Fatal(err)
					}
					publications[i] = p
				}
				b.StopTimer()
				for _, p := range publications {
					if err := p.Withdraw(); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/functions, "ns/function")
			if calls > 0 {
				b.Errorf("%d calls", calls)
			}
		})
	}
}
