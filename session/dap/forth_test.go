// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/session"
)

const spiral = `: square ( n -- n*n )
  dup * ;

: sum ( n -- 1+4+9+...+n*n )
  0 swap
  1 + 1 do
    i square
    dup .
    +
  loop ;
`

// loadForth is a Launch for words of generated code. No file has their source.
func loadForth(a LaunchArguments) (*Program, error) {
	program, err := forth.Compile("spiral.fth", []byte(spiral), &forth.Options{Entry: true})
	if err != nil {
		return nil, err
	}
	loaded, err := forth.Load(program, &forth.SessionOptions{Output: a.Output, Unpublished: true})
	if err != nil {
		return nil, err
	}
	image, err := session.NewImage(loaded.Code())
	if err != nil {
		return nil, err
	}
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		return nil, err
	}
	return &Program{
		Session: s,
		Sources: map[string]string{"spiral.fth": spiral},
		Run: func(bool) (*session.Stop, error) {
			function, words, err := loaded.Enter("sum", 4)
			if err != nil {
				return nil, err
			}
			return s.Call(function, words[:]...)
		},
		Stopped: loaded.Flush,
		Result: func(*session.Stop) (string, int, error) {
			left, err := loaded.Leave()
			return fmt.Sprint(left), 0, err
		},
		Locals: func(f *session.Frame) []string { return []string{"data stack = something"} },
		Close: func() error {
			if err := s.Close(); err != nil {
				return err
			}
			if err := image.Close(); err != nil {
				return err
			}
			return loaded.Close()
		},
	}, nil
}

func TestForth(t *testing.T) {
	e := connect(t, Options{Launch: loadForth})
	e.initialize()
	ask[*dap.LaunchResponse](e, &dap.LaunchRequest{Arguments: []byte(`{}`)})
	wait[*dap.InitializedEvent](e)
	sources := ask[*dap.LoadedSourcesResponse](e, &dap.LoadedSourcesRequest{}).Body.Sources
	var source dap.Source
	for _, s := range sources {
		if s.Name == "spiral.fth" {
			source = s
		}
	}
	if source.SourceReference == 0 {
		t.Fatalf("%+v", sources)
	}
	text := ask[*dap.SourceResponse](e, &dap.SourceRequest{Arguments: dap.SourceArguments{SourceReference: source.SourceReference}}).Body.Content
	if text != spiral {
		t.Errorf("%q", text)
	}
	e.refused(&dap.SourceRequest{Arguments: dap.SourceArguments{SourceReference: 99}})
	set := ask[*dap.SetBreakpointsResponse](e, &dap.SetBreakpointsRequest{Arguments: dap.SetBreakpointsArguments{
		Source: source, Breakpoints: []dap.SourceBreakpoint{{Line: 8}, {Line: 2, HitCondition: "4"}}}}).Body.Breakpoints
	if !set[0].Verified || set[0].Line != 8 || !set[1].Verified || set[1].Source.SourceReference != source.SourceReference {
		t.Errorf("%+v", set)
	}
	e.run()
	for n := range 4 {
		stop, frames := e.stopped("breakpoint")
		if n == 3 { // the fourth square
			if stop.HitBreakpointIds[0] != set[1].Id || frames[0].Name != "square" || frames[1].Name != "sum" {
				t.Errorf("%+v %+v", stop, frames)
			}
			e.resume()
			stop, frames = e.stopped("breakpoint")
		}
		if frames[0].Name != "sum" || frames[0].Line != 8 || frames[0].Source.SourceReference != source.SourceReference {
			t.Errorf("%d: %+v", n, frames[0])
		}
		scopes := e.scopes(frames[0].Id)
		if state := e.variables(scopes["State"]); state["data stack"].Value != "something" {
			t.Errorf("%+v", state)
		}
		e.refused(&dap.SetVariableRequest{Arguments: dap.SetVariableArguments{VariablesReference: scopes["State"], Name: "data stack", Value: "1"}})
		// Code without variables has registers and memory.
		if r := e.evaluate("$pc", "watch", frames[0].Id); !strings.Contains(r.Result, frames[0].InstructionPointerReference) {
			t.Errorf("%+v", r)
		}
		if r := e.evaluate("*(unsigned char *)$pc + 0 >= 0", "repl", frames[0].Id); r.Result != "1" {
			t.Errorf("%+v", r)
		}
		e.resume()
	}
	e.ended(0)
	if out := e.output.String(); !strings.Contains(out, "1 4 9 16 ") || !strings.Contains(out, "[30]") {
		t.Errorf("output %q", out)
	}
	e.disconnect()
}
