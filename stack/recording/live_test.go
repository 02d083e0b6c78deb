// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
)

// stopped is a system whose clock a test sets.
type stopped struct{ now uint64 }

func (s *stopped) Now() uint64                                    { return s.now }
func (s *stopped) Soon()                                          {}
func (s *stopped) StackWalked(int32, int32, uint64, uint64, bool) {}
func (s *stopped) Open(int32) (*snapshot.Snapshot, error)         { return nil, nil }

// A file that has not grown since a time is not read again. One that has grown is read, but not all the
// time: until then look-ups find nothing in it.
func TestGrowing(t *testing.T) { synctest.Test(t, testGrowing) }

func testGrowing(t *testing.T) {
	live := &stopped{now: 100}
	b := &builder{opts: Options{Live: live}}
	size, reads := int64(10), 0
	g := growing{until: 50, size: 10}
	catchUp := func(at uint64) bool {
		return g.catchUp(b, at, func() int64 { return size }, func() bool { reads++; return true })
	}
	if catchUp(50) || catchUp(60) || g.until != 100 || reads != 0 {
		t.Errorf("%d reads of a file that has not grown, known until %d", reads, g.until)
	}
	size, live.now = 20, 200
	if !catchUp(150) || reads != 1 || g.stale || g.until != 200 {
		t.Errorf("%d reads of a file that has grown, known until %d", reads, g.until)
	}
	size, live.now = 30, 300
	if !catchUp(250) || reads != 1 || !g.stale || catchUp(260) {
		t.Errorf("%d reads at once, and stale %v", reads, g.stale)
	}
	g.retry, b.nextRead = retry{}, time.Time{}
	if !catchUp(270) || reads != 2 || g.stale || g.until != 300 {
		t.Errorf("%d reads later, and stale %v", reads, g.stale)
	}
}

// Reading again takes a part of the time only, and without news less and less.
func TestRetry(t *testing.T) { synctest.Test(t, testRetry) }

func testRetry(t *testing.T) {
	b := new(builder)
	var r, other retry
	if !r.due(b) {
		t.Error("not due at first")
	}
	r.done(b, time.Now().Add(-time.Second), true)
	if r.due(b) || other.due(b) || r.pause != 10*time.Second {
		t.Errorf("due again after %v", r.pause)
	}
	if wait := time.Until(b.nextRead); wait != 2*time.Second {
		t.Errorf("others are due in %v", wait)
	}
	// After short reads a long one can be one that had to wait for the processor.
	r.cost = time.Millisecond
	if r.done(b, time.Now().Add(-time.Second), true); r.pause != 20*time.Millisecond {
		t.Errorf("a pause of %v after one long read", r.pause)
	}
	previous := time.Duration(0)
	for range 20 {
		other.done(b, time.Now(), false)
		if other.pause < previous || other.pause > maxPause {
			t.Errorf("a pause of %v after %v", other.pause, previous)
		}
		previous = other.pause
	}
	if previous < maxPause {
		t.Errorf("a pause of %v without news", previous)
	}
}

// The files of generated code that are read again may take as much memory as is left by all others.
func TestHeld(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{})
	all := codefile.NewReader().Left()
	for n := range int32(3) {
		m := b.process(n).perfMap
		m.code, m.bytes = new(codefile.Map), 100
		b.maps = append(b.maps, m)
		d := &jitdump{fileKey: fileKey{path: strings.Repeat("d", int(n))}, builder: b, code: new(codefile.Jitdump)}
		d.bytes = 1000
		b.dumps[d.fileKey] = d
	}
	unread := b.process(3).perfMap
	unread.bytes = 1 << 40
	if own, others := b.held(1, &b.process(0).perfMap.growing); own != 100 || others != 3100 {
		t.Errorf("the process has %d bytes and the others %d, expected 100 and 3100", own, others)
	}
	// A program that has ended leaves its map in memory, for places in it and for its descendants.
	b.comm(&perfdata.Record{Misc: perfdata.MiscCommExec}, &perfdata.Comm{PID: 1, TID: 1})
	if own, others := b.held(1, nil); own != 100 || others != 3200 {
		t.Errorf("after it has executed a program, the process has %d bytes and the others %d, expected 100 and 3200", own, others)
	}
	for used, left := range map[int64]int64{3200: all - 3200, all + 1: 0, -1: all} {
		if n := codefile.NewReaderBeside(used).Left(); n != left {
			t.Errorf("%d bytes left beside %d, expected %d", n, used, left)
		}
	}
}

