// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
)

func TestLaunch(t *testing.T) {
	for _, optimization := range []string{"-O0", "-O2"} {
		t.Run(optimization, func(t *testing.T) {
			p := compile(t, optimization)
			e := connect(t, Options{Launch: load})
			e.launch(p, "sum(5, first)")
			set := e.at(p, dap.SourceBreakpoint{Line: p.lines["CALL"]}, dap.SourceBreakpoint{Line: p.lines["MAIN"] + 100}, dap.SourceBreakpoint{Line: p.lines["FIB"] - 2})
			if !set[0].Verified || set[0].Line != p.lines["CALL"] && optimization == "-O0" || set[0].Source == nil || set[0].Source.Path != p.path {
				t.Errorf("%+v", set[0])
			}
			if set[1].Verified || !strings.Contains(set[1].Message, "no code") {
				t.Errorf("%+v", set[1])
			}
			if !set[2].Verified || set[2].Line <= p.lines["FIB"]-2 || set[2].Line > p.lines["FIB"] {
				t.Errorf("%+v", set[2])
			}
			e.run()
			stop, frames := e.stopped("breakpoint")
			if len(stop.HitBreakpointIds) != 1 || stop.HitBreakpointIds[0] != set[0].Id {
				t.Errorf("%+v, want breakpoint %d", stop, set[0].Id)
			}
			if len(frames) < 1 || frames[len(frames)-1].Name != "sum" || frames[0].Source == nil || frames[0].Source.Path != p.path {
				t.Errorf("%+v", frames)
			}
			if optimization == "-O0" {
				if frames[0].Line != p.lines["CALL"] {
					t.Errorf("line %d", frames[0].Line)
				}
				scopes := e.scopes(frames[0].Id)
				arguments := e.variables(scopes["Arguments"])
				if arguments["count"].Value != "5" || arguments["count"].Type != "int" || !strings.HasSuffix(arguments["list"].Value, "<first>") {
					t.Errorf("%+v", arguments)
				}
				if locals := e.variables(scopes["Locals"]); locals["total"].Value != "5" || locals["scale"].Value != "1.5" {
					t.Errorf("%+v", locals)
				}
			}
			e.resume()
			e.ended(0)
			if !strings.Contains(e.output.String(), "sum(5, first) = 15\n") {
				t.Errorf("output %q", e.output.String())
			}
			e.disconnect()
		})
	}
}

