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
	_ "github.com/clewdev/clew/jit/gdb" // who publishes the words
	"github.com/clewdev/clew/jit/perf"
	_ "github.com/clewdev/clew/jit/perf/environment"
)

// The words run on the process's first thread, which the ID of the process names.
func init() {
	if os.Getenv(sourceVariable) != "" {
		runtime.LockOSThread()
	}
}

// Main is the program, where its environment says that this process is it; else
// it returns false at once. It ends with the process that started it.
func Main() (itself bool) {
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

// options makes words that perf finds its way through by frame pointers, which
// the Go program around them has too, and by their unwind tables, which it lacks.
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
	// Debuggers of the same user may attach, also where the kernel lets parents
	// only (Yama). Where it is not built in, that is allowed anyway.
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
