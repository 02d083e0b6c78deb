// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/testprogram"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestFromEnvironment(t *testing.T) {
	const v = "OTEL_EXPORTER_OTLP_"
	for _, test := range []struct {
		base string
		env  []string
		want string // the URL and whether it is of gRPC, or a part of the error
	}{
		{"", nil, "http://localhost:4318/v1development/profiles false"},
		{"https://c:4318", nil, "https://c:4318/v1development/profiles false"},
		{"https://c/otlp/", nil, "https://c/otlp/v1development/profiles false"},
		{"grpc://c:4317", nil, "http://c:4317" + grpcPaths[0] + " true"},
		{"grpcs://c:4317", nil, "https://c:4317" + grpcPaths[0] + " true"},
		{"", []string{v + "ENDPOINT=http://e:1"}, "http://e:1/v1development/profiles false"},
		{"", []string{v + "ENDPOINT=http://e:1", v + "PROFILES_ENDPOINT=http://p:1/x"}, "http://p:1/x false"},
		{"http://b", []string{v + "PROFILES_ENDPOINT=http://p:1/x"}, "http://b/v1development/profiles false"},
		{"", []string{v + "ENDPOINT=e:4317", v + "PROTOCOL=grpc"}, "https://e:4317" + grpcPaths[0] + " true"},
		{"", []string{v + "ENDPOINT=e:4317", v + "PROTOCOL=grpc", v + "INSECURE=true"}, "http://e:4317" + grpcPaths[0] + " true"},
		{"host:4318", nil, "is not a URL"},
		{"ftp://c", nil, "has the scheme ftp"},
		{"http://me:secret@c", nil, "contains a password"},
		{"http://c", []string{v + "PROTOCOL=http/json"}, "unknown protocol"},
		{"http://c", []string{v + "COMPRESSION=zip"}, "unknown compression"},
		{"http://c", []string{v + "TIMEOUT=1s"}, "expected milliseconds"},
		{"http://c", []string{v + "HEADERS=a"}, "is not of the form"},
		{"http://c", []string{v + "HEADERS=a=%0d%0aX:y"}, "is not of the form"},
	} {
		all, err := FromEnvironment(environment(test.env...), test.base)
		got := fmt.Sprint(all[Profiles].URL, " ", all[Profiles].GRPC)
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s %v: %s, want %s", test.base, test.env, got, test.want)
		}
	}
	all, err := FromEnvironment(environment(v+"HEADERS=a=b, c = d%2C", v+"PROFILES_TIMEOUT=1500", v+"COMPRESSION=none", v+"CERTIFICATE=/ca", v+"CLIENT_KEY=/k", v+"CLIENT_CERTIFICATE=/c"), "http://c")
	if e := all[Profiles]; err != nil || !slices.Equal(e.Headers, []string{"a: b", "c: d,"}) || e.Timeout != 1500*time.Millisecond || !e.Plain || e.CA != "/ca" || e.Key != "/k" || e.Cert != "/c" || all[Metrics].Timeout != DefaultTimeout || all[Metrics].URL != "http://c/v1/metrics" {
		t.Errorf("%+v %v", all, err)
	}
}

// Metrics have their own endpoint, or none.
func TestMetricsEndpoint(t *testing.T) {
	const v = "OTEL_EXPORTER_OTLP_"
	for _, test := range []struct {
		base string
		env  []string
		want string
	}{
		{"", nil, "http://localhost:4318/v1/metrics"},
		{"", []string{v + "ENDPOINT=http://e:1"}, "http://e:1/v1/metrics"},
		{"", []string{v + "METRICS_ENDPOINT=http://m:1"}, "http://m:1"},
		{"", []string{v + "PROFILES_ENDPOINT=http://p:1"}, ""},
		{"", []string{v + "PROFILES_ENDPOINT=http://p:1", v + "METRICS_ENDPOINT=http://m:1"}, "http://m:1"},
		{"http://b:1", []string{v + "PROFILES_ENDPOINT=http://p:1"}, "http://b:1/v1/metrics"},
		{"http://b:1", []string{"OTEL_METRICS_EXPORTER=none"}, ""},
	} {
		all, err := FromEnvironment(environment(test.env...), test.base)
		if err != nil || all[Metrics].URL != test.want {
			t.Errorf("%q %v: %q, %v, want %q", test.base, test.env, all[Metrics].URL, err, test.want)
		}
	}
}

// server is a collector whose answers a test chooses.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	received []string
	answer   func(n int, w http.ResponseWriter, r *http.Request)
}

