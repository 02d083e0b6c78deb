// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// QueueOptions bound a queue. The zero value is valid.
type QueueOptions struct {
	Memory int64 // bytes of profiles in memory; 0 means DefaultMemory

	// Spool is a directory for messages that exceed a half of Memory, and for those that are left
	// at the end. The next queue with this directory sends them. "" stands for none.
	Spool     string
	SpoolSize int64 // bytes; 0 means DefaultSpoolSize

	// FirstDelay is the pause before the second attempt; 0 means a second. Each following pause is
	// twice as long, up to a minute. All vary at random between half of that and one and a half.
	FirstDelay time.Duration

	Log *slog.Logger // nil for none
}

const (
	DefaultMemory    = 64 << 20
	DefaultSpoolSize = 512 << 20
	maxDelay         = time.Minute

	// maxMetrics bounds the metrics that wait. They are few, and the totals of the newest contain
	// those of the others.
	maxMetrics = 16
	// lastMetrics is how long Close waits for metrics alone.
	lastMetrics = 2 * time.Second
)

// Stats count messages.
type Stats struct {
	Sent     uint64 // the collector took them
	Dropped  uint64 // because the queue was full, or the collector refused them
	Rejected uint64 // profiles and data points that the collector left out of messages it took
	Unclear  uint64 // of those sent, the ones with an answer that reports success and is not OTLP
	Retries  uint64 // attempts that failed and were repeated
	Waiting  int    // in the queue
	Bytes    int64  // of those
}

type message struct {
	signal Signal
	data   []byte
}

// Queue sends messages, the oldest of each signal first. One whose sending was interrupted can be late.
// The signals do not wait for each other: their endpoints can be different servers. Its methods may be
// called concurrently.
type Queue struct {
	endpoints Endpoints
	options   QueueOptions
	spool     *spool // nil for none
	ctx       context.Context
	cancel    context.CancelFunc
	wait      sync.WaitGroup           // of profiles
	waitRest  sync.WaitGroup           // of metrics
	unclear   [len(Endpoints{})]string // the last one in an answer; of the goroutine of run

	mu      sync.Mutex
	lists   [len(Endpoints{})]list
	stats   Stats
	closing bool
	added   [len(Endpoints{})]chan struct{} // has an element after each change
	excess  chan struct{}                   // likewise, if messages should be moved to the spool
}

