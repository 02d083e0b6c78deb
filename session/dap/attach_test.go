// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/socket"
)

// offered is a Go program that editors can attach to.
type offered struct {
	*program
	session *session.Session
	target  *Target
	server  *Server
	address string
}

func offer(t *testing.T) *offered {
	t.Helper()
	o := &offered{program: compile(t, "-O0")}
	file, err := object.Open(o.object)
	if err != nil {
		t.Fatal(err)
	}
	image, err := session.LoadImage(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	if o.session, err = session.New(&session.Options{Images: []*session.Image{image}}); err != nil {
		t.Fatal(err)
	}
	o.target = NewTarget(o.session)
	o.server = New(Options{Attach: func() (*Target, error) { return o.target, nil }})
	l, err := socket.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	o.address = l.Address()
	go o.server.Serve(l)
	t.Cleanup(func() {
		if err := o.server.Close(); err != nil {
			t.Error(err)
		}
		for _, err := range []error{o.session.Close(), image.Close(), file.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return o
}

type result struct {
	stop *session.Stop
	err  error
}

// call calls a function in the background.
func (o *offered) call(t *testing.T, name string, words ...uint64) chan result {
	t.Helper()
	function, ok := o.session.Symbol(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	done := make(chan result, 1)
	go func() {
		stop, err := o.target.Call(function, session.Arguments{Words: words})
		done <- result{stop, err}
	}()
	return done
}

func returned(t *testing.T, done chan result, want uint32) {
	t.Helper()
	select {
	case r := <-done:
		if r.err != nil || r.stop.Reason != session.Returned || uint32(r.stop.Result) != want {
			t.Errorf("%v, %v, want %d", r.stop, r.err, want)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the call does not return")
	}
}

func (o *offered) attach(t *testing.T, arguments string) *editor {
	t.Helper()
	e := dial(t, o.address)
	e.initialize()
	ask[*dap.AttachResponse](e, &dap.AttachRequest{Arguments: []byte(arguments)})
	wait[*dap.InitializedEvent](e)
	return e
}

func TestAttach(t *testing.T) {
	o := offer(t)
	returned(t, o.call(t, "fib", 10), 55) // no editor is attached yet
	e := o.attach(t, "{}")
	e.at(o.program, dap.SourceBreakpoint{Line: o.lines["FIB"], Condition: "n == 1", HitCondition: "1"})
	e.run()
	for range 2 {
		done := o.call(t, "fib", 5)
		_, frames := e.stopped("breakpoint")
		if frames[0].Name != "fib" {
			t.Errorf("%+v", frames)
		}
		// A second editor is refused.
		second := dial(t, o.address)
		if text := second.refused(&dap.InitializeRequest{}); text != ErrBusy.Error() {
			t.Error(text)
		}
		e.evaluate("n = 0", "repl", frames[0].Id)
		e.resume()
		returned(t, done, 4) // instead of 5
		// A new breakpoint counts its hits from 1.
		e.at(o.program)
		e.at(o.program, dap.SourceBreakpoint{Line: o.lines["FIB"], Condition: "n == 1", HitCondition: "1"})
	}
	if text := e.refused(&dap.RestartRequest{}); !strings.Contains(text, "cannot be restarted") {
		t.Error(text)
	}
	// A stopped call continues without breakpoints when the editor leaves.
	e.at(o.program, dap.SourceBreakpoint{Line: o.lines["FIB"]})
	done := o.call(t, "fib", 5)
	e.stopped("breakpoint")
	e.disconnect()
	returned(t, done, 5)
	if list := o.session.Breakpoints(); len(list) != 0 {
		t.Errorf("%d breakpoints remain", len(list))
	}
	returned(t, o.call(t, "fib", 10), 55)
}

func TestAttachStopsAtEntry(t *testing.T) {
	o := offer(t)
	e := o.attach(t, `{"stopOnEntry":true}`)
	e.run()
	done := o.call(t, "fib", 3)
	if _, frames := e.stopped("entry"); len(frames) != 1 || frames[0].Name != "fib" {
		t.Errorf("%+v", frames)
	}
	ask[*dap.DisconnectResponse](e, &dap.DisconnectRequest{Arguments: &dap.DisconnectArguments{TerminateDebuggee: true}})
	if r := <-done; r.err != nil || r.stop.Reason != session.Aborted {
		t.Errorf("%v, %v", r.stop, r.err)
	}
	returned(t, o.call(t, "fib", 3), 2)
}

// A broken connection has the effect of a disconnect. Running code continues.
func TestConnectionBreaks(t *testing.T) {
	o := offer(t)
	e := o.attach(t, "{}")
	e.at(o.program, dap.SourceBreakpoint{Line: o.lines["FIB"]})
	e.run()
	done := o.call(t, "fib", 5)
	e.stopped("breakpoint")
	e.conn.Close()
	returned(t, done, 5)

	done = o.call(t, "forever")
	e = o.attachAgain(t)
	e.run()
	e.conn.Close()
	stop, _ := o.session.Symbol("stop")
	for {
		if err := o.session.WriteMemory([]byte{1}, stop); err != nil {
			t.Fatal(err)
		}
		select {
		case r := <-done:
			if r.err != nil || r.stop.Result != 7 {
				t.Errorf("%v, %v", r.stop, r.err)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// attachAgain attaches as soon as the previous client has gone.
func (o *offered) attachAgain(t *testing.T) *editor {
	t.Helper()
	for range 1000 {
		e := dial(t, o.address)
		m := e.answer(e.post(&dap.InitializeRequest{}))
		if _, ok := m.(*dap.InitializeResponse); ok {
			ask[*dap.AttachResponse](e, &dap.AttachRequest{})
			wait[*dap.InitializedEvent](e)
			return e
		}
		e.conn.Close()
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the server stays busy")
	return nil
}

// stream is standard input and output.
type stream struct {
	io.Reader
	io.WriteCloser
}

func TestStandardInputAndOutput(t *testing.T) {
	p := compile(t, "-O0")
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	server := New(Options{Launch: load})
	done := make(chan error)
	go func() { done <- server.ServeConnection(stream{in, out}) }()
	reader := bufio.NewReader(fromServer)
	sequence := 0
	ask := func(r dap.RequestMessage) {
		sequence++
		setHeader(r, sequence)
		if err := dap.WriteProtocolMessage(toServer, r); err != nil {
			t.Fatal(err)
		}
		for {
			m, err := dap.ReadProtocolMessage(reader)
			if err != nil {
				t.Fatal(err)
			}
			if response, ok := m.(dap.ResponseMessage); ok {
				if !response.GetResponse().Success {
					t.Errorf("%+v", m)
				}
				return
			}
		}
	}
	ask(&dap.InitializeRequest{})
	ask(&dap.LaunchRequest{Arguments: []byte(`{"program":"` + p.object + `","call":"fib(3)"}`)})
	ask(&dap.DisconnectRequest{})
	toServer.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fib(3)")
	// A request is cancelled only if the cancellation arrives before its answer.
	cancelled := 0
	for range 50 {
		first := e.post(&dap.LoadedSourcesRequest{})
		second := e.post(&dap.LoadedSourcesRequest{})
		third := e.post(&dap.CancelRequest{Arguments: &dap.CancelArguments{RequestId: second}})
		e.answer(first)
		if r, ok := e.answer(second).(*dap.ErrorResponse); ok {
			cancelled++
			if r.Message != "cancelled" {
				t.Errorf("%+v", r)
			}
		}
		if r, ok := e.answer(third).(*dap.CancelResponse); !ok || !r.Success {
			t.Errorf("%+v", r)
		}
	}
	t.Logf("%d of 50 were cancelled", cancelled)
	// A cancellation affects neither a request that has been answered nor one that follows.
	id := e.post(&dap.ThreadsRequest{})
	e.answer(id)
	for range 2000 {
		id = e.post(&dap.CancelRequest{Arguments: &dap.CancelArguments{RequestId: id + 2}}) // of the next round
		if r, ok := e.answer(id).(*dap.CancelResponse); !ok || !r.Success {
			t.Fatalf("%+v", r)
		}
	}
	e.disconnect()
}

// A launched program runs to its end if the editor disconnects without terminating it.
func TestDisconnectWithoutTerminate(t *testing.T) {
	p := compile(t, "-O0")
	counted := make(chan uint64, 1)
	e := connect(t, Options{Launch: func(a LaunchArguments) (*Program, error) {
		program, err := load(a)
		if err == nil {
			inner := program.Close
			program.Close = func() error {
				var b [8]byte
				counter, _ := program.Session.Symbol("numbers")
				program.Session.ReadMemory(b[:], counter)
				counted <- binary.LittleEndian.Uint64(b[:])
				return inner()
			}
		}
		return program, err
	}})
	e.launch(p, "sum(1, first)", "stopOnEntry=true")
	e.run()
	e.stopped("entry")
	// go-dap omits false fields.
	e.sequence++
	message := fmt.Appendf(nil, `{"seq":%d,"type":"request","command":"disconnect","arguments":{"terminateDebuggee":false}}`, e.sequence)
	if err := dap.WriteBaseMessage(e.conn, message); err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-counted:
		if n != 1 {
			t.Errorf("the program ended early: numbers[0] is %d, want 1", n)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the program was not closed")
	}
}
