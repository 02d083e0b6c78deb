// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/socket"
)

// Options says what clients of a server can do. What is nil they cannot.
type Options struct {
	// Launch makes a program of what the user of an editor asks for. Its error is
	// shown to them.
	Launch func(LaunchArguments) (*Program, error)

	// Attach returns the target that an editor debugs.
	Attach func(AttachArguments) (*Target, error)
}

// LaunchArguments are those of a launch request: the entries of a configuration
// in VS Code's launch.json.
type LaunchArguments struct {
	Program     Strings  `json:"program"`     // object files or others
	Call        string   `json:"call"`        // "fib(10)"
	Args        []string `json:"args"`        // of a C main
	Cwd         string   `json:"cwd"`         // directory that relative paths start from
	StopOnEntry bool     `json:"stopOnEntry"` // stop before the first instruction

	// JSON has all arguments, also those that are not named above.
	JSON json.RawMessage `json:"-"`

	// Output shows what is written to it in the editor, as the program's output.
	// It may be written to from any goroutine; when the editor is gone, what is
	// written is lost.
	Output io.Writer `json:"-"`
}

// AttachArguments are those of an attach request.
type AttachArguments struct {
	StopOnEntry bool `json:"stopOnEntry"` // stop every call before its first instruction

	JSON json.RawMessage `json:"-"`
}

// Strings is one string or several.
type Strings []string

// UnmarshalJSON takes a string or an array of strings.
func (s *Strings) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = Strings{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// Program is what a launch request starts.
type Program struct {
	// Session is used by the server alone until Close is called.
	Session *session.Session

	// Run calls the function that is debugged, and returns the first stop. It is
	// called again when the user restarts.
	Run func(stopAtEntry bool) (*session.Stop, error)

	// Result returns in words what the function returned, "" for nothing, and the
	// exit code that the editor is told. It may be nil.
	Result func(*session.Stop) (text string, code int, err error)

	// Stopped is called at every stop and at the end of a call, before the editor
	// is told, so that what the program has printed can be shown. It may be nil.
	Stopped func() error

	// Locals returns what a language without debugging information has to show of
	// a frame, as "name = value". It may be nil.
	Locals func(*session.Frame) []string

	// Sources are the sources that are in no file, by the paths that debugging
	// information names them with.
	Sources map[string]string

	// Close gives back all that the program has. It may be nil.
	Close func() error
}

// Server serves editors, one at a time. Its methods may be called from several
// goroutines.
type Server struct {
	options Options

	mu        sync.Mutex
	client    *client          // that is served
	clients   map[*client]bool // whose connections are open: those who leave too
	silent    []*client        // of these, those who have asked for nothing; longest first
	listeners map[socket.Acceptor]bool
	closed    bool
	serving   sync.WaitGroup
}

var (
	// ErrBusy says that another client is served.
	ErrBusy = errors.New("another client is connected; one at a time can debug")
	// ErrFirst says that a client has asked for something else before initialize.
	ErrFirst = errors.New("initialize comes first")
	// ErrClosed says that the server was closed.
	ErrClosed = errors.New("the server is closed")
)

// New makes a server.
func New(o Options) *Server {
	return &Server{options: o, listeners: map[socket.Acceptor]bool{}, clients: map[*client]bool{}}
}

// Serve serves the clients that connect to a listener, until that fails or Close
// is called, when it returns ErrClosed. It closes the listener.
func (s *Server) Serve(l socket.Acceptor) error {
	defer l.Close()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.listeners[l] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	refusals := make(chan struct{}, maxSilent)
	for {
		stream, err := l.Accept()
		if refused, ok := errors.AsType[*socket.RefusedError](err); ok {
			select {
			case refusals <- struct{}{}:
				go func() {
					turnAway(stream, refused)
					<-refusals
				}()
			default:
				stream.Close()
			}
			continue
		}
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.closed {
				return ErrClosed
			}
			return err
		}
		go s.ServeConnection(stream)
	}
}

// ServeConnection serves one client over a stream, a connection or standard input
// and output, until it disconnects. It closes the stream. Clients are served from
// their initialize request on; one that has not sent it keeps nobody waiting, and
// loses its connection when many others connect. The error is ErrBusy where another
// client is served then, ErrClosed, or says what ended the connection other than its
// end.
func (s *Server) ServeConnection(stream io.ReadWriteCloser) error {
	c := newClient(s, stream)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		stream.Close()
		return ErrClosed
	}
	if len(s.silent) == maxSilent {
		s.silent[0].connection.close()
		s.silent = slices.Delete(s.silent, 0, 1)
	}
	s.silent = append(s.silent, c)
	s.clients[c] = true
	s.serving.Add(1)
	s.mu.Unlock()
	defer s.serving.Done()
	err := c.serve()
	s.mu.Lock()
	delete(s.clients, c)
	s.heard(c)
	s.mu.Unlock()
	return err
}

// maxSilent is how many clients may be connected that have asked for nothing.
const maxSilent = 16

// heard takes a client off the silent ones. The caller holds mu.
func (s *Server) heard(c *client) {
	s.silent = slices.DeleteFunc(s.silent, func(other *client) bool { return other == c })
}

// take has a client served, unless another one is.
func (s *Server) take(c *client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard(c)
	switch {
	case s.closed:
		return ErrClosed
	case s.client != nil:
		return ErrBusy
	}
	s.client = c
	return nil
}

// free lets the next client be served.
func (s *Server) free(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == c {
		s.client = nil
	}
}

// Close ends the service: the listeners are closed, and the client is
// disconnected, as if it had asked for it.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	var failed []error
	for l := range s.listeners {
		failed = append(failed, l.Close())
	}
	for c := range s.clients {
		c.connection.close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return errors.Join(failed...)
}

// maxRefusal is how long a client that is not served may take to hear why.
const maxRefusal = 5 * time.Second

// refuse tells a client why it is not served.
func (c *connection) refuse(r dap.RequestMessage, err error) {
	defer time.AfterFunc(maxRefusal, func() { c.close() }).Stop()
	c.write(refusal(r, err))
	c.write(&dap.TerminatedEvent{Event: event("terminated")})
}

// turnAway refuses the first request of a client that a listener does not admit, and
// closes the connection.
func turnAway(stream io.ReadWriteCloser, why error) {
	c := newConnection(stream)
	defer c.close()
	defer time.AfterFunc(maxRefusal, func() { c.close() }).Stop()
	content, err := c.read()
	if err != nil {
		return
	}
	if r, _ := decode(content); r != nil {
		c.refuse(r, why)
	}
}
