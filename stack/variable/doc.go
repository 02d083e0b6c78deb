// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package variable reads the variables of the frames of a [snapshot.Snapshot]: arguments and
// locals, also those of inlined calls. It uses the debugging information of the frames'
// objects.
//
// A [Reader] makes a [Frame] for each frame of a stack. Package value reads variables
// in it: from the registers that the walk recovered, from the stack that was copied
// while the target stood still, and otherwise from the target's memory. For a live process
// that is its current memory; [Frame.Late] reports whether a value depends on it.
//
// An object's debugging information is opened at the first request for a frame in the
// object. Only the units that contain frames are read.
//
// The package prints nothing. Package value/print prints values, with the names of addresses
// that a Reader returns.
package variable
