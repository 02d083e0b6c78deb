// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/internal/testprogram/collector"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
)

// sample returns a message with a profile of one sample in a function.
func sample(t testing.TB, function string) []byte {
	t.Helper()
	p := profile.New("samples")
	p.Add([]profile.Location{p.Location(1, []profile.Frame{{Function: function}})}, profile.Labels{Process: "program"}, 1)
	messages, err := otlp.Profiles(p, otlp.Options{})
	if err != nil || len(messages) != 1 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	return messages[0]
}

// functions returns how often each function of sample has arrived.
func functions(t testing.TB, c *collector.Collector) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for _, p := range c.Profiles(t) {
		names := p.Dictionary().StringTable()
		for i, f := range p.Dictionary().FunctionTable().All() {
			if i > 0 {
				found[names.At(int(f.NameStrindex()))]++
			}
		}
	}
	return found
}

// A real collector takes messages over HTTP and gRPC, compressed or not, with TLS, certificates of
// clients, and headers. Without one of them it refuses, and the reason is reported.
func TestCollector(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	server, client, other := collector.NewCertificate(t), collector.NewCertificate(t), collector.NewCertificate(t)
	last := collector.Start(t, collector.Options{})
	plain := collector.Start(t, collector.Options{Next: last})
	secure := collector.Start(t, collector.Options{Next: last, Cert: server.Cert, Key: server.Key, ClientCA: client.Cert, Headers: map[string]string{"x-key": "a secret"}})
	const v = "OTEL_EXPORTER_OTLP_"
	ca, cert, key, headers := v+"CERTIFICATE="+server.Cert, v+"CLIENT_CERTIFICATE="+client.Cert, v+"CLIENT_KEY="+client.Key, v+"HEADERS=x-key=a%20secret"
	want := make(map[string]int)
	for _, test := range []struct {
		name string
		env  []string
		tls  bool
		http string // a part of the error; "" if the message is accepted
		grpc string
	}{
		{name: "plain", env: nil},
		{name: "not compressed", env: []string{v + "COMPRESSION=none"}},
		{name: "TLS", tls: true, env: []string{ca, cert, key, headers}},
		{name: "unknown authority", tls: true, env: []string{cert, key, headers}, http: "certificate", grpc: "certificate"},
		{name: "other authority", tls: true, env: []string{v + "CERTIFICATE=" + other.Cert, cert, key, headers}, http: "certificate", grpc: "certificate"},
		{name: "no client certificate", tls: true, env: []string{ca, headers}, http: "curl: (", grpc: "curl: ("},
		{name: "no header", tls: true, env: []string{ca, cert, key}, http: "401", grpc: "16: the header x-key is missing or wrong"},
	} {
		for protocol, wrong := range map[string]string{"http": test.http, "grpc": test.grpc} {
			t.Run(test.name+" "+protocol, func(t *testing.T) {
				to, url := plain, protocol
				if test.tls {
					to, url = secure, protocol+"s"
				}
				address := map[string]string{"http": to.HTTP, "grpc": to.GRPC}[protocol]
				e := endpoints(t, url+"://"+address, test.env...)[Profiles]
				name := test.name + " " + protocol
				r, err := e.send(context.Background(), sample(t, name))
				switch {
				case wrong == "" && (err != nil || r != Result{}):
					t.Errorf("%+v, %v", r, err)
				case wrong == "":
					want[name] = 1
				case err == nil || !strings.Contains(err.Error(), wrong):
					t.Errorf("%v, expected %q", err, wrong)
				}
			})
		}
	}
	if got := functions(t, last); !maps.Equal(got, want) {
		t.Errorf("arrived: %v, want %v", got, want)
	}
}

