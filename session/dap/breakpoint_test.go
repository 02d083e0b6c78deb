// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
)

func TestConditionsAndHits(t *testing.T) {
	for _, test := range []struct {
		condition, hit string
		want           []string // i at the stops
	}{
		{"", "", []string{"0", "1", "2", "3", "4", "5"}},
		{"i == 3", "", []string{"3"}},
		{"i == 3 || list->next->at.y == 4 && i > 4", "", []string{"3", "5"}},
		{"", "5", []string{"4"}},
		{"", "== 2", []string{"1"}},
		{"", ">= 5", []string{"4", "5"}},
		{"", "> 5", []string{"5"}},
		{"", "< 3", []string{"0", "1"}},
		{"", "<=1", []string{"0"}},
		{"", "% 3", []string{"2", "5"}},
		{"i % 2 == 1", "2", []string{"3"}},
		{"i > 100", "", nil},
	} {
		t.Run(test.condition+" "+test.hit, func(t *testing.T) {
			p := compile(t, "-O0")
			e := connect(t, Options{Launch: load})
			e.launch(p, "sum(6, first)")
			if set := e.at(p, dap.SourceBreakpoint{Line: p.lines["LOOP"], Condition: test.condition, HitCondition: test.hit}); !set[0].Verified {
				t.Fatalf("%+v", set)
			}
			e.run()
			for _, want := range test.want {
				_, frames := e.stopped("breakpoint")
				if r := e.evaluate("i", "watch", frames[0].Id); r.Result != want {
					t.Errorf("i is %s, want %s", r.Result, want)
				}
				e.resume()
			}
			e.ended(0)
		})
	}
}

func TestBreakpointErrors(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "sum(6, first)")
	line := p.lines["LOOP"]
	set := e.at(p, dap.SourceBreakpoint{Line: line, Condition: "j == 3"}, dap.SourceBreakpoint{Line: line, HitCondition: "often"}, dap.SourceBreakpoint{Line: line, LogMessage: "{i"},
		dap.SourceBreakpoint{Line: line, LogMessage: "{j}"}, dap.SourceBreakpoint{Line: line, HitCondition: "% 0"}, dap.SourceBreakpoint{Line: 0}, dap.SourceBreakpoint{Line: line})
	for n, want := range []string{`No symbol "j"`, "invalid hit condition", "no }", `No symbol "j"`, "invalid hit condition", "no line 0", ""} {
		if set[n].Verified != (want == "") || !strings.Contains(set[n].Message, want) {
			t.Errorf("%d: %+v, want %s", n, set[n], want)
		}
	}
	if set := e.at(p); len(set) != 0 {
		t.Errorf("%+v", set)
	}
	invalid := ask[*dap.SetInstructionBreakpointsResponse](e, &dap.SetInstructionBreakpointsRequest{Arguments: dap.SetInstructionBreakpointsArguments{Breakpoints: []dap.InstructionBreakpoint{{InstructionReference: "here"}, {InstructionReference: "0x10"}}}}).Body.Breakpoints
	if invalid[0].Verified || invalid[0].Message != `memory reference "here" is not an address` || invalid[1].Verified || invalid[1].Message == "" {
		t.Errorf("%+v", invalid)
	}
	invalid = ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{Arguments: dap.SetDataBreakpointsArguments{Breakpoints: []dap.DataBreakpoint{{DataId: "here"}, {DataId: "0x10:4", AccessType: "read"}}}}).Body.Breakpoints
	if invalid[0].Message != `unknown data ID "here"` || !strings.Contains(invalid[1].Message, "use write or readWrite") || invalid[0].Verified || invalid[1].Verified {
		t.Errorf("%+v", invalid)
	}
	ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{})
	invalid = ask[*dap.SetBreakpointsResponse](e, &dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{Source: dap.Source{Name: "program.c"}, Breakpoints: []dap.SourceBreakpoint{{Line: line}}}}).Body.Breakpoints
	if invalid[0].Verified || !strings.Contains(invalid[0].Message, "neither a path nor a reference") {
		t.Errorf("%+v", invalid)
	}
	invalid = ask[*dap.SetExceptionBreakpointsResponse](e, &dap.SetExceptionBreakpointsRequest{Arguments: dap.SetExceptionBreakpointsArguments{Filters: []string{"signals", "cpp_throw"}}}).Body.Breakpoints
	if !invalid[0].Verified || invalid[1].Verified || invalid[1].Message != `there is no exception filter "cpp_throw"; expected "signals"` {
		t.Errorf("%+v", invalid)
	}
	e.run()
	e.ended(0)
}