// A recording with intervals keeps less of files of generated code: it runs for days, and any user can write them.
func TestHeldInIntervals(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{Interval: func(*Recording) error { return nil }})
	for _, used := range []int64{0, 1000, 1 << 20} {
		if got := b.codeReader(used).Left(); got != maxIntervalBytes-used {
			t.Errorf("%d bytes left beside %d", got, used)
		}
	}
	first := b.reads.Left()
	if b.forgetGenerated(); first != maxIntervalBytes || b.reads.Left() != first {
		t.Errorf("%d bytes in the first interval, %d in the second", first, b.reads.Left())
	}
}

// The limit for files of generated code depends on the available memory only while programs run.
func TestMaxCode(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
	}{
		{"MemTotal:       16000 kB\nMemAvailable:   8000 kB\n", 8000 << 10},
		{"MemAvailable: 0 kB\n", 0}, {"MemAvailable: -1 kB\n", 0}, {"MemAvailable: 9223372036854775807 kB\n", 0}, {"MemTotal: 1 kB\n", 0}, {"", 0},
	} {
		if n, ok := availableMemory([]byte(test.text)); ok != (test.want > 0) || ok && n != test.want {
			t.Errorf("%q: %d, %t", test.text, n, ok)
		}
	}
	live := maxCode(Options{Live: &stopped{}})
	if stored := maxCode(Options{}); stored != codefile.MaxBytes || live <= 0 || live > stored {
		t.Errorf("%d bytes, and %d while programs run", stored, live)
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if n, ok := availableMemory(text); !ok || n < 1<<20 {
			t.Errorf("%d bytes are available, %t", n, ok)
		}
	}
}

// While programs run, a process with large files of generated code leaves half of the memory to others, and so on.
func TestShares(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	const size = 1 << 16
	b := newBuilder(new(perfdata.Reader), Options{Live: &stopped{}, Search: debugfile.Search{Root: root}})
	b.maxCode = size
	b.reads = b.codeReader(0)
	symbols := bytes.Repeat([]byte("10000 20 f\n"), size/11)
	read := func(pid int32) (int64, error) {
		m := b.process(pid).perfMap
		if m.opened {
			m.renew()
		} else {
			m.open()
			m.note()
		}
		return m.bytes, m.code.Err
	}
	for pid, want := range []int64{size / 2, size / 4, 11, size / 8} {
		text := symbols
		if want == 11 {
			text = symbols[:11]
		}
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("tmp/perf-%d.map", pid)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := read(int32(pid))
		if n < want-6 || n > want || (err == nil) != (want == 11) {
			t.Errorf("%d bytes of process %d, expected %d: %v", n, pid, want, err)
		}
	}
	// A file that is read again has the same share as a new one would. Other files of its process have none then.
	_, others := b.held(0, nil)
	if n, _ := read(0); n != (size-others)/2 {
		t.Errorf("%d bytes of process 0 when read again, beside %d", n, others)
	}
	b.readCode(0, new(growing), func() {
		if n := b.reads.Left(); n > 6 {
			t.Errorf("%d bytes for a second file", n)
		}
	})
}

