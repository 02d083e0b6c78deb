// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package demo

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/jit/symfile"
)

//go:embed labyrinth.fth
var source []byte

const (
	// sourceVariable is the environment variable with the path of the program's source.
	sourceVariable = "CLEW_DEMO_SOURCE"
	// depth is the number of frames of the word left.
	depth = 4
	// notice is the program's output when it waits.
	notice = "ready\n"
)

// Program is the running program.
type Program struct {
	PID    int    // also the ID of the thread in the labyrinth
	Folder string // for the source and the files of tools; Close removes it

	command *exec.Cmd
	pipe    *os.File // the program's standard input
}

// Start starts the program, and returns when it waits in its innermost word. The program writes a
// jitdump to its folder.
func Start() (*Program, error) {
	folder, err := os.MkdirTemp("", "clew-demo-")
	if err != nil {
		return nil, err
	}
	p := &Program{Folder: folder}
	if err := p.start(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Source returns the path of the program's source.
func (p *Program) Source() string { return filepath.Join(p.Folder, "labyrinth.fth") }

func (p *Program) start() error {
	if err := os.WriteFile(p.Source(), source, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(),
		sourceVariable+"="+p.Source(),
		"CLEW_PERF=jitdump", "JITDUMPDIR="+p.Folder,
		// Otherwise the runtime interrupts a thread that does not yield every 10 ms.
		"GODEBUG=asyncpreemptoff=1")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	command.Stdin, p.pipe = stdin, pipe
	err = command.Start()
	stdin.Close()
	if err != nil {
		return err
	}
	p.command, p.PID = command, command.Process.Pid
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != notice {
		return fmt.Errorf("the demo's program printed %q, expected %q: %w", line, notice, err)
	}
	return nil
}

// Wander makes the program leave the labyrinth and walk through a larger one until Close.
func (p *Program) Wander() error {
	_, err := p.pipe.WriteString("\n")
	return err
}

// SymbolFile writes the symbol file of the program's words, which debuggers find in memory, to the
// folder, and returns its path.
func (p *Program) SymbolFile() (string, error) {
	program, err := forth.Compile(p.Source(), source, options())
	if err != nil {
		return "", err
	}
	const address = 0x1000 // the words do not depend on it
	image, err := symfile.Append(nil, program.Code(address, program.Text))
	if err != nil {
		return "", err
	}
	name := filepath.Join(p.Folder, "labyrinth.elf")
	return name, os.WriteFile(name, image, 0o600)
}

// Close ends the program and removes its folder.
func (p *Program) Close() error {
	if p.command != nil {
		p.command.Process.Kill()
		p.command.Wait()
	}
	if p.pipe != nil {
		p.pipe.Close()
	}
	return os.RemoveAll(p.Folder)
}
