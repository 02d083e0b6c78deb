// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package demo

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/examples/forth"
	_ "github.com/clewdev/clew/jit/gdb" // publishes the words
	"github.com/clewdev/clew/jit/perf"
	_ "github.com/clewdev/clew/jit/perf/environment"
)

// The words run on the first thread of the process, which has the ID of the process.
func init() {
	if os.Getenv(sourceVariable) != "" {
		runtime.LockOSThread()
	}
}

// Main runs the program and returns true if Start has started this process; otherwise it returns
// false at once. The program ends with the process that started it.
func Main() (isProgram bool) {
	path := os.Getenv(sourceVariable)
	if path == "" {
		return false
	}
	if err := run(path); err != nil {
		fmt.Fprintln(os.Stderr, "clew demo:", err)
		os.Exit(1)
	}
	return true
}

// options compiles words that perf can walk both by frame pointers, which the Go code has too, and
// by unwind tables, which the Go code lacks.
func options() *forth.Options {
	return &forth.Options{FramePointers: true, SpaceAfter: perf.SpaceAfter}
}

func run(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	program, err := forth.Compile(path, text, options())
	if err != nil {
		return err
	}
	// With Yama, debuggers of the same user may attach only after this. Without Yama it fails,
	// and they may attach anyway.
	_ = unix.Prctl(unix.PR_SET_PTRACER, unix.PR_SET_PTRACER_ANY, 0, 0, 0)
	session, err := forth.Load(program, &forth.SessionOptions{
		Paused: os.Stdout, Resume: os.Stdin, Notice: notice,
	})
	if err != nil {
		return err
	}
	defer session.Close()
	parent := os.Getppid()
	if _, err := session.Call("labyrinth", depth); err != nil {
		return err
	}
	for os.Getppid() == parent {
		if _, err := session.Call("wander", 20); err != nil {
			return err
		}
	}
	return nil
}
