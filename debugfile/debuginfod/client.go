// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/object"
)

// Client fetches files by build ID. Its fields must not be changed after the first Fetch.
// It may be used concurrently, and fetches one file at a time.
type Client struct {
	Servers []string // URLs, http or https, in the order of the requests
	Cache   string   // the directory for fetched files; "" for none

	// Stall is the longest time that a server may send nothing, and Total the longest time
	// of all fetches together; 0 means DefaultStall and DefaultTotal.
	Stall, Total time.Duration
	// MaxSize is the largest size of a decompressed file, in bytes; 0 means DefaultMaxSize.
	MaxSize int64

	// Get writes the response of a server at a URL of http or https. The error wraps
	// fs.ErrNotExist if the server does not have the file, and is a *RedirectError if the
	// server redirects; Get does not follow redirections. Get ends when the context ends
	// or a write fails. nil means Curl.
	Get func(ctx context.Context, url string, to io.Writer) error

	// Progress is called before a fetch, from time to time, and, with done, after it, with
	// the bytes received so far. It may be nil.
	Progress func(what debugfile.Kind, buildID []byte, bytes int64, done bool)

	mu      sync.Mutex
	spent   time.Duration
	failed  map[string]bool // servers that failed
	answers map[string]error
}

const (
	DefaultStall   = 10 * time.Second
	DefaultTotal   = time.Minute
	DefaultMaxSize = 4 << 30
)

// FromEnvironment returns the client that the environment configures, or nil without
// DEBUGINFOD_URLS. DEBUGINFOD_TIMEOUT is Stall and DEBUGINFOD_MAXTIME is Total, both in
// seconds; DEBUGINFOD_MAXSIZE is MaxSize. The cache is debugfile.DebuginfodDir.
func FromEnvironment() *Client {
	var servers []string
	for word := range strings.FieldsSeq(os.Getenv("DEBUGINFOD_URLS")) {
		if !strings.HasPrefix(word, "ima:") { // a policy; since elfutils 0.192
			servers = append(servers, word)
		}
	}
	if len(servers) == 0 {
		return nil
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(os.Getenv(name), 10, 32)
		return max(n, 0)
	}
	size, _ := strconv.ParseInt(os.Getenv("DEBUGINFOD_MAXSIZE"), 10, 64)
	return &Client{
		Servers: servers,
		Cache:   debugfile.DebuginfodDir(),
		Stall:   time.Duration(number("DEBUGINFOD_TIMEOUT")) * time.Second,
		Total:   time.Duration(number("DEBUGINFOD_MAXTIME")) * time.Second,
		MaxSize: max(size, 0),
	}
}

// Fetch opens the file of a build ID, from the cache or a server. The caller closes it. The
// error wraps [fs.ErrNotExist] if no server has the file. Otherwise it is one or several
// [*ServerError], or says why no file can be written. Further calls for the same build ID
// return the same error. If all servers have failed, the error for other build IDs wraps
// fs.ErrNotExist.
func (c *Client) Fetch(what debugfile.Kind, id []byte) (*os.File, error) {
	if len(id) < 2 || len(id) > maxID {
		return nil, fmt.Errorf("build ID of %d bytes: %w", len(id), fs.ErrNotExist)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.failed, c.answers = make(map[string]bool), make(map[string]error)
	}
	e := entry{dir: c.Cache, what: what, id: id}
	name := what.String() + string(id)
	if err := c.answers[name]; err != nil {
		return nil, err
	}
	if f, known := e.cached(); known || !c.hope() {
		if f == nil {
			return nil, fs.ErrNotExist
		}
		return f, nil
	}
	if c.Progress != nil {
		c.Progress(what, id, 0, false)
		defer c.Progress(what, id, 0, true)
	}
	var errs []error
	absent := 0
	for _, server := range c.Servers {
		if c.failed[server] {
			continue
		}
		f, err := c.fetch(&e, server)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			absent++
			continue
		}
		var of *ServerError
		if errors.As(err, &of) {
			c.failed[server] = true
		}
		errs = append(errs, err)
	}
	if absent == len(c.Servers) {
		e.remember()
	}
	if len(errs) == 0 {
		return nil, fs.ErrNotExist
	}
	c.answers[name] = errors.Join(errs...)
	return nil, c.answers[name]
}

// maxID is the longest build ID that is fetched, in bytes. As a name it fits any file
// system.
const maxID = 64

