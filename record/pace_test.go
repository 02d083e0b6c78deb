// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"testing"
	"time"
)

// Looks are frequent for a second after news, then rarer and rarer, and frequent again after more news.
func TestPace(t *testing.T) {
	const most = 100 * time.Millisecond
	p := newPace(999)
	now := time.Unix(0, 0)
	// looks returns the number of looks in a time.
	looks := func(during time.Duration) (n int) {
		for end := now.Add(during); now.Before(end); n++ {
			now = now.Add(p.next(now, most))
		}
		return n
	}
	if n := looks(time.Second); n != 10 {
		t.Errorf("%d looks in a second before any news", n)
	}
	p.news.Add(1)
	if n := looks(time.Second); n != 200 {
		t.Errorf("%d looks in a second after news", n)
	}
	if n := looks(2 * time.Second); n > 60 {
		t.Errorf("%d looks in the next two seconds", n)
	}
	if n := looks(time.Minute); n > 610 {
		t.Errorf("%d looks in the next minute", n)
	}
	for range 100 {
		p.news.Add(1)
		if n := looks(100 * time.Millisecond); n != 20 {
			t.Fatalf("%d looks in 100 ms while there are news", n)
		}
	}
	// After a relapse looks stay frequent for longer, up to ten seconds, until it is quiet for a while.
	for range 20 {
		looks(5 * time.Minute)
		p.news.Add(1)
		looks(time.Second)
	}
	if p.hold != minHold && p.hold != 2*minHold {
		t.Errorf("a hold of %v after rare news", p.hold)
	}
	for range 20 {
		for p.delay == p.soon {
			looks(100 * time.Millisecond)
		}
		p.news.Add(1)
		looks(100 * time.Millisecond)
	}
	if p.hold != maxHold {
		t.Errorf("a hold of %v after relapses, expected %v", p.hold, maxHold)
	}
}
