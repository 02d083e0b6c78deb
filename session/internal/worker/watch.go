// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import "errors"

// Watch is the setting of a debug register.
type Watch struct {
	Address uint64
	Size    int // bytes: 1, 2, 4 or 8; Address is a multiple of it
	Access  WatchAccess
}

// WatchAccess is the kind of access that matches.
type WatchAccess uint8

const (
	Execute WatchAccess = iota
	Write
	ReadWrite
)

// ErrWatches means that the machine has fewer debug registers.
var ErrWatches = errors.New("not enough debug registers")
