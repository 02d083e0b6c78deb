// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// residentFiles returns how many bytes of mapped files this process has in memory.
func residentFiles(t *testing.T) (n int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscanf(line, "%d kB", &n); !ok || err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return n << 10
}

// peak reads a recording of samples of 4,000 bytes, in rounds of some hundred or without
// rounds. It returns the maximum memory: the live heap, and the mapped parts of the file.
func peak(t *testing.T, samples int, rounds bool) (most int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	m := newMade()
	stack := make([]byte, 4000)
	for i := range samples {
		m.record(perfdata.TypeSample, perfdata.Misc(perfdata.ModeUser), func(m *made) {
			m.words(0x1000 + uint64(i%500))
			m.halves(1, uint32(1+i%3))
			m.words(uint64(1 + i))
			m.Write(stack)
		})
		if rounds && i%300 == 299 {
			m.record(perfdata.TypeFinishedRound, 0, func(*made) {})
		}
		if _, err := m.WriteTo(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := perfdata.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var stats runtime.MemStats
	memory := func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc) + residentFiles(t)
	}
	before := memory()
	rec, err := Read(r, Options{
		Each:     func(*Sample) error { return nil },
		Progress: func(int64) { most = max(most, memory()-before) },
	})
	if err != nil || rec.Samples != uint64(samples) {
		t.Fatalf("%d samples of %d, %v", rec.Samples, samples, err)
	}
	if late := rec.Counts.Late; late != 0 {
		t.Errorf("%d samples came late", late)
	}
	return most
}

// Memory does not depend on the size of the recording: ten times as many samples (80 MB) need
// no more than 8 MB of them. Without rounds it is bounded.
func TestMemory(t *testing.T) {
	small, large := peak(t, 2_000, true), peak(t, 20_000, true)
	t.Logf("%d KiB, of ten times the samples %d KiB", small>>10, large>>10)
	if large > small+2<<20 {
		t.Errorf("%d KiB, of ten times the samples %d KiB", small>>10, large>>10)
	}
	unordered := peak(t, 20_000, false)
	t.Logf("without rounds %d KiB", unordered>>10)
	if unordered > 40<<20 {
		t.Errorf("without rounds %d KiB", unordered>>10)
	}
}