// The editor's path of a source differs from the path at compilation.
func TestPathsBySuffix(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fib(1)")
	elsewhere := "/somewhere/else/testdata/program.c"
	set := ask[*dap.SetBreakpointsResponse](e, &dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{
		Source: dap.Source{Path: elsewhere}, Breakpoints: []dap.SourceBreakpoint{{Line: p.lines["FIB"]}}}}).Body.Breakpoints
	if !set[0].Verified || set[0].Source.Path != elsewhere {
		t.Errorf("%+v", set[0])
	}
	other := ask[*dap.SetBreakpointsResponse](e, &dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{
		Source: dap.Source{Path: "/somewhere/other.c"}, Breakpoints: []dap.SourceBreakpoint{{Line: p.lines["FIB"]}}}}).Body.Breakpoints
	if other[0].Verified {
		t.Errorf("%+v", other[0])
	}
	e.run()
	if _, frames := e.stopped("breakpoint"); frames[0].Source.Path != elsewhere {
		t.Errorf("%+v", frames[0].Source)
	}
	e.resume()
	e.ended(0)
}

func TestLogpoint(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "sum(3, first)")
	e.at(p, dap.SourceBreakpoint{Line: p.lines["LOOP"], LogMessage: `i is {i}, \{total\} {total * 2}, {list->at}, {*(int *)0}`})
	e.run()
	e.ended(0)
	for i, total := range []int{0, 2, 4} {
		want := fmt.Sprintf("i is %d, {total} %d, {x = 1, y = 2}, <error: Cannot access memory at address 0x0>\n", i, total)
		if !strings.Contains(e.output.String(), want) {
			t.Errorf("output %q, want %q", e.output.String(), want)
		}
	}
}

func TestDataBreakpoint(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "sum(3, first)")
	e.at(p, dap.SourceBreakpoint{Line: p.lines["LOOP"], HitCondition: "1"})
	e.run()
	_, frames := e.stopped("breakpoint")
	scopes := e.scopes(frames[0].Id)
	info := func(a dap.DataBreakpointInfoArguments) dap.DataBreakpointInfoResponseBody {
		return ask[*dap.DataBreakpointInfoResponse](e, &dap.DataBreakpointInfoRequest{Arguments: a}).Body
	}
	total := info(dap.DataBreakpointInfoArguments{VariablesReference: scopes["Locals"], Name: "total"})
	if total.DataId == nil || len(total.AccessTypes) != 2 || !strings.Contains(total.Description, "4 bytes") {
		t.Fatalf("%+v", total)
	}
	for _, a := range []dap.DataBreakpointInfoArguments{
		{Name: "first", FrameId: frames[0].Id}, {Name: "1 + 1", FrameId: frames[0].Id}, {Name: "nosuch", FrameId: frames[0].Id}, {Name: "rax", VariablesReference: scopes["Registers"]},
		{Name: "nosuch", VariablesReference: scopes["Locals"]}, {Name: "x", VariablesReference: 99999},
	} {
		if got := info(a); got.DataId != nil || got.Description == "" {
			t.Errorf("%+v: %+v", a, got)
		}
	}
	third := info(dap.DataBreakpointInfoArguments{Name: "numbers[2]", FrameId: frames[0].Id})
	set := ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{Arguments: dap.SetDataBreakpointsArguments{Breakpoints: []dap.DataBreakpoint{
		{DataId: total.DataId.(string), AccessType: "write", Condition: "total >= 2"}, {DataId: third.DataId.(string)}}}}).Body.Breakpoints
	if !set[0].Verified || !set[1].Verified {
		t.Fatalf("%+v", set)
	}
	for n, want := range []string{"0x1 → 0x2", "0x2 → 0x3", "0x0 → 0x3", "0x3 → 0x9"} {
		e.resume()
		stop, _ := e.stopped("data breakpoint")
		if !strings.Contains(stop.Text, want) || len(stop.HitBreakpointIds) != 1 || stop.HitBreakpointIds[0] != set[n/2%2*(1-n/3)].Id {
			t.Errorf("%d: %+v, want %s", n, stop, want)
		}
	}
	ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{})
	e.resume()
	e.ended(0)
	e.disconnect()
}

