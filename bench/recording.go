// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"time"
)

// recordingMeasurements are of a recording of some 90,000 frames with copied
// stacks, and of one whose jitdump has 175,000 functions. The caller must call
// remove.
func recordingMeasurements(clew, data, jitted string) (all []*measurement, remove func(), err error) {
	remove = func() {}
	if clew == "" {
		return nil, remove, nil
	}
	if data != "" {
		long := data + ".long"
		remove = func() { os.Remove(long) }
		if err := repeatRecords(data, long, 10); err != nil {
			return nil, remove, fmt.Errorf("%s: %w", data, err)
		}
		all = append(all, &measurement{
			name: "perf.data of 90,000 frames, with names",
			clew: command("clew", 0, 20, clew, "perf", "--no-lines", data),
			peers: installed(
				peer{command("perf script --no-inline", 1.0/15, 80_000, "perf", "script", "--no-inline", "-i", data), "perf"},
			),
		}, &measurement{
			name: "the same, each sample printed",
			clew: command("clew", 0, 80_000, clew, "perf", "--no-lines", "--samples", data),
			peers: installed(
				peer{command("perf script --no-inline", 0, 80_000, "perf", "script", "--no-inline", "-i", data), "perf"},
			),
		})
	}
	if jitted != "" {
		all = append(all, &measurement{
			name: "perf.data with a jitdump of 175,000 functions",
			clew: command("clew", 0, 20, clew, "perf", "--no-lines", jitted),
			peers: []contender{{name: "2 s", goal: 1, run: func() (outcome, error) {
				return outcome{took: 2 * time.Second}, nil
			}}},
		})
	}
	return all, remove, nil
}

// repeatRecords writes a recording whose records are those of another, several times. The
// layout is that of struct perf_file_header in tools/perf/util/header.h: magic,
// size, attr_size, the sections (u64 offset, u64 size) of attributes, data and
// event types, a bitmap of features; behind the data is a section for each of them.
func repeatRecords(from, to string, times int) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	const header, dataSection, bitmap = 104, 40, 72
	word := func(at uint64) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	if len(b) < header || string(b[:8]) != "PERFILE2" && string(b[:8]) != "2ELIFREP" || word(8) != header {
		return errors.New("not a recording of this machine's perf")
	}
	start, size := word(dataSection), word(dataSection+8)
	features := 0
	for at := uint64(bitmap); at < header; at += 8 {
		features += bits.OnesCount64(word(at))
	}
	end := start + size
	if size == 0 || start > uint64(len(b)) || end > uint64(len(b)) || end+uint64(16*features) > uint64(len(b)) {
		return errors.New("not a whole recording")
	}
	add := func(at, n uint64) { binary.NativeEndian.PutUint64(b[at:], word(at)+n) }
	for i := range features {
		add(end+uint64(16*i), uint64(times-1)*size)
	}
	add(dataSection+8, uint64(times-1)*size)
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	parts := [][]byte{b[:start]}
	for range times {
		parts = append(parts, b[start:end])
	}
	for _, part := range append(parts, b[end:]) {
		if _, err := f.Write(part); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
