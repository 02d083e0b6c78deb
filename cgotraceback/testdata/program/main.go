// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Program calls C, which calls Go, which calls C++, which calls Rust if it is built with the
// tag rust. The innermost function does what the argument says.
package main

/*
#cgo CFLAGS: -O2 -g
#cgo plain CFLAGS: -DPLAIN
#cgo CXXFLAGS: -O2 -g
#cgo rust LDFLAGS: -lstep -ldl -lm
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "program.h"
*/
import "C"

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/clewdev/clew/cgotraceback"
	"github.com/clewdev/clew/cgotraceback/internal/compact"
)

//export goMiddle
func goMiddle(kind C.int) { goInner(kind) }

//go:noinline
func goInner(kind C.int) {
	if kind == C.PANIC {
		panic("in Go, called from C")
	}
	if kind == C.SLEEP { // an event of a trace, in Go code that C has called
		<-time.After(time.Millisecond)
	}
	C.cpp_step(kind)
}

//go:noinline
func goOuter(kind C.int) { C.c_outer(kind) }

func init() {
	if len(os.Args) == 3 && os.Args[2] == "elsewhere" {
		runtime.LockOSThread()
	}
}

// serve is set by the tag http.
var serve func()

var kinds = map[string]C.int{"segv": C.SEGV, "abort": C.ABORT, "overflow": C.OVERFLOW, "panic": C.PANIC,
	"overwrite": C.OVERWRITE, "null": C.NULL_CALL, "handler": C.HANDLER, "nocfi": C.NO_CFI, "trap": C.TRAP, "tail": C.TAIL}

func main() {
	// Most tests need no lines, which take a second.
	frames, _ := strconv.Atoi(os.Getenv("MAX_FRAMES"))
	memory, _ := strconv.ParseInt(os.Getenv("MAX_MEMORY"), 10, 64)
	cgotraceback.Configure(cgotraceback.Options{MaxFrames: frames, NamesOnly: os.Getenv("NAMES_ONLY") != "", MaxMemory: memory})
	if err := cgotraceback.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
	}
	if len(os.Args) < 2 {
		return
	}
	switch what := os.Args[1]; what {
	case "profile":
		profile(C.SPIN, C.THROW, C.JUMP, C.SPIN_NO_CFI, C.ALTERNATE, C.THREAD, C.C_THREAD, C.RETURNED)
	case "recursion":
		profile(C.RECURSION)
	case "shares": // perf cannot walk through the unwinder of C++ exceptions, and the runtime samples few threads of C
		profile(C.SPIN, C.JUMP)
	case "deliver":
		deliver()
	case "thread":
		C.in_thread(C.SEGV)
	case "quit":
		if len(os.Args) == 3 { // on another thread than the first one, which init has locked
			go goOuter(C.HANG)
			fmt.Println("ready")
			select {}
		}
		fmt.Println("ready")
		for {
			goOuter(C.SPIN)
		}
	case "http":
		serve()
	case "trace":
		if err := trace.Start(os.Stdout); err != nil {
			panic(err)
		}
		goOuter(C.SLEEP)
		trace.Stop()
		os.Exit(0)
	case "bench":
		C.walk_bench(16)
	case "mutants":
		n, err := strconv.Atoi(os.Args[2])
		if err != nil {
			panic(err)
		}
		mutants(n)
	case "callers":
		C.c_outer(C.CALLERS)
	case "small":
		for size := 16; size < 256; size += 16 {
			C.on_small_stack(C.int(size))
		}
		fmt.Println("counted", counted)
	case "panics":
		for range 100000 {
			recovered()
		}
		C.c_outer(C.CALLERS)
	case "dlopen":
		loads(os.Args[2:])
	case "alternate":
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			panic(err)
		}
		C.on_small_alternate_stack()
		pprof.StopCPUProfile()
	case "reload":
		reload(os.Args[2])
	case "symbolize":
		symbolize(os.Args[2])
	default:
		kind, ok := kinds[what]
		if !ok {
			panic("unknown argument")
		}
		goOuter(kind)
	}
	fmt.Printf("%+v\n", cgotraceback.ReadCounters())
}

// mutants walks by those of n damaged tables that pass the check, which the package makes for its tables.
func mutants(n int) {
	accepted := 0
	for i := range n {
		var size C.uint32_t
		table := C.walk_mutant(C.int(i), &size)
		if table == nil {
			continue
		}
		if compact.Check(unsafe.Slice((*byte)(table), size)) {
			accepted++
			C.walk_by_mutant()
		}
		C.walk_free_mutant(size)
	}
	fmt.Println(accepted, "accepted")
}

// goRun is called by the program in testdata/host, of which this one is a library then.
//
//export goRun
func goRun(what *C.char) {
	if err := cgotraceback.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
	}
	if s := C.GoString(what); s == "callers" {
		C.c_outer(C.CALLERS)
	} else {
		goOuter(kinds[s])
	}
}