// NewQueue returns a queue. The error concerns the directory of the spool.
func NewQueue(e Endpoints, o QueueOptions) (*Queue, error) {
	o.Memory, o.SpoolSize = cmp.Or(o.Memory, DefaultMemory), cmp.Or(o.SpoolSize, DefaultSpoolSize)
	o.FirstDelay = cmp.Or(o.FirstDelay, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{endpoints: e, options: o, excess: make(chan struct{}, 1)}
	for s := range q.added {
		q.added[s] = make(chan struct{}, 1)
	}
	if o.Spool != "" {
		var err error
		if q.spool, err = openSpool(o.Spool, o.SpoolSize); err != nil {
			return nil, err
		}
		q.wait.Add(1)
		go q.moveExcess()
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	q.wait.Add(1)
	go func() {
		defer q.wait.Done()
		q.run(Profiles)
	}()
	q.waitRest.Add(1)
	go func() {
		defer q.waitRest.Done()
		q.run(Metrics)
	}()
	return q, nil
}

// Add adds a message, which must not change afterwards. It never waits: if the queue is full, the
// oldest messages are dropped. It ignores messages of signals without an endpoint.
func (q *Queue) Add(s Signal, data []byte) {
	if q.endpoints[s].URL == "" {
		return
	}
	q.mu.Lock()
	dropped := q.add(message{s, data})
	over := s == Profiles && q.lists[s].bytes > q.options.Memory/2
	q.mu.Unlock()
	switch {
	case dropped > 0 && s == Metrics:
		q.options.Log.Warn("too many metrics wait: the oldest are dropped; the totals of later ones contain theirs", "messages", dropped)
	case dropped > 0:
		q.options.Log.Warn("the queue is full: the oldest messages are dropped", "messages", dropped)
	}
	signal(q.added[s])
	if over {
		signal(q.excess)
	}
}

// add adds a message to its list, and drops the oldest ones beyond the limits.
func (q *Queue) add(m message) (dropped int) {
	l := &q.lists[m.signal]
	l.push(m)
	memory, most := q.options.Memory, math.MaxInt
	if m.signal == Metrics {
		memory, most = memory/maxMetrics, maxMetrics
	}
	for len(l.messages) > 0 && (l.bytes > memory || len(l.messages) > most) {
		l.pop()
		dropped++
	}
	q.stats.Dropped += uint64(dropped)
	return dropped
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Stats returns the counts.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	for i := range q.lists {
		s.Waiting += len(q.lists[i].messages)
		s.Bytes += q.lists[i].bytes
	}
	if q.spool != nil { // its mutex is always locked after q.mu, if both are
		n, bytes := q.spool.size()
		s.Waiting, s.Bytes = s.Waiting+n, s.Bytes+bytes
	}
	return s
}

// Close sends the rest until the context ends, or with a spool until an attempt fails. Then it keeps
// the other messages in the spool, or drops them. After the last profile, it waits at most lastMetrics
// for metrics. Add must not be called any more.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	q.closing = true
	q.mu.Unlock()
	for _, added := range q.added {
		signal(added)
	}
	signal(q.excess)
	stop := context.AfterFunc(ctx, q.cancel)
	q.wait.Wait()
	timer := time.AfterFunc(lastMetrics, q.cancel)
	q.waitRest.Wait()
	timer.Stop()
	stop()
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lists {
		for l := &q.lists[i]; len(l.messages) > 0; {
			if m := l.pop(); q.spool == nil || !q.keep(m) {
				q.stats.Dropped++
			}
		}
	}
	if q.spool != nil {
		q.spool.close()
	}
}

// keep writes a message to the spool.
func (q *Queue) keep(m message) bool {
	dropped, err := q.spool.add(m)
	q.stats.Dropped += uint64(dropped)
	if err != nil {
		q.options.Log.Error("a message cannot be kept", "error", err)
	}
	return err == nil
}

// moveExcess moves the oldest profiles to the spool while they exceed half of the memory.
func (q *Queue) moveExcess() {
	defer q.wait.Done()
	for range q.excess {
		for {
			q.mu.Lock()
			if q.closing {
				q.mu.Unlock()
				return
			}
			l := &q.lists[Profiles]
			if l.bytes <= q.options.Memory/2 || len(l.messages) == 0 {
				q.mu.Unlock()
				break
			}
			m := l.pop()
			q.mu.Unlock()
			dropped, err := q.spool.add(m)
			if err != nil {
				dropped++
				q.options.Log.Error("a message cannot be kept", "error", err)
			}
			q.mu.Lock()
			q.stats.Dropped += uint64(dropped)
			q.mu.Unlock()
		}
	}
}

// next returns the oldest message of a signal, and the name of its file if it comes from the spool. Without
// a message it waits. It returns false at the end.
func (q *Queue) next(s Signal) (m message, file string, ok bool) {
	for {
		if q.spool != nil && s == Profiles {
			if m, file, ok := q.oldestProfile(); ok {
				return m, file, true
			}
		}
		q.mu.Lock()
		if l := &q.lists[s]; len(l.messages) > 0 {
			m := l.pop()
			q.mu.Unlock()
			return m, "", true
		}
		closing := q.closing
		q.mu.Unlock()
		if closing {
			return m, "", false
		}
		select {
		case <-q.added[s]:
		case <-q.ctx.Done():
			return m, "", false
		}
	}
}

// oldestProfile returns the oldest profile in the spool. Metrics there, which a former queue has left, go to
// the list of metrics.
func (q *Queue) oldestProfile() (m message, file string, ok bool) {
	for {
		m, file, ok := q.spool.oldest()
		if !ok || m.signal == Profiles {
			return m, file, ok
		}
		q.spool.remove(file)
		q.mu.Lock()
		if q.endpoints[m.signal].URL != "" {
			q.add(m)
		} else {
			q.stats.Dropped++
		}
		q.mu.Unlock()
		signal(q.added[m.signal])
	}
}

// run sends the messages of a signal.
func (q *Queue) run(s Signal) {
	for {
		m, file, ok := q.next(s)
		if !ok {
			return
		}
		done := q.deliver(m)
		switch {
		case file != "" && done:
			q.spool.remove(file)
		case file == "" && !done:
			q.mu.Lock()
			q.lists[s].pushFront(m)
			q.mu.Unlock()
		}
		if !done || q.ctx.Err() != nil {
			return
		}
	}
}

// deliver sends a message until the collector takes or refuses it. It returns false if the queue
// ends before.
func (q *Queue) deliver(m message) bool {
	log := q.options.Log
	delay := q.options.FirstDelay
	for attempt := 0; ; attempt++ {
		result, err := q.endpoints[m.signal].send(q.ctx, m.data)
		q.mu.Lock()
		failed := (*SendError)(nil)
		retry := errors.As(err, &failed) && failed.Retry
		switch {
		case err == nil:
			q.stats.Sent++
			q.stats.Rejected += uint64(result.Rejected)
			if result.Unclear != "" {
				q.stats.Unclear++
			}
		case retry:
			q.stats.Retries++
		default:
			q.stats.Dropped++
		}
		closing := q.closing
		q.mu.Unlock()
		if unclear := &q.unclear[m.signal]; *unclear != result.Unclear && err == nil {
			if *unclear = result.Unclear; *unclear != "" {
				log.Warn("the collector reports success, but its answer is invalid", "reason", *unclear)
			}
		}
		switch {
		case err == nil && (result.Rejected > 0 || result.Message != ""):
			log.Warn("the collector took a message in part", "rejected", result.Rejected, "message", result.Message)
			return true
		case err == nil:
			if attempt > 0 {
				log.Info("the collector takes messages again", "attempts", attempt+1)
			}
			return true
		case retry && (q.ctx.Err() != nil || closing && q.spool != nil):
			return false
		case !retry:
			if log.Error("a message is dropped: the collector refuses it", "error", err); failed != nil && failed.Unsupported {
				log.Error(unsupported[m.signal])
			}
			return true
		case attempt == 0:
			log.Warn("a message could not be sent; trying again", "error", err)
		}
		pause := max(failed.After, time.Duration((0.5+rand.Float64())*float64(delay)))
		if closing {
			pause = min(pause, time.Second)
		}
		if delay = min(2*delay, maxDelay); !q.sleep(pause) {
			return false
		}
	}
}

// unsupported says what to do about a collector that does not take a signal.
var unsupported = [...]string{
	Profiles: "the collector takes no profiles: it needs a pipeline for them, and --feature-gates=service.profilesSupport",
	Metrics:  "the collector takes no metrics: OTEL_METRICS_EXPORTER=none stops sending them",
}

// sleep waits. It returns false if the queue ends before. Close shortens the waiting.
func (q *Queue) sleep(d time.Duration) bool {
	const part = 200 * time.Millisecond
	for end := time.Now().Add(d); time.Until(end) > 0; {
		select {
		case <-q.ctx.Done():
			return false
		case <-time.After(min(part, time.Until(end))):
		}
		q.mu.Lock()
		closing := q.closing
		q.mu.Unlock()
		if closing {
			break
		}
	}
	return q.ctx.Err() == nil
}
