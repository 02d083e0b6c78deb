// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/socket"
)

// An invalid message ends the connection only.
func TestFraming(t *testing.T) {
	server := New(Options{})
	for _, test := range []struct{ text, want string }{
		{"GET / HTTP/1.1\r\n\r\n", "header"},
		{"hello\r\n\r\n", "header"},
		{"POST /:80 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "header"},
		{"POST http://localhost/ HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "header"},
		{": x\r\nContent-Length: 2\r\n\r\n{}", "header"},
		{"Content-Length : 2\r\n\r\n{}", "header"},
		{"Content-Length: x\r\n\r\n", "content length"},
		{"Content-Length: -1\r\n\r\n", "content length"},
		{"Content-Length: 99999999999\r\n\r\n", "at most"},
		{"Content-Length: 4000000\r\n\r\n{}", "ends after 2 of 4000000"},
		{"Content-Length: 2\r\n\r\n{}", "does not speak"},
		{"Content-Length: 3\r\n\r\n{x}", "does not speak"},
		{"\r\n\r\n", "no content length"},
		{strings.Repeat("x", 10000), "longer than"},
		{"", ""},
	} {
		client, stream := net.Pipe()
		done := make(chan error)
		go func() { done <- server.ServeConnection(stream) }()
		go io.Copy(io.Discard, client)
		client.SetDeadline(time.Now().Add(2 * time.Minute))
		io.WriteString(client, test.text)
		client.Close()
		err := <-done
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%.40q: %v, want %s", test.text, err, test.want)
		}
	}
	// Other headers, and other capitalization, are accepted.
	client, stream := net.Pipe()
	go server.ServeConnection(stream)
	content := `{"seq":1,"type":"request","command":"initialize"}`
	go fmt.Fprintf(client, "content-length: %d\r\nContent-Type: text/json\r\n\r\n%s", len(content), content)
	b := make([]byte, 16)
	client.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := io.ReadFull(client, b); err != nil || string(b) != "Content-Length: " {
		t.Errorf("%q, %v", b, err)
	}
	client.Close()
	server.Close()
	if err := server.ServeConnection(stream); err != ErrClosed {
		t.Errorf("%v", err)
	}
}

func TestUnknownRequests(t *testing.T) {
	e := connect(t, Options{})
	for _, text := range []string{
		`{"seq":1,"type":"request","command":"nosuch"}`,
		`{"seq":1,"type":"request","command":"setBreakpoints","arguments":7}`,
		`{"seq":1,"type":"request","command":"evaluate","arguments":{"expression":[]}}`,
	} {
		if err := dap.WriteBaseMessage(e.conn, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if r, ok := e.answer(1).(*dap.ErrorResponse); !ok || r.Message == "" {
			t.Errorf("%s: %+v", text, r)
		}
	}
	// Responses and events are ignored.
	dap.WriteBaseMessage(e.conn, []byte(`{"seq":1,"type":"response","command":"runInTerminal","request_seq":1,"success":true}`))
	dap.WriteBaseMessage(e.conn, []byte(`{"seq":1,"type":"event","event":"output","body":{}}`))
	e.initialize()
}

// A response repeats the command. A log on a terminal shows no control character of it.
func TestUnprintableCommand(t *testing.T) {
	var stream bytes.Buffer
	command := "\x7finit\u202e"
	newConnection(struct {
		io.Reader
		io.Writer
		io.Closer
	}{Writer: &stream}).write(&dap.Response{Command: command})
	if i := bytes.IndexFunc(stream.Bytes(), func(r rune) bool { return r > '~' }); i >= 0 {
		t.Errorf("%q has an unprintable character at %d", stream.Bytes(), i)
	}
	if m, err := dap.ReadBaseMessage(bufio.NewReader(&stream)); err != nil || !strings.Contains(string(m), `"\u007finit\u202e"`) {
		t.Errorf("%s, %v", m, err)
	}
}

// Clients that send nothing, or another request before initialize, do not block others.
// Their number is bounded.
func TestSilentClients(t *testing.T) {
	server := New(Options{})
	defer server.Close()
	ended := make(chan int, 100)
	dial := func(n int) net.Conn {
		client, stream := net.Pipe()
		client.SetDeadline(time.Now().Add(2 * time.Minute))
		go func() {
			server.ServeConnection(stream)
			ended <- n
		}()
		return client
	}
	ask := func(client net.Conn, request string) string {
		t.Helper()
		if err := dap.WriteBaseMessage(client, []byte(request)); err != nil {
			t.Fatal(err)
		}
		answer, err := dap.ReadBaseMessage(bufio.NewReader(client))
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	const initialize = `{"seq":1,"type":"request","command":"initialize"}`
	early := dial(0)
	if got := ask(early, `{"seq":1,"type":"request","command":"threads"}`); !strings.Contains(got, ErrFirst.Error()) {
		t.Error(got)
	}
	late := dial(1)
	if got := ask(late, initialize); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	if got := ask(early, initialize); !strings.Contains(got, ErrBusy.Error()) {
		t.Error(got)
	}
	early.Close()
	<-ended
	for n := range maxSilent + 3 {
		dial(10 + n)
	}
	for range 3 { // the oldest ones, in any order
		if n := <-ended; n < 10 {
			t.Errorf("client %d has ended", n)
		}
	}
	if got := ask(late, initialize); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	late.Close()
	<-ended
	if got := ask(dial(2), initialize); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
}

// arrivals is an acceptor that refuses all connections, or none.
type arrivals struct {
	streams chan io.ReadWriteCloser
	refused error
}

func (a *arrivals) Accept() (io.ReadWriteCloser, error) {
	stream, ok := <-a.streams
	if !ok {
		return nil, io.EOF
	}
	return stream, a.refused
}

func (*arrivals) Close() error { return nil }

// A client that the listener does not admit gets an error, and cannot launch a program.
// Any number of such clients do not block others.
func TestRefusedClients(t *testing.T) {
	server := New(Options{Launch: func(LaunchArguments) (*Program, error) {
		t.Error("a program was launched")
		return nil, io.EOF
	}})
	defer server.Close()
	closed := &arrivals{make(chan io.ReadWriteCloser), &socket.RefusedError{User: 1001, Owner: 0}}
	open := &arrivals{make(chan io.ReadWriteCloser), nil}
	served := make(chan error, 2)
	for _, l := range []*arrivals{closed, open} {
		go func() { served <- server.Serve(l) }()
	}
	dial := func(l *arrivals, request string) *bufio.Reader {
		client, stream := net.Pipe()
		client.SetDeadline(time.Now().Add(2 * time.Minute))
		t.Cleanup(func() { client.Close() })
		l.streams <- stream
		if request != "" {
			if err := dap.WriteBaseMessage(client, []byte(request)); err != nil {
				t.Fatal(err)
			}
		}
		return bufio.NewReader(client)
	}
	for _, request := range []string{
		`{"seq":1,"type":"request","command":"initialize"}`,
		`{"seq":1,"type":"request","command":"launch","arguments":{}}`,
	} {
		answers := dial(closed, request)
		first, err := dap.ReadBaseMessage(answers)
		if err != nil || !strings.Contains(string(first), "a client of user 1001 was refused: only user 0 may connect") {
			t.Errorf("%s: %s, %v", request, first, err)
		}
		if _, err := dap.ReadBaseMessage(answers); err != nil {
			t.Error(err) // terminated
		}
		if more, err := dap.ReadBaseMessage(answers); err == nil {
			t.Errorf("%s: a further answer: %s", request, more)
		}
	}
	for range 2 * maxSilent {
		dial(closed, "")
	}
	answer, err := dap.ReadBaseMessage(dial(open, `{"seq":1,"type":"request","command":"initialize"}`))
	if err != nil || !strings.Contains(string(answer), `"success":true`) {
		t.Errorf("%s, %v", answer, err)
	}
	close(closed.streams)
	close(open.streams)
	for range 2 {
		if err := <-served; err != io.EOF {
			t.Error(err)
		}
	}
}

// changes matches expressions that could change memory. It is the memory of this process,
// and so of the fuzzer.
var changes = regexp.MustCompile(`[^=!<>]=[^=]|<<=|>>=|\+\+|--|\\u`)

func harmless(content []byte) bool {
	r, err := decode(content)
	if err != nil || r == nil {
		return true
	}
	switch r := r.(type) {
	case *dap.EvaluateRequest:
		if strings.Contains(r.Arguments.Expression, "(") { // a call
			return false
		}
	case *dap.SetVariableRequest, *dap.SetExpressionRequest, *dap.WriteMemoryRequest, *dap.GotoRequest, *dap.LaunchRequest:
		return false
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r) == nil && !changes.Match(text.Bytes())
}

// FuzzServer sends each line of the input as a message to a server with a stopped program.
// The server must end after the connection. The sessions share one image, because loading
// it would take nearly all of the time. Coverage differs between runs, so minimizing does
// not end by itself: scripts/fuzz bounds it.
func FuzzServer(f *testing.F) {
	p := compile(f, "-O0")
	file, err := object.Open(p.object)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	image, err := session.LoadImage(nil, file)
	if err != nil {
		f.Fatal(err)
	}
	defer image.Close()
	launch := func(a LaunchArguments) (*Program, error) {
		s, err := session.New(&session.Options{Images: []*session.Image{image}})
		if err != nil {
			return nil, err
		}
		p, err := launched(s, a)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return p, nil
	}
	add := func(list ...dap.RequestMessage) {
		var lines [][]byte
		for n, r := range list {
			setHeader(r, n+10)
			b, err := json.Marshal(r)
			if err != nil {
				f.Fatal(err)
			}
			lines = append(lines, b)
		}
		f.Add(bytes.Join(lines, []byte("\n")))
	}
	source := dap.Source{Path: p.path}
	add(&dap.ThreadsRequest{}, &dap.StackTraceRequest{Arguments: dap.StackTraceArguments{ThreadId: 1}}, &dap.ScopesRequest{}, &dap.VariablesRequest{Arguments: dap.VariablesArguments{VariablesReference: 1}},
		&dap.VariablesRequest{Arguments: dap.VariablesArguments{VariablesReference: 2, Start: 1 << 40, Count: -7, Filter: "indexed"}}, &dap.ContinueRequest{}, &dap.ThreadsRequest{})
	add(&dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{Source: source, Breakpoints: []dap.SourceBreakpoint{{Line: p.lines["LOOP"], Condition: "i == 1", HitCondition: ">=1", LogMessage: "{i} {total}"}, {Line: -1}}}},
		&dap.SetFunctionBreakpointsRequest{Arguments: dap.SetFunctionBreakpointsArguments{Breakpoints: []dap.FunctionBreakpoint{{Name: "fib"}, {Name: "*0"}}}},
		&dap.SetInstructionBreakpointsRequest{Arguments: dap.SetInstructionBreakpointsArguments{Breakpoints: []dap.InstructionBreakpoint{{InstructionReference: "0x1000", Offset: -5000}}}},
		&dap.SetExceptionBreakpointsRequest{}, &dap.ContinueRequest{}, &dap.PauseRequest{})
	add(&dap.DataBreakpointInfoRequest{Arguments: dap.DataBreakpointInfoArguments{Name: "total"}}, &dap.SetDataBreakpointsRequest{Arguments: dap.SetDataBreakpointsArguments{Breakpoints: []dap.DataBreakpoint{{DataId: "0x10:4"}}}}, &dap.NextRequest{}, &dap.StepInRequest{}, &dap.StepOutRequest{})
	add(evaluateRequest("*list", "hover", 0), evaluateRequest("numbers[3]@5", "repl", 0), &dap.CompletionsRequest{Arguments: dap.CompletionsArguments{Text: "to", Column: 3}}, &dap.ExceptionInfoRequest{},
		&dap.GotoTargetsRequest{Arguments: dap.GotoTargetsArguments{Source: source, Line: p.lines["LOOP"]}}, &dap.BreakpointLocationsRequest{Arguments: &dap.BreakpointLocationsArguments{Source: source, Line: 1, EndLine: 1 << 30}})
	add(&dap.ReadMemoryRequest{Arguments: dap.ReadMemoryArguments{MemoryReference: "0xfffffffffffffff0", Offset: 100, Count: 1 << 50}}, &dap.DisassembleRequest{Arguments: dap.DisassembleArguments{MemoryReference: "0", InstructionOffset: -4096, InstructionCount: 4096}},
		&dap.LoadedSourcesRequest{}, &dap.SourceRequest{}, &dap.CancelRequest{Arguments: &dap.CancelArguments{RequestId: 12}}, &dap.RestartRequest{}, &dap.TerminateRequest{}, &dap.DisconnectRequest{})
	f.Add([]byte("{\"seq\":1,\"type\":\"request\"}\n[]\n{\"type\":\"event\"}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		server := New(Options{Launch: launch})
		client, stream := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- server.ServeConnection(stream) }()
		go io.Copy(io.Discard, client)
		send := func(content []byte) bool { return dap.WriteBaseMessage(client, content) == nil }
		send([]byte(`{"seq":1,"type":"request","command":"initialize"}`))
		arguments, _ := json.Marshal(map[string]any{"program": p.object, "call": "sum(3, first)", "stopOnEntry": true})
		send(fmt.Appendf(nil, `{"seq":2,"type":"request","command":"launch","arguments":%s}`, arguments))
		send(fmt.Appendf(nil, `{"seq":3,"type":"request","command":"configurationDone"}`))
		for n, line := range bytes.Split(input, []byte("\n")) {
			if n == 100 || harmless(line) && !send(line) {
				break
			}
		}
		client.Close()
		select {
		case <-done:
		case <-time.After(2 * time.Minute):
			t.Fatal("the server does not end")
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}
