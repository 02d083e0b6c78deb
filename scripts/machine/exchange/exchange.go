// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package exchange

import (
	"fmt"
	"path/filepath"
)

// A Call is a program to be run.
type Call struct {
	Args []string // the program's path or, where the machine calls, its name there
	Dir  string   // the working directory, a path that both sides have
	Env  []string // what the caller wants to be different ("GOGC=5")

	// Files are written to the same paths on the other side first, with the
	// folders that they need.
	Files map[string][]byte
	// Folder is made on the other side, or "": one that output is written to.
	Folder string
	Stdin  []byte

	Together bool // standard error goes to where the output does
	// Port is one of the machine's on 127.0.0.1, or 0. It stands in the arguments,
	// and the program connects to it by streams: see ToMachine.
	Port int
}

// A Result is how it went.
type Result struct {
	Status         int    // as of a shell: 128 and the signal's number for a program that one ended
	Error          string // why nothing was run, or ""
	Stdout, Stderr []byte
}

// The folders of the exchange.
func RunFolder(root string) string  { return filepath.Join(root, "run") }
func ToolFolder(root string) string { return filepath.Join(root, "tool") }

// The files of run N.
func RunCall(root string, n int) string   { return runFile(root, n, "call") }
func RunOutput(root string, n int) string { return runFile(root, n, "out") }
func RunStatus(root string, n int) string { return runFile(root, n, "status") }

func runFile(root string, n int, kind string) string {
	return filepath.Join(RunFolder(root), fmt.Sprintf("%d.%s", n, kind))
}

// The files of the machine's call X.
func ToolCall(root, x string) string   { return filepath.Join(ToolFolder(root), x+".call") }
func ToolResult(root, x string) string { return filepath.Join(ToolFolder(root), x+".result") }

// The streams of call X that has a port.
func ToMachine(root, x string) string   { return filepath.Join(ToolFolder(root), x+".to") }
func FromMachine(root, x string) string { return filepath.Join(ToolFolder(root), x+".from") }

// Ended is the file that tells why the machine is gone.
func Ended(root string) string { return filepath.Join(root, "ended") }

// Variable is where the machine's init and the programs that it starts find the
// exchange's root, and programs on the host likewise.
const Variable = "CLEW_MACHINE"

// Tools are the programs that the machine has the host run, under the names by
// which a test there calls them, with what the host runs for each.
var Tools = map[string][]string{
	"clang":     {"clang", "--target=aarch64-linux-gnu"},
	"clang-14":  {"clang-14", "--target=aarch64-linux-gnu"},
	"go":        {"go"}, // with GOARCH=arm64 in its environment
	"addr2line": {"aarch64-linux-gnu-addr2line"},
	"as":        {"aarch64-linux-gnu-as"},
	"g++":       {"aarch64-linux-gnu-g++"},
	"gcc":       {"aarch64-linux-gnu-gcc"},
	"ld":        {"aarch64-linux-gnu-ld"},
	"nm":        {"aarch64-linux-gnu-nm"},
	"objcopy":   {"aarch64-linux-gnu-objcopy"},
	"objdump":   {"aarch64-linux-gnu-objdump"},
	"readelf":   {"aarch64-linux-gnu-readelf"},
	"strip":     {"aarch64-linux-gnu-strip"},

	"host-lldb-14": {"lldb-14"}, // the machine has one of its own, which is slow
}
