// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && arm64

// Command init is process 1 of the emulated arm64 machine of scripts/test-arm64. Under the
// name of a compiler it asks the host to run that compiler.
package main