// At the end of an interval, files that were read quickly are forgotten. Others stay, because reading them again
// could take all the time.
func TestKeptFiles(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{Live: &stopped{}, Interval: func(*Recording) error { return nil }})
	first := &jitdump{fileKey: fileKey{path: "first"}, builder: b, pid: 1}
	second := &jitdump{fileKey: fileKey{path: "second"}, builder: b, pid: 1}
	for _, d := range []*jitdump{first, second} {
		d.opened, d.code, d.bytes = true, new(codefile.Jitdump), 1000
		b.dumps[d.fileKey] = d
	}
	maps := []*perfMap{b.process(1).perfMap, b.process(2).perfMap}
	for _, m := range maps {
		m.opened, m.code, m.bytes = true, new(codefile.Map), 100
		m.stackObject = b.addGenerated(generated.PerfMap, "map")
		b.maps = append(b.maps, m)
	}
	b.process(3).perfMap.parent = maps[0]
	ended := b.newPerfMap(b.process(4), nil, 0)
	ended.opened, ended.code, ended.bytes = true, new(codefile.Map), 100
	b.maps = append(b.maps, ended)
	for _, g := range []*growing{&first.growing, &maps[0].growing} {
		g.read, g.took = time.Now(), time.Hour
	}
	for _, g := range []*growing{&second.growing, &maps[1].growing} {
		g.read, g.took = time.Now().Add(-time.Second), time.Millisecond
	}
	b.forgetGenerated()
	if first.code == nil || maps[0].code == nil || len(b.maps) != 1 || b.maps[0] != maps[0] {
		t.Error("a file that took long is forgotten")
	}
	if ended.code != nil || second.code != nil || second.opened || maps[1].code != nil || maps[1].opened {
		t.Error("a file that was read quickly is kept")
	}
	if left := b.reads.Left(); left != maxIntervalBytes-1100 || len(b.rec.Objects) != 1 {
		t.Errorf("%d bytes are left, %d objects", left, len(b.rec.Objects))
	}
	first.took, maps[0].took = 0, 0
	if b.forgetGenerated(); first.code != nil || maps[0].code != nil || len(b.maps) != 0 || len(b.rec.Objects) != 0 || b.reads.Left() != maxIntervalBytes {
		t.Error("files are kept for ever")
	}
}

// A sample between two states refers to both. One before the first state refers to that state, for certain only
// if a look before the sample found no list, unless there were others or the time is long.
func TestStates(t *testing.T) {
	l := newLists(nil, &builder{opts: Options{Live: &stopped{now: 60}}})
	first, second := generated.NewReader(generated.Target{}), generated.NewReader(generated.Target{})
	for _, former := range []lists{{}, {dropped: true}, {none: 4}, {none: 6}, {none: 6, dropped: true}} {
		for _, test := range []struct {
			at            uint64
			before, after *generated.Reader
		}{
			{5, nil, first},
			{15, first, first},
			{30, first, second},
			{45, second, second},
		} {
			l.states = []listState{{from: 10, until: 20, reader: first}, {from: 40, until: 50, reader: second}}
			l.dropped, l.none = former.dropped, former.none
			known := test.before != nil || former.none == 4
			if former.dropped && !known {
				test.after = nil
			}
			unproven := !known && !former.dropped
			if l.at(test.at); l.before != test.before || l.after != test.after || l.unproven != unproven {
				t.Errorf("wrong states at %d, none at %d, dropped %t", test.at, former.none, former.dropped)
			}
		}
	}
	l.dropped, l.none = false, 0
	l.states = []listState{{from: maxGuess + 20, until: maxGuess + 20, reader: first}}
	if l.at(10); l.after != nil || l.unproven {
		t.Error("a sample has names by a look long after it")
	}
}

