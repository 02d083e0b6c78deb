// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/stack/generated"
)

// stopped is a system whose clock a test sets.
type stopped struct{ now uint64 }

func (s *stopped) Now() uint64                            { return s.now }
func (s *stopped) Soon()                                  {}
func (s *stopped) Open(int32) (*snapshot.Snapshot, error) { return nil, nil }

// A file that has not grown since a time is not read again. One that has grown is read, but not all the
// time: until then look-ups find nothing in it.
func TestGrowing(t *testing.T) {
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
func TestRetry(t *testing.T) {
	b := new(builder)
	var r, other retry
	if !r.due(b) {
		t.Error("not due at first")
	}
	r.done(b, time.Now().Add(-time.Second), true)
	if r.due(b) || other.due(b) || r.pause < 10*time.Second {
		t.Errorf("due again after %v", r.pause)
	}
	if wait := time.Until(b.nextRead); wait < 1500*time.Millisecond || wait > 3*time.Second {
		t.Errorf("others are due in %v", wait)
	}
	previous := time.Duration(0)
	for range 20 {
		other.done(b, time.Now(), false)
		if other.pause < previous || other.pause > maxPause+time.Second {
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
		d := &jitdump{fileKey: fileKey{path: strings.Repeat("d", int(n))}, builder: b, code: new(codefile.Jitdump)}
		d.bytes = 1000
		b.dumps[d.fileKey] = d
	}
	unread := b.process(3).perfMap
	unread.bytes = 1 << 40
	if n := b.held(&b.process(0).perfMap.growing); n != 3200 {
		t.Errorf("the others have %d bytes, expected 3200", n)
	}
	for used, left := range map[int64]int64{3200: all - 3200, all + 1: 0, -1: all} {
		if n := codefile.NewReaderBeside(used).Left(); n != left {
			t.Errorf("%d bytes left beside %d, expected %d", n, used, left)
		}
	}
}

// A sample between two states refers to both, and one before the first state to that state only if none was
// there before.
func TestStates(t *testing.T) {
	l := &lists{builder: &builder{opts: Options{Live: &stopped{now: 60}}}}
	first, second := generated.NewReader(generated.Target{}), generated.NewReader(generated.Target{})
	for _, dropped := range []bool{false, true} {
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
			l.dropped = dropped
			if dropped && test.before == nil {
				test.after = nil
			}
			if l.at(test.at); l.before != test.before || l.after != test.after {
				t.Errorf("wrong states at %d, dropped %v", test.at, dropped)
			}
		}
	}
}
