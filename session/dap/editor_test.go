// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/socket"
)

// program is testdata/program.c.
type program struct {
	path   string // of the source
	object string
	lines  map[string]int // by the word in capitals in the line's comment
}

func compile(t testing.TB, flags ...string) *program {
	t.Helper()
	source, err := filepath.Abs("testdata/program.c")
	if err != nil {
		t.Fatal(err)
	}
	return compileSource(t, source, flags...)
}

func compileSource(t testing.TB, source string, flags ...string) *program {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	p := &program{path: source, object: filepath.Join(t.TempDir(), "program.o"), lines: map[string]int{}}
	if out, err := exec.Command("gcc", append(flags, "-g", "-c", "-o", p.object, source)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		if _, word, ok := strings.Cut(line, "// "); ok {
			p.lines[word] = n + 1
		}
	}
	return p
}

// load is a Launch for object files. Arguments of calls are numbers and names of data.
func load(a LaunchArguments) (*Program, error) {
	var files []*object.File
	closeFiles := func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, name := range a.Program {
		f, err := object.Open(filepath.Join(a.Cwd, name))
		if err != nil {
			closeFiles()
			return nil, err
		}
		files = append(files, f)
	}
	image, err := session.LoadImage(nil, files...)
	if err != nil {
		closeFiles()
		return nil, err
	}
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		image.Close()
		closeFiles()
		return nil, err
	}
	p, err := launched(s, a)
	p.Close = func() error {
		defer closeFiles()
		if err := s.Close(); err != nil {
			return err
		}
		return image.Close()
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// launched returns a program that calls a function of a session.
func launched(s *session.Session, a LaunchArguments) (*Program, error) {
	p := &Program{Session: s, Close: s.Close}
	name, rest, _ := strings.Cut(strings.TrimSuffix(a.Call, ")"), "(")
	function, ok := s.Symbol(name)
	if !ok {
		return p, fmt.Errorf("no function %s", name)
	}
	p.Run = func(stopAtEntry bool) (*session.Stop, error) {
		call := session.Arguments{StopAtEntry: stopAtEntry}
		for _, word := range strings.FieldsFunc(rest, func(c rune) bool { return c == ',' || c == ' ' }) {
			n, err := strconv.ParseInt(word, 0, 64)
			if address, ok := s.Symbol(word); ok {
				n, err = int64(address), nil
			}
			if err != nil {
				return nil, err
			}
			call.Words = append(call.Words, uint64(n))
		}
		if len(a.Args) > 0 {
			return s.CallMain(function, a.Args, call)
		}
		return s.CallWith(function, call)
	}
	p.Result = func(stop *session.Stop) (string, int, error) {
		return fmt.Sprintf("%s = %d", a.Call, int32(stop.Result)), 0, nil
	}
	return p, nil
}

// editor is a client over a real connection.
type editor struct {
	t        testing.TB
	conn     net.Conn
	reader   *bufio.Reader
	sequence int
	events   []dap.EventMessage // received, but not yet returned by wait
	output   strings.Builder    // of output events
}

// connect starts a server and connects an editor to it.
func connect(t testing.TB, o Options) *editor {
	t.Helper()
	l, err := socket.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	server := New(o)
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != ErrClosed {
			t.Error(err)
		}
	})
	return dial(t, l.Address())
}

func dial(t testing.TB, address string) *editor {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &editor{t: t, conn: conn, reader: bufio.NewReader(conn)}
}

func (e *editor) read() dap.Message {
	e.t.Helper()
	e.conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
	m, err := dap.ReadProtocolMessage(e.reader)
	if err != nil {
		e.t.Fatalf("reading: %v", err)
	}
	return m
}

// setHeader sets the header fields of a request.
func setHeader(r dap.RequestMessage, sequence int) {
	header := r.GetRequest()
	name := strings.TrimSuffix(reflect.TypeOf(r).Elem().Name(), "Request")
	header.Seq, header.Type, header.Command = sequence, "request", strings.ToLower(name[:1])+name[1:]
}

