// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

// partial returns an ExportProfilesServiceResponse with a reason of n bytes.
func partial(n int) []byte {
	inner := binary.AppendUvarint([]byte{1 << 3, 7, 2<<3 | 2}, uint64(n))
	inner = append(inner, bytes.Repeat([]byte("\x1bé"), n/3+1)[:n]...)
	return append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(inner))), inner...)
}

// hijacked returns a handler that calls write with the connection until that returns an error.
func hijacked(write func(io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		for write(conn) == nil {
		}
	}
}

// answer is that of a hostile collector to the first message.
type answer struct {
	write   http.HandlerFunc
	log     string // a part of a line in the log; "" if there is none
	counted string // what becomes of the message: see TestHostileCollectors
}

var httpAnswers = map[string]answer{
	"page": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>welcome</html>")
	}, `its content type is \"text/html\"`, "unclear"},
	"no type": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "\x7f")
		fmt.Fprint(w, "hello")
	}, "its content type is", "unclear"},
	"empty":       {func(http.ResponseWriter, *http.Request) {}, "", "sent"},
	"accepted":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, "", "sent"},
	"informative": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103) }, "", "sent"},
	"JSON": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	}, "", "sent"},
	"garbage": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write([]byte("\xff\xff\xff garbage"))
	}, "it is not a protobuf message", "unclear"},
	"truncated": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write(partial(1000)[:500])
	}, "it is not a protobuf message", "unclear"},
	"long reason": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write(partial(60 << 10))
	}, "rejected=7", "sent in part"},
	"longer reason": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write(partial(10 << 20))
	}, "it is longer than 65536 bytes", "unclear"},
	"endless": {func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}, "it is longer than 65536 bytes", "unclear"},
	"endless refusal": {func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}, "the collector answers 400", "dropped"},
	"slow": {func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	}, "timed out", "repeated"},
	"slow headers": {hijacked(func(conn io.Writer) error {
		_, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nX: 1\r\n"))
		time.Sleep(50 * time.Millisecond)
		return err
	}), "curl", "repeated"},
	"endless headers": {hijacked(func(conn io.Writer) error {
		_, err := fmt.Fprintf(conn, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: %s\r\n", strings.Repeat("x", 1000))
		return err
	}), "trying again", "repeated"},
	"endless status": {hijacked(func(conn io.Writer) error {
		_, err := conn.Write(bytes.Repeat([]byte("HTTP/1.1 100 Continue\r\n\r\n"), 100))
		return err
	}), "the headers of the answer are longer than 65536 bytes", "repeated"},
	"no HTTP": {hijacked(func(conn io.Writer) error {
		conn.Write([]byte("SSH-2.0-OpenSSH_9\r\n"))
		return http.ErrAbortHandler
	}), "HTTP/0.9", "repeated"},
	"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "timed out", "repeated"},
	"redirect": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
	}, "the collector answers 307; redirections are not followed: is this the URL of a collector?", "dropped"},
	"not now": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "-99999999999999999999")
		w.WriteHeader(503)
	}, "the collector answers 503", "repeated"},
	"strange status": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(999) }, "the collector answers 999", "dropped"},
	"bomb": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write([]byte("\x1f\x8b\x08 not decompressed"))
	}, "it is not a protobuf message", "unclear"},
}

var grpcAnswers = map[string]answer{
	"page":         {httpAnswers["page"].write, "(HTTP status 200) is not gRPC", "dropped"},
	"no trailers":  {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte{0, 0, 0, 0, 0}) }, "(HTTP status 200) is not gRPC", "dropped"},
	"endless":      {httpAnswers["endless"].write, "the answer is longer than 65536 bytes", "dropped"},
	"silent":       httpAnswers["silent"],
	"slow":         httpAnswers["slow"],
	"wrong length": {trailers([]byte{0, 0xff, 0xff, 0xff, 0xff, 1}, "0", ""), "its message is incomplete", "unclear"},
	"compressed":   {trailers([]byte{1, 0, 0, 0, 1, 1}, "0", ""), "its message is incomplete", "unclear"},
	"in part":      {zipped(partial(3)), "rejected=7", "sent in part"},
	"bomb":         {zipped(make([]byte, 10<<20)), "its message is incomplete, too long", "unclear"},
	"nothing":      {trailers(nil, "0", ""), "its message is incomplete", "unclear"},
	"garbage":      {trailers([]byte("\x00\x00\x00\x00\x03\xff\xff\xff"), "0", ""), "it is not a protobuf message", "unclear"},
	"status":       {trailers(nil, strings.Repeat("9", 5000), "%zz"), "gRPC status 999", "dropped"},
	"long message": {trailers(nil, "3", strings.Repeat("%1b", 10000)), `gRPC status 3: \\x1b`, "dropped"},
	"unavailable":  {trailers(nil, "14", "%e2%80%ae"), "gRPC status 14", "repeated"},
	"fine":         {trailers([]byte{0, 0, 0, 0, 0}, "0", ""), "", "sent"},
}

