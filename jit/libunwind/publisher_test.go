// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package libunwind

import (
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind/internal/calls"
	_ "github.com/clewdev/clew/jit/libunwind/internal/library"
	"github.com/clewdev/clew/region"
)

// preloaded runs a test again in a process that has loaded libunwind, and reports
// whether this is that process.
func preloaded(t *testing.T) bool {
	const variable = "CLEW_TEST_LIBUNWIND"
	if os.Getenv(variable) == t.Name() {
		if !calls.Loaded() {
			fmt.Println("no libunwind")
			os.Exit(3)
		}
		return true
	}
	if calls.Loaded() {
		t.Fatal("libunwind is loaded in a test that is not linked with it")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if f, err := elf.Open(program); err == nil {
		libraries, _ := f.ImportedLibraries()
		f.Close()
		if len(libraries) == 0 {
			t.Skip("skipped: cgo is not enabled")
		}
	}
	c := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), variable+"="+t.Name(), "LD_PRELOAD=libunwind.so.8")
	out, err := c.CombinedOutput()
	if c.ProcessState != nil && c.ProcessState.ExitCode() == 3 {
		t.Skip("skipped: libunwind8 is not installed")
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
	return false
}

// ownMemory is the memory of this process.
type ownMemory struct{ f *os.File }

func (m ownMemory) ReadMemory(p []byte, addr uint64) error {
	_, err := m.f.ReadAt(p, int64(addr))
	return err
}

