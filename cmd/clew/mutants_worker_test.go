// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/session/dap"
)

func init() {
	if os.Getenv("CLEW_MUTANT_WORKER") != "" {
		asWorker = mutantWorker
	}
}

// mutantRun is a command that a worker executes.
type mutantRun struct {
	Args []string
}

// mutantResult is the result of a command.
type mutantResult struct {
	Code   int
	Escape string // the first text in the output that is not printable, or ""
	Memory int64  // peak of the worker, in bytes
	Output int    // bytes
}

// mutantStack is the limit for stacks, in bytes. No command needs that much.
const mutantStack = 64 << 20

// mutantWorker reads commands from descriptor 3, executes them in this process, and answers at
// descriptor 4. A process for each command would take most of the time. A panic or a stack overflow
// ends the process, which its parent notices.
func mutantWorker() {
	debug.SetMaxStack(mutantStack)
	in, out := json.NewDecoder(os.NewFile(3, "commands")), json.NewEncoder(os.NewFile(4, "results"))
	files := [2]*os.File{}
	for i := range files {
		f, err := os.CreateTemp("", "output")
		if err != nil {
			panic(err)
		}
		os.Remove(f.Name())
		files[i] = f
	}
	for {
		var r mutantRun
		if in.Decode(&r) != nil {
			return
		}
		var result mutantResult
		for _, f := range files {
			f.Truncate(0)
			f.Seek(0, io.SeekStart)
		}
		output.Stdout, output.Stderr = &output.Stream{File: files[0]}, &output.Stream{File: files[1]}
		switch r.Args[0] {
		case "dap":
			result.Escape = serveMutant(r.Args[1])
		case "worker":
			misbehave(r.Args[1], r.Args[2:])
		default:
			result.Code = run(r.Args)
		}
		for _, f := range files {
			text, escape := unprintable(f)
			result.Output += text
			if result.Escape == "" {
				result.Escape = escape
			}
		}
		var usage syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
		result.Memory = usage.Maxrss << 10
		out.Encode(&result)
	}
}

// unprintable returns the size of a file, and the first part of it that is not printable text.
func unprintable(f *os.File) (size int, found string) {
	f.Seek(0, io.SeekStart)
	buffer := make([]byte, 1<<16)
	kept := 0
	for {
		n, err := f.Read(buffer[kept:])
		b := buffer[:kept+n]
		size += n
		for len(b) > 0 && (utf8.FullRune(b) || err != nil) {
			r, width := utf8.DecodeRune(b)
			if found == "" && (r == utf8.RuneError && width == 1 || r != '\n' && r != '\t' && !unicode.IsPrint(r)) {
				found = fmt.Sprintf("%q", b[:min(len(b), 80)])
			}
			b = b[width:]
		}
		kept = copy(buffer, b)
		if err != nil {
			return size, found
		}
	}
}

// serveMutant serves an editor that sends the messages in a file.
func serveMutant(path string) (escape string) {
	messages, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	client, stream := net.Pipe()
	go func() {
		client.Write(messages)
		client.Close()
	}()
	answers := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(client)
		answers <- b
	}()
	dap.New(dap.Options{}).ServeConnection(stream)
	for line := range bytes.Lines(<-answers) {
		for _, r := range string(bytes.TrimRight(line, "\r\n")) {
			if r < ' ' || r == 0x7f {
				return fmt.Sprintf("%q", line)
			}
		}
	}
	return ""
}

// misbehave fails in the ways that TestMutantsAreJudged expects to be noticed.
func misbehave(how string, args []string) {
	switch how {
	case "panic":
		panic("as asked")
	case "overflow":
		fmt.Fprintln(output.Stdout, overflow(1))
	case "spin":
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
			spun++
		}
	case "wait":
		select {}
	case "print":
		text, _ := strconv.Unquote(args[0])
		fmt.Fprintln(output.Stdout.Raw(), text)
	case "complain":
		text, _ := strconv.Unquote(args[0])
		fmt.Fprintln(output.Stderr.Raw(), text)
	case "stop":
		if pid, err := strconv.Atoi(args[0]); err == nil {
			syscall.Kill(pid, syscall.SIGSTOP)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// spun counts the iterations of a loop, so that the loop is not empty.
var spun int

// overflow calls itself until the stack overflows, from which a Go program cannot recover.
func overflow(n int) int {
	if n == deepest {
		return 0
	}
	return overflow(n+1) + n
}

// deepest is a variable, so that for an analyser the recursion can end.
var deepest = math.MaxInt
