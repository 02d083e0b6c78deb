// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// serveTools runs the tools that the machine calls.
func serveTools(ctx context.Context, root string) {
	folder := exchange.ToolFolder(root)
	poll(ctx, 20*time.Millisecond, func() bool {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			x, ok := strings.CutSuffix(e.Name(), ".call")
			if !ok {
				continue
			}
			path := exchange.ToolCall(root, x)
			text, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			os.Remove(path)
			go func() {
				text, _ := json.Marshal(runTool(ctx, root, x, text))
				new := filepath.Join(folder, x+".written")
				if err := os.WriteFile(new, text, 0o644); err == nil {
					os.Rename(new, exchange.ToolResult(root, x))
				}
			}()
		}
		return false
	})
}

func runTool(ctx context.Context, root, x string, text []byte) *exchange.Result {
	var c exchange.Call
	if err := json.Unmarshal(text, &c); err != nil {
		return &exchange.Result{Error: err.Error()}
	}
	command := exchange.Tools[c.Args[0]]
	for _, other := range exchange.Tools {
		if command == nil && other[0] == c.Args[0] { // the host's name
			command = other
		}
	}
	if command == nil {
		return &exchange.Result{Error: fmt.Sprintf("%s is not a tool of the host", c.Args[0])}
	}
	for path, content := range c.Files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			return &exchange.Result{Error: err.Error()}
		}
	}
	for _, folder := range []string{c.Dir, c.Folder} {
		if folder == "" {
			continue
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return &exchange.Result{Error: err.Error()}
		}
	}
	args := c.Args[1:]
	if c.Port != 0 {
		r, err := newRelay(root, x)
		if err != nil {
			return &exchange.Result{Error: err.Error()}
		}
		defer r.close()
		args = r.replace(args, c.Port)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], args...)...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CC=aarch64-linux-gnu-gcc", "CXX=aarch64-linux-gnu-g++")
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Stdin), &stdout, &stderr
	if c.Together {
		cmd.Stderr = cmd.Stdout
	}
	r := new(exchange.Result)
	if err := cmd.Run(); err != nil {
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) {
			return &exchange.Result{Error: err.Error()}
		}
		r.Status = max(exit.ExitCode(), 1)
	}
	r.Stdout, r.Stderr = stdout.Bytes(), stderr.Bytes()
	return r
}