// post sends a request without waiting.
func (e *editor) post(r dap.RequestMessage) int {
	e.t.Helper()
	e.sequence++
	setHeader(r, e.sequence)
	if err := dap.WriteProtocolMessage(e.conn, r); err != nil {
		e.t.Fatal(err)
	}
	return e.sequence
}

// answer waits for the response to a request.
func (e *editor) answer(sequence int) dap.ResponseMessage {
	e.t.Helper()
	for {
		switch m := e.read().(type) {
		case dap.ResponseMessage:
			if m.GetResponse().RequestSeq != sequence {
				e.t.Fatalf("a response to %d, want %d", m.GetResponse().RequestSeq, sequence)
			}
			return m
		case dap.EventMessage:
			e.keep(m)
		}
	}
}

func (e *editor) keep(m dap.EventMessage) {
	if o, ok := m.(*dap.OutputEvent); ok {
		e.output.WriteString(o.Body.Output)
		return
	}
	e.events = append(e.events, m)
}

// ask sends a request and returns the response. An error response fails the test.
func ask[R dap.ResponseMessage](e *editor, r dap.RequestMessage) R {
	e.t.Helper()
	m := e.answer(e.post(r))
	response, ok := m.(R)
	if !ok {
		text, _ := json.Marshal(m)
		e.t.Fatalf("%s: %s", r.GetRequest().Command, text)
	}
	return response
}

// refused sends a request and returns the text of the error response.
func (e *editor) refused(r dap.RequestMessage) string {
	e.t.Helper()
	m := e.answer(e.post(r))
	response, ok := m.(*dap.ErrorResponse)
	if !ok || response.Success || response.Body.Error == nil || response.Body.Error.Variables["text"] != response.Message {
		text, _ := json.Marshal(m)
		e.t.Fatalf("%s: %s, want an error", r.GetRequest().Command, text)
	}
	return response.Message
}

// wait returns the next event. It must have the type E.
func wait[E dap.EventMessage](e *editor) E {
	e.t.Helper()
	for len(e.events) == 0 {
		switch m := e.read().(type) {
		case dap.EventMessage:
			e.keep(m)
		default:
			text, _ := json.Marshal(m)
			e.t.Fatalf("waiting for an event: %s", text)
		}
	}
	m := e.events[0]
	e.events = e.events[1:]
	event, ok := m.(E)
	if !ok {
		text, _ := json.Marshal(m)
		e.t.Fatalf("event %s, want %T", text, event)
	}
	return event
}

// initialize sends the first request as VS Code does.
func (e *editor) initialize() dap.Capabilities {
	e.t.Helper()
	return ask[*dap.InitializeResponse](e, &dap.InitializeRequest{Arguments: dap.InitializeRequestArguments{
		ClientID: "vscode", ClientName: "Visual Studio Code", AdapterID: "clew", PathFormat: "path", LinesStartAt1: true, ColumnsStartAt1: true,
		SupportsVariableType: true, SupportsVariablePaging: true, SupportsRunInTerminalRequest: true, Locale: "en",
		SupportsProgressReporting: true, SupportsInvalidatedEvent: true, SupportsMemoryReferences: true, SupportsMemoryEvent: true}}).Body
}

// launch sends VS Code's requests before those for breakpoints.
func (e *editor) launch(p *program, call string, more ...string) {
	e.t.Helper()
	e.initialize()
	arguments := map[string]any{"name": "test", "type": "clew", "request": "launch", "program": p.object, "call": call}
	for _, m := range more {
		name, text, _ := strings.Cut(m, "=")
		arguments[name] = json.RawMessage(text)
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		e.t.Fatal(err)
	}
	ask[*dap.LaunchResponse](e, &dap.LaunchRequest{Arguments: text})
	wait[*dap.InitializedEvent](e)
}

// at sets breakpoints at lines of the program.
func (e *editor) at(p *program, list ...dap.SourceBreakpoint) []dap.Breakpoint {
	e.t.Helper()
	return ask[*dap.SetBreakpointsResponse](e, &dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{
		Source: dap.Source{Name: "program.c", Path: p.path}, Breakpoints: list}}).Body.Breakpoints
}

