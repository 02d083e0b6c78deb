// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package variable reads the variables of the frames of a [snapshot.Snapshot]:
// arguments and locals, inlined calls' too, by the debugging information of the
// objects that the frames lie in.
//
// A [Reader] makes of each frame of a stack a [Frame], which package value reads
// variables in: from the registers that the walk has recovered, from the stack
// that was copied while the target stood still, and from its memory else. Of a
// live process that is as it is now; [Frame.Late] tells when that counts.
//
// An object's debugging information is opened when a frame in it is asked for,
// and of that the units that frames lie in.
//
// The package prints nothing: that is for package value's Printer, which a
// Reader gives the names of addresses.
package variable
