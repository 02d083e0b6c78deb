// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime_test

import (
	"fmt"
	"os"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/goruntime"
)

// The layout of the runtime's structures in the Go version of this test.
func ExampleLayoutOf() {
	name, err := os.Executable()
	if err != nil {
		panic(err)
	}
	f, err := object.Open(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	layout, err := goruntime.LayoutOf(f)
	if err != nil {
		panic(err)
	}
	fmt.Println(layout.States[goruntime.InSyscall])
	// Output: syscall
}
