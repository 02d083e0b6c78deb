// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
)

func functionNames(frames []dap.StackFrame) (names []string) {
	for _, f := range frames {
		names = append(names, f.Name)
	}
	return names
}

// stepOut steps out of the innermost frame.
func (e *editor) stepOut() {
	e.t.Helper()
	ask[*dap.StepOutResponse](e, &dap.StepOutRequest{Arguments: dap.StepOutArguments{ThreadId: 1}})
}

// answersUntil reads responses, in any order, until it has those to the requests. It keeps events.
func (e *editor) answersUntil(requests ...int) map[int]dap.ResponseMessage {
	e.t.Helper()
	answers := map[int]dap.ResponseMessage{}
	for slices.ContainsFunc(requests, func(n int) bool { return answers[n] == nil }) {
		switch m := e.read().(type) {
		case dap.ResponseMessage:
			answers[m.GetResponse().RequestSeq] = m
		case dap.EventMessage:
			e.keep(m)
		}
	}
	return answers
}

func failed(t *testing.T, m dap.ResponseMessage, text string) {
	t.Helper()
	if r, ok := m.(*dap.ErrorResponse); !ok || !strings.Contains(r.Message, text) {
		got, _ := json.Marshal(m)
		t.Errorf("%s, want the error %q", got, text)
	}
}

const abandoned = "The program being debugged stopped while in a function called from Clew.\n" +
	"Evaluation of the expression containing the function\n(fib) will be abandoned."

// An expression calls functions while a call is stopped. The editor sees no event, and frames and
// variables remain valid.
func TestEvaluateCalls(t *testing.T) {
	_, e, frames := inner(t)
	id := frames[0].Id
	locals := e.scopes(id)["Locals"]
	registers := e.variables(e.scopes(id)["Registers"])
	for _, test := range []struct{ text, want string }{
		{"fib(10)", "55"},
		{"fib(fib(5)) + total", "22"},
		{"p fib(10) - $1", "0"},
		{"doubling(4)", "8"},
		{"fault(&numbers[0])", "1"},
		{"divide(-7, 2)", "-3"},
		{"total = fib(6)", "8"},
	} {
		if r := e.evaluate(test.text, "repl", id); !strings.HasPrefix(r.Result, test.want) {
			t.Errorf("%s: %+v, want %s", test.text, r, test.want)
		}
	}
	if len(e.events) > 0 {
		t.Errorf("events %+v", e.events)
	}
	if v := e.variables(locals)["total"]; v.Value != "8" {
		t.Errorf("%+v", v)
	}
	for name, v := range e.variables(e.scopes(id)["Registers"]) {
		if v.Value != registers[name].Value {
			t.Errorf("%s was %s and is %s", name, registers[name].Value, v.Value)
		}
	}
	e.resume()
	e.ended(0)
	e.disconnect()
}

