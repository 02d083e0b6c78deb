// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import "errors"

// Watch is what a debug register watches.
type Watch struct {
	Address uint64
	Size    int // bytes: 1, 2, 4 or 8; Address is a multiple of it
	Access  WatchAccess
}

// WatchAccess is what it watches for.
type WatchAccess uint8

const (
	Execute WatchAccess = iota
	Write
	ReadWrite
)

// ErrWatches says that there are not that many debug registers.
var ErrWatches = errors.New("too many debug registers are asked for")