func newServer(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *server {
	c := &server{answer: answer}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		b, _ := io.ReadAll(body)
		c.mu.Lock()
		n := len(c.received)
		c.received = append(c.received, string(b))
		c.mu.Unlock()
		c.answer(n, w, r)
	}))
	c.Config.Protocols = new(http.Protocols)
	c.Config.Protocols.SetHTTP1(true)
	c.Config.Protocols.SetUnencryptedHTTP2(true)
	c.Start()
	t.Cleanup(c.Close)
	return c
}

func endpoints(t *testing.T, url string, pairs ...string) Endpoints {
	all, err := FromEnvironment(environment(pairs...), url)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A message arrives as it was, with the headers of OTLP and those of the environment.
func TestSend(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	c := newServer(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.URL.Path != httpPaths[0] || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Key") != "a secret" || r.UserAgent() != "clew" {
			t.Errorf("%v %v %v", r.Method, r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write([]byte{1<<3 | 2, 8, 1 << 3, 7, 2<<3 | 2, 4, 'w', 'h', 'y', 27})
	})
	e := endpoints(t, c.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20secret")[Profiles]
	message := bytes.Repeat([]byte("a message"), 10000)
	r, err := e.send(context.Background(), message)
	if err != nil || r.Rejected != 7 || r.Message != `why\x1b` || c.received[0] != string(message) {
		t.Errorf("%+v %v", r, err)
	}
}

// gRPC is HTTP/2 with a prefix, and with the status in trailers.
func TestSendByGRPC(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	status, details := "0", ""
	c := newServer(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.URL.Path != grpcPaths[0] || r.Header.Get("Content-Type") != "application/grpc+proto" || r.Header.Get("Te") != "trailers" {
			t.Errorf("%v %v %v", r.Proto, r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")
		w.Write([]byte{0, 0, 0, 0, 4, 1<<3 | 2, 2, 1 << 3, 3})
		w.(http.Flusher).Flush() // no server of gRPC sends a length
		w.Header().Set("Grpc-Status", status)
		w.Header().Set("Grpc-Message", "a%20reason")
		w.Header().Set("Grpc-Status-Details-Bin", details)
	})
	e := endpoints(t, strings.Replace(c.URL, "http:", "grpc:", 1), "OTEL_EXPORTER_OTLP_COMPRESSION=none")[Profiles]
	if r, err := e.send(context.Background(), []byte("hello")); err != nil || r.Rejected != 3 || c.received[0] != "\x00\x00\x00\x00\x05hello" {
		t.Errorf("%+v %v %q", r, err, c.received)
	}
	// A google.rpc.Status with a DebugInfo, and a RetryInfo of 7.5 s.
	const seconds, nanos = "\x08\x07", "\x10\x80\xca\xb5\xee\x01"
	const retryInfo = "\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x0a\x0a\x08" + seconds + nanos
	const debugInfo = "\x0a\x28type.googleapis.com/google.rpc.DebugInfo\x12\x00"
	const other = "\x08\x08\x1a\x2c" + debugInfo
	wait := base64.RawStdEncoding.EncodeToString([]byte(other + "\x1a\x36" + retryInfo))
	// A negative time is invalid: -1 s, -1 ns.
	const invalid = "\x1a\x42\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x16\x0a\x14\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	negative := base64.RawStdEncoding.EncodeToString([]byte(invalid))
	const pause = 7500 * time.Millisecond
	for _, test := range []struct {
		code, details string
		retry         bool
		after         time.Duration
	}{
		{"14", "", true, 0}, {"3", "", false, 0}, {"garbage", "", false, 0},
		// A server that is busy says so. Without that, the message can be too large for it.
		{"14", wait, true, pause}, {"8", wait, true, pause}, {"8", wait + "==", true, pause}, {"3", wait, false, pause}, {"8", negative, true, 0},
		{"8", "", false, 0}, {"8", "garbage!", false, 0}, {"8", base64.StdEncoding.EncodeToString([]byte(other)), false, 0},
	} {
		status, details = test.code, test.details
		_, err := e.send(context.Background(), []byte("hello"))
		if failed, ok := err.(*SendError); !ok || failed.Retry != test.retry || failed.After != test.after || !strings.HasSuffix(failed.Reason, test.code+": a reason") {
			t.Errorf("%+v: %+v", test, err)
		}
	}
}

// The status of HTTP decides whether a message is sent again, and when.
func TestRefusals(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	for name, test := range map[string]struct {
		answer func(n int, w http.ResponseWriter, r *http.Request)
		want   string
		retry  bool
		after  time.Duration
	}{
		"refused": {func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, "answers 400", false, 0},
		"busy": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
		}, "answers 429", true, 7 * time.Second},
		"redirection": {func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, "answers 307", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newServer(t, test.answer)
			e := endpoints(t, c.URL)[Profiles]
			_, err := e.send(context.Background(), []byte("x"))
			failed, _ := err.(*SendError)
			if failed == nil || !strings.Contains(failed.Reason, test.want) || failed.Retry != test.retry || failed.After != test.after {
				t.Errorf("%+v, want %+v", failed, test)
			}
		})
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

// waitMoved waits until a queue has moved the excess to its spool, for which a slow disk can take long.
func waitMoved(t *testing.T, q *Queue) {
	t.Helper()
	waitFor(t, "more than half of the memory remains in use", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.lists[Profiles].bytes <= q.options.Memory/2
	})
}

// While the collector cannot be reached, messages wait in memory, then in the spool. The next queue sends
// them. What does not fit is counted.
func TestQueue(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	up := false
	c := newServer(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !up {
			w.WriteHeader(503)
		}
	})
	spool := filepath.Join(t.TempDir(), "spool")
	o := QueueOptions{Memory: 2000, Spool: spool, SpoolSize: 4000, FirstDelay: time.Millisecond}
	add := func(q *Queue, from, to int) {
		for i := from; i < to; i++ {
			q.Add(Profiles, fmt.Appendf(nil, "%0100d", i))
			if q.spool != nil {
				waitMoved(t, q)
			}
		}
	}
	q, err := NewQueue(endpoints(t, c.URL), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewQueue(endpoints(t, c.URL), o); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second queue: %v", err)
	}
	add(q, 0, 30)
	waitFor(t, "no attempt fails", func() bool { return q.Stats().Retries > 0 })
	q.Close(context.Background())
	if s := q.Stats(); s.Sent != 0 || s.Dropped != 0 || s.Retries == 0 || s.Waiting != 30 || s.Bytes != 3000 {
		t.Errorf("away: %+v", s)
	}
	up = true
	c.mu.Lock()
	c.received = nil
	c.mu.Unlock()
	if q, err = NewQueue(endpoints(t, c.URL), o); err != nil {
		t.Fatal(err)
	}
	add(q, 30, 35)
	q.Close(context.Background())
	if s := q.Stats(); s.Sent != 35 || s.Dropped != 0 || s.Waiting != 0 {
		t.Errorf("back: %+v", s)
	}
	slices.Sort(c.received)
	if n := len(slices.Compact(c.received)); n != 35 {
		t.Errorf("%d different messages", n)
	}
	// Without a spool the oldest are dropped.
	up = false
	if q, err = NewQueue(endpoints(t, c.URL), QueueOptions{Memory: 1000, FirstDelay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	add(q, 0, 30)
	stopped, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	q.Close(stopped)
	cancel()
	if s := q.Stats(); s.Sent != 0 || s.Dropped != 30 {
		t.Errorf("no spool: %+v", s)
	}
}

// Only a directory of the user's own is a spool. Other files in it are left alone.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	os.Chmod(dir, 0o777)
	if _, err := openSpool(dir, 1000); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Error(err)
	}
	os.Chmod(dir, 0o700)
	os.Mkdir(filepath.Join(dir, lockName), 0o700)
	if _, err := openSpool(dir, 1000); err == nil || !strings.HasPrefix(err.Error(), dir+": no file can be written there: ") {
		t.Error(err)
	}
	os.Remove(filepath.Join(dir, lockName))
	os.WriteFile(filepath.Join(dir, "notes"), []byte("x"), 0o600)
	os.Symlink("/etc/passwd", filepath.Join(dir, fmt.Sprintf("%020d-PROFILES.otlp", 3)))
	s, err := openSpool(dir, 250)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.add(message{Metrics, make([]byte, 100)})
	}
	if n, bytes := s.size(); n != 2 || bytes != 200 {
		t.Errorf("%d files, %d bytes", n, bytes)
	}
	if _, err := s.add(message{Metrics, make([]byte, 300)}); err == nil {
		t.Error("a message above the limit")
	}
	s.close()
	if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil {
		t.Error(err)
	}
}

// A link that another user may have made is not followed to a directory of this user.
func TestPlantedSpool(t *testing.T) {
	shared, own := t.TempDir(), t.TempDir()
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(shared, "spool")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, filepath.Join(link, "inner")} {
		if _, err := openSpool(path, 1000); !errors.Is(err, outputfile.ErrPlanted) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if names, err := os.ReadDir(own); err != nil || len(names) > 0 {
		t.Errorf("the directory contains %v, %v", names, err)
	}
}
