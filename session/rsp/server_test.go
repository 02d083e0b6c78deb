// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/socket"
)

var (
	atBreak  = session.Stop{Reason: session.AtBreakpoint, PC: fakeFunction + 4}
	stepped  = session.Stop{Reason: session.SteppedInstruction, PC: fakeFunction + 5}
	returned = session.Stop{Reason: session.Returned, PC: 0x99999000, Result: 42}
	faulted  = session.Stop{Reason: session.Signalled, PC: fakeFunction + 6, Signal: session.Signal{Number: 11, Code: 1, Address: 0x40}}
	exited   = session.Stop{Reason: session.ExitedProcess, ExitCode: 7}
)

// result is the result of a call of the program.
type result struct {
	stop *session.Stop
	err  error
}

// start calls the function on another goroutine.
func start(v *Server) <-chan result {
	c := make(chan result, 1)
	go func() {
		stop, err := v.Call(fakeFunction, session.Arguments{})
		c <- result{stop, err}
	}()
	return c
}

func (r result) check(t *testing.T, want session.Reason) {
	t.Helper()
	if r.err != nil || r.stop.Reason != want {
		t.Errorf("the call ended with %v, %v, and not with %v", r.stop, r.err, want)
	}
}

func wait(t *testing.T, c <-chan result) result {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(2 * time.Minute):
		t.Fatal("the call does not return")
		panic("unreachable")
	}
}

// Without a client the program sees the stops itself.
func TestNoClient(t *testing.T) {
	f := newFake(atBreak, returned)
	v := serve(t, f, nil)
	wait(t, start(v)).check(t, session.AtBreakpoint)
	if stop, err := v.Continue(); err != nil || stop.Reason != session.Returned {
		t.Errorf("Continue: %v, %v", stop, err)
	}
	if _, err := v.Continue(); !errors.Is(err, session.ErrNotStopped) {
		t.Errorf("Continue after the end: %v", err)
	}
}

// With Wait the call waits for the client. The client sets breakpoints and steps, and sees the end
// of the call.
func TestWait(t *testing.T) {
	f := newFake(atBreak, stepped, stepped, returned)
	v := serve(t, f, &Options{Wait: true})
	call := start(v)
	for f.State() != session.Stopped {
		time.Sleep(time.Millisecond)
	}
	w := connect(t, v)
	w.expect("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386", "PacketSize=20000;QStartNoAckMode+")
	w.expect("?", "T05thread:p1234.1234;06:0707070707070707;07:0808080808080808;10:0001010000000000;")
	w.expect("Z0,10104,1", "OK")
	w.expect("vCont;c:p1234.-1", "T05thread:p1234.1234;swbreak:;")
	w.expect("vCont;s:p1234.1234;c:p1234.-1", "T05thread:p1234.1234;06")
	w.expect("vCont;r10104,10108:p1234.1234", "T05thread")
	w.expect("z0,10104,1", "OK")
	w.send("vCont;c")
	wait(t, call).check(t, session.Returned)
	if want := "call break1:10104 continue step range:10104-10108 remove1 continue"; f.traced() != want {
		t.Errorf("the session was used so: %s", f.traced())
	}
	// The client waits for the next call, and can stop that.
	w.conn.Write([]byte{3})
	if r := w.receive(); !strings.HasPrefix(r, "T02") {
		t.Errorf("an interrupt while nothing is called: %s", r)
	}
	w.expect("D;1", "OK")
}

// A call waits while a client has stopped the worker.
func TestCallHeld(t *testing.T) {
	f := newFake(returned)
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T05")
	call := start(v)
	w.expect("m10000,4", "00010203")
	select {
	case r := <-call:
		t.Fatalf("the call returned: %v, %v", r.stop, r.err)
	case <-time.After(20 * time.Millisecond):
	}
	w.send("c")
	wait(t, call).check(t, session.Returned)
}

// A step of an idle session is the first step of the next call.
func TestStepIntoCall(t *testing.T) {
	f := newFake(returned)
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T")
	w.send("s")
	call := start(v)
	if r := w.receive(); !strings.Contains(r, "10:0001010000000000") {
		t.Errorf("%s is not at the function's entry", r)
	}
	// A client that steps sees the return.
	w.expect("s", "T05")
	select {
	case <-call:
		t.Fatal("the call has returned while its client looks at its end")
	case <-time.After(10 * time.Millisecond):
	}
	w.send("c")
	wait(t, call).check(t, session.Returned)
}

