// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
	clewdap "github.com/clewdev/clew/session/dap"
)

// served is clew while it serves debuggers.
type served struct {
	cmd     *exec.Cmd
	lines   *bufio.Reader
	address string
	stderr  bytes.Buffer
}

var waitingAt = regexp.MustCompile(`^Waiting .*at ([^ ]*[0-9])\. `)

func serve(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	s := &served{cmd: cmd}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	})
	s.lines = bufio.NewReader(stdout)
	line, err := s.lines.ReadString('\n')
	if strings.HasPrefix(line, "This clew has no symbols") { // as go test links it
		line, err = s.lines.ReadString('\n')
	}
	if err != nil {
		t.Fatalf("it says %q and %q: %v", line, s.stderr.String(), err)
	}
	match := waitingAt.FindStringSubmatch(line)
	if match == nil {
		t.Fatalf("it says %q", line)
	}
	s.address = match[1]
	return s
}

// gdb finds the call before its first instruction, and its end ends clew.
func TestDebugByGDB(t *testing.T) {
	gdb := testprogram.RequireTool(t, "gdb")
	// The program that go test makes has no symbols, and gdb needs one of them.
	golang := testprogram.RequireTool(t, "go")
	program := filepath.Join(t.TempDir(), "clew")
	if out, err := exec.Command(golang, "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	s := serve(t, exec.Command(program, "debug", debuggedObject(t, "fib.c"), "--call", "fib(5)", "--rsp", ":0"))
	cmd := exec.Command(gdb, "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "target remote "+s.address,
		"-ex", "bt 1", "-ex", "break fib if n == 3", "-ex", "continue", "-ex", "bt 3", "-ex", "finish", "-ex", "delete", "-ex", "continue")
	timer := time.AfterFunc(maxWait, func() { cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("gdb: %v", err)
	}
	for _, want := range []string{`(?m)^#0 .*\bfib \(n=`, `(?m)^Breakpoint 1, fib \(n=3\) at .*fib.c:6$`, `(?m)^#2 .* in fib \(n=5\) at`, `Value returned is \$1 = 2`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("gdb does not print %s:\n%s", want, out)
		}
	}
	if line, err := s.lines.ReadString('\n'); line != "fib(5) = 5\n" {
		t.Errorf("clew says %q and %q: %v", line, s.stderr.String(), err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Without a debugger, Ctrl-C ends the wait.
func TestDebugServerIsInterrupted(t *testing.T) {
	object := debuggedObject(t, "fib.c")
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{"--rsp", ":0"}, 0},
		{[]string{"--rsp", ":0", "--call", "fib(5)"}, 128 + int(syscall.SIGINT)},
		{[]string{"--dap", ":0", "--call", "fib(5)"}, 0},
	} {
		s := serve(t, clew(t, append([]string{"debug", object}, test.args...)...))
		if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		s.cmd.Wait()
		if code := s.cmd.ProcessState.ExitCode(); code != test.code {
			t.Errorf("%q: exit code %d, want %d; %s", test.args, code, test.code, s.stderr.String())
		}
	}
}

// An editor launches the call as often as it wants.
func TestDebugByAnEditor(t *testing.T) {
	s := serve(t, clew(t, "debug", debuggedObject(t, "fib.c"), "--call", "fib(5)", "--dap", ":0"))
	for range 2 {
		sequence := 0
		var in *bufio.Reader
		var write func(dap.Message) error
		request := func(command string) dap.Request {
			sequence++
			return dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: sequence, Type: "request"}, Command: command}
		}
		send := func(m dap.Message) {
			if err := write(m); err != nil {
				t.Fatal(err)
			}
		}
		var output strings.Builder
		receive := func() dap.Message {
			m, err := dap.ReadProtocolMessage(in)
			if err != nil {
				t.Fatal(err)
			}
			if o, ok := m.(*dap.OutputEvent); ok {
				output.WriteString(o.Body.Output)
			}
			if e, ok := m.(*dap.ErrorResponse); ok {
				t.Fatalf("%+v", e.Body.Error)
			}
			return m
		}
		// The server is free as soon as it has answered to disconnect.
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(maxWait)); err != nil {
			t.Fatal(err)
		}
		in = bufio.NewReader(conn)
		write = func(m dap.Message) error { return dap.WriteProtocolMessage(conn, m) }
		send(&dap.InitializeRequest{Request: request("initialize"), Arguments: dap.InitializeRequestArguments{AdapterID: "clew", LinesStartAt1: true}})
		send(&dap.LaunchRequest{Request: request("launch"), Arguments: json.RawMessage(`{"stopOnEntry": false}`)})
		for configured, ended := false, false; !ended; {
			switch m := receive().(type) {
			case *dap.InitializedEvent:
				if !configured {
					send(&dap.SetFunctionBreakpointsRequest{Request: request("setFunctionBreakpoints"),
						Arguments: dap.SetFunctionBreakpointsArguments{Breakpoints: []dap.FunctionBreakpoint{{Name: "fib", Condition: "n == 1"}}}})
					send(&dap.ConfigurationDoneRequest{Request: request("configurationDone")})
					configured = true
				}
			case *dap.StoppedEvent:
				if m.Body.Reason != "function breakpoint" {
					t.Errorf("it is stopped by %q", m.Body.Reason)
				}
				send(&dap.ContinueRequest{Request: request("continue"), Arguments: dap.ContinueArguments{ThreadId: 1}})
			case *dap.TerminatedEvent:
				ended = true
			}
		}
		send(&dap.DisconnectRequest{Request: request("disconnect")})
		for {
			if _, ok := receive().(*dap.DisconnectResponse); ok {
				break
			}
		}
		conn.Close()
		if !strings.Contains(output.String(), "fib(5) = 5") {
			t.Errorf("the output is %q", output.String())
		}
	}
}