// loads loads libraries one after the other, calls each as soon as it is loaded and again
// when there are tables for it, and unloads it.
func loads(paths []string) {
	for _, path := range paths {
		before, start := cgotraceback.ReadCounters(), time.Now()
		if to := os.Getenv("RENAME"); to != "" {
			if err := os.Rename(path, to); err != nil {
				panic(err)
			}
			path = to
		}
		name := C.CString(path)
		library := C.load(name)
		fmt.Println("loaded", path)
		if os.Getenv("REMOVE") != "" {
			os.Remove(path)
		}
		if os.Getenv("FIFO") != "" {
			if err := syscall.Mkfifo(path, 0o666); err != nil {
				panic(err)
			}
		}
		if other := os.Getenv("REPLACE"); other != "" {
			if err := os.Rename(other, path); err != nil {
				panic(err)
			}
		}
		if C.call_library(library) != 0 {
			if err := cgotraceback.Prepare(); err != nil {
				fmt.Println(err)
			}
			fmt.Println("prepared")
			C.call_library(library)
		} else {
			start = time.Now()
			if err := cgotraceback.Prepare(); err != nil {
				fmt.Println(err)
			}
			fmt.Println("took", time.Since(start).Microseconds(), cgotraceback.ReadCounters().TableMemory-before.TableMemory)
		}
		C.unload(library)
		C.free(unsafe.Pointer(name))
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	fmt.Println("mappings", bytes.Count(maps, []byte("\n")))
}

// reload loads and unloads copies of a library, with build IDs of their own, while others prepare.
// The copies are removed, so that they are read from memory that can be unmapped at any time.
func reload(path string) {
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var ended atomic.Bool
	var wait sync.WaitGroup
	wait.Go(func() {
		for !ended.Load() {
			_ = cgotraceback.Prepare()
		}
	})
	for i := range 400 {
		id := fmt.Appendf(nil, "%020d", i)
		copied := fmt.Sprint(path, i)
		if err := os.WriteFile(copied, bytes.Replace(content, bytes.Repeat([]byte{0x5a}, 20), id, 1), 0o777); err != nil {
			panic(err)
		}
		name := C.CString(copied)
		library := C.load(name)
		C.free(unsafe.Pointer(name))
		os.Remove(copied)
		time.Sleep(time.Duration(i%20) * 50 * time.Microsecond)
		C.unload(library)
	}
	ended.Store(true)
	wait.Wait()
	fmt.Println("reloaded")
}

// symbolize names a function of a library while others unload and load the library.
func symbolize(path string) {
	name := C.CString(path)
	library := C.load(name)
	var address atomic.Uintptr // another mapping can take the place of the library while that is not loaded
	address.Store(uintptr(C.find(library)) + 1)
	if err := cgotraceback.Prepare(); err != nil {
		fmt.Println(err)
	}
	var ended atomic.Bool
	var wait sync.WaitGroup
	wait.Go(func() {
		named, nameless := 0, 0
		for !ended.Load() || named == 0 {
			switch f, _ := runtime.CallersFrames([]uintptr{address.Load()}).Next(); f.Function {
			case "library_call":
				named++
			case "", "[" + filepath.Base(path) + "]": // no tables yet
				nameless++
			default:
				panic(f.Function)
			}
		}
		fmt.Println("named", named, "times, not named", nameless, "times")
	})
	for range 3000 {
		C.unload(library)
		library = C.load(name)
		address.Store(uintptr(C.find(library)) + 1)
	}
	ended.Store(true)
	wait.Wait()
}

// recovered calls C code that calls Go code that panics.
func recovered() {
	defer func() { _ = recover() }()
	C.c_outer(C.PANIC)
}

var counted int

//export goCount
func goCount() { counted++ }

//export goPanic
func goPanic() { panic("recovered") }

//export goCallers
func goCallers() {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for {
		f, more := frames.Next()
		fmt.Printf("%s %s:%d\n", f.Function, f.File, f.Line)
		if !more {
			break
		}
	}
}

// deliver delivers a number of SIGPROF to threads of all kinds, while a profile is taken.
func deliver() {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		panic(err)
	}
	if C.deliver_reference(C.long(n)) == 0 {
		panic("not on this machine")
	}
	var wait sync.WaitGroup
	wait.Go(func() { goOuter(C.DELIVER) })
	wait.Go(func() { C.in_thread(C.DELIVER) }) // C, Go, C
	wait.Go(func() { C.deliver_in_thread() })
	wait.Go(func() { C.deliver() })
	wait.Wait()
	pprof.StopCPUProfile()
	C.deliver_report()
}

// profile writes a profile of some kinds of work to standard output.
func profile(kinds ...C.int) {
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		panic(err)
	}
	d, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	used := func() time.Duration { // of the processor
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano())
	}
	var end atomic.Bool
	go func(start time.Duration) {
		for !end.Load() {
			time.Sleep(10 * time.Millisecond)
			end.Store(used() >= start+d)
		}
	}(used())
	var wait sync.WaitGroup
	for _, kind := range kinds {
		wait.Go(func() {
			for !end.Load() {
				goOuter(kind)
			}
		})
	}
	wait.Wait()
	pprof.StopCPUProfile()
	os.Stdout.Write(b.Bytes())
	fmt.Fprintf(os.Stderr, "%+v\n", cgotraceback.ReadCounters())
	os.Exit(0)
}