// Each process gets an equal share of the memory for lists. Those with more give up their oldest states.
func TestListShares(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{Live: &stopped{}})
	add := func(pid int32, size uint64) bool {
		p := b.process(pid)
		if p.lists == nil {
			p.lists = newLists(p, b)
		}
		l := p.lists
		if !l.reserve(size) {
			return false
		}
		l.states = append(l.states, listState{bytes: size})
		l.held += size
		b.listed += size
		return true
	}
	const part = maxListed / 8
	for range 8 {
		if !add(1, part) {
			t.Fatal("a process alone does not get all")
		}
	}
	b.process(2).lists = newLists(b.process(2), b)
	if n := b.process(2).lists.share(); n != maxListed/2 {
		t.Errorf("a second process may have %d bytes, expected a half", n)
	}
	for n := range 8 {
		if !add(2, part) {
			t.Errorf("a second process does not get state %d", n)
		}
	}
	if one, two := b.process(1).lists.held, b.process(2).lists.held; one != 4*part || two != 4*part {
		t.Errorf("shares of %d and %d bytes", one, two)
	}
	// Many processes with small lists.
	for pid := range int32(100) {
		if !add(10+pid, 1000) {
			t.Errorf("process %d gets nothing", 10+pid)
		}
	}
	if b.listed > maxListed {
		t.Errorf("%d bytes", b.listed)
	}
	if add(500, maxListed) {
		t.Error("a process gets more than its share")
	}
	if !b.process(1).lists.dropped {
		t.Error("states before those that are left are not forgotten")
	}
	for _, p := range b.processes {
		p.lists.end()
	}
	if b.listed != 0 {
		t.Errorf("%d bytes at the end", b.listed)
	}
}

// A program can write its jitdump anew, with fewer functions.
func TestShrunkJitdump(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "jit-1.dump")
	number := writeJitdump(t, path, "first", 0x10000, 0x20000, 0x30000)
	live := &stopped{now: 100}
	b := newBuilder(new(perfdata.Reader), Options{Live: live, Search: debugfile.Search{Root: root}})
	b.monotonic = true
	d := &jitdump{fileKey: fileKey{path: "/jit-1.dump", inode: inode{number: number}}, builder: b, pid: 1}
	thread := b.thread(1, 1)
	s := thread.process.space
	s.code.dumps = []*jitdump{d}
	name := func(at, pc uint64) string {
		thread.process.update(thread, at)
		if _, f := s.code.find(pc); f != nil {
			return d.code.Symbol(f).Name
		}
		return ""
	}
	if first, last := name(50, 0x10000), name(60, 0x30000); first != "first" || last != "first" {
		t.Fatalf("%q and %q in a jitdump of 3 functions: %v", first, last, d.err)
	}
	writeJitdump(t, path, "anew", 0x10000)
	live.now = 200
	if first, last := name(150, 0x10000), name(160, 0x30000); first != "anew" || last != "" || d.stale {
		t.Errorf("%q and %q in a jitdump of one function", first, last)
	}
}

// An interval says which of its files of generated code are incomplete, also if an earlier interval has read them.
func TestNotesOfKeptFiles(t *testing.T) {
	root := t.TempDir()
	number := writeJitdump(t, filepath.Join(root, "jit-1.dump"), "f", 0x10000, 0x20000)
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "tmp/perf-2.map"), bytes.Repeat([]byte("10000 20 f\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	var notes []string
	var complete []bool
	b := newBuilder(new(perfdata.Reader), Options{Live: &stopped{}, Search: debugfile.Search{Root: root}, Interval: func(r *Recording) error {
		notes, complete = append(notes, strings.Join(r.Notes, "\n")), append(complete, r.Complete)
		return nil
	}})
	b.maxCode = 0x2400 // of a jitdump half, which has one function, and of a map the half of the others
	b.reads = b.codeReader(0)
	d := &jitdump{fileKey: fileKey{path: "/jit-1.dump", inode: inode{number: number}}, builder: b, pid: 1}
	b.dumps[d.fileKey] = d
	m := b.process(2).perfMap
	s := b.process(1).space
	s.code.dumps = []*jitdump{d}
	s.code.time = 1
	if _, f := s.code.find(0x10000); f == nil {
		t.Fatal(d.err)
	}
	if _, ok := m.find(0x10000, s); !ok {
		t.Fatal("no function in the perf map")
	}
	for range 2 {
		for _, g := range []*growing{&d.growing, &m.growing} {
			g.read, g.took = time.Now(), time.Hour
		}
		if err := b.cut(); err != nil {
			t.Fatal(err)
		}
	}
	if notes[1] != notes[0] || !strings.Contains(notes[0], "jit-1.dump: only the first") || !strings.Contains(notes[0], "perf-2.map: only the last") || complete[0] || complete[1] {
		t.Errorf("complete: %t\n%s", complete, strings.Join(notes, "\n\n"))
	}
}
