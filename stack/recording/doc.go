// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package recording makes named stacks from the samples of a perf recording. The frames of
// the kernel come first. The user part is walked by call frame information if the sample
// has registers and a copy of the stack; otherwise it is the recorded call chain. Jitdumps
// and perf maps name generated code, and jitdumps contain its unwind tables. If the recorded
// processes still run ([Options.Live]), so do the lists of generated code in their memory.
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
// [Read] follows the processes through time: what they map, fork and execute. It counts
// equal stacks and names each address once, so the size of a Recording grows with the
// number of different stacks, not of samples.
//
// Files are opened by their recorded path, or found by build ID through package debugfile.
// A file with another build ID than the recorded one is refused. [Recording.Notes] says
// what was missing, refused or cut.
//
// The package writes no file, runs no program, and prints nothing.
package recording
