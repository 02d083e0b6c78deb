// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
	generate "github.com/clewdev/clew/jit/goruntime/internal/engine"
)

// engine is generated code: outer calls inner, and inner calls the host.
type engine struct {
	code  *jit.Code
	entry uintptr
}

func newEngine(t testing.TB) *engine {
	t.Helper()
	m, err := jit.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	e, err := generate.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return &engine{e.Code, e.Entry}
}

func (e *engine) publish(t testing.TB) jit.Registration {
	t.Helper()
	r, err := Default.Publish(e.code)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run runs the code on a new goroutine, and returns when it returns.
func (e *engine) run(host func(uintptr) uintptr, argument uintptr) (result uintptr) {
	call.SetHost(host)
	done := make(chan uintptr)
	go func() { done <- call.Code(e.entry, argument) }()
	return <-done
}

// stack returns a line "function file:line" for each frame of its caller.
func stack() []string {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	var list []string
	for {
		f, more := frames.Next()
		list = append(list, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
		if !more {
			return list
		}
	}
}

func TestCallers(t *testing.T) {
	e := newEngine(t)
	r := e.publish(t)
	var list []string
	if result := e.run(func(a uintptr) uintptr { list = stack(); return a + 1 }, 41); result != 42 {
		t.Errorf("the code returned %d", result)
	}
	all := strings.Join(list, "\n")
	t.Log(all)
	at := 0
	for _, want := range []string{"call.goHost ", "call.host ", "engine.inner /src/b.src:20", "jit.outer ?:0", "call.Code ", "(*engine).run.func1 ", "runtime.goexit "} {
		k := strings.Index(all[at:], want)
		if k < 0 {
			t.Fatalf("no %q after the frames before it in\n%s", want, all)
		}
		at += k
	}
	f := runtime.FuncForPC(e.entry)
	if f == nil || f.Name() != "jit.outer" || f.Entry() != e.entry {
		t.Errorf("FuncForPC: %v", f)
	}
	if err := r.Withdraw(); err != nil {
		t.Fatal(err)
	}
	if f := runtime.FuncForPC(e.entry); f != nil {
		t.Errorf("after Withdraw, FuncForPC: %s", f.Name())
	}
	// A Func of a withdrawn function stays usable.
	f.Entry()
	f.FileLine(e.entry)
	_ = f.Name()
}

func TestPanic(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	recovered := make(chan any)
	var trace []byte
	call.SetHost(func(a uintptr) uintptr {
		trace = debug.Stack()
		panic("in the host")
	})
	go func() {
		defer func() { recovered <- recover() }()
		call.Code(e.entry, 1)
	}()
	if r := <-recovered; r != "in the host" {
		t.Errorf("recovered %v", r)
	}
	for _, want := range []string{"engine.inner(", "/src/b.src:20", "jit.outer("} {
		if !strings.Contains(string(trace), want) {
			t.Errorf("no %q in\n%s", want, trace)
		}
	}
}

// grow uses much stack.
func grow(n int) byte {
	var b [4096]byte
	b[n%len(b)] = byte(n)
	if n == 0 {
		return 0
	}
	return grow(n-1) + b[n%len(b)]
}

// The stack grows and shrinks, and is scanned, while generated code is on it.
func TestStack(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for i := range uintptr(50) {
		result := e.run(func(a uintptr) uintptr {
			local := make([]*uintptr, 10)
			for i := range local {
				local[i] = new(uintptr)
				*local[i] = a
			}
			grow(100)
			runtime.GC()
			grow(1000)
			runtime.GC()
			for _, p := range local {
				if *p != a {
					t.Errorf("%d, expected %d", *p, a)
				}
			}
			return *local[3] + 1
		}, i)
		if result != i+1 {
			t.Fatalf("the code returned %d", result)
		}
	}
}

// The code calls the host, which calls the code, and so on.
func TestNested(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	var count int
	host := func(a uintptr) uintptr {
		if a == 0 {
			runtime.GC()
			for _, f := range stack() {
				if strings.HasPrefix(f, "engine.inner ") {
					count++
				}
			}
			return 0
		}
		return call.Code(e.entry, a-1) + 1
	}
	if result := e.run(host, 5); result != 5 || count != 6 {
		t.Errorf("the code returned %d, and %d frames of inner", result, count)
	}
}

func TestVersion(t *testing.T) {
	for version, ok := range map[string]bool{
		"go1.26": true, "go1.26.8": true, "go1.27.4 X:nodwarf5": true, "go1.27-custom": true,
		"go1.28": false, "go1.28.1": false, "go1.2": false, "go1.270": false, "go1.27rc1": false, "go1.25.7": false,
		"devel go1.27-abcdef": false, "": false,
	} {
		_, err := layoutOf(version)
		if ok != (err == nil) || err != nil && (!errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), version)) {
			t.Errorf("%q: %v", version, err)
		}
	}
	before := lastModule
	x := &modules{}
	if err := x.start("go1.99"); !errors.Is(err, ErrVersion) || lastModule != before {
		t.Errorf("start: %v", err)
	} else {
		t.Log(err)
	}
}

// A fault in generated code is a panic that its Go caller can recover.
func TestFault(t *testing.T) {
	m, err := jit.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	size := copy(m.Bytes(), map[string][]byte{
		"amd64": {0x90, 0x48, 0x8b, 0x07, 0xc3},                                           // nop; mov rax, [rdi]; ret
		"arm64": {0x1f, 0x20, 0x03, 0xd5, 0x00, 0x00, 0x40, 0xf9, 0xc0, 0x03, 0x5f, 0xd6}, // nop; ldr x0, [x0]; ret
	}[runtime.GOARCH])
	if err := m.Seal(); err != nil {
		t.Fatal(err)
	}
	unwind, err := preset.Leaf(jit.Host(), preset.Frame{})
	if err != nil {
		t.Fatal(err)
	}
	defer publish(t, &jit.Code{Address: m.Address(), Text: m.Bytes(), Functions: []jit.Function{
		{Name: "leaf.load", Size: uint64(size), Unwind: unwind},
	}}).Withdraw()
	value, trace := uintptr(42), ""
	load := func(address uintptr) (result uintptr, fault any) {
		defer func() {
			if fault = recover(); fault != nil {
				trace = string(debug.Stack())
			}
		}()
		return call.Code(uintptr(m.Address()), address), nil
	}
	if v, fault := load(uintptr(unsafe.Pointer(&value))); v != 42 || fault != nil {
		t.Errorf("%d, %v", v, fault)
	}
	for range 3 {
		_, fault := load(0)
		if err, ok := fault.(runtime.Error); !ok || !strings.Contains(err.Error(), "nil pointer") || !strings.Contains(trace, "leaf.load") {
			t.Errorf("%v\n%s", fault, trace)
		}
		runtime.GC()
	}
}
