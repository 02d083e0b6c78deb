// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/session"
)

// jsonCall is the JSON for the end of a call. Addresses are strings, as in other verbs.
type jsonCall struct {
	Call     string      `json:"call"`
	Reason   string      `json:"reason"`           // "return", "signal", "trap", "exit", …
	Result   string      `json:"result,omitempty"` // as the console prints it
	ExitCode *int        `json:"exit_code,omitempty"`
	Signal   *jsonSignal `json:"signal,omitempty"`
	PC       string      `json:"pc,omitempty"`
	Frames   []jsonPlace `json:"frames,omitempty"` // innermost first
	Error    string      `json:"error,omitempty"`
}

type jsonSignal struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Code    int    `json:"code"`
	Address string `json:"address"`
}

type jsonPlace struct {
	PC       string `json:"pc"`
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

func (d *debugger) writeJSON(text string) error {
	call, err := d.Prepare(text)
	if err != nil {
		return output.InputError(err)
	}
	if err := d.Execute("run"); err != nil {
		if d.Session().State() == session.Idle {
			return output.InputError(err)
		}
		return output.Partial(err)
	}
	stop := d.Stop()
	out := jsonCall{Call: call.Text, Reason: stop.Reason.String()}
	if stop.Err != nil {
		out.Error = stop.Err.Error()
	}
	switch stop.Reason {
	case session.Returned:
		if out.Result, err = call.Result(stop); err != nil {
			out.Error = err.Error()
		}
	case session.ExitedProcess:
		out.ExitCode = &stop.ExitCode
	}
	if n := stop.Signal.Number; n != 0 {
		out.Signal = &jsonSignal{Number: n, Name: unix.SignalName(unix.Signal(n)), Code: stop.Signal.Code, Address: hexadecimal(stop.Signal.Address)}
	}
	if d.Session().State() == session.Stopped {
		out.PC = hexadecimal(stop.PC)
		stack, err := d.Session().Stack(0)
		if err != nil {
			return output.Partial(err)
		}
		for f := range stack.All() {
			out.Frames = append(out.Frames, places(f)...)
		}
	}
	if err := printable.EncodeJSON(output.Stdout, &out); err != nil {
		return output.InputError(err)
	}
	return d.outcome(false)
}

// places returns the places of a frame: one for each inlined call, and one for the function.
func places(f *session.Frame) []jsonPlace {
	pc := hexadecimal(f.PC)
	if len(f.Locations) == 0 {
		return []jsonPlace{{PC: pc, Function: f.Function.Name}}
	}
	var list []jsonPlace
	for _, l := range f.Locations {
		list = append(list, jsonPlace{PC: pc, Function: l.Function, File: l.File, Line: l.Line})
	}
	return list
}

func hexadecimal(address uint64) string { return fmt.Sprintf("%#x", address) }
