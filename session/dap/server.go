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

// Options has the functions for the requests launch and attach. A server refuses the request
// of a nil function.
type Options struct {
	// Launch makes a program from the arguments of a launch request. The editor shows
	// its error to the user.
	Launch func(LaunchArguments) (*Program, error)

	// Attach returns the target that an editor debugs.
	Attach func() (*Target, error)
}

// LaunchArguments are the arguments of a launch request: the entries of a configuration in
// VS Code's launch.json.
type LaunchArguments struct {
	Program     Strings  `json:"program"`     // object files, or other files that Launch accepts
	Call        string   `json:"call"`        // "fib(10)"
	Args        []string `json:"args"`        // of a C main
	Cwd         string   `json:"cwd"`         // directory of relative paths
	StopOnEntry bool     `json:"stopOnEntry"` // stop before the first instruction

	// JSON has all arguments, including those without a field here.
	JSON json.RawMessage `json:"-"`

	// Output shows text in the editor as the program's output. Any goroutine may write
	// to it. After the editor has gone, the text is dropped.
	Output io.Writer `json:"-"`
}

// Strings is one string or several.
type Strings []string

// UnmarshalJSON implements json.Unmarshaler for a string or an array of strings.
func (s *Strings) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = Strings{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// Program is the program of a launch request.
type Program struct {
	// Session is the program's session. Only the server uses it until Close.
	Session *session.Session

	// Run calls the function to debug and returns the first stop. A restart calls Run
	// again.
	Run func(stopAtEntry bool) (*session.Stop, error)

	// Result returns the text of the function's result, "" for none, and the exit code
	// for the editor. It may be nil.
	Result func(*session.Stop) (text string, code int, err error)

	// Stopped runs at every stop and at the end of a call, before the editor gets the
	// stop, for example to flush the program's output. It may be nil.
	Stopped func() error

	// Locals returns the variables of a frame as "name = value", for languages without
	// debugging information. It may be nil.
	Locals func(*session.Frame) []string

	// Sources are the texts of sources that no file has, by their paths in debugging
	// information.
	Sources map[string]string

	// Close releases the resources of the program. It may be nil.
	Close func() error
}

// Server serves editors, one at a time. Several goroutines may call its methods.
type Server struct {
	options Options

	mu        sync.Mutex
	client    *client          // the client that is served
	clients   map[*client]bool // all clients with an open connection
	silent    []*client        // clients that have not sent initialize, oldest first
	listeners map[socket.Acceptor]bool
	closed    bool
	serving   sync.WaitGroup
}

var (
	// ErrBusy is the error for a client while another client is served.
	ErrBusy = errors.New("another client is connected; only one at a time can debug")
	// ErrFirst is the error for a request before initialize.
	ErrFirst = errors.New("initialize must be the first request")
	// ErrClosed is the error of a server after Close.
	ErrClosed = errors.New("the server is closed")
)

// New returns a server.
func New(o Options) *Server {
	return &Server{options: o, listeners: map[socket.Acceptor]bool{}, clients: map[*client]bool{}}
}

// Serve serves the clients that connect to a listener until Accept fails. It closes the
// listener. After Close it returns ErrClosed.
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
					refuseFirst(stream, refused)
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

// ServeConnection serves one client over a stream, such as a connection or standard input
// and output, until it disconnects. It closes the stream. A client is served from its
// initialize request on. Before that it does not block other clients, and is disconnected
// if many others connect. The error is ErrBusy while another client is served, ErrClosed
// after Close, or the error that ended the connection; it is nil if the client
// disconnected.
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
	s.dropSilent(c)
	s.mu.Unlock()
	return err
}

const maxSilent = 16 // connected clients that have not sent initialize

// dropSilent removes a client from the silent ones. The caller holds mu.
func (s *Server) dropSilent(c *client) {
	s.silent = slices.DeleteFunc(s.silent, func(other *client) bool { return other == c })
}

func (s *Server) take(c *client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropSilent(c)
	switch {
	case s.closed:
		return ErrClosed
	case s.client != nil:
		return ErrBusy
	}
	s.client = c
	return nil
}

func (s *Server) free(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == c {
		s.client = nil
	}
}

// Close closes the listeners and disconnects the clients, as a disconnect request does. It
// waits for the end of the service.
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

const maxRefusal = 5 * time.Second // for refusing a client

// refuse answers a request with an error and ends the service of the client.
func (c *connection) refuse(r dap.RequestMessage, err error) {
	defer time.AfterFunc(maxRefusal, func() { c.close() }).Stop()
	c.write(refusal(r, err))
	c.write(&dap.TerminatedEvent{Event: event("terminated")})
}

// refuseFirst refuses the first request of a client that a listener does not admit, and
// closes the connection.
func refuseFirst(stream io.ReadWriteCloser, reason error) {
	c := newConnection(stream)
	defer c.close()
	defer time.AfterFunc(maxRefusal, func() { c.close() }).Stop()
	content, err := c.read()
	if err != nil {
		return
	}
	if r, _ := decode(content); r != nil {
		c.refuse(r, reason)
	}
}
