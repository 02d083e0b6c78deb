// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !cgo || !linux || android || (!amd64 && !arm64)

package libunwind

// loaded reports that there is no libunwind: it needs a C runtime.
func loaded() bool { return false }

func register(uint64) {}

func cancel(info, low, high uint64) {}
