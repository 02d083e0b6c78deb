// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || !(amd64 || arm64)

package sigchld

// Quiet does nothing on this system.
func Quiet() (restore func()) { return func() {} }
