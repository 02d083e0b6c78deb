// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command jit publishes generated code and calls it, in the steps that its arguments
// give. It is the test program of package gdb.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb"
)

func call(code, argument uintptr) uintptr

// source is the source file of the generated code.
const source = "/src/labyrinth.jit"

var entry = cfi.EntryCIE(jit.Host())

func program(b *cfi.Builder) *cfi.Program {
	p, err := b.Program()
	check(err)
	return p
}

// lines are pairs of offset and line number.
func lines(pairs ...int) (l []jit.Line) {
	for i := 0; i < len(pairs); i += 2 {
		l = append(l, jit.Line{Offset: uint64(pairs[i]), File: source, Line: pairs[i+1]})
	}
	return l
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// Flags for inner.
const (
	flagWait = iota
	flagReturn
	flagCrash
)

// open loads a library, in builds with cgo.
var open func(path string) error

type state struct {
	code         *jit.Memory
	flag         *int32
	publisher    *gdb.Publisher
	registration jit.Registration
	many         []jit.Registration
	next         int // functions of many and batches so far
	clock        time.Time
}

func main() {
	memory, err := jit.NewMemory(1 << 20)
	check(err)
	data, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	check(err)
	copy(memory.Bytes(), text)
	check(memory.Seal())
	s := &state{clock: time.Now(), code: memory, flag: (*int32)(unsafe.Pointer(&data[0])), publisher: gdb.Default}
	for _, step := range os.Args[1:] {
		verb, argument, _ := strings.Cut(step, "=")
		s.step(verb, argument)
	}
}

func (s *state) step(verb, argument string) {
	n, _ := strconv.Atoi(argument)
	switch verb {
	case "gather": // the delay in milliseconds
		s.publisher.Gather = time.Duration(n) * time.Millisecond
	case "demand": // the interval in milliseconds
		s.publisher.OnDemand = time.Duration(n) * time.Millisecond
	case "mergeat":
		s.publisher.MergeAt = n
	case "publish":
		var err error
		s.registration, err = s.publisher.Publish(&jit.Code{Name: "labyrinth", Address: s.code.Address(), Text: s.code.Bytes()[:4096],
			Functions: []jit.Function{
				{Name: "jit_outer", Offset: 0, Size: outerSize, Unwind: outerUnwind, Lines: outerLines},
				{Name: "jit_middle", Offset: middleAt, Size: middleSize, Unwind: middleUnwind, Lines: middleLines},
				{Name: "jit_inner", Offset: innerAt, Size: innerSize, Unwind: innerUnwind, Lines: innerLines},
			}})
		check(err)
	case "flush":
		s.publisher.Flush()
	case "withdraw": // function n; without an argument all
		if argument == "" {
			check(s.registration.Withdraw())
		} else {
			check(s.registration.WithdrawFunctions(n))
		}
	case "many": // n functions, one at a time
		s.publishMany(n)
	case "second": // allow a second copy of the interface
		s.publisher.AllowSecond = true
	case "open": // load a library
		check(open(argument))
	case "mark": // a place where a debugger can stop the program
		mark()
	case "goal": // another such place
		goal()
	case "batch": // of n functions
		s.publishBatch(n)
	case "clock": // the time since the last clock step
		fmt.Printf("clock %v\n", time.Since(s.clock).Round(time.Microsecond))
		s.clock = time.Now()
	case "call":
		*s.flag = flagReturn
		s.call()
	case "wait": // in inner
		*s.flag = flagWait
		fmt.Println("ready")
		s.call()
	case "crash": // in inner; the kernel writes a core
		*s.flag = flagCrash
		var defaultAction [4]uint64
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGILL), uintptr(unsafe.Pointer(&defaultAction)), 0, 8, 0, 0)
		if errno != 0 {
			check(errno)
		}
		s.call()
	case "sleep": // n milliseconds; without an argument for ever
		if n > 0 {
			time.Sleep(time.Duration(n) * time.Millisecond)
			return
		}
		fmt.Println("ready")
		time.Sleep(time.Hour)
	case "churn": // rounds of publishing and withdrawing, and their time: "1000/2s"
		rounds, over, _ := strings.Cut(argument, "/")
		n, err := strconv.Atoi(rounds)
		check(err)
		d, err := time.ParseDuration(over)
		check(err)
		s.churn(n, d)
	case "stats":
		fmt.Printf("%+v\n", s.publisher.Stats())
	default:
		check(fmt.Errorf("unknown step %q", verb))
	}
}

//go:noinline
func mark() {}

//go:noinline
func goal() {}

//go:noinline
func (s *state) call() {
	fmt.Println("result", call(uintptr(s.code.Address()), uintptr(unsafe.Pointer(s.flag))))
}

// publishMany publishes functions that are never called, one at a time.
func (s *state) publishMany(n int) {
	for range n {
		s.publishBatch(1)
	}
}

// publishBatch publishes functions that are never called, in one batch, at addresses
// without memory.
func (s *state) publishBatch(n int) {
	const stride = 64
	c := &jit.Code{Address: s.code.Address() + 4096 + uint64(s.next)*stride, Text: make([]byte, n*stride), Functions: make([]jit.Function, n)}
	for i := range c.Functions {
		c.Functions[i] = jit.Function{Name: "many_" + strconv.Itoa(s.next), Offset: uint64(i) * stride, Size: stride, Unwind: innerUnwind,
			Lines: []jit.Line{{File: source, Line: 1000 + s.next}, {Offset: 8, File: source, Line: 1001 + s.next}}}
		s.next++
	}
	r, err := s.publisher.Publish(c)
	check(err)
	s.many = append(s.many, r)
}
