// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Forth compiles a Forth program to machine code and runs it. The word pause
// waits for Enter, so that debuggers and profilers can be tried.
//
//	go run ./examples/forth/cmd/forth FILE.fth
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clewdev/clew/examples/forth"
	_ "github.com/clewdev/clew/jit/gdb" // gdb, lldb, clew
	"github.com/clewdev/clew/jit/perf"
	_ "github.com/clewdev/clew/jit/perf/environment" // perf, where CLEW_PERF asks for it
)

func main() {
	frames := flag.Bool("frame-pointers", false, "words keep a frame pointer")
	perDefinition := flag.Bool("per-definition", false, "publish each word as a separate batch")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: forth [flags] FILE.fth")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	program, err := compile(flag.Arg(0), &forth.Options{FramePointers: *frames, SpaceAfter: perf.SpaceAfter})
	if err != nil {
		fmt.Fprintln(os.Stderr, "forth:", err)
		os.Exit(2)
	}
	if err := run(program, *perDefinition); err != nil {
		fmt.Fprintln(os.Stderr, "forth:", err)
		os.Exit(1)
	}
}

func compile(name string, options *forth.Options) (*forth.Program, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	// Tools that show the source look for it from folders of their own.
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	return forth.Compile(path, source, options)
}

func run(program *forth.Program, perDefinition bool) error {
	session, err := forth.Load(program, &forth.SessionOptions{
		Output: os.Stdout, PerDefinition: perDefinition,
		Paused: os.Stderr, Resume: os.Stdin,
		Notice: fmt.Sprintf("process %d pauses; press Enter to continue\n", os.Getpid()),
	})
	if err != nil {
		return err
	}
	defer session.Close()
	if err := session.Failed(); err != nil {
		fmt.Fprintln(os.Stderr, "forth: published to some tools only:", err)
	}
	return session.Run()
}