// The names in the condition of a data breakpoint have the meaning where the memory is
// written: in the image where it was set, and in a library at a load bias.
func TestDataBreakpointInLibrary(t *testing.T) {
	library := testprogram.Build(t, "watched.c", "-shared", "-nostdlib", "-DLIBRARY", "-O0", "-g", "-fPIC")
	fill := testprogram.MapLibrary(t, library, "fill")
	p := compileSource(t, testprogram.Path("programs/watched.c"), "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, fmt.Sprintf("enter(%d, 9)", fill))
	e.at(p, dap.SourceBreakpoint{Line: p.lines["ENTER"]})
	e.run()
	_, frames := e.stopped("breakpoint")
	cell := ask[*dap.DataBreakpointInfoResponse](e, &dap.DataBreakpointInfoRequest{
		Arguments: dap.DataBreakpointInfoArguments{Name: "cell", FrameId: frames[0].Id}}).Body.DataId.(string)
	watch := func(condition string) dap.Breakpoint {
		return ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{
			Arguments: dap.SetDataBreakpointsArguments{Breakpoints: []dap.DataBreakpoint{{DataId: cell, Condition: condition}}}}).Body.Breakpoints[0]
	}
	if b := watch("scale > 0"); b.Verified || !strings.Contains(b.Message, `No symbol "scale"`) {
		t.Errorf("a name of the library before it is entered: %+v", b)
	}
	for _, test := range []struct{ condition, i string }{
		{"cell == 10", "1"}, // set in the image, where cell is global, and not a parameter
		{"i == 3 && scale == 10", "3"},
		{"*cell == 50 && n == 9", "5"},
		{"i == 7 || *cell == 80", "7"},
		{"i == 8", "8"},
	} {
		if b := watch(test.condition); !b.Verified {
			t.Fatalf("%s: %+v", test.condition, b)
		}
		e.resume()
		_, frames := e.stopped("data breakpoint")
		if frames[0].Name != "fill" {
			t.Fatalf("%s: %+v", test.condition, frames)
		}
		if r := e.evaluate("i", "watch", frames[0].Id); r.Result != test.i {
			t.Errorf("%s: stopped with i = %s, want %s", test.condition, r.Result, test.i)
		}
	}
	watch("i == 100")
	e.resume()
	e.ended(0)
	e.disconnect()
}

func TestInstructionBreakpoint(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fib(3)", "stopOnEntry=true")
	e.run()
	_, frames := e.stopped("entry")
	set := ask[*dap.SetInstructionBreakpointsResponse](e, &dap.SetInstructionBreakpointsRequest{Arguments: dap.SetInstructionBreakpointsArguments{
		Breakpoints: []dap.InstructionBreakpoint{{InstructionReference: frames[0].InstructionPointerReference, HitCondition: "2"}}}}).Body.Breakpoints
	if !set[0].Verified || set[0].InstructionReference != frames[0].InstructionPointerReference {
		t.Errorf("%+v", set)
	}
	e.resume()
	stop, now := e.stopped("instruction breakpoint")
	if stop.HitBreakpointIds[0] != set[0].Id || now[0].InstructionPointerReference != frames[0].InstructionPointerReference || len(now) < 2 {
		t.Errorf("%+v %+v", stop, now)
	}
	e.resume()
	e.ended(0)
}

// Breakpoints of all kinds can be set while the code runs. The editor sees no stop.
func TestSetWhileRunning(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "forever()")
	e.run()
	e.refused(&dap.StackTraceRequest{Arguments: dap.StackTraceArguments{ThreadId: 1}})
	e.refused(evaluateRequest("counter", "watch", 0))
	ask[*dap.PauseResponse](e, &dap.PauseRequest{Arguments: dap.PauseArguments{ThreadId: 1}})
	_, frames := e.stopped("pause")
	if frames[0].Name != "forever" {
		t.Errorf("%+v", frames)
	}
	info := ask[*dap.DataBreakpointInfoResponse](e, &dap.DataBreakpointInfoRequest{Arguments: dap.DataBreakpointInfoArguments{Name: "counter", FrameId: frames[0].Id}}).Body
	e.resume()
	for n := range 3 {
		set := ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{Arguments: dap.SetDataBreakpointsArguments{
			Breakpoints: []dap.DataBreakpoint{{DataId: info.DataId.(string)}}}}).Body.Breakpoints
		if !set[0].Verified {
			t.Fatalf("%+v", set)
		}
		e.stopped("data breakpoint")
		ask[*dap.SetDataBreakpointsResponse](e, &dap.SetDataBreakpointsRequest{Arguments: dap.SetDataBreakpointsArguments{Breakpoints: []dap.DataBreakpoint{}}})
		e.resume()
		if set := e.at(p, dap.SourceBreakpoint{Line: p.lines["FOREVER"], Condition: fmt.Sprintf("counter > %d", n)}); !set[0].Verified {
			t.Fatalf("%+v", set)
		}
		e.stopped("breakpoint")
		e.at(p)
		e.resume()
	}
	time.Sleep(20 * time.Millisecond)
	ask[*dap.PauseResponse](e, &dap.PauseRequest{Arguments: dap.PauseArguments{ThreadId: 1}})
	_, frames = e.stopped("pause")
	e.evaluate("stop = 1", "repl", frames[0].Id)
	e.resume()
	e.ended(0)
	if !strings.Contains(e.output.String(), "forever() = 7") {
		t.Errorf("output %q", e.output.String())
	}
}

