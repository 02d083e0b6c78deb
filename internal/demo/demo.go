// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package demo holds the program that `clew demo` shows: labyrinth.c, built for
// amd64 by the command in its first comment and kept as an ELF file, so that
// nothing but Go is needed to run it.
package demo

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

//go:embed labyrinth/labyrinth_amd64.elf
var amd64 []byte

// Program is the program while it runs.
type Program struct {
	PID  int
	Path string // of its ELF file, until Close

	command *exec.Cmd
	folder  string
}

// Start writes the program to a temporary folder, starts it, and returns when
// it waits in its innermost function.
func Start() (*Program, error) {
	if runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("the demo's program is for amd64, and this machine is %s", runtime.GOARCH)
	}
	folder, err := os.MkdirTemp("", "clew-demo-")
	if err != nil {
		return nil, err
	}
	p := &Program{Path: filepath.Join(folder, "labyrinth"), folder: folder}
	if err := p.start(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Program) start() error {
	if err := os.WriteFile(p.Path, amd64, 0o700); err != nil {
		return err
	}
	command := exec.Command(p.Path)
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	p.command, p.PID = command, command.Process.Pid
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		return fmt.Errorf("the demo's program said %q, expected \"ready\": %w", line, err)
	}
	return nil
}

// Close ends the program and removes its folder.
func (p *Program) Close() error {
	if p.command != nil {
		p.command.Process.Kill()
		p.command.Wait()
	}
	return os.RemoveAll(p.folder)
}
