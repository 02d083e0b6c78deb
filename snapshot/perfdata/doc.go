// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package perfdata reads perf.data, the recordings of Linux's perf: the file
// that perf record writes, and the stream that perf record -o - writes to a pipe.
// It returns decoded records in the order of time, and the contents of the header:
// events, build IDs, the machine, the clock.
//
//	r, err := perfdata.Open("perf.data")
//	…
//	defer r.Close()
//	for {
//		rec, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		…
//		switch body := rec.Body.(type) {
//		case *perfdata.Mmap: …
//		case *perfdata.Sample: …
//		}
//	}
//
// # Order
//
// perf writes the buffers of processors one after the other, in rounds, so a record can
// follow a record of a later time. When a round ends, the recording contains every record up
// to the time of the newest record of the previous round. The Reader sorts and returns
// these records. Records without a time, records of time 0 (which perf makes up before the
// recording begins) and perf's own records do not wait for the end of a round.
//
// Records that wait for the end of their round are kept encoded. If rounds are too large or
// never end, that could be the whole recording. Therefore the Reader returns the older half
// when they exceed 32 MiB. A record that is older than one
// already returned is late: Counts.Late counts it.
//
// # Memory and speed
//
// A Reader allocates no records: a Record, its body and its slices belong to the Reader,
// and the next call of Next overwrites them. The memory of a Reader does not depend on the
// size of the recording: it takes at most 64 MiB, and space for the events and build IDs
// that the recording lists. The window of zstd takes additional memory, which depends on
// the level: perf record -z takes 512 KiB, -z19 takes 8 MiB, -z22 takes 128 MiB.
//
// A regular file is mapped, one MiB at a time, and the slices of a record are bytes of
// the file. If the file is truncated meanwhile, Next returns an error, and reading a
// slice faults. object.Guard turns such a fault into an error.
//
// # Invalid input
//
// A record that cannot be read has Record.Err, and the parts of it that could be read.
// A truncated file gives the records before its end, and then an error that wraps
// io.ErrUnexpectedEOF and names the offset.
//
// The package walks no stack and opens no file but the recording.
package perfdata