func TestExceptions(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fault(16)")
	ask[*dap.SetExceptionBreakpointsResponse](e, &dap.SetExceptionBreakpointsRequest{Arguments: dap.SetExceptionBreakpointsArguments{Filters: []string{}}})
	if !strings.Contains(e.output.String(), "cannot be passed") {
		t.Errorf("output %q", e.output.String())
	}
	ask[*dap.ConfigurationDoneResponse](e, &dap.ConfigurationDoneRequest{})
	stop, frames := e.stopped("exception")
	if !strings.Contains(stop.Text, "SIGSEGV: Address not mapped to an object, at 0x10") || frames[0].Line != p.lines["FAULT"] {
		t.Errorf("%+v %+v", stop, frames[0])
	}
	info := ask[*dap.ExceptionInfoResponse](e, &dap.ExceptionInfoRequest{Arguments: dap.ExceptionInfoArguments{ThreadId: 1}}).Body
	if info.ExceptionId != "SIGSEGV" || info.BreakMode != "always" || info.Details == nil || !strings.Contains(info.Details.FullTypeName, "address 0x10") {
		t.Errorf("%+v", info)
	}
	// After the pointer is repaired, the call continues.
	target := e.variables(e.scopes(frames[0].Id)["Arguments"])["p"]
	if target.Value != "0x10" {
		t.Errorf("%+v", target)
	}
	e.evaluate("p = &numbers[7]", "repl", frames[0].Id)
	targets := ask[*dap.GotoTargetsResponse](e, &dap.GotoTargetsRequest{Arguments: dap.GotoTargetsArguments{Source: dap.Source{Path: p.path}, Line: p.lines["FAULT"]}}).Body.Targets
	if len(targets) != 1 || targets[0].Line != p.lines["FAULT"] {
		t.Fatalf("%+v", targets)
	}
	e.refused(&dap.GotoRequest{Arguments: dap.GotoArguments{ThreadId: 1, TargetId: 77}})
	ask[*dap.GotoResponse](e, &dap.GotoRequest{Arguments: dap.GotoArguments{ThreadId: 1, TargetId: targets[0].Id}})
	if _, frames = e.stopped("goto"); frames[0].InstructionPointerReference != targets[0].InstructionPointerReference {
		t.Errorf("%+v", frames[0])
	}
	e.resume()
	e.ended(0)
	e.disconnect()
}

func TestDivision(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "divide(1, 0)")
	e.run()
	if host := session.Signalled; host.Kind() != session.KindSignal {
		t.Fatal(host)
	}
	stop := wait[dap.EventMessage](e)
	if s, ok := stop.(*dap.StoppedEvent); ok { // arm64 does not trap
		if !strings.Contains(s.Body.Text, "SIGFPE: Integer division by zero") {
			t.Errorf("%+v", s)
		}
	}
	e.disconnect()
}

func TestBreakpointLocations(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "fib(1)")
	list := ask[*dap.BreakpointLocationsResponse](e, &dap.BreakpointLocationsRequest{Arguments: &dap.BreakpointLocationsArguments{
		Source: dap.Source{Path: p.path}, Line: p.lines["FIB"] - 1, EndLine: p.lines["FIB"] + 3}}).Body.Breakpoints
	var lines []int
	for _, l := range list {
		lines = append(lines, l.Line)
	}
	// The first line of the function is its prologue, and breakpoints are after it.
	if text := fmt.Sprint(lines); text != fmt.Sprint([]int{p.lines["FIB"], p.lines["FIB"] + 1, p.lines["FIB"] + 2, p.lines["FIB"] + 3}) {
		t.Errorf("%v", text)
	}
	sources := ask[*dap.LoadedSourcesResponse](e, &dap.LoadedSourcesRequest{}).Body.Sources
	if len(sources) != 1 || filepath.Base(sources[0].Path) != "program.c" {
		t.Errorf("%+v", sources)
	}
	e.disconnect()
}
