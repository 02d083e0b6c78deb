// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package exchange

import (
	"fmt"
	"path/filepath"
)

// A Call is a request to run a program.
type Call struct {
	Args []string // the program's path, or its name if the machine calls
	Dir  string   // the working directory, which exists on both sides
	Env  []string // changes of the environment: "GOGC=5"

	// Files are first written to the same paths on the other side, with their parent
	// directories.
	Files map[string][]byte
	// Folder is a directory for output, which is made on the other side, or "".
	Folder string
	Stdin  []byte

	Together bool // standard error goes to standard output
	// Port is a port of the machine on 127.0.0.1, or 0. It occurs in the arguments. The
	// program connects to it through streams: see ToMachine.
	Port int
}

// A Result is the result of a Call.
type Result struct {
	Status         int    // as in a shell: 128 plus the number of the signal that ended the program
	Error          string // why the program was not run, or ""
	Stdout, Stderr []byte
}

// The directories of the exchange.
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

// The streams of call X, which has a port.
func ToMachine(root, x string) string   { return filepath.Join(ToolFolder(root), x+".to") }
func FromMachine(root, x string) string { return filepath.Join(ToolFolder(root), x+".from") }

// Ended returns the file with the reason why the machine has ended.
func Ended(root string) string { return filepath.Join(root, "ended") }

// Variable is the environment variable with the root of the exchange, on both sides.
const Variable = "CLEW_MACHINE"

// Tools are the host's commands for the programs that tests in the machine call.
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

	"host-lldb-14": {"lldb-14"}, // the machine's own lldb is slow
}