// The stack of an editor has the functions that left no frame because of tail calls.
func TestTailCalls(t *testing.T) {
	p := compile(t, "-O2")
	e := connect(t, Options{Launch: load})
	e.launch(p, "relay(4)")
	e.at(p, dap.SourceBreakpoint{Line: p.lines["SETTLE"]})
	e.run()
	_, frames := e.stopped("breakpoint")
	if got, want := functionNames(frames), []string{"settle", "passOn", "relay"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	line := p.lines["with -O2 a tail call"]
	if f := frames[1]; f.PresentationHint != "subtle" || f.Line != line || frames[0].PresentationHint != "" || frames[2].PresentationHint != "" {
		t.Errorf("%+v, want line %d", frames, line)
	}
	scopes := e.scopes(frames[1].Id)
	if _, ok := scopes["Vector registers"]; ok {
		t.Error("a frame of a tail call has vector registers")
	}
	registers := e.variables(scopes["Registers"])
	pc, sp := map[string]string{"amd64": "rip", "arm64": "pc"}[runtime.GOARCH], map[string]string{"amd64": "rsp", "arm64": "sp"}[runtime.GOARCH]
	if v := registers[pc].Value; !strings.HasPrefix(v, frames[1].InstructionPointerReference) || registers[sp].Value != "<unavailable>" {
		t.Errorf("%s = %s, %s = %s, want %s", pc, v, sp, registers[sp].Value, frames[1].InstructionPointerReference)
	}
	// The argument has the value that the caller passed.
	if v := e.variables(scopes["Arguments"])["n"].Value; v != "5" {
		t.Errorf("n = %s, want 5", v)
	}
	e.resume()
	e.ended(0)
	e.disconnect()
}

func TestStopOnEntryAndSteps(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "sum(2, first)", "stopOnEntry=true")
	e.run()
	_, frames := e.stopped("entry")
	if frames[0].Name != "sum" {
		t.Errorf("%+v", frames)
	}
	entry := frames[0].InstructionPointerReference
	ask[*dap.NextResponse](e, &dap.NextRequest{Arguments: dap.NextArguments{ThreadId: 1, Granularity: "instruction"}})
	if _, frames = e.stopped("step"); frames[0].InstructionPointerReference == entry {
		t.Error("no step")
	}
	var lines []int
	for frames[0].Line != p.lines["CALL"] && len(lines) < 30 {
		ask[*dap.NextResponse](e, &dap.NextRequest{Arguments: dap.NextArguments{ThreadId: 1}})
		_, frames = e.stopped("step")
		lines = append(lines, frames[0].Line)
	}
	// An inlined call has its own frame.
	for n := 0; frames[0].Name != "twice" && n < 5; n++ {
		ask[*dap.StepInResponse](e, &dap.StepInRequest{Arguments: dap.StepInArguments{ThreadId: 1, Granularity: "statement"}})
		_, frames = e.stopped("step")
	}
	if len(frames) < 2 || frames[0].Name != "twice" || frames[1].Name != "sum" || frames[1].Line != p.lines["CALL"] {
		t.Fatalf("%+v", frames)
	}
	if v := e.variables(e.scopes(frames[0].Id)["Arguments"]); v["n"].Value != "2" {
		t.Errorf("%+v", v)
	}
	if v := e.variables(e.scopes(frames[1].Id)["Locals"]); v["total"].Value != "2" {
		t.Errorf("%+v", v)
	}
	if r := e.evaluate("total * 10 + count", "watch", frames[1].Id); r.Result != "22" || r.Type != "int" {
		t.Errorf("%+v", r)
	}
	ask[*dap.StepOutResponse](e, &dap.StepOutRequest{Arguments: dap.StepOutArguments{ThreadId: 1}})
	if _, frames = e.stopped("step"); frames[0].Name != "sum" {
		t.Errorf("%+v", frames[0])
	}
	if text := e.refused(&dap.NextRequest{Arguments: dap.NextArguments{ThreadId: 1, Granularity: "leap"}}); !strings.Contains(text, "instruction") {
		t.Error(text)
	}
	// The last step leaves the function that was called.
	ask[*dap.StepOutResponse](e, &dap.StepOutRequest{Arguments: dap.StepOutArguments{ThreadId: 1}})
	e.ended(0)
	e.disconnect()
}

func TestRecursion(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fib(10)")
	set := ask[*dap.SetFunctionBreakpointsResponse](e, &dap.SetFunctionBreakpointsRequest{Arguments: dap.SetFunctionBreakpointsArguments{
		Breakpoints: []dap.FunctionBreakpoint{{Name: "fib", Condition: "n == 3", HitCondition: "2"}, {Name: "nosuch"}}}}).Body.Breakpoints
	if !set[0].Verified || set[0].Line != p.lines["FIB"] || set[1].Verified || set[1].Message == "" {
		t.Errorf("%+v", set)
	}
	ask[*dap.ConfigurationDoneResponse](e, &dap.ConfigurationDoneRequest{})
	stop, frames := e.stopped("function breakpoint")
	if len(stop.HitBreakpointIds) != 1 || len(frames) < 3 {
		t.Fatalf("%+v %+v", stop, frames)
	}
	for n, f := range frames {
		if f.Name != "fib" {
			t.Errorf("frame %d is %s", n, f.Name)
		}
		if n > 0 {
			if r := e.evaluate("n", "hover", f.Id); r.Result <= "3" && len(r.Result) == 1 {
				t.Errorf("n is %s in frame %d", r.Result, n)
			}
		}
	}
	if all := e.stack(0, 0); len(all) != len(frames) {
		t.Errorf("%d frames, want %d", len(all), len(frames))
	}
	if r := e.evaluate("n", "hover", frames[0].Id); r.Result != "3" {
		t.Errorf("n is %s", r.Result)
	}
	e.resume()
	e.ended(0)
	if !strings.Contains(e.output.String(), "fib(10) = 55") {
		t.Errorf("output %q", e.output.String())
	}
}

