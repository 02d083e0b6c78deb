// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/protobuf"
)

// Request is an HTTP request with the method POST.
type Request struct {
	URL           string
	HTTP2         bool     // required; without TLS by prior knowledge
	Headers       []string // "Name: value"
	Body          []byte
	CA, Cert, Key string // files, see Endpoint
	Timeout       time.Duration
}

// Response is the answer to a request. Header contains the trailers too; its names are in lower
// case. Body is at most MaxResponse bytes.
type Response struct {
	Status int
	Header map[string]string
	Body   []byte
	Cut    bool // Body is only its start
}

// MaxResponse bounds an answer, in bytes.
const MaxResponse = 64 << 10

// Result says what a collector did with a message that it received.
type Result struct {
	Rejected int64  // profiles or data points
	Message  string // its reason, or a warning
	Unclear  string // why the answer does not say so although it reports success; "" if it does
}

// SendError is the error of a message that was not accepted.
type SendError struct {
	Reason string
	Retry  bool          // it may be accepted later
	After  time.Duration // not before; 0 if the collector does not say

	// Unsupported means that the collector has nothing at this URL, or lacks the method of gRPC.
	Unsupported bool
}

func (e *SendError) Error() string { return e.Reason }

// send sends a message.
func (e *Endpoint) send(ctx context.Context, message []byte) (result Result, err error) {
	r := &Request{URL: e.URL, HTTP2: e.GRPC, CA: e.CA, Cert: e.Cert, Key: e.Key, Timeout: cmp.Or(e.Timeout, DefaultTimeout)}
	body := message
	if !e.Plain {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		w.Write(message)
		w.Close()
		body = b.Bytes()
	}
	r.Headers = append(r.Headers, "User-Agent: "+cmp.Or(e.UserAgent, "clew"))
	if e.GRPC {
		// gRPC over HTTP2: a byte for compression and the length precede the message.
		prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body)))
		if !e.Plain {
			prefix[0] = 1
			r.Headers = append(r.Headers, "grpc-encoding: gzip")
		}
		body = append(prefix, body...)
		r.Headers = append(r.Headers, "Content-Type: application/grpc+proto", "TE: trailers", "grpc-accept-encoding: gzip",
			fmt.Sprintf("grpc-timeout: %dm", r.Timeout.Milliseconds()))
	} else {
		r.Headers = append(r.Headers, "Content-Type: application/x-protobuf")
		if !e.Plain {
			r.Headers = append(r.Headers, "Content-Encoding: gzip")
		}
	}
	r.Body, r.Headers = body, append(r.Headers, e.Headers...)
	do := e.Send
	if do == nil {
		do = Curl
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout+time.Second)
	defer cancel()
	answer, err := do(ctx, r)
	if err != nil {
		return result, &SendError{Reason: printable.Text(err.Error()) + e.hint(err.Error()), Retry: !errors.Is(err, ErrNoCurl)}
	}
	if len(answer.Body) > MaxResponse {
		answer.Body, answer.Cut = answer.Body[:MaxResponse], true
	}
	if e.GRPC {
		return answer.grpc()
	}
	return answer.http()
}

// hint returns what to do about an error of curl.
func (e *Endpoint) hint(text string) string {
	switch {
	case !e.GRPC && strings.Contains(text, "HTTP/0.9"):
		return " (the server speaks gRPC or no HTTP; grpc://HOST:PORT sends by gRPC)"
	case e.GRPC && slices.ContainsFunc([]string{"16", "52", "55", "56"}, func(code string) bool { return strings.HasPrefix(text, "curl: ("+code+")") }):
		// The connection ended, which can have other reasons.
		return " (if the server expects HTTP, http://HOST:PORT sends by that)"
	}
	return ""
}

// http reads an answer of OTLP/HTTP.
func (a *Response) http() (result Result, err error) {
	kind, _, _ := strings.Cut(a.Header["content-type"], ";")
	kind = strings.TrimSpace(kind)
	switch {
	case a.Status >= 200 && a.Status < 300:
		switch {
		case a.Cut:
			result.Unclear = fmt.Sprintf("it is longer than %d bytes", MaxResponse)
		case kind == "application/x-protobuf":
			return partialSuccess(a.Body), nil
		case len(a.Body) > 0 && kind != "application/json": // JSON answers JSON, which is not sent
			result.Unclear = fmt.Sprintf("its content type is %q, expected application/x-protobuf; is this the URL of a collector?", shortened([]byte(kind)))
		}
		return result, nil
	case a.Status == 0:
		return result, &SendError{Reason: "the answer is not HTTP", Retry: true}
	}
	reason := fmt.Sprintf("the collector answers %d", a.Status)
	if a.Status/100 == 3 {
		reason += "; redirections are not followed: is this the URL of a collector?"
	}
	if kind == "application/x-protobuf" {
		if text := field(a.Body, 2); len(text) > 0 { // google.rpc.Status.message
			reason += ": " + shortened(text)
		}
	}
	return result, &SendError{Reason: reason, Retry: a.busy(), After: retryAfter(a.Header["retry-after"]), Unsupported: a.Status == 404}
}

