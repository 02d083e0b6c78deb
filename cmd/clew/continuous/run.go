// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package continuous

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
	"github.com/clewdev/clew/profile/otlp/export"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/record/resource"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack/recording"
)

// lastSend is how long the end of a recording waits for the collector. Docker and Podman kill a container
// ten seconds after SIGTERM.
const lastSend = 8 * time.Second

// sender sends the intervals of a recording.
type sender struct {
	flags *Flags
	opts  *record.Options
	queue *export.Queue
	log   *slog.Logger
	began time.Time // of the interval
	start time.Time
	noted map[string]bool // notes in the log, without digits
	full  time.Time       // noted has maxNotes since then

	samples, lost atomic.Uint64
}

// Run records, and sends a profile at each interval, until the context ends, or SIGTERM or SIGINT
// arrives. It logs to standard error. Its error has the exit code of the command.
func (f *Flags) Run(ctx context.Context, opts *record.Options) error {
	log := slog.New(slog.NewTextHandler(output.Stderr, nil))
	endpoints, err := export.FromEnvironment(os.Getenv, f.send)
	if err != nil {
		return output.InputError(err)
	}
	for i := range endpoints {
		endpoints[i].UserAgent = otlp.UserAgent
	}
	queue, err := export.NewQueue(endpoints, export.QueueOptions{Spool: f.spool, Log: log})
	if err != nil {
		return output.InputError(err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) }) // a second Ctrl-C ends clew
	s := &sender{flags: f, opts: opts, queue: queue, log: log, noted: make(map[string]bool), began: time.Now(), start: time.Now()}
	opts.Every, opts.Interval = f.every, s.interval
	opts.Recording.Hashes = true
	opts.Recording.Lines = opts.Recording.Lines && f.symbols != "none"
	opts.Status = func(now record.Status) {
		s.samples.Store(now.Samples)
		s.lost.Store(now.Lost)
	}
	log.Info("recording", "endpoint", endpoints[export.Profiles].URL, "every", f.every)
	rest, err := record.Run(ctx, *opts)
	if rest != nil {
		s.interval(rest)
	}
	signal.Reset(os.Interrupt) // so does the first one once the recording has ended
	log.Info("sending the rest", "timeout", lastSend)
	last, cancel := context.WithTimeout(context.Background(), lastSend)
	defer cancel()
	queue.Close(last)
	counts := queue.Stats()
	log.Info("ended", "samples", s.samples.Load(), "lost", s.lost.Load(), "sent", counts.Sent, "dropped", counts.Dropped, "rejected", counts.Rejected, "kept", counts.Waiting, "unclear", counts.Unclear)
	switch {
	case err != nil && rest == nil:
		return output.InputError(input.StartError(err))
	case err != nil:
		return output.Partial(err)
	case counts.Dropped > 0 || counts.Rejected > 0:
		return output.Partialf("not everything reached the collector: %d messages were dropped, and %d profiles and data points rejected; the log says why", counts.Dropped, counts.Rejected)
	case counts.Unclear > 0:
		return output.Partialf("%d messages may not have reached the collector, whose answers were invalid; the log says why", counts.Unclear)
	}
	return nil
}

// interval adds the profile of an interval to the queue.
func (s *sender) interval(r *recording.Recording) error {
	for _, text := range r.Notes {
		s.note(text)
	}
	now := time.Now()
	unit := "samples"
	if s.opts.OffCPU || s.opts.Wall {
		unit = "nanoseconds"
	}
	p := profile.New(unit)
	shown := &trace.Recording{Recording: r, Path: "live processes", Periods: unit != "samples"}
	if len(r.Events) > 0 {
		shown.AddTo(p, 0)
	}
	p.Start, p.Duration = s.began, now.Sub(s.began)
	s.began = now
	messages, err := otlp.Profiles(p, s.flags.options(s.opts))
	if err != nil {
		s.log.Error("an interval cannot be encoded", "error", err)
	}
	for _, m := range messages {
		s.queue.Add(export.Profiles, m)
	}
	s.flags.finder.Forget()
	if m, err := otlp.MetricsMessage(resource.Self("clew", s.flags.finder.Labels), s.start, now, s.metrics()); err == nil {
		s.queue.Add(export.Metrics, m)
	}
	return nil
}

// maxNotes bounds the notes in the log in notesPause, because they can contain names that programs choose.
const (
	maxNotes   = 100
	notesPause = time.Hour
)

// note logs a note on an interval, unless the log has one that differs only in its numbers.
func (s *sender) note(text string) {
	key := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
	if len(s.noted) >= maxNotes && time.Since(s.full) >= notesPause {
		clear(s.noted)
	}
	if s.noted[key] || len(s.noted) >= maxNotes {
		return
	}
	s.noted[key] = true
	s.log.Info("note", "text", text)
	if len(s.noted) == maxNotes {
		s.full = time.Now()
		s.log.Info("too many different notes: others are omitted", "for", notesPause)
	}
}

// metrics returns what the recorder reports about itself.
func (s *sender) metrics() []otlp.Metric {
	counts := s.queue.Stats()
	var usage unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &usage)
	processor := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return []otlp.Metric{
		{Name: "clew.record.samples", Unit: "{sample}", Description: "Samples that were taken", Value: float64(s.samples.Load()), Sum: true},
		{Name: "clew.record.lost", Unit: "{record}", Description: "Records that the kernel could not write", Value: float64(s.lost.Load()), Sum: true},
		{Name: "clew.export.sent", Unit: "{message}", Description: "Messages that the collector took", Value: float64(counts.Sent), Sum: true},
		{Name: "clew.export.dropped", Unit: "{message}", Description: "Messages that were dropped", Value: float64(counts.Dropped), Sum: true},
		{Name: "clew.export.rejected", Unit: "{item}", Description: "Profiles and data points that the collector rejected", Value: float64(counts.Rejected), Sum: true},
		{Name: "clew.export.unclear", Unit: "{message}", Description: "Sent messages whose answer was invalid", Value: float64(counts.Unclear), Sum: true},
		{Name: "clew.export.queue.messages", Unit: "{message}", Description: "Messages that wait", Value: float64(counts.Waiting)},
		{Name: "clew.export.queue.size", Unit: "By", Description: "Size of the messages that wait", Value: float64(counts.Bytes)},
		{Name: "process.cpu.time", Unit: "s", Description: "Processor time of the recorder", Value: processor.Seconds(), Sum: true},
	}
}
