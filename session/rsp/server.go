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

// Options changes what a server does.
type Options struct {
	// Wait has calls stop before their first instruction and wait for a client,
	// until there was one.
	Wait bool

	// Log is called with each packet, for the eyes of whoever looks for a mistake
	// in client or server. It runs on several goroutines.
	Log func(line string)
}

// Server lets one client at a time debug a session. Its methods may be called
// from several goroutines.
type Server struct {
	program   program
	options   Options
	registers *registers

	// What the goroutine that drives the session is told. Whoever tells it
	// something that cannot wait counts it in urgent and calls kick before.
	calls    chan *call
	arrivals chan *client
	orders   chan order
	closing  chan struct{}
	closed   chan struct{}
	urgent   atomic.Int32
	changed  atomic.Bool    // Update was called
	talking  sync.WaitGroup // of connections that have or had the session

	mu        sync.Mutex
	executing bool // the session runs code
	kicked    bool // and was stopped by kick
	attached  bool // a connection has the session
	listeners map[socket.Acceptor]struct{}
	conns     map[io.ReadWriteCloser]struct{}
	down      bool // Close was called

	// The rest is the driving goroutine's.
	driver
}

// New makes a server for a session. From then on the program calls functions
// through it. The session stays the caller's, and is closed after the server.
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

// Serve takes clients until the listener or the server is closed; the error is
// nil then. While one is attached others are told so, and turned away. A client can
// do all that the program can: the listener decides which clients are admitted.
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
	// maxConnections is how many clients may be connected while one has the session.
	maxConnections = 16

	// maxRefusals is how many clients that a listener does not admit are told why at
	// the same time, and maxRefusal how long that may take.
	maxRefusals = 4
	maxRefusal  = 2 * time.Second
)

// enter takes the session for a connection, or reports that another has it.
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

// Close ends the service. A client that waits is told that its program has exited;
// its breakpoints are removed, and a call that is under way is aborted. The
// listeners are closed, and the session can be used without the server.
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
	case <-time.After(2 * time.Second): // one of them does not hang up
	}
	v.mu.Lock()
	for c := range v.conns {
		c.Close()
	}
	v.mu.Unlock()
	return v.failed.err()
}

// Update tells an attached client at once that images came or went. Without it
// the client learns of it when it next lets the session run, or when the program
// next calls a function. It may be called by a function of the host, which the
// session is running.
func (v *Server) Update() {
	v.changed.Store(true)
	v.kick()
}

// kick has the session stop where it runs code, so that the driving goroutine
// looks at what it is told.
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
		// It has not begun to run, or it has stopped already.
		time.Sleep(50 * time.Microsecond)
	}
}