// ownList reads the list of this process's libunwind.
func ownList(t *testing.T) (*List, cfi.Memory) {
	t.Helper()
	f, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	memory := ownMemory{f}
	at, err := Find(jit.Host(), memory, LibrarySymbols(t, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(jit.Host(), memory, at)
	if err != nil || l.Err != nil {
		t.Fatalf("%v, %+v", err, l)
	}
	for _, i := range l.Infos {
		if i.Err != nil {
			t.Fatal(i.Err)
		}
	}
	return l, memory
}

// testCode returns a batch of functions of 32 bytes, one in four without an unwind
// table, at an address without memory.
func testCode(t *testing.T, address uint64, functions int) *jit.Code {
	t.Helper()
	p, err := (&region.Procedure{End: 32, Regions: &region.Region{Count: 8, Ops: []region.Op{
		region.Add(3, uint64(jit.Host().StackPointer), -64),
	}}}).Program(jit.Host())
	if err != nil {
		t.Fatal(err)
	}
	c := &jit.Code{Address: address, Text: make([]byte, 32*functions)}
	for i := range functions {
		f := jit.Function{Name: fmt.Sprint(i), Offset: uint64(32 * i), Size: 32}
		if i%4 != 3 {
			f.Unwind = p
		}
		c.Functions = append(c.Functions, f)
	}
	return c
}

// checkList checks that libunwind's search finds exactly the published functions of a
// batch.
func checkList(t *testing.T, l *List, memory cfi.Memory, c *jit.Code, live func(i int) bool) {
	t.Helper()
	sections := map[uint64]*cfi.Section{}
	for n := range c.Functions {
		f := &c.Functions[n]
		pc := c.Start(f) + 17
		var info *Info
		for i := range l.Infos {
			if l.Infos[i].Start <= pc && pc < l.Infos[i].End {
				info = &l.Infos[i]
				break
			}
		}
		if !live(n) {
			if info != nil {
				t.Fatalf("function %d was withdrawn, and [%#x, %#x) covers it", n, info.Start, info.End)
			}
			continue
		}
		if info == nil {
			if f.Unwind != nil {
				t.Fatalf("function %d is not covered", n)
			}
			continue
		}
		section := sections[info.Address]
		if section == nil {
			var err error
			if section, err = info.Section(jit.Host(), memory); err != nil {
				t.Fatal(err)
			}
			sections[info.Address] = section
		}
		var fde cfi.FDE
		err := info.FDE(section, pc, &fde)
		if f.Unwind == nil {
			if !errors.Is(err, cfi.ErrNoFDE) {
				t.Fatalf("function %d, which has no table: %v, %v", n, fde, err)
			}
			continue
		}
		if err != nil || fde.Start != c.Start(f) || fde.End != fde.Start+32 {
			t.Fatalf("function %d: %v, %v", n, &fde, err)
		}
	}
}

func TestWithdraw(t *testing.T) {
	if !preloaded(t) {
		return
	}
	for _, p := range []Publisher{{}, {Format: IPOffset}} {
		const n = 200
		c := testCode(t, address(mustMap(t)), n)
		r, err := p.Publish(c)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		gone := map[int]bool{}
		for len(gone) < n {
			l, memory := ownList(t)
			checkList(t, l, memory, c, func(i int) bool { return !gone[i] })
			var which []int
			for range 1 + random.IntN(9) {
				i := random.IntN(n)
				if random.IntN(2) == 0 { // the ends, too
					i = len(gone)
				}
				if i < n {
					which = append(which, i, i)
					gone[i] = true
				}
			}
			if err := r.WithdrawFunctions(which...); err != nil {
				t.Fatal(err)
			}
		}
		if l, _ := ownList(t); len(l.Infos) != 0 {
			t.Errorf("%d infos are left", len(l.Infos))
		}
		if err := errors.Join(r.Withdraw(), r.WithdrawFunctions(3)); err != nil {
			t.Error(err)
		}
		if err := r.WithdrawFunctions(n); !errors.Is(err, jit.ErrCode) {
			t.Errorf("Withdraw(%d): %v", n, err)
		}
		if len(heap.chunks) != 0 {
			t.Errorf("%d chunks are left", len(heap.chunks))
		}
	}
}

// mustMap returns the memory of a mapping with free space next to it.
func mustMap(t *testing.T) []byte {
	t.Helper()
	b, err := mapMemory(1<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unmapMemory(b) })
	return b
}

func TestPublishConcurrently(t *testing.T) {
	if !preloaded(t) {
		return
	}
	var p Publisher
	base := address(mustMap(t))
	var wait sync.WaitGroup
	left := make([]*jit.Code, 8)
	registrations := make([]jit.Registration, 8)
	for n := range left {
		wait.Go(func() {
			for i := range 50 {
				c := testCode(t, base+uint64(n)*0x10000, 1+i*7%50)
				r, err := p.Publish(c)
				if err != nil {
					t.Error(err)
					return
				}
				if err := r.WithdrawFunctions(i % len(c.Functions)); err != nil {
					t.Error(err)
				}
				if i == 49 {
					left[n], registrations[n] = c, r
					return
				}
				if err := r.Withdraw(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	l, memory := ownList(t)
	for n, c := range left {
		checkList(t, l, memory, c, func(i int) bool { return i != 49%len(c.Functions) })
		// Publish and withdraw from several goroutines.
		for i := range c.Functions {
			wait.Go(func() {
				if err := registrations[n].WithdrawFunctions(i); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	if l, _ := ownList(t); len(l.Infos) != 0 || len(heap.chunks) != 0 {
		t.Errorf("%d infos and %d chunks are left", len(l.Infos), len(heap.chunks))
	}
}

func TestFormats(t *testing.T) {
	if !preloaded(t) {
		return
	}
	far := testCode(t, 1<<62, 3) // no memory can be mapped there
	for _, test := range []struct {
		format, want Format // want 0: an error
		code         *jit.Code
		kind         error
	}{
		{0, RemoteTable, testCode(t, address(mustMap(t)), 3), nil},
		{RemoteTable, RemoteTable, testCode(t, address(mustMap(t)), 3), nil},
		{IPOffset, IPOffset, testCode(t, address(mustMap(t)), 3), nil},
		{0, IPOffset, far, nil},
		{RemoteTable, 0, far, cfi.ErrRange},
		{IPOffset, IPOffset, far, nil},
		{TableInfo, 0, far, ErrInfo},
		{ARMExidx, 0, far, ErrInfo},
		{0, 0, &jit.Code{}, jit.ErrCode},
		{0, 0, &jit.Code{Text: make([]byte, 8), Functions: []jit.Function{{Name: "f", Size: 8}}}, jit.ErrNotApplicable},
	} {
		p := &Publisher{Format: test.format}
		r, err := p.Publish(test.code)
		l, memory := ownList(t)
		if test.want == 0 {
			if !errors.Is(err, test.kind) || len(l.Infos) != 0 {
				t.Errorf("%v: %v, and %d infos", test.format, err, len(l.Infos))
			}
			continue
		}
		if err != nil || len(l.Infos) != 1 || l.Infos[0].Format != test.want {
			t.Fatalf("%v: %v, %+v, want one of format %v", test.format, err, l.Infos, test.want)
		}
		checkList(t, l, memory, test.code, func(int) bool { return true })
		if err := r.Withdraw(); err != nil {
			t.Error(err)
		}
	}
	if len(heap.chunks) != 0 {
		t.Errorf("%d chunks are left", len(heap.chunks))
	}
}

func TestPublishProcedures(t *testing.T) {
	if !preloaded(t) {
		return
	}
	tail := &region.Region{Count: -1, Ops: []region.Op{region.PopFrames(0, 1)}}
	procedures := []*region.Procedure{
		{Name: "one", Start: 0x1000, End: 0x1010, Handler: 77, Regions: region.List(&region.Region{Count: 3}, tail)},
		{Start: 0x2000, End: 0x2010, Regions: tail},
		{Name: "three", Start: 0x3000, End: 0x3010},
	}
	r, err := PublishProcedures(procedures...)
	if err != nil {
		t.Fatal(err)
	}
	check := func(want ...int) {
		t.Helper()
		l, _ := ownList(t)
		if len(l.Infos) != len(want) {
			t.Fatalf("%d infos, want %d", len(l.Infos), len(want))
		}
		for i, n := range want {
			got, p := l.Infos[i].Procedure, procedures[n]
			if got.String() != p.String() || got.Handler != p.Handler || (got.Regions == nil) != (p.Regions == nil) {
				t.Errorf("%v, want %v", got, p)
			}
		}
	}
	check(2, 1, 0)
	if err := r.WithdrawFunctions(1, 1); err != nil {
		t.Error(err)
	}
	check(2, 0)
	if err := r.WithdrawFunctions(3); !errors.Is(err, jit.ErrCode) {
		t.Error(err)
	}
	if err := errors.Join(r.Withdraw(), r.Withdraw(), r.WithdrawFunctions(0)); err != nil {
		t.Error(err)
	}
	check()
	for _, bad := range []*region.Procedure{{Start: 5, End: 5}, {End: 5, Name: "a\x00"}} {
		if _, err := PublishProcedures(procedures[0], bad); !errors.Is(err, ErrInfo) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	check()
	if len(heap.chunks) != 0 {
		t.Errorf("%d chunks are left", len(heap.chunks))
	}
}

func TestNotApplicable(t *testing.T) {
	_, err := new(Publisher).Publish(testCode(t, 0x10000, 1))
	if !errors.Is(err, jit.ErrNotApplicable) {
		t.Errorf("Publish: %v", err)
	}
	if _, err := PublishProcedures(); !errors.Is(err, jit.ErrNotApplicable) {
		t.Errorf("PublishProcedures: %v", err)
	}
	p, err := jit.Publish(testCode(t, 0x10000, 1))
	if err != nil {
		t.Fatal(err)
	}
	// This program may contain other publishers.
	if slices.Contains(p.Publishers(), "libunwind") || p.Failed() != nil {
		t.Errorf("jit.Publish: %v, %v", p.Publishers(), p.Failed())
	}
	if err := p.Withdraw(); err != nil {
		t.Error(err)
	}
}

// TestRanges publishes a batch in two ranges: no description covers the memory between them.
func TestRanges(t *testing.T) {
	if !preloaded(t) {
		return
	}
	for _, second := range []uint64{0x5000_1000, 0x7000_0000_0000} {
		c := testCode(t, 0x5000_0000, 8)
		c.Text = c.Text[:4*32]
		c.Ranges = []jit.Range{{Address: second, Text: make([]byte, 4*32)}}
		for i := 4; i < 8; i++ {
			c.Functions[i].Range, c.Functions[i].Offset = 1, uint64(i-4)*32
		}
		r, err := new(Publisher).Publish(c)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := ownList(t)
		if len(l.Infos) != 2 {
			t.Errorf("%d descriptions", len(l.Infos))
		}
		for _, i := range l.Infos {
			if i.End-i.Start > 4*32 {
				t.Errorf("%#x to %#x", i.Start, i.End)
			}
		}
		if _, err := new(Publisher).Publish(testCode(t, second+32, 1)); !errors.Is(err, jit.ErrPublished) {
			t.Errorf("code that is published: %v", err)
		}
		if err := r.WithdrawFunctions(0, 5); err != nil {
			t.Error(err)
		}
		if err := r.Withdraw(); err != nil {
			t.Error(err)
		}
		if l, _ := ownList(t); len(l.Infos) != 0 {
			t.Errorf("%d descriptions are left", len(l.Infos))
		}
	}
}
