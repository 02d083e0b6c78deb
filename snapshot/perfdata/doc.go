// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package perfdata reads perf.data, the recordings of Linux's perf: the file
// that perf record writes, and the stream that perf record -o - writes to a pipe.
// It hands out their records in the order of time, decoded, and what the
// recording tells of itself: events, build IDs, the machine, the clock.
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
// perf writes the buffer of one processor after the other, in rounds, so that
// records of a later time may stand before those of an earlier one. When a round
// is finished, all records are there that are as old as the newest of the round
// before; these are sorted and handed out. Records without a time, those of time
// 0 (made up by perf before the recording began) and those of perf itself come at
// once.
//
// What waits for its round is kept as it was read. Where rounds are never
// finished or are too large, it would be the whole recording: of more than
// 32 MiB the older half is handed out. A record that then turns out to be older
// than one that was handed out before it comes late, and is counted: Counts.Late.
//
// # Memory and speed
//
// No record is allocated: a Record, its body, and the slices in it are the
// Reader's, and are overwritten by the next call of Next. The memory that a
// Reader takes does not depend on the size of the recording: some MiB, at most
// 64 MiB, and the events and build IDs that the recording lists. On top comes the
// window of zstd, which is that of the level: perf record -z takes 512 KiB, -z19
// takes 8 MiB, -z22 takes 128 MiB.
//
// A regular file is mapped, a MiB of it at a time, and the slices of a record are
// bytes of the file. Where somebody cuts the file in the meantime, Next returns an
// error. Who reads a slice of a record then faults, but for object.Guard.
//
// # Bad input
//
// A record whose content cannot be read is handed out with Record.Err and what of
// it could be read. A file that was cut gives the records before the cut, and
// then an error that wraps io.ErrUnexpectedEOF and says where.
//
// The package walks no stack and opens no file but the recording.
package perfdata