// A client that attaches during a call stops it.
func TestAttachRunning(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	call := start(v)
	f.runs()
	w := connect(t, v)
	w.expect("?", "T05")
	w.expect("p10", "0801010000000000")
	w.send("vCont;c")
	time.Sleep(5 * time.Millisecond)
	w.conn.Write([]byte{3})
	if r := w.receive(); !strings.HasPrefix(r, "T02") {
		t.Errorf("an interrupt: %s", r)
	}
	f.comesTo(returned)
	w.expect("D", "OK")
	wait(t, call).check(t, session.Returned)
}

// After a client detaches in any way, its breakpoints are removed and the call ends.
func TestPart(t *testing.T) {
	for _, how := range []string{"D", "disconnect while stopped", "disconnect while running"} {
		t.Run(how, func(t *testing.T) {
			f := newFake(atBreak)
			v := serve(t, f, nil)
			w := connect(t, v)
			w.expect("Z0,10104,1", "OK")
			w.expect("Z2,10204,c", "OK") // a watchpoint that needs two
			w.send("c")
			call := start(v)
			if r := w.receive(); !strings.HasPrefix(r, "T05") {
				t.Error(r)
			}
			if how == "disconnect while running" {
				w.send("c")
				f.runs()
			}
			f.comesTo(returned)
			if how == "D" {
				w.expect("D", "OK")
			} else {
				w.conn.Close()
			}
			wait(t, call).check(t, session.Returned)
			if trace := f.traced(); !strings.Contains(trace, "break1:10104 watch2:10204,4,1 watch3:10208,8,1") || !strings.Contains(trace, "remove1 remove2 remove3 continue") {
				t.Error(trace)
			}
			connectNext(t, v)
		})
	}
}

// The program gets a fault that happens after the client has detached.
func TestFaultAfterPart(t *testing.T) {
	f := newFake(atBreak, faulted)
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T")
	w.send("c")
	call := start(v)
	w.receive()
	w.expect("D", "OK")
	if r := wait(t, call); r.err != nil || r.stop.Signal.Number != 11 {
		t.Errorf("%v, %v", r.stop, r.err)
	}
	// Another client sees the same stop, and the program continues later.
	w = connectNext(t, v)
	w.expect("?", "T0bthread:1234;")
	if got := w.ask("qXfer:siginfo:read::0,80"); len(got) != 129 || got[0] != 'l' || got[1] != 11 || got[17] != 0x40 {
		t.Errorf("siginfo: %q", got)
	}
}

func TestKill(t *testing.T) {
	for _, packet := range []string{"k", "vKill;1234", "vCont;C09", "C0f"} {
		t.Run(packet, func(t *testing.T) {
			f := newFake(atBreak)
			v := serve(t, f, nil)
			w := connect(t, v)
			w.expect("?", "T")
			w.send("c")
			call := start(v)
			w.receive()
			w.send(packet)
			wait(t, call).check(t, session.Aborted)
			switch packet {
			case "vKill;1234":
				if r := w.receive(); r != "OK" {
					t.Error(r)
				}
			case "vCont;C09", "C0f":
				if r := w.receive(); r != "X"+packet[len(packet)-2:] {
					t.Error(r)
				}
			}
			f.comesTo(returned)
			wait(t, start(v)).check(t, session.Returned)
		})
	}
}

func TestExit(t *testing.T) {
	f := newFake(exited)
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T")
	w.send("c")
	wait(t, start(v)).check(t, session.ExitedProcess)
	if r := w.receive(); r != "W07" {
		t.Error(r)
	}
}

// stuck is a session that cannot step.
type stuck struct{ *fake }

func (stuck) StepInstruction() (*session.Stop, error) { return nil, errors.New("cannot step") }