// A collector that refuses invalid messages does not stop the following ones. One that is stopped,
// killed and started again gets all valid messages, of this queue and of one before.
func TestCollectorRestarts(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	for _, protocol := range []string{"http", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			c := collector.Start(t, collector.Options{})
			url := "http://" + c.HTTP
			if protocol == "grpc" {
				url = "grpc://" + c.GRPC
			}
			o := QueueOptions{Memory: 4000, Spool: filepath.Join(t.TempDir(), "spool"), FirstDelay: 10 * time.Millisecond}
			// A busy machine can exceed a short time limit, and then a message arrives twice.
			queue := func(timeout string) *Queue {
				q, err := NewQueue(endpoints(t, url, "OTEL_EXPORTER_OTLP_TIMEOUT="+timeout), o)
				if err != nil {
					t.Fatal(err)
				}
				return q
			}
			until := func(what string, q *Queue, done func(Stats) bool) {
				t.Helper()
				waitFor(t, what, func() bool { return done(q.Stats()) })
			}
			q := queue("60000")
			q.Add(Profiles, []byte("garbage"))
			q.Add(Profiles, sample(t, "up"))
			until("up", q, func(s Stats) bool { return s.Sent == 1 && s.Dropped == 1 })
			q.Close(context.Background())
			// Slow: the process is stopped, and accepts connections, but does not answer.
			if err := c.Process().Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			q = queue("3000")
			q.Add(Profiles, sample(t, "stopped"))
			until("stopped", q, func(s Stats) bool { return s.Retries >= 1 })
			c.Process().Signal(syscall.SIGCONT)
			until("continued", q, func(s Stats) bool { return s.Sent == 1 })
			q.Close(context.Background())
			// Away. The messages exceed half of the memory.
			c.Kill()
			q = queue("60000")
			for i := range 40 {
				q.Add(Profiles, sample(t, fmt.Sprint("away ", i)))
				waitMoved(t, q)
			}
			until("away", q, func(s Stats) bool { return s.Retries > 1 })
			c.Restart(t)
			until("restarted", q, func(s Stats) bool { return s.Sent == 40 && s.Waiting == 0 })
			// Away until after the end of the recording.
			c.Kill()
			q.Add(Profiles, sample(t, "kept"))
			ended, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			q.Close(ended)
			if s := q.Stats(); s.Waiting != 1 || s.Dropped != 0 {
				t.Errorf("closed: %+v", s)
			}
			c.Restart(t)
			q = queue("60000")
			until("the next queue", q, func(s Stats) bool { return s.Sent == 1 })
			q.Close(context.Background())

			want := []string{"up", "stopped", "kept"}
			for i := range 40 {
				want = append(want, fmt.Sprint("away ", i))
			}
			got := functions(t, c)
			// The message that it did not answer in time can have arrived.
			if got["stopped"] > 1 {
				got["stopped"] = 1
			}
			for name, n := range got {
				if n != 1 {
					t.Errorf("%s arrived %d times", name, n)
				}
			}
			slices.Sort(want)
			if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
				t.Errorf("arrived: %v, want %v", names, want)
			}
		})
	}
}

// The wrong port is reported with what to do.
func TestWrongProtocol(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	c := collector.Start(t, collector.Options{})
	for url, want := range map[string]string{
		"http://" + c.GRPC:  "the server speaks gRPC or no HTTP; grpc://",
		"grpc://" + c.HTTP:  "if the server expects HTTP, http://",
		"https://" + c.HTTP: "wrong version number",
		"grpcs://" + c.GRPC: "wrong version number",
	} {
		e := endpoints(t, url)[Profiles]
		_, err := e.send(context.Background(), sample(t, "x"))
		failed := new(SendError)
		if !errors.As(err, &failed) || !failed.Retry || !strings.Contains(failed.Reason, want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A collector without a pipeline for a signal refuses it, and the log says what to do.
func TestUnsupported(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	for signal, o := range map[Signal]collector.Options{Profiles: {NoProfiles: true}, Metrics: {NoMetrics: true}} {
		c := collector.Start(t, o)
		for _, url := range []string{"http://" + c.HTTP, "grpc://" + c.GRPC} {
			var log bytes.Buffer
			q, err := NewQueue(endpoints(t, url), QueueOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			q.Add(signal, nil)
			q.Close(context.Background())
			s := q.Stats()
			s.Retries = 0 // curl can fail when the refusal comes before it has sent all
			if s != (Stats{Dropped: 1}) || !strings.Contains(log.String(), unsupported[signal]) {
				t.Errorf("%s: %+v, %s", url, s, log.String())
			}
		}
	}
}

// A profile of many stacks is divided into messages that a collector accepts by its defaults.
func TestLargeProfile(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	c := collector.Start(t, collector.Options{})
	p := profile.New("samples")
	for i := range 40000 {
		name := fmt.Sprintf("%s %d", strings.Repeat("a long name ", 10), i)
		p.Add([]profile.Location{p.Location(uint64(i), []profile.Frame{{Function: name}})}, profile.Labels{Process: "program"}, 1)
	}
	messages, err := otlp.Profiles(p, otlp.Options{})
	if err != nil || len(messages) < 2 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	for n, url := range []string{"http://" + c.HTTP, "grpc://" + c.GRPC} {
		q, err := NewQueue(endpoints(t, url, "OTEL_EXPORTER_OTLP_COMPRESSION=none", "OTEL_EXPORTER_OTLP_TIMEOUT=60000"), QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			q.Add(Profiles, m)
		}
		q.Close(context.Background())
		samples := 0
		for _, p := range c.Profiles(t) {
			samples += p.SampleCount()
		}
		if s := q.Stats(); s != (Stats{Sent: uint64(len(messages))}) || samples != (n+1)*40000 {
			t.Errorf("%s: %+v, %d samples", url, s, samples)
		}
	}
}
