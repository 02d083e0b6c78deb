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

// unregisterFirst reports whether old symbol files must be unregistered before their
// replacements are registered. lldb 14 knows one section at an address: when the old one is
// unregistered, it forgets the new one that starts there. gdb accepts both. If the new file
// is registered first, gdb's breakpoints stay inserted all the time, and no thread misses
// one.
func unregisterFirst() bool {
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
	return !bytes.HasPrefix(name, []byte("gdb")) // or gdbserver
}
