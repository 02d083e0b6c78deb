// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !cgo || !linux || android

package libgcc

// findUnwinders returns none, because there is no C runtime, or it is untested.
func findUnwinders() []*unwinder { return nil }

// processMemory is never used.
type processMemory struct{}

func (processMemory) allocate(size int) []byte { return make([]byte, size) }
func (processMemory) release([]byte)           {}