// trailers returns the handler of an answer with trailers.
func trailers(body []byte, status, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Write(body)
		w.(http.Flusher).Flush()
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", message)
	}
}

// zipped returns the handler of an answer that is compressed.
func zipped(body []byte) http.HandlerFunc {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(body)
	z.Close()
	next := trailers(append(binary.BigEndian.AppendUint32([]byte{1}, uint32(b.Len())), b.Bytes()...), "0", "")
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Grpc-Encoding", "gzip")
		next(w, r)
	}
}

// After an answer of any kind, which is logged and counted, the next message is sent. No line of
// the log is long, and none has control characters.
func TestHostileCollectors(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	for protocol, list := range map[string]map[string]answer{"http": httpAnswers, "grpc": grpcAnswers} {
		for name, test := range list {
			t.Run(protocol+" "+name, func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int64
				c := newServer(t, func(_ int, w http.ResponseWriter, r *http.Request) {
					switch {
					case asked.Add(1) == 1:
						test.write(w, r)
					case protocol == "grpc":
						trailers([]byte{0, 0, 0, 0, 0}, "0", "")(w, r)
					}
				})
				var log bytes.Buffer
				url := strings.Replace(c.URL, "http:", protocol+":", 1)
				// Only an answer without an end in time needs a short one, which a busy machine exceeds for others.
				timed, timeout := slices.Contains([]string{"slow", "slow headers", "silent"}, name), "60000"
				if timed {
					timeout = "2000"
				}
				q, err := NewQueue(endpoints(t, url, "OTEL_EXPORTER_OTLP_TIMEOUT="+timeout, "OTEL_EXPORTER_OTLP_COMPRESSION=none"), QueueOptions{FirstDelay: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				q.Add(Profiles, []byte("first"))
				q.Add(Profiles, []byte("second"))
				ended, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
				defer cancel()
				q.Close(ended)
				got := q.Stats()
				if timed {
					got.Retries = min(got.Retries, 1)
				}
				want, ok := map[string]Stats{
					"sent": {Sent: 2}, "sent in part": {Sent: 2, Rejected: 7}, "unclear": {Sent: 2, Unclear: 1},
					"dropped": {Sent: 1, Dropped: 1}, "repeated": {Sent: 2, Retries: 1},
				}[test.counted]
				if !ok || got != want {
					t.Errorf("%s: %+v, want %+v", test.counted, got, want)
				}
				if c.mu.Lock(); !strings.HasSuffix(c.received[len(c.received)-1], "second") {
					t.Errorf("received %q", c.received)
				}
				c.mu.Unlock()
				if !strings.Contains(log.String(), test.log) || test.log == "" && log.Len() > 0 {
					t.Errorf("the log lacks %q", test.log)
				}
				for line := range strings.Lines(log.String()) {
					if len(line) > 1500 || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\x7f\n") {
						t.Errorf("a line of %d bytes", len(line))
					}
				}
				if t.Failed() {
					t.Logf("the log:\n%.3000s", log.String())
				}
			})
		}
	}
}

// Any answer is read to an end, with a result in bounds.
func FuzzAnswer(f *testing.F) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\n\r\n"
	f.Add([]byte(ok), partial(10), false)
	f.Add([]byte(ok), []byte{1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, false)
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 x\r\nRetry-After: 99999999999\r\nContent-Type: application/x-protobuf\r\n\r\n"), []byte{2<<3 | 2, 3, 'w', 'h', 'y'}, false)
	f.Add([]byte("HTTP/1.1 429\r\nretry-after: Fri, 27 Nov 2099 10:00:00 GMT\r\n\r\n"), []byte{}, false)
	f.Add([]byte("HTTP/2 200 \r\ncontent-type: application/grpc\r\n\r\ngrpc-status: 0\r\n"), append([]byte{0, 0, 0, 0, 16}, partial(10)...), true)
	f.Add([]byte("HTTP/2 200 \r\ngrpc-status: 14\r\ngrpc-message: %1b%zz\r\n"), []byte{}, true)
	f.Add([]byte("HTTP/2 -1\r\n: \r\nHTTP/"), []byte{0xff}, true)
	f.Fuzz(func(t *testing.T, head, body []byte, grpc bool) {
		if len(head) > MaxResponse || len(body) > MaxResponse {
			return
		}
		a := parseHead(head)
		a.Body = body
		if a.Status < 0 || a.Status > 1023 {
			t.Errorf("status %d", a.Status)
		}
		read := a.http
		if grpc {
			read = a.grpc
		}
		r, err := read()
		texts := []string{r.Message, r.Unclear}
		if err != nil {
			failed := err.(*SendError)
			texts = append(texts, failed.Reason)
			if failed.After < 0 || failed.After > time.Hour || r != (Result{}) {
				t.Errorf("%+v %+v", r, failed)
			}
		}
		if r.Rejected < 0 {
			t.Errorf("%d rejected", r.Rejected)
		}
		for _, text := range texts {
			if len(text) > 2000 || strings.ContainsAny(text, "\x00\n\r\x1b\x7f") {
				t.Errorf("%q", text)
			}
		}
	})
}
