// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package recording makes stacks of a recording of perf: of each sample the
// frames that the thread was in, kernel's first, walked by call frame information
// where the sample has registers and a copy of the stack, taken from the call
// chain where it has one. Generated code is named, and walked through, by the
// jitdumps and perf maps that the recording leads to.
//
//	r, err := perfdata.Open("perf.data")
//	…
//	defer r.Close()
//	rec, err := recording.Read(r, recording.Options{})
//	…
//	for i := range rec.Stacks {
//		for _, frame := range rec.Frames(&rec.Stacks[i]) {
//			…
//		}
//	}
//
// [Read] follows the processes of the recording through time: what they map,
// fork and execute. Equal stacks are counted, not kept, and each address is named
// once: what a Recording holds grows with the number of different stacks, not
// with that of samples.
//
// Files are taken by the path that the recording has, or by build ID from where
// package debugfile finds it, and never where their build ID is not that of the
// recording.
// [Recording.Notes] says what was missing, refused or cut.
//
// The package writes no file, runs no program, and prints nothing.
package recording