// hope reports whether at least one server has not failed.
func (c *Client) hope() bool {
	return slices.ContainsFunc(c.Servers, func(server string) bool { return !c.failed[server] })
}

// fetch asks one server.
func (c *Client) fetch(e *entry, server string) (*os.File, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &ServerError{server, "is not a URL of http or https"}
	}
	part, err := e.create()
	if err != nil {
		return nil, fmt.Errorf("debuginfod: %w", err)
	}
	defer part.discard()
	from := strings.TrimSuffix(strings.TrimSuffix(server, "/"), "/buildid") + "/buildid/" + hex.EncodeToString(e.id) + "/" + e.what.String()
	if err = c.get(e, from, part.file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, &ServerError{server, err.Error()}
	}
	file, err := object.OpenFile(part.file, from)
	if err != nil {
		return nil, &ServerError{server, "sent an invalid object file: " + strings.TrimPrefix(err.Error(), from+": ")}
	}
	cut, other := file.CheckWhole(from), file.CheckBuildID(from, e.id)
	file.Close()
	var refused *object.RefusedError
	switch {
	case errors.As(cut, &refused):
		return nil, &ServerError{server, "sent an incomplete file: " + refused.Reason}
	case errors.As(other, &refused):
		return nil, &ServerError{server, "sent another file: " + refused.Reason}
	}
	f, err := part.keep()
	if err != nil {
		return nil, fmt.Errorf("debuginfod: %w", err)
	}
	return f, nil
}

// ServerError is the reason why a server is not asked again.
type ServerError struct {
	Server string // its URL
	Reason string // "gave no answer in 10s"
}

func (e *ServerError) Error() string {
	return "debuginfod: " + e.Server + " " + e.Reason + "; it is not asked again"
}

// get makes the request, within the limits.
func (c *Client) get(e *entry, from string, to io.Writer) error {
	stall, total := cmp.Or(c.Stall, DefaultStall), cmp.Or(c.Total, DefaultTotal)
	w := &bounded{to: to, left: cmp.Or(c.MaxSize, DefaultMaxSize), stall: stall}
	errStall := errors.New("stalled")
	errTotal := fmt.Errorf("exceeded the time of %v for all fetches (set $DEBUGINFOD_MAXTIME to change it)", total)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	w.timer = time.AfterFunc(stall, func() { cancel(errStall) })
	defer w.timer.Stop()
	end := time.AfterFunc(max(total-c.spent, 0), func() { cancel(errTotal) })
	defer end.Stop()
	if c.Progress != nil {
		w.progress = func(n int64) { c.Progress(e.what, e.id, n, false) }
	}
	get := c.Get
	if get == nil {
		get = Curl
	}
	start := time.Now()
	err := get(ctx, from, w)
	var leads *RedirectError
	for hops := 0; errors.As(err, &leads); hops++ {
		if hops == maxRedirects {
			err = errRedirect(fmt.Sprintf("redirects more than %d times", maxRedirects))
		} else if from, err = c.follow(from, leads.Location); err == nil {
			err = get(ctx, from, w)
		}
	}
	c.spent += time.Since(start)
	switch cause := context.Cause(ctx); {
	case w.full:
		return fmt.Errorf("sent more than the limit of %d bytes", cmp.Or(c.MaxSize, DefaultMaxSize))
	case w.err != nil:
		return w.err
	case err != nil && cause == errStall && w.n == 0:
		return fmt.Errorf("gave no answer in %v", stall)
	case err != nil && cause == errStall:
		return fmt.Errorf("sent nothing more for %v, after %d bytes", stall, w.n)
	case err != nil && cause != nil:
		return cause
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, new(errRedirect)):
		return fmt.Errorf("failed: %w", err)
	}
	return err
}

// bounded limits the number of bytes that a server may send.
type bounded struct {
	to       io.Writer
	n, left  int64
	full     bool
	err      error
	stall    time.Duration
	timer    *time.Timer
	progress func(int64)
}

var errFull = errors.New("too much")

func (b *bounded) Write(p []byte) (int, error) {
	b.timer.Reset(b.stall)
	if int64(len(p)) > b.left {
		b.full = true
		return 0, errFull
	}
	n, err := b.to.Write(p)
	b.n += int64(n)
	b.left -= int64(n)
	b.err = err
	if b.progress != nil {
		b.progress(b.n)
	}
	return n, err
}
