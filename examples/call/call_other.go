// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package call

import (
	"fmt"
	"runtime"
)

// Code panics: there is no function in assembly for this system or machine.
func Code(code, argument uintptr) uintptr {
	panic(fmt.Sprintf("call: generated code on %s/%s", runtime.GOOS, runtime.GOARCH))
}

// HostAddress panics, as Code does.
func HostAddress() uintptr { return Code(0, 0) }

// SetHost panics, as Code does.
func SetHost(f func(argument uintptr) uintptr) { Code(0, 0) }
