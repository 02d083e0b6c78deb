// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"time"
)

// recordingMeasurements are of a recording of about 90,000 frames with copied stacks, and
// of one with a jitdump of 175,000 functions.
func recordingMeasurements(in inputs) (all []*measurement, err error) {
	if in.recording != "" {
		if err := repeatRecords(in.recording, in.longRecording(), 10); err != nil {
			return nil, fmt.Errorf("%s: %w", in.recording, err)
		}
		script := func(goal float64) []contender {
			return installed(command("perf script --no-inline", goal, 80_000, "perf", "script", "--no-inline", "-i", in.recording))
		}
		all = append(all, &measurement{
			name:  "perf.data of 90,000 frames, with names",
			clew:  command("clew", 0, 20, in.clew, "perf", "--no-lines", in.recording),
			peers: script(1.0 / 15),
		}, &measurement{
			name:  "the same, each sample printed",
			clew:  command("clew", 0, 80_000, in.clew, "perf", "--no-lines", "--samples", in.recording),
			peers: script(0),
		})
	}
	if in.jitted != "" {
		all = append(all, &measurement{
			name:  "perf.data with a jitdump of 175,000 functions",
			clew:  command("clew", 0, 20, in.clew, "perf", "--no-lines", in.jitted),
			peers: []contender{limit(2 * time.Second)},
		})
	}
	return all, nil
}

// repeatRecords writes a recording that repeats the records of another. The layout is
// struct perf_file_header in tools/perf/util/header.h: magic, size, attr_size, the sections
// (u64 offset, u64 size) of attributes, data and event types, and a bitmap of features. A
// section for each feature follows the data.
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
		return errors.New("the recording is truncated")
	}
	add := func(at, n uint64) { binary.NativeEndian.PutUint64(b[at:], word(at)+n) }
	for i := range features {
		add(end+uint64(16*i), uint64(times-1)*size)
	}
	add(dataSection+8, uint64(times-1)*size)
	return os.WriteFile(to, slices.Concat(b[:start], bytes.Repeat(b[start:end], times), b[end:]), 0o666)
}