// After a step that fails, the client sees the same place, and still has the call.
func TestStepFails(t *testing.T) {
	v, err := newServer(stuck{newFake(faulted, returned)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close() // it returns what has failed
	w := connect(t, v)
	w.expect("?", "T")
	w.send("c")
	call := start(v)
	if r := w.receive(); !strings.HasPrefix(r, "T0b") {
		t.Error(r)
	}
	w.expect("vCont;s", "T")
	w.send("c")
	wait(t, call).check(t, session.Returned)
}

// The reply for a killed process has the client's number of the signal.
func TestKilled(t *testing.T) {
	for signal, reply := range map[syscall.Signal]string{syscall.SIGKILL: "X09", syscall.SIGSYS: "X0c"} {
		killed := session.Stop{Reason: session.ExitedProcess, ExitCode: -1, Signal: session.Signal{Number: int(signal)}}
		v := serve(t, newFake(killed), nil)
		w := connect(t, v)
		w.expect("?", "T")
		w.send("c")
		wait(t, start(v)).check(t, session.ExitedProcess)
		if r := w.receive(); r != reply {
			t.Errorf("%v: %s", signal, r)
		}
	}
}

// The worker does not receive a signal with which the client continues: the client has
// repaired the cause, or the fault happens again.
func TestContinueWithSignal(t *testing.T) {
	f := newFake(faulted, faulted, returned)
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T")
	w.send("c")
	call := start(v)
	if r := w.receive(); !strings.HasPrefix(r, "T0b") {
		t.Error(r)
	}
	w.expect("vCont;C0b:1234;c", "T0b")
	w.send("vCont;C0b:1234;c")
	wait(t, call).check(t, session.Returned)
}

// A second client receives the reason why it is refused, and can attach later.
func TestSecondClient(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T")
	second := connect(t, v)
	second.expect("qSupported:swbreak+", "")
	second.conn.Write([]byte("$0")) // cut off by an empty one
	second.expect("", "")
	second.expect("vMustReplyEmpty", "E."+errBusy.Error())
	if _, err := second.r.ReadByte(); err == nil {
		t.Error("the second client was not turned away")
	}
	w.expect("D", "OK")
	if _, err := w.r.ReadByte(); err == nil {
		t.Error("the connection is open after the client has detached")
	}
	connectNext(t, v)
}

// A breakpoint outside the images uses a debug register, except where debuggers learn of new code
// and in memory that is not executable.
func TestBreakpointElsewhere(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("Z0,8,1", "OK")
	w.expect("Z0,"+hexNumber(registerAddress())+",1", "OK")
	if f.traced() != "" {
		t.Error(f.traced())
	}
	w.expect("Z0,"+hexNumber(codeAddress())+",1", "OK")
	if got := f.traced(); !strings.HasPrefix(got, "hbreak1:") {
		t.Error(got)
	}
	w.expect("Z3,10000,4", "")
	w.expect("Z9,10000,4", "")
	w.expect("Z2,10000,400", "E")
}

// The client sees code that is added during a call at once. The code is removed while the client
// waits for a call.
func TestUpdate(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("Z0,"+hexNumber(registerAddress())+",1", "OK")
	w.send("c")
	call := start(v)
	for !strings.Contains(f.traced(), "call") {
		time.Sleep(time.Millisecond)
	}
	v.Update() // without new images the call continues
	stub, err := newIdle()
	if err != nil {
		t.Fatal(err)
	}
	defer stub.close()
	f.AddImage(stub.image)
	v.Update()
	at := fmt.Sprintf("10:%x;", binary.LittleEndian.AppendUint64(nil, registerAddress()))
	if r := w.receive(); !strings.HasPrefix(r, "T05") || !strings.HasSuffix(r, at) {
		t.Errorf("%s is not at %s", r, at)
	}
	// Debuggers read memory of this process, except for the event.
	descriptor, _ := gdb.Own()
	change := event{action: 1, entry: 0x1234}
	image := make([]byte, 24)
	change.overlay(image, descriptor)
	change.overlay(image[:4], descriptor+24)
	change.overlay(image[20:], descriptor-4)
	if want := "\x01\x00\x00\x00\x01\x00\x00\x00\x34\x12\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"; string(image) != want {
		t.Errorf("% x", image)
	}
	if r := w.ask("s"); strings.HasSuffix(r, at) {
		t.Errorf("a step leads to %s", r)
	}
	w.send("c")
	w.conn.Write([]byte{3})
	if r := w.receive(); !strings.HasPrefix(r, "T02") || !strings.HasSuffix(r, "10:0801010000000000;") {
		t.Error(r)
	}
	f.comesTo(returned)
	w.send("c")
	wait(t, call).check(t, session.Returned)
	if err := v.RemoveImage(stub.image); err != nil {
		t.Error(err)
	}
	if len(f.Images()) != 1 {
		t.Errorf("%d images", len(f.Images()))
	}
}

// Close sends a waiting client the exit of its program.
func TestClose(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	w := connect(t, v)
	w.expect("?", "T")
	w.send("c")
	call := start(v)
	f.runs()
	closed := make(chan error, 1)
	go func() { closed <- v.Close() }()
	if r := w.receive(); r != "W00" {
		t.Error(r)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	wait(t, call).check(t, session.Aborted)
	if _, err := v.Call(fakeFunction, session.Arguments{}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("a call after Close: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestServe(t *testing.T) {
	l, err := socket.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	v := serve(t, newFake(), nil)
	done := make(chan error, 1)
	go func() { done <- v.Serve(l) }()
	conn, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	conn.Write(raw("qC"))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	conn.Close()
	v.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := v.Serve(l); !errors.Is(err, session.ErrClosed) {
		t.Errorf("Serve after Close: %v", err)
	}
}

// arrivals is an acceptor of connections that the test makes.
type arrivals chan arrival

type arrival struct {
	conn io.ReadWriteCloser
	err  error
}

func (a arrivals) Accept() (io.ReadWriteCloser, error) {
	next, ok := <-a
	if !ok {
		return nil, os.ErrClosed
	}
	return next.conn, next.err
}

func (arrivals) Close() error { return nil }

// A client that the listener does not admit receives the reason, and cannot access the
// session. Such clients never block others, even if there are many and they send nothing.
func TestRefusedClients(t *testing.T) {
	v := serve(t, newFake(), nil)
	l := make(arrivals)
	served := make(chan error, 1)
	go func() { served <- v.Serve(l) }()
	arrive := func(err error) *wire {
		near, far := net.Pipe()
		near.SetDeadline(time.Now().Add(2 * time.Minute))
		t.Cleanup(func() { near.Close() })
		l <- arrival{far, err}
		return &wire{t: t, conn: near, r: bufio.NewReader(near)}
	}
	refused := &socket.RefusedError{User: 1001, Owner: 0}
	w := arrive(refused)
	w.expect("qSupported:swbreak+", "")
	w.expect("?", "E.a client of user 1001 was refused: only user 0 may connect")
	w.expect("m0,8", "")
	w.expect("vMustReplyEmpty", "E.a client of user 1001 was refused: only user 0 may connect")
	if b, err := w.r.ReadByte(); err == nil {
		t.Errorf("it is answered on: %q", b)
	}
	for range maxConnections + maxRefusals {
		arrive(refused)
	}
	arrive(nil).expect("?", "T")
	close(l)
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A web page can make a browser send packets to this port, but only with other data.
func TestOtherProtocols(t *testing.T) {
	for _, text := range []string{
		"POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\n+$k#6b+$D#44",
		"\x16\x03\x01\x00\x05$k#6b", // TLS
		" $k#6b", "+\n$k#6b", "%Stop:#00$k#6b",
	} {
		f := newFake()
		v := serve(t, f, nil)
		w := connect(t, v)
		go w.conn.Write([]byte(text))
		if got, err := io.ReadAll(w.conn); err != nil || len(got) != 0 {
			t.Errorf("%q is answered by %q, %v", text, got, err)
		}
		v.mu.Lock()
		attached := v.attached
		v.mu.Unlock()
		if attached || f.traced() != "" {
			t.Errorf("%q gets the session: %s", text, f.traced())
		}
	}
	// An attached client loses the session.
	v := serve(t, newFake(), nil)
	w := connect(t, v)
	w.expect("?", "T05")
	go w.conn.Write([]byte("GET / HTTP/1.1\r\n\r\n$k#6b"))
	if got, err := io.ReadAll(w.r); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	connectNext(t, v)
}