func TestRestart(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fib(1)")
	e.at(p, dap.SourceBreakpoint{Line: p.lines["FIB"]})
	e.run()
	for range 3 {
		e.stopped("breakpoint")
		ask[*dap.RestartResponse](e, &dap.RestartRequest{})
	}
	e.stopped("breakpoint")
	ask[*dap.TerminateResponse](e, &dap.TerminateRequest{Arguments: &dap.TerminateArguments{}})
	e.ended(-1)
	// VS Code can restart a program that has ended.
	ask[*dap.RestartResponse](e, &dap.RestartRequest{})
	e.stopped("breakpoint")
	e.resume()
	if exited := wait[*dap.ExitedEvent](e); exited.Body.ExitCode != 0 {
		t.Errorf("%+v", exited)
	}
	wait[*dap.TerminatedEvent](e) // again
	e.disconnect()
}

func TestCallMain(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "main", `args=["main","one","two"]`)
	e.at(p, dap.SourceBreakpoint{Line: p.lines["MAIN"]})
	e.run()
	_, frames := e.stopped("breakpoint")
	if r := e.evaluate("*argv@argc", "repl", frames[0].Id); !strings.Contains(r.Result, `"one"`) || r.IndexedVariables != 3 {
		t.Errorf("%+v", r)
	}
	e.resume()
	e.ended(0)
}

func TestLaunchErrors(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.initialize()
	if text := e.refused(&dap.ThreadsRequest{}); !strings.Contains(text, "launch or attach") {
		t.Error(text)
	}
	for arguments, want := range map[string]string{
		`{"program":"nosuch.o","call":"f"}`:           "nosuch.o",
		`{"program":["` + p.object + `"],"call":"f"}`: "no function f",
		`{"program":7}`: "arguments of launch",
	} {
		if text := e.refused(&dap.LaunchRequest{Arguments: []byte(arguments)}); !strings.Contains(text, want) {
			t.Errorf("%s: %s", arguments, text)
		}
	}
	if text := e.refused(&dap.AttachRequest{Arguments: []byte(`{}`)}); !strings.Contains(text, "offers no session") {
		t.Error(text)
	}
	e.launch(p, "fib(2)")
	if text := e.refused(&dap.LaunchRequest{Arguments: []byte(`{}`)}); !strings.Contains(text, "already") {
		t.Error(text)
	}
	for _, r := range []dap.RequestMessage{
		&dap.StepBackRequest{}, &dap.StackTraceRequest{},
		&dap.ContinueRequest{}, &dap.PauseRequest{},
		&dap.ExceptionInfoRequest{},
	} {
		e.refused(r)
	}
	e.disconnect()
}

// An editor can disconnect or terminate the program before the call has begun.
func TestEndBeforeCall(t *testing.T) {
	p := compile(t, "-O0")
	for _, command := range []string{"disconnect", "terminate"} {
		begun, call := make(chan struct{}), make(chan struct{})
		closed := make(chan struct{})
		e := connect(t, Options{Launch: func(a LaunchArguments) (*Program, error) {
			program, err := load(a)
			if err != nil {
				return nil, err
			}
			run, end := program.Run, program.Close
			program.Run = func(stopAtEntry bool) (*session.Stop, error) {
				close(begun)
				<-call
				return run(stopAtEntry)
			}
			program.Close = func() error {
				defer close(closed)
				return end()
			}
			return program, nil
		}})
		e.launch(p, "forever()")
		e.run()
		<-begun
		if command == "disconnect" {
			e.post(&dap.DisconnectRequest{})
		} else {
			ask[*dap.TerminateResponse](e, &dap.TerminateRequest{})
		}
		time.AfterFunc(20*time.Millisecond, func() { close(call) })
		if command == "terminate" {
			e.ended(-1)
			e.disconnect()
		}
		select {
		case <-closed:
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: the call still runs", command)
		}
	}
}