// A nested call stops at a breakpoint and at a fault. It is finished by stepping out or continuing, or
// aborted. The editor then sees the previous stop.
func TestEvaluateStops(t *testing.T) {
	p, e, frames := inner(t)
	outer := functionNames(frames)
	e.at(p, dap.SourceBreakpoint{Line: p.lines["INNER"]}, dap.SourceBreakpoint{Line: p.lines["FIB"], Condition: "n == 3"})
	again := func(output string) []dap.StackFrame {
		t.Helper()
		_, frames := e.stopped("breakpoint")
		if got := functionNames(frames); !slices.Equal(got, outer) || !strings.HasSuffix(e.output.String(), output) {
			t.Errorf("%q, output %q; want %q and %q", got, e.output.String(), outer, output)
		}
		return frames
	}
	for _, end := range []struct {
		name   string
		do     func()
		output string
	}{
		{"step out", e.stepOut, "The function called from Clew has ended: returned 0x2.\n"},
		{"continue", e.resume, "The function called from Clew has ended: returned 0x2.\n"},
		{"abort", func() { e.evaluate("abort", "repl", 0) }, "The function called from Clew has ended: aborted.\n"},
		{"step", func() {
			for n := range 100 {
				ask[*dap.NextResponse](e, &dap.NextRequest{Arguments: dap.NextArguments{ThreadId: 1}})
				for len(e.events) == 0 {
					e.keep(e.read().(dap.EventMessage))
				}
				if e.events[0].(*dap.StoppedEvent).Body.Reason == "breakpoint" {
					return
				}
				e.stopped("step")
				if n == 99 {
					t.Fatal("the function does not end")
				}
			}
		}, "The function called from Clew has ended: returned 0x2.\n"},
	} {
		if text := e.refused(evaluateRequest("fib(3)", "repl", frames[0].Id)); text != abandoned {
			t.Errorf("%s: %q", end.name, text)
		}
		_, nested := e.stopped("breakpoint")
		if got, want := functionNames(nested), append([]string{"fib", session.NestedName}, outer...); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if nested[1].PresentationHint != "label" {
			t.Errorf("%+v", nested[1])
		}
		if text := e.refused(evaluateRequest("total", "watch", frames[0].Id)); text != "the frame belongs to another stop" {
			t.Error(text)
		}
		if r := e.evaluate("total", "watch", nested[2].Id); r.Result != "17" {
			t.Errorf("%+v", r)
		}
		end.do()
		frames = again(end.output)
	}

	// A call in a stopped nested call.
	e.refused(evaluateRequest("fib(3)", "repl", frames[0].Id))
	_, first := e.stopped("breakpoint")
	if r := e.evaluate("divide(9, 3)", "repl", first[0].Id); r.Result != "3" {
		t.Errorf("%+v", r)
	}
	e.refused(evaluateRequest("fault((int *)8)", "repl", first[0].Id))
	stop, second := e.stopped("exception")
	if got, want := functionNames(second), append([]string{"fault", session.NestedName, "fib", session.NestedName}, outer...); !slices.Equal(got, want) || !strings.Contains(stop.Text, "SIGSEGV") {
		t.Errorf("%q, want %q; %+v", got, want, stop)
	}
	e.evaluate("abort", "repl", 0)
	if _, frames := e.stopped("breakpoint"); frames[0].Name != "fib" {
		t.Errorf("%+v", frames)
	}
	e.evaluate("abort", "repl", 0)
	frames = again("aborted.\n")
	if text := e.refused(evaluateRequest("abort", "repl", frames[0].Id)); !strings.Contains(text, `No symbol "abort"`) {
		t.Error(text)
	}
	e.resume()
	e.ended(0)
	e.disconnect()
}

// While an endless nested call runs, the editor can pause it, and set breakpoints for later. What needs
// a stop is refused.
func TestEvaluateForever(t *testing.T) {
	p, e, frames := inner(t)
	call := e.post(evaluateRequest("forever()", "repl", frames[0].Id))
	variables := e.post(&dap.StackTraceRequest{Arguments: dap.StackTraceArguments{ThreadId: 1}})
	other := e.post(evaluateRequest("fib(1)", "repl", frames[0].Id))
	set := e.post(&dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{Source: dap.Source{Path: p.path},
		Breakpoints: []dap.SourceBreakpoint{{Line: p.lines["INNER"]}, {Line: p.lines["FIB"]}}}})
	time.Sleep(10 * time.Millisecond)
	pause := e.post(&dap.PauseRequest{Arguments: dap.PauseArguments{ThreadId: 1}})
	answers := e.answersUntil(call, variables, other, set, pause)
	failed(t, answers[variables], errRunning.Error())
	failed(t, answers[other], errRunning.Error())
	failed(t, answers[call], "(forever) will be abandoned")
	for n, m := range e.events {
		if _, ok := m.(*dap.BreakpointEvent); !ok {
			e.events = e.events[n:]
			break
		}
	}
	_, nested := e.stopped("pause")
	if got := functionNames(nested); got[0] != "forever" || got[1] != session.NestedName {
		t.Errorf("%q", got)
	}
	e.evaluate("abort", "repl", 0)
	_, frames = e.stopped("breakpoint")
	call = e.post(evaluateRequest("forever()", "repl", frames[0].Id))
	probe := e.post(&dap.StackTraceRequest{Arguments: dap.StackTraceArguments{ThreadId: 1}})
	failed(t, e.answersUntil(probe)[probe], errRunning.Error()) // the function runs
	cancel := e.post(&dap.CancelRequest{Arguments: &dap.CancelArguments{RequestId: call}})
	failed(t, e.answersUntil(call, cancel)[call], errCancelled.Error())
	_, frames = e.stopped("breakpoint")
	e.refused(evaluateRequest("fib(1)", "repl", frames[0].Id)) // it was set
	e.stopped("breakpoint")
	ask[*dap.TerminateResponse](e, &dap.TerminateRequest{Arguments: &dap.TerminateArguments{}})
	e.ended(-1)
	e.disconnect()
}

