// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && arm64

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// run runs a copy of a program of the host, and copies its output to the host.
func run(root string, n int, text []byte) (status int, err error) {
	var c exchange.Call
	if err := json.Unmarshal(text, &c); err != nil {
		return 0, fmt.Errorf("%s: %w", exchange.RunCall(root, n), err)
	}
	content, err := readHost(c.Args[0])
	if err != nil {
		return 0, err
	}
	if err := writeProgram(c.Args[0], content); err != nil {
		return 0, err
	}
	defer os.Remove(c.Args[0])
	output, err := open(exchange.RunOutput(root, n), openWrite)
	if err != nil {
		return 0, err
	}
	defer output.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	ended, err := start(c.Args, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   environment(root, c),
		Files: []uintptr{null.Fd(), w.Fd(), w.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	w.Close()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Args[0], err)
	}
	copied := make(chan struct{})
	go func() {
		io.Copy(output, r)
		close(copied)
	}()
	ws := <-ended
	// Child processes can keep the pipe open forever.
	select {
	case <-copied:
	case <-time.After(2 * time.Second):
	}
	if ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}

// environment returns the environment of a run, and makes its directories accessible to all
// users.
func environment(root string, c exchange.Call) []string {
	temporary := filepath.Join(root, "tmp") // exists on both sides: see runTool
	os.MkdirAll(temporary, 0o1777)
	os.Chmod(temporary, 0o1777)
	os.Chmod(root, 0o755)
	return append([]string{
		exchange.Variable + "=" + root,
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin",
		"HOME=" + temporary,
		"TMPDIR=" + temporary,
		"TERM=dumb",
	}, c.Env...)
}

// writeProgram writes a program and its parent directories.
func writeProgram(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// A process that is started meanwhile has the file open until it executes its own
	// program, so that this program could not be executed (ETXTBSY).
	children.Lock()
	defer children.Unlock()
	return os.WriteFile(path, content, 0o755)
}

// children are the children that run started. Process 1 also gets the orphans of all other
// processes, and wait4(-1) returns both.
var children = struct {
	sync.Mutex
	ended map[int]chan syscall.WaitStatus
}{ended: make(map[int]chan syscall.WaitStatus)}

func start(args []string, attr *syscall.ProcAttr) (<-chan syscall.WaitStatus, error) {
	children.Lock() // reap must not run before the child is in the map
	defer children.Unlock()
	pid, err := syscall.ForkExec(args[0], args, attr)
	if err != nil {
		return nil, err
	}
	ended := make(chan syscall.WaitStatus, 1)
	children.ended[pid] = ended
	return ended, nil
}

func reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			time.Sleep(pollInterval)
		}
		if err != nil {
			continue
		}
		children.Lock()
		if ended := children.ended[pid]; ended != nil {
			delete(children.ended, pid)
			ended <- ws
		}
		children.Unlock()
	}
}

// under reports whether a path is below a directory.
func under(path, folder string) bool {
	return strings.HasPrefix(path, folder+string(filepath.Separator))
}
