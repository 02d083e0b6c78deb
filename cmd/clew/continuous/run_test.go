// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package continuous

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/profile/otlp"
	"github.com/clewdev/clew/profile/otlp/export"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
)

// Each interval arrives as a profile, with the metrics of the recorder. The samples of all are
// those that were taken.
func TestSend(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	var mu sync.Mutex
	intervals, samples, taken := 0, int64(0), 0.0
	names := make(map[string]bool)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		b, _ := io.ReadAll(z)
		mu.Lock()
		defer mu.Unlock()
		if r.UserAgent() != otlp.UserAgent {
			t.Errorf("user agent %q", r.UserAgent())
		}
		if r.URL.Path == "/v1/metrics" {
			m, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(b)
			if err != nil {
				t.Error(err)
				return
			}
			taken = m.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0).DoubleValue()
			return
		}
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b)
		if err != nil {
			t.Error(err)
			return
		}
		intervals++
		for _, resource := range p.ResourceProfiles().All() {
			name, _ := resource.Resource().Attributes().Get("process.executable.name")
			names[name.Str()] = true
			for _, s := range resource.ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				samples += s.Values().At(0)
			}
		}
	}))
	defer server.Close()
	f := Flags{send: server.URL, every: 200 * time.Millisecond}
	if err := f.Check(false); err != nil {
		t.Fatal(err)
	}
	err := f.Run(context.Background(), &record.Options{
		Command: exec.Command("sh", "-c", "i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done"), Frequency: 199,
	})
	if errors.Is(err, record.ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if intervals < 2 || samples == 0 || float64(samples) != taken {
		t.Errorf("%d intervals with %d samples of %v that were taken, of %v", intervals, samples, taken, names)
	}
}

// Each note on an interval is in the log once, whatever its numbers, and there are not too many.
func TestNotes(t *testing.T) {
	queue, err := export.NewQueue(export.Endpoints{}, export.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close(context.Background())
	var log bytes.Buffer
	s := &sender{flags: new(Flags), opts: new(record.Options), queue: queue, log: slog.New(slog.NewTextHandler(&log, nil)), noted: make(map[string]bool)}
	for _, notes := range [][]string{{"1 stack is cut", "no names"}, {"23 stack is cut"}, {"no names", "3 files"}} {
		if err := s.interval(&recording.Recording{Notes: notes}); err != nil {
			t.Fatal(err)
		}
	}
	text := log.String()
	if strings.Count(text, "msg=note") != 3 || !strings.Contains(text, `text="1 stack is cut"`) || !strings.Contains(text, `text="no names"`) || !strings.Contains(text, `text="3 files"`) {
		t.Error(text)
	}
	for n := range 2 * maxNotes {
		s.note(strings.Repeat("x", n+1))
	}
	if n := strings.Count(log.String(), "msg=note"); n != maxNotes || strings.Count(log.String(), "others are omitted") != 1 {
		t.Errorf("%d notes", n)
	}
	// A program that makes many notes does not silence the log for ever.
	s.full = s.full.Add(-notesPause)
	s.note("later")
	if !strings.HasSuffix(log.String(), "text=later\n") {
		t.Error("later notes are not in the log")
	}
}