// Debugging ends in a nested call, whether that runs or is stopped.
func TestEvaluateEnds(t *testing.T) {
	for _, running := range []bool{true, false} {
		begin := func() (e *editor, call int) {
			p, e, frames := inner(t)
			if running {
				call = e.post(evaluateRequest("forever()", "repl", frames[0].Id))
				time.Sleep(5 * time.Millisecond)
				return e, call
			}
			e.at(p, dap.SourceBreakpoint{Line: p.lines["INNER"]}, dap.SourceBreakpoint{Line: p.lines["DIVIDE"]})
			e.refused(evaluateRequest("divide(1, 1)", "repl", frames[0].Id))
			_, frames = e.stopped("breakpoint")
			e.refused(evaluateRequest("divide(1, 1)", "repl", frames[0].Id))
			e.stopped("breakpoint")
			return e, 0
		}
		ends := func(e *editor, call, end int) {
			t.Helper()
			if call != 0 {
				failed(t, e.answersUntil(call, end)[call], errNestedGone.Error())
			} else if r := e.answer(end); !r.GetResponse().Success {
				t.Errorf("%+v", r)
			}
		}
		e, call := begin()
		ends(e, call, e.post(&dap.TerminateRequest{Arguments: &dap.TerminateArguments{}}))
		e.ended(-1)
		e.disconnect()

		e, call = begin()
		ends(e, call, e.post(&dap.RestartRequest{}))
		e.stopped("breakpoint")
		e.disconnect()

		e, call = begin()
		ends(e, call, e.post(&dap.DisconnectRequest{Arguments: &dap.DisconnectArguments{}}))

		e, _ = begin()
		e.conn.Close() // the server's Close, after the test, waits for the end of the session
	}

	// The worker is killed.
	var s *session.Session
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: func(a LaunchArguments) (*Program, error) {
		program, err := load(a)
		if err == nil {
			s = program.Session
		}
		return program, err
	}})
	e.launch(p, "sum(1, first)", "stopOnEntry=true")
	e.run()
	_, frames := e.stopped("entry")
	call := e.post(evaluateRequest("forever()", "repl", frames[0].Id))
	for s.State() != session.Running {
		time.Sleep(time.Millisecond)
	}
	syscall.Kill(s.PID(), syscall.SIGKILL)
	failed(t, e.answersUntil(call)[call], "The program being debugged exited while in a function called from Clew.")
	e.ended(128 + int(syscall.SIGKILL))
	if !strings.Contains(e.output.String(), "killed by SIGKILL\n") {
		t.Errorf("output %q", e.output.String())
	}
	e.disconnect()
}

// When an editor that has attached leaves in a nested call, the program's call continues without it.
func TestEvaluateAttached(t *testing.T) {
	for _, text := range []string{"forever()", "fib(3)"} {
		for _, leave := range []func(*editor){
			func(e *editor) { e.post(&dap.DisconnectRequest{Arguments: &dap.DisconnectArguments{}}) },
			func(e *editor) { e.conn.Close() },
		} {
			o := offer(t)
			e := o.attach(t, "{}")
			ask[*dap.ConfigurationDoneResponse](e, &dap.ConfigurationDoneRequest{})
			e.at(o.program, dap.SourceBreakpoint{Line: o.lines["INNER"]}, dap.SourceBreakpoint{Line: o.lines["FIB"], Condition: "n == 1"})
			list, _ := o.session.Symbol("first")
			done := o.call(t, "sum", 1, list)
			_, frames := e.stopped("breakpoint")
			call := e.post(evaluateRequest(text, "repl", frames[0].Id))
			if text == "fib(3)" {
				failed(t, e.answer(call), abandoned)
				e.stopped("breakpoint")
			} else {
				time.Sleep(5 * time.Millisecond)
			}
			leave(e)
			returned(t, done, 3) // total and twice(1)
		}
	}
}
