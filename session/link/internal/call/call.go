// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Package call calls native code on the goroutine's stack, for tests. A fault ends the program. The
// code has 60,000 bytes of stack.
package call

// Call calls the function at an address with up to four arguments.
func Call(code uint64, a0, a1, a2, a3 uint64) uint64