// busy reports whether the status of HTTP is one of a server that may accept a message later.
func (a *Response) busy() bool { return a.Status == 429 || a.Status >= 502 && a.Status <= 504 }

// grpc reads an answer of gRPC.
func (a *Response) grpc() (result Result, err error) {
	status, ok := a.Header["grpc-status"]
	switch {
	case !ok && a.Cut:
		return result, &SendError{Reason: fmt.Sprintf("the answer is longer than %d bytes", MaxResponse)}
	case !ok:
		return result, &SendError{Reason: fmt.Sprintf("the answer (HTTP status %d) is not gRPC", a.Status), Retry: a.Status == 0 || a.busy()}
	}
	if status == "0" {
		body, ok := a.message()
		if !ok {
			result.Unclear = "its message is incomplete, too long or compressed in an unknown way"
			return result, nil
		}
		return partialSuccess(body), nil
	}
	reason := "the collector answers with gRPC status " + shortened([]byte(status))
	if text := a.Header["grpc-message"]; text != "" {
		if decoded, err := url.PathUnescape(text); err == nil {
			text = decoded
		}
		reason += ": " + shortened([]byte(text))
	}
	after, retry := retryInfo(a.Header["grpc-status-details-bin"])
	switch status {
	case "1", "4", "10", "11", "14", "15": // CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS
		retry = true
	case "8": // RESOURCE_EXHAUSTED; without RetryInfo the message may be too large for the server, which stays so
	default:
		retry = false
	}
	return result, &SendError{Reason: reason, Retry: retry, After: after, Unsupported: status == "12"}
}

// retryInfo reads a google.rpc.RetryInfo, by which a server of gRPC says that it recovers, and when. Text is a
// google.rpc.Status in base64: details = 3, each with type_url = 1 and value = 2.
func retryInfo(text string) (after time.Duration, found bool) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return 0, false
	}
	protobuf.Each(b, func(number, _ uint64, detail []byte) {
		if number != 3 || !strings.HasSuffix(string(field(detail, 1)), "/google.rpc.RetryInfo") {
			return
		}
		found = true
		// retry_delay = 1 with seconds = 1 and nanos = 2
		protobuf.Each(field(field(detail, 2), 1), func(number, value uint64, data []byte) {
			switch {
			case number == 1 && data == nil:
				after += time.Duration(min(max(int64(value), 0), int64(maxAfter/time.Second))) * time.Second
			case number == 2 && data == nil:
				after += time.Duration(min(max(int64(value), 0), 999_999_999))
			}
			after = min(after, maxAfter)
		})
	})
	return after, found
}

// maxAfter bounds how long a server can ask to wait.
const maxAfter = time.Hour

// message returns the message of an answer of gRPC: a byte for compression and the length precede it.
func (a *Response) message() (body []byte, ok bool) {
	if a.Cut || len(a.Body) < 5 || int(binary.BigEndian.Uint32(a.Body[1:])) != len(a.Body)-5 {
		return nil, false
	}
	body = a.Body[5:]
	switch {
	case a.Body[0] == 0:
		return body, true
	case a.Body[0] != 1 || a.Header["grpc-encoding"] != "gzip":
		return nil, false
	}
	// gRPC for Go compresses answers as requests were.
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	body, err = io.ReadAll(io.LimitReader(z, MaxResponse+1))
	return body, err == nil && len(body) <= MaxResponse
}

// retryAfter reads the header Retry-After: seconds or a date.
func retryAfter(text string) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxAfter)
	}
	// The form of net/http.TimeFormat.
	if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", text); err == nil {
		return min(max(0, time.Until(at)), maxAfter)
	}
	return 0
}

// partialSuccess reads an ExportProfilesServiceResponse or ExportMetricsServiceResponse: the field
// partial_success = 1 with rejected_… = 1 and error_message = 2.
func partialSuccess(b []byte) (r Result) {
	var partial []byte
	valid := protobuf.Each(b, func(number, _ uint64, data []byte) {
		if number == 1 && data != nil {
			partial = data
		}
	})
	if !valid || !protobuf.Each(partial, func(number uint64, value uint64, data []byte) {
		switch {
		case number == 1 && data == nil:
			r.Rejected = max(0, int64(value))
		case number == 2:
			r.Message = shortened(data)
		}
	}) {
		r.Unclear = "it is not a protobuf message"
	}
	return r
}

// field returns the last field of a number that has bytes.
func field(b []byte, wanted uint64) (found []byte) {
	protobuf.Each(b, func(number, _ uint64, data []byte) {
		if number == wanted && data != nil {
			found = data
		}
	})
	return found
}

func shortened(text []byte) string { return printable.Shortened(printable.Text(string(text)), 200) }
