// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/examples/forth"
	"github.com/google/pprof/profile"
)

const busy = `
: spin ( n -- ) begin 1- dup 0= until drop ;
: work ( n -- ) spin 1 drop ;
`

// A CPU profile has the words of the example's JIT between frames of Go.
func TestProfile(t *testing.T) {
	t.Run("stack pointer", func(t *testing.T) { testProfile(t, nil) })
	t.Run("frame pointer", func(t *testing.T) {
		if runtime.GOARCH != "amd64" {
			t.Skip("the return address is not at the stack pointer")
		}
		testProfile(t, &forth.Options{FramePointers: true})
	})
}

func testProfile(t *testing.T, options *forth.Options) {
	program, err := forth.Compile("busy.fth", []byte(busy), options)
	if err != nil {
		t.Fatal(err)
	}
	session, err := forth.Load(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := session.Failed(); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := pprof.StartCPUProfile(&written); err != nil {
		t.Skip(err) // go test -cpuprofile
	}
	for start := processorTime(); processorTime() < start+time.Second; { // a busy machine takes longer
		if _, err := session.Call("work", 10_000_000); err != nil {
			t.Fatal(err)
		}
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&written)
	if err != nil {
		t.Fatal(err)
	}
	var all, spinning, complete int64
	other := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
		}
		text := strings.Join(names, " ")
		all += s.Value[0]
		switch {
		case !strings.HasPrefix(text, "jit.spin "):
			other[text] += s.Value[0]
			continue
		case !strings.HasPrefix(text, "jit.spin jit.work "):
		case strings.Contains(text, "/forth.call ") && strings.Contains(text, "TestProfile"):
			complete += s.Value[0]
		}
		spinning += s.Value[0]
		if line := s.Location[0].Line[0]; !strings.HasSuffix(line.Function.Filename, "busy.fth") || line.Line != 2 {
			t.Errorf("a sample of spin is at %s:%d", line.Function.Filename, line.Line)
		}
	}
	t.Logf("%d samples, %d in spin, %d complete; others: %v", all, spinning, complete, other)
	if all < 10 || spinning*10 < all*9 || complete*100 < spinning*99 {
		t.Errorf("%d samples, %d in spin, %d complete", all, spinning, complete)
	}
}

// A CPU profile that ends after its code was withdrawn has the frames of the code, without names.
func TestProfileOfWithdrawn(t *testing.T) {
	program, err := forth.Compile("busy.fth", []byte(busy), nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := forth.Load(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var written bytes.Buffer
	if err := pprof.StartCPUProfile(&written); err != nil {
		t.Skip(err) // go test -cpuprofile
	}
	for start := processorTime(); processorTime() < start+time.Second/2; {
		if _, err := session.Call("work", 10_000_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&written)
	if err != nil {
		t.Fatal(err)
	}
	nameless := 0
	for _, s := range p.Sample {
		i := slices.IndexFunc(s.Location, func(l *profile.Location) bool {
			return len(l.Line) > 0 && strings.HasSuffix(l.Line[0].Function.Name, "forth.call")
		})
		if i < 1 || i+1 == len(s.Location) {
			continue // not in the code
		}
		nameless++
		for _, l := range s.Location[:i] {
			if len(l.Line) > 0 && l.Line[0].Function.Name != "" {
				t.Errorf("a frame of withdrawn code is named %s", l.Line[0].Function.Name)
			}
		}
	}
	if nameless == 0 {
		t.Errorf("no samples in the code, of %d", len(p.Sample))
	}
}

// Rounds of loading, running and closing the example's JIT, while garbage collections scan the stack.
func TestForthRounds(t *testing.T) {
	rounds := 300
	if os.Getenv("CLEW_FULL") == "1" {
		rounds = 100_000
	}
	program, err := forth.Compile("busy.fth", []byte(busy), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	before := Default.Stats()
	for i := range rounds {
		session, err := forth.Load(program, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Failed(); err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		if i%16 == 0 {
			go func() { // at the same time as the code, for which it waits
				runtime.GC()
				close(done)
			}()
		} else {
			close(done)
		}
		if got, err := session.Call("work", 1000); err != nil || len(got) != 0 {
			t.Fatalf("round %d: %v, %v", i, got, err)
		}
		<-done
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := Default.Stats(); after.Functions != before.Functions || after.Modules != before.Modules {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// processorTime returns the processor time that the program has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// The execution tracer walks by frame pointers.
func TestTrace(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	var written bytes.Buffer
	if err := trace.Start(&written); err != nil {
		t.Skip(err) // go test -trace
	}
	for range 10 {
		e.run(func(a uintptr) uintptr {
			trace.Log(t.Context(), "in", "host")
			time.Sleep(time.Millisecond)
			grow(100)
			time.Sleep(time.Millisecond)
			return a
		}, 1)
	}
	trace.Stop()
	if !bytes.Contains(written.Bytes(), []byte("call.goHost")) {
		t.Error("the trace does not contain the host")
	}
	// The code for arm64 has no frame pointers, and the tracer continues at its caller.
	if found := bytes.Contains(written.Bytes(), []byte("engine.inner")); !found && runtime.GOARCH == "amd64" {
		t.Error("the trace does not contain the code")
	}
}

// A panic that nobody recovers, and a signal, print the code's frames.
func TestCrash(t *testing.T) {
	if kind := os.Getenv("CLEW_TEST_CRASH"); kind != "" {
		e := newEngine(t)
		e.publish(t)
		e.run(func(a uintptr) uintptr {
			if kind == "fault" {
				return *(*uintptr)(nil)
			}
			panic("on purpose")
		}, 1)
	}
	for _, kind := range []string{"panic", "fault"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$")
		cmd.Env = append(os.Environ(), "CLEW_TEST_CRASH="+kind)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip(err) // under qemu
		}
		if err == nil {
			t.Errorf("%s: the program ended without an error", kind)
		}
		for _, want := range []string{"engine.inner(", "/src/b.src:20", "jit.outer(", "call.Code("} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: no %q in\n%s", kind, want, out)
			}
		}
	}
}