// run sends VS Code's requests after the breakpoints.
func (e *editor) run() {
	e.t.Helper()
	ask[*dap.SetFunctionBreakpointsResponse](e, &dap.SetFunctionBreakpointsRequest{Arguments: dap.SetFunctionBreakpointsArguments{Breakpoints: []dap.FunctionBreakpoint{}}})
	ask[*dap.SetExceptionBreakpointsResponse](e, &dap.SetExceptionBreakpointsRequest{Arguments: dap.SetExceptionBreakpointsArguments{Filters: []string{"signals"}}})
	ask[*dap.ConfigurationDoneResponse](e, &dap.ConfigurationDoneRequest{})
	ask[*dap.ThreadsResponse](e, &dap.ThreadsRequest{})
}

// stopped waits for a stop and returns the top of the stack.
func (e *editor) stopped(reason string) (dap.StoppedEventBody, []dap.StackFrame) {
	e.t.Helper()
	stop := wait[*dap.StoppedEvent](e).Body
	if stop.Reason != reason || stop.ThreadId != 1 || !stop.AllThreadsStopped {
		e.t.Fatalf("%+v, want %s", stop, reason)
	}
	if threads := ask[*dap.ThreadsResponse](e, &dap.ThreadsRequest{}).Body.Threads; len(threads) != 1 || threads[0].Id != 1 {
		e.t.Fatalf("threads %+v", threads)
	}
	// VS Code asks for the first frame, then for more.
	top := e.stack(0, 1)
	return stop, append(top, e.stack(1, 19)...)
}

func (e *editor) stack(start, levels int) []dap.StackFrame {
	e.t.Helper()
	return ask[*dap.StackTraceResponse](e, &dap.StackTraceRequest{Arguments: dap.StackTraceArguments{ThreadId: 1, StartFrame: start, Levels: levels}}).Body.StackFrames
}

func (e *editor) resume() {
	e.t.Helper()
	ask[*dap.ContinueResponse](e, &dap.ContinueRequest{Arguments: dap.ContinueArguments{ThreadId: 1}})
}

// ended waits for the end of the program.
func (e *editor) ended(code int) {
	e.t.Helper()
	if exited := wait[*dap.ExitedEvent](e); exited.Body.ExitCode != code {
		e.t.Errorf("exit code %d, want %d", exited.Body.ExitCode, code)
	}
	wait[*dap.TerminatedEvent](e)
}

// disconnect ends the session as VS Code does.
func (e *editor) disconnect() {
	e.t.Helper()
	ask[*dap.DisconnectResponse](e, &dap.DisconnectRequest{Arguments: &dap.DisconnectArguments{}})
}

// variables returns the variables in a container by name.
func (e *editor) variables(reference int) map[string]dap.Variable {
	e.t.Helper()
	byName := map[string]dap.Variable{}
	for _, v := range e.page(dap.VariablesArguments{VariablesReference: reference}) {
		if _, ok := byName[v.Name]; !ok {
			byName[v.Name] = v
		}
	}
	return byName
}

func (e *editor) page(a dap.VariablesArguments) []dap.Variable {
	e.t.Helper()
	return ask[*dap.VariablesResponse](e, &dap.VariablesRequest{Arguments: a}).Body.Variables
}

// scopes returns the containers of a frame by name.
func (e *editor) scopes(frame int) map[string]int {
	e.t.Helper()
	byName := map[string]int{}
	for _, s := range ask[*dap.ScopesResponse](e, &dap.ScopesRequest{Arguments: dap.ScopesArguments{FrameId: frame}}).Body.Scopes {
		byName[s.Name] = s.VariablesReference
	}
	return byName
}

func (e *editor) evaluate(text, context string, frame int) dap.EvaluateResponseBody {
	e.t.Helper()
	return ask[*dap.EvaluateResponse](e, evaluateRequest(text, context, frame)).Body
}

func evaluateRequest(text, context string, frame int) *dap.EvaluateRequest {
	return &dap.EvaluateRequest{Arguments: dap.EvaluateArguments{Expression: text, Context: context, FrameId: frame}}
}
