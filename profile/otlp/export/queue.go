// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// QueueOptions bound a queue. The zero value is valid.
type QueueOptions struct {
	Memory int64 // bytes of messages in memory; 0 means DefaultMemory

	// Spool is a directory for messages that exceed a half of Memory, and for those that are left
	// at the end. The next queue with this directory sends them. "" stands for none.
	Spool     string
	SpoolSize int64 // bytes; 0 means DefaultSpoolSize

	// FirstDelay is the time before the second attempt. Each following one is twice as late, up to
	// a minute, and between half and one and a half of that time. 0 means a second.
	FirstDelay time.Duration

	Log *slog.Logger // nil for none
}

const (
	DefaultMemory    = 64 << 20
	DefaultSpoolSize = 512 << 20
	maxDelay         = time.Minute
)

// Stats count messages.
type Stats struct {
	Sent     uint64 // the collector took them
	Dropped  uint64 // because the queue was full, or the collector refused them
	Rejected uint64 // profiles and data points that the collector left out of messages it took
	Unclear  uint64 // of those sent, the collector reported success in an answer that is not of OTLP
	Retries  uint64 // attempts that failed and were repeated
	Waiting  int    // in the queue
	Bytes    int64  // of those
}

type message struct {
	signal Signal
	data   []byte
}

// Queue sends messages, the oldest first. One whose sending was interrupted can be late. Its
// methods may be called concurrently.
type Queue struct {
	endpoints Endpoints
	options   QueueOptions
	spool     *spool // nil for none
	ctx       context.Context
	cancel    context.CancelFunc
	wait      sync.WaitGroup
	unclear   string // the last one in an answer; of the goroutine of run

	mu      sync.Mutex
	list    []message
	bytes   int64
	stats   Stats
	closing bool
	added   chan struct{} // has an element after each change
	excess  chan struct{} // likewise, if messages should be moved to the spool
}

// NewQueue returns a queue. The error concerns the directory of the spool.
func NewQueue(e Endpoints, o QueueOptions) (*Queue, error) {
	o.Memory, o.SpoolSize = cmp.Or(o.Memory, DefaultMemory), cmp.Or(o.SpoolSize, DefaultSpoolSize)
	o.FirstDelay = cmp.Or(o.FirstDelay, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{endpoints: e, options: o, added: make(chan struct{}, 1), excess: make(chan struct{}, 1)}
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
	go q.run()
	return q, nil
}

// Add adds a message, which must not change afterwards. It never waits: if the queue is full, the
// oldest messages are dropped. It ignores messages of signals without an endpoint.
func (q *Queue) Add(s Signal, data []byte) {
	if q.endpoints[s].URL == "" {
		return
	}
	q.mu.Lock()
	q.list = append(q.list, message{s, data})
	q.bytes += int64(len(data))
	dropped := 0
	for q.bytes > q.options.Memory && len(q.list) > 0 {
		q.pop()
		dropped++
	}
	q.stats.Dropped += uint64(dropped)
	over := q.bytes > q.options.Memory/2
	q.mu.Unlock()
	if dropped > 0 {
		q.options.Log.Warn("the queue is full: the oldest messages are dropped", "messages", dropped)
	}
	signal(q.added)
	if over {
		signal(q.excess)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pop removes the oldest message in memory.
func (q *Queue) pop() message {
	m := q.list[0]
	q.list[0].data = nil
	q.list = q.list[1:]
	q.bytes -= int64(len(m.data))
	return m
}

// Stats returns the counts.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Waiting, s.Bytes = len(q.list), q.bytes
	if q.spool != nil { // its mutex is always locked after q.mu, if both are
		n, bytes := q.spool.size()
		s.Waiting, s.Bytes = s.Waiting+n, s.Bytes+bytes
	}
	return s
}

// Close sends what is left until the context ends, or with a spool until the collector is away. Then
// it keeps the rest in the spool, or drops it. Add must not be called any more.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	q.closing = true
	q.mu.Unlock()
	signal(q.added)
	signal(q.excess)
	stop := context.AfterFunc(ctx, q.cancel)
	q.wait.Wait()
	stop()
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) > 0 {
		if m := q.pop(); q.spool == nil || !q.keep(m) {
			q.stats.Dropped++
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

// moveExcess moves the oldest messages to the spool while they exceed half of the memory.
func (q *Queue) moveExcess() {
	defer q.wait.Done()
	for range q.excess {
		for {
			q.mu.Lock()
			if q.closing {
				q.mu.Unlock()
				return
			}
			if q.bytes <= q.options.Memory/2 || len(q.list) == 0 {
				q.mu.Unlock()
				break
			}
			m := q.pop()
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

// next returns the oldest message, and the name of its file if it comes from the spool. Without
// a message it waits. It returns false at the end.
func (q *Queue) next() (m message, file string, ok bool) {
	for {
		if q.spool != nil {
			if m, file, ok := q.spool.oldest(); ok {
				return m, file, true
			}
		}
		q.mu.Lock()
		if len(q.list) > 0 {
			m := q.pop()
			q.mu.Unlock()
			return m, "", true
		}
		closing := q.closing
		q.mu.Unlock()
		if closing {
			return m, "", false
		}
		select {
		case <-q.added:
		case <-q.ctx.Done():
			return m, "", false
		}
	}
}

// run sends messages.
func (q *Queue) run() {
	defer q.wait.Done()
	for {
		m, file, ok := q.next()
		if !ok {
			return
		}
		done := q.deliver(m)
		switch {
		case file != "" && done:
			q.spool.remove(file)
		case file == "" && !done:
			q.mu.Lock()
			q.list = append([]message{m}, q.list...)
			q.bytes += int64(len(m.data))
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
		if q.unclear != result.Unclear && err == nil {
			if q.unclear = result.Unclear; q.unclear != "" {
				log.Warn("the collector reports success, but its answer is invalid", "reason", q.unclear)
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
