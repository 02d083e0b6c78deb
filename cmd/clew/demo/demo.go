// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package demo

import (
	"bufio"
	"debug/elf"
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

// sourceVariable is set in the program's environment: where its source is.
const sourceVariable = "CLEW_DEMO_SOURCE"

// depth of the labyrinth: frames of the word left.
const depth = 4

// notice is what the program says when it waits.
const notice = "ready\n"

// Program is the program while it runs.
type Program struct {
	PID    int    // also the ID of the thread that is in the labyrinth
	Folder string // has the source and, later, what tools write; removed by Close

	command *exec.Cmd
	pipe    *os.File // what the program waits for
}

// Start starts the program, and returns when it waits in its innermost word. It
// also writes a jitdump to its folder.
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

// Source is the path of the program's source.
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
		// The jitdump is for perf, should it come.
		"CLEW_PERF=jitdump", "JITDUMPDIR="+p.Folder,
		// The runtime would interrupt a thread every 10 ms that does not yield.
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
		return fmt.Errorf("the demo's program said %q, expected %q: %w", line, notice, err)
	}
	return nil
}

// Wander makes the program leave the labyrinth, and walk about in a larger one
// until Close.
func (p *Program) Wander() error {
	_, err := p.pipe.WriteString("\n")
	return err
}

// SymbolFile writes the symbol file of the program's words to a file in the
// folder, as debuggers find it in memory, and returns its path.
func (p *Program) SymbolFile() (string, error) {
	program, err := forth.Compile(p.Source(), source, options())
	if err != nil {
		return "", err
	}
	const address = 0x1000 // wherever: the program's words do not depend on it
	image, err := symfile.Append(nil, program.Code(address, program.Text))
	if err != nil {
		return "", err
	}
	name := filepath.Join(p.Folder, "labyrinth.elf")
	return name, os.WriteFile(name, image, 0o600)
}

// Symbols reports whether the program has a symbol table, by which debuggers find
// the list of generated code.
func (p *Program) Symbols() bool {
	f, err := elf.Open(p.command.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".symtab") != nil
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
