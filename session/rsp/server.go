// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/socket"
)

// Options are the options of a server.
type Options struct {
	// Wait makes calls stop before their first instruction and wait for a client, until the first
	// client has attached.
	Wait bool

	// Private means that the program has started the client for this session. gdb then aborts
	// the call when it quits, as it kills a program that it has run. Otherwise it detaches.
	Private bool

	// Log is called with each packet, to find errors in the client or the server. Several
	// goroutines call it at the same time.
	Log func(line string)
}

// Server lets one client at a time debug a session. Its methods may be called from several goroutines.
type Server struct {
	program   program
	options   Options
	registers *registers

	// Requests to the goroutine that drives the session. For all but calls, the sender first
	// increments urgent and calls kick.
	calls    chan *call
	arrivals chan *client
	orders   chan order
	closing  chan struct{}
	closed   chan struct{} // the goroutine has ended
	urgent   atomic.Int32
	changed  atomic.Bool    // Update was called
	talking  sync.WaitGroup // connections that debug or have debugged the session

	mu        sync.Mutex
	executing bool // the session runs code
	kicked    bool // kick has interrupted it
	attached  bool // a connection debugs the session
	listeners map[socket.Acceptor]struct{}
	conns     map[io.ReadWriteCloser]struct{}
	down      bool // Close was called

	driver // of the driving goroutine
}

// New makes a server for a session. Until Close, the program must call functions through the server.
// The caller owns the session, and closes it after the server.
func New(s *session.Session, o *Options) (*Server, error) { return newServer(s, o) }

func newServer(p program, o *Options) (*Server, error) {
	v := &Server{
		program: p, registers: newRegisters(jit.Host(), p.RegisterInfos()),
		calls: make(chan *call), arrivals: make(chan *client), orders: make(chan order),
		closing: make(chan struct{}), closed: make(chan struct{}),
		listeners: make(map[socket.Acceptor]struct{}), conns: make(map[io.ReadWriteCloser]struct{}),
	}
	if o != nil {
		v.options = *o
	}
	go v.drive()
	return v, nil
}

// Serve accepts clients until the listener or the server is closed, and then returns nil. While a
// client is attached, others get an error. A client has all rights of the program: the listener
// decides which clients to admit.
func (v *Server) Serve(l socket.Acceptor) error {
	v.mu.Lock()
	if v.down {
		v.mu.Unlock()
		l.Close()
		return session.ErrClosed
	}
	v.listeners[l] = struct{}{}
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		delete(v.listeners, l)
		v.mu.Unlock()
	}()
	refusals := make(chan struct{}, maxRefusals)
	for {
		conn, err := l.Accept()
		if refused, ok := errors.AsType[*socket.RefusedError](err); ok {
			select {
			case refusals <- struct{}{}:
				go func() {
					v.turnAway(conn, refused)
					<-refusals
				}()
			default:
				conn.Close()
			}
			continue
		}
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
		v.mu.Lock()
		if v.down || len(v.conns) >= maxConnections {
			v.mu.Unlock()
			conn.Close()
			continue
		}
		v.conns[conn] = struct{}{}
		v.mu.Unlock()
		go func() {
			v.connection(conn)
			conn.Close()
			v.mu.Lock()
			delete(v.conns, conn)
			v.mu.Unlock()
		}()
	}
}

const (
	maxConnections = 16              // clients that are connected at a time
	maxRefusals    = 4               // clients that turnAway serves at a time
	maxRefusal     = 2 * time.Second // duration of turnAway
)

// enter reserves the session for a connection. It returns false if another connection has it.
func (v *Server) enter() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.attached || v.down {
		return false
	}
	v.attached = true
	v.talking.Add(1)
	return true
}

func (v *Server) leave() {
	v.mu.Lock()
	v.attached = false
	v.mu.Unlock()
}

// Close ends the service. A waiting client receives the exit of its program. Close removes the
// client's breakpoints, aborts a running call and closes the listeners. The session can then be used
// without the server.
func (v *Server) Close() error {
	v.mu.Lock()
	first := !v.down
	v.down = true
	for l := range v.listeners {
		l.Close()
	}
	v.mu.Unlock()
	if first {
		v.urgent.Add(1)
		close(v.closing)
		v.kick()
	}
	<-v.closed
	left := make(chan struct{})
	go func() {
		v.talking.Wait()
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(2 * time.Second): // a client does not close its connection
	}
	v.mu.Lock()
	for c := range v.conns {
		c.Close()
	}
	v.mu.Unlock()
	return v.failed.Err()
}

// Update reports added and removed images to an attached client at once. Otherwise the client learns
// of them when it next resumes the session, or when the program next calls a function. A host function
// may call Update.
func (v *Server) Update() {
	v.changed.Store(true)
	v.kick()
}

// kick interrupts the session if it runs code, so that the driving goroutine handles requests.
func (v *Server) kick() {
	for {
		v.mu.Lock()
		executing := v.executing
		var err error
		if executing {
			if err = v.program.Interrupt(); err == nil {
				v.kicked = true
			}
		}
		v.mu.Unlock()
		if !executing || !errors.Is(err, session.ErrNotRunning) {
			return
		}
		// The session has not begun to run, or has already stopped.
		time.Sleep(50 * time.Microsecond)
	}
}

// program is the part of session.Session that the server uses.
type program interface {
	State() session.State
	PID() int
	Images() []*session.Image
	AddImage(*session.Image) error
	RemoveImage(*session.Image) error
	Image(address uint64) *session.Image
	ReturnImage() *session.Image

	CallWith(function uint64, a session.Arguments) (*session.Stop, error)
	CallMain(function uint64, arguments []string, a session.Arguments) (*session.Stop, error)
	Continue() (*session.Stop, error)
	StepInstruction() (*session.Stop, error)
	StepRange(start, end uint64) (*session.Stop, error)
	Abort() (*session.Stop, error)
	Interrupt() error

	ReadMemory(p []byte, address uint64) error
	WriteMemory(p []byte, address uint64) error
	Registers() (session.Registers, error)
	RegisterInfos() []session.RegisterInfo
	Register(name string) ([]byte, error)
	SetRegister(name string, value []byte) error

	Break(address uint64, o *session.BreakpointOptions) (*session.Breakpoint, error)
	Breakpoints() []*session.Breakpoint
	Watch(address uint64, size int, access session.Access, o *session.BreakpointOptions) (*session.Watchpoint, error)
	Watchpoints() []*session.Watchpoint
	Remove(id int) error
}

var _ program = (*session.Session)(nil)
