// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Profiles arrive while the server of metrics never answers. Of the metrics the newest wait, and Close does
// not wait long for them.
func TestStuckMetrics(t *testing.T) { synctest.Test(t, testStuckMetrics) }

func testStuckMetrics(t *testing.T) {
	const profiles = 100
	var mu sync.Mutex
	arrived := 0
	send := func(ctx context.Context, r *Request) (*Response, error) {
		if r.URL == "http://metrics" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		mu.Lock()
		arrived++
		mu.Unlock()
		return &Response{Status: 200}, nil
	}
	e := Endpoints{Profiles: {URL: "http://profiles", Send: send}, Metrics: {URL: "http://metrics", Send: send, Timeout: time.Hour}}
	q, err := NewQueue(e, QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range profiles {
		q.Add(Metrics, fmt.Appendf(nil, "metrics %d", i))
		q.Add(Profiles, []byte("profile"))
	}
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(5 * time.Millisecond) {
		if q.Stats().Sent == profiles {
			break
		}
	}
	q.mu.Lock()
	waiting := q.lists[Metrics].messages
	newest := len(waiting) > 0 && string(waiting[len(waiting)-1].data) == fmt.Sprintf("metrics %d", profiles-1)
	q.mu.Unlock()
	if n := q.Stats(); n.Sent != profiles || arrived != profiles || n.Waiting > maxMetrics || !newest {
		t.Errorf("%d of %d profiles arrived, and %d metrics wait with the newest %t", arrived, profiles, n.Waiting, newest)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	q.Close(ctx)
	if took := time.Since(began); took != lastMetrics {
		t.Errorf("Close waited %v for metrics, expected %v", took, lastMetrics)
	}
	if n := q.Stats(); n.Dropped != profiles || n.Waiting != 0 {
		t.Errorf("%d metrics of %d were dropped, %d wait", n.Dropped, profiles, n.Waiting)
	}
}

// Metrics that a former queue has left in the spool do not delay profiles either.
func TestSpooledMetrics(t *testing.T) {
	dir := t.TempDir()
	s, err := openSpool(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []Signal{Metrics, Profiles} {
		if _, err := s.add(message{signal, []byte("spooled")}); err != nil {
			t.Fatal(err)
		}
	}
	s.close()
	arrived := make(chan string, 10)
	send := func(ctx context.Context, r *Request) (*Response, error) {
		if arrived <- r.URL; r.URL == "http://metrics" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return &Response{Status: 200}, nil
	}
	e := Endpoints{Profiles: {URL: "http://profiles", Send: send}, Metrics: {URL: "http://metrics", Send: send, Timeout: time.Hour}}
	q, err := NewQueue(e, QueueOptions{Spool: dir})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for range 2 {
		select {
		case url := <-arrived:
			seen[url] = true
		case <-time.After(2 * time.Minute):
		}
	}
	if len(seen) != 2 {
		t.Errorf("%v received messages of the spool", seen)
	}
	q.Close(context.Background())
	if s, err = openSpool(dir, 1<<20); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if m, _, ok := s.oldest(); !ok || m.signal != Metrics {
		t.Error("metrics that were not sent are not in the spool")
	}
}

// The pauses between attempts double up to a minute, and vary at random, so that recorders of many machines do not
// all come back at once. A collector can ask for longer ones.
func TestPauses(t *testing.T) {
	pauses := func(retryAfter string) (list []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			var last time.Time
			send := func(context.Context, *Request) (*Response, error) {
				if !last.IsZero() {
					list = append(list, time.Since(last))
				}
				last = time.Now()
				return &Response{Status: 503, Header: map[string]string{"retry-after": retryAfter}}, nil
			}
			q, err := NewQueue(Endpoints{Profiles: {URL: "http://profiles", Send: send}}, QueueOptions{})
			if err != nil {
				t.Fatal(err)
			}
			q.Add(Profiles, []byte("profile"))
			time.Sleep(20 * time.Minute)
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			q.Close(ended)
		})
		return list
	}
	first, second := pauses(""), pauses("")
	for i, pause := range first {
		if middle := min(time.Second<<min(i, 6), time.Minute); pause < middle/2 || pause > middle*3/2 {
			t.Errorf("pause %d is %v, expected %v, or up to a half more or less", i, pause, middle)
		}
	}
	if len(first) < 15 || slices.Equal(first, second) {
		t.Errorf("pauses of two queues: %v and %v, expected 15 or more, and different ones", first, second)
	}
	for _, pause := range pauses("100") {
		if pause < 100*time.Second {
			t.Errorf("a pause of %v after the collector asked for 100 s", pause)
		}
	}
}