// What an editor launches prints to the editor, and its main gets the arguments.
func TestDebugOutputToAnEditor(t *testing.T) {
	cc := testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "print.o")
	cmd := exec.Command(cc, "-g", "-c", "-x", "c", "-o", path, "-")
	cmd.Stdin = strings.NewReader("int printf(const char *, ...);\n" +
		"int main(int argc, char **argv) { for (int i = 1; i < argc; i++) printf(\"%d: %s\\n\", i, argv[i]); return argc; }\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct{ arguments, stdout, console, failed string }{
		{`{"call": "main", "args": ["x", "y z"]}`, "1: x\n2: y z\n", " = 3", ""},
		{`{"cwd": "` + filepath.Dir(path) + `", "program": "print.o", "call": "main(\"a\")"}`, "1: a\n", " = 2", ""},
		{`{"call": "printf", "args": ["x"]}`, "", "", "args are those of main"},
	} {
		var arguments clewdap.LaunchArguments
		if err := json.Unmarshal([]byte(test.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		arguments.Output = &out
		p, err := launch([]string{path}, &debugFlags{}, arguments)
		if test.failed != "" {
			if err == nil || !strings.Contains(err.Error(), test.failed) {
				t.Errorf("%s: %v", test.arguments, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		stop, err := p.Run(false)
		if err != nil {
			t.Fatal(err)
		}
		result, _, err := p.Result(stop)
		if err != nil || !strings.HasSuffix(result, test.console) || out.String() != test.stdout {
			t.Errorf("%s: %q, %v, and it prints %q", test.arguments, result, err, out.String())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What an editor launches has had its constructors called, and ends by exit.
func TestDebugLaunch(t *testing.T) {
	object := debuggedObject(t, "begins.c")
	for _, test := range []struct {
		call string
		want session.Stop
	}{
		{"get(1)", session.Stop{Reason: session.Returned, Result: 42}},
		{"leave(3)", session.Stop{Reason: session.ExitedProcess, ExitCode: 3}},
	} {
		p, err := launch([]string{object}, &debugFlags{}, clewdap.LaunchArguments{Call: test.call})
		if err != nil {
			t.Fatal(err)
		}
		stop, err := p.Run(false)
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason != test.want.Reason || uint32(stop.Result) != uint32(test.want.Result) || stop.ExitCode != test.want.ExitCode {
			t.Errorf("%s: %v", test.call, stop)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
