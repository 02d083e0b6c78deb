// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"bytes"
	"os"
	"strconv"
)

// takesTurns reports whether symbol files that others replace must be
// unregistered before those are registered. lldb 14 knows one section at an
// address: when the old one goes, it forgets the new one that starts there. gdb
// takes both, and with the new one there first it has its breakpoints inserted
// all the time, so that no other thread runs past one.
func takesTurns() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(status, []byte("\nTracerPid:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	tracer, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil || tracer == 0 {
		return false
	}
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(tracer) + "/comm")
	return !bytes.HasPrefix(name, []byte("gdb")) // nor gdbserver
}
