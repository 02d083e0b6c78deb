// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !cgo || !linux || android || !(amd64 || arm64)

package cgotraceback

// Active reports whether the package does anything in this program.
func Active() bool { return false }

// Configure sets the limits.
func Configure(Options) {}

// Prepare brings the tables up to date.
func Prepare() error { return nil }

// ReadCounters returns the counters.
func ReadCounters() Counters { return Counters{} }
