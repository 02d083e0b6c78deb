// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ErrNoCurl means that the program curl was not found in $PATH.
var ErrNoCurl = errors.New("curl, which sends the profiles, is not installed")

// Curl makes a request with the program curl. It uses the proxies of the environment, does not
// read the user's curlrc, and follows no redirection. Headers are not among its arguments, where
// other users could see them.
func Curl(ctx context.Context, r *Request) (*Response, error) {
	path, err := exec.LookPath("curl")
	if err != nil {
		return nil, ErrNoCurl
	}
	headers, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer headers.Close()
	// Headers are much shorter than a pipe's buffer.
	lines := strings.Join(append(r.Headers, "Expect:"), "\n") + "\n"
	if len(lines) > 32<<10 {
		w.Close()
		return nil, errors.New("the headers have more than 32 KiB")
	}
	_, err = io.WriteString(w, lines)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	args := []string{
		"--disable", "--silent", "--show-error", "--globoff", "--no-buffer", "--proto", "=http,https", "--suppress-connect-headers",
		"--request", "POST", "--data-binary", "@-", "--header", "@/dev/fd/3",
		"--max-time", strconv.FormatFloat(r.Timeout.Seconds(), 'f', 3, 64),
	}
	if r.HTTP2 {
		// The flag for TLS negotiates the protocol.
		flag := "--http2"
		if strings.HasPrefix(r.URL, "http:") {
			flag = "--http2-prior-knowledge"
		}
		args = append(args, flag)
	} else {
		args = append(args, "--http1.1")
	}
	for _, file := range [...]struct{ flag, name string }{{"--cacert", r.CA}, {"--cert", r.Cert}, {"--key", r.Key}} {
		if file.name != "" {
			args = append(args, file.flag, file.name)
		}
	}
	// curl dumps trailers after the headers.
	args = append(args, "--dump-header", "/dev/fd/4", "--url", r.URL)
	dumped, dump, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer dumped.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	said, body := &limited{limit: 8 << 10, full: cancel}, &limited{limit: MaxResponse, full: cancel}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(r.Body), body, said, time.Second
	cmd.ExtraFiles = []*os.File{headers, dump}
	if err := start(cmd); err != nil {
		dump.Close()
		return nil, err
	}
	dump.Close()
	head := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(dumped, MaxResponse+1))
		if len(b) > MaxResponse {
			cancel()
		}
		head <- b
	}()
	err = cmd.Wait()
	dumped.SetReadDeadline(time.Now().Add(time.Second))
	all := <-head
	answer := parseHead(all)
	answer.Body, answer.Cut = body.kept, body.cut
	switch text := strings.TrimSpace(string(said.kept)); {
	case len(all) > MaxResponse:
		return nil, fmt.Errorf("the headers of the answer are longer than %d bytes", MaxResponse)
	case body.cut && answer.Status != 0:
		return answer, nil // the status is known
	case err != nil && text != "":
		return nil, errors.New(text)
	case err != nil:
		return nil, fmt.Errorf("curl: %w", err)
	}
	return answer, nil
}

// parseHead reads the status, headers and trailers of the last answer.
func parseHead(b []byte) *Response {
	a := &Response{Header: make(map[string]string)}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutPrefix(line, "HTTP/"); ok {
			_, code, _ := strings.Cut(rest, " ")
			code, _, _ = strings.Cut(code, " ")
			if n, err := strconv.ParseUint(code, 10, 10); err == nil {
				a.Status = int(n)
			} else {
				a.Status = 0
			}
			clear(a.Header)
			continue
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			a.Header[strings.ToLower(name)] = strings.TrimSpace(value)
		}
	}
	return a
}

// limited keeps what is written up to a limit, and then calls full.
type limited struct {
	kept  []byte
	limit int
	full  func()
	cut   bool
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if len(l.kept)+len(p) > l.limit {
		l.cut = true
		l.full()
		return 0, errors.New("the answer is too long")
	}
	l.kept = append(l.kept, p...)
	return len(p), nil
}
