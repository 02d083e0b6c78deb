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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// served is a clew process that serves debuggers.
type served struct {
	cmd     *exec.Cmd
	lines   *bufio.Reader
	address string
	rights  string   // the printed rights of clients
	gdb     []string // the printed commands for users of gdb
	lldb    []string
	stderr  bytes.Buffer
}

var waitingAt = regexp.MustCompile(`^Waiting .*at (.*)\. (In|For) `)

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
	for strings.HasPrefix(line, "This clew has no symbols") || strings.HasPrefix(line, "A client may ") { // as go test links it
		s.rights += line
		line, err = s.lines.ReadString('\n')
	}
	if err != nil {
		t.Fatalf("clew prints %q and %q: %v", line, s.stderr.String(), err)
	}
	match := waitingAt.FindStringSubmatch(line)
	if match == nil {
		t.Fatalf("clew prints %q", line)
	}
	s.address = match[1]
	if !strings.HasSuffix(line, "In gdb:\n") {
		return s
	}
	for commands := &s.gdb; len(s.lldb) < 3; {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("clew prints %q, %q and %q: %v", s.gdb, s.lldb, line, err)
		}
		if command, ok := strings.CutPrefix(line, "  "); ok {
			*commands = append(*commands, strings.TrimSpace(command))
		} else if line == "In lldb:\n" {
			commands = &s.lldb
		} else {
			t.Fatalf("clew prints %q", line)
		}
	}
	return s
}

// runDebugger runs commands in a debugger, each after a flag.
func runDebugger(t *testing.T, name string, args []string, flag string, commands ...string) string {
	t.Helper()
	for _, c := range commands {
		args = append(args, flag, c)
	}
	cmd := exec.Command(testprogram.RequireTool(t, name), args...)
	timer := time.AfterFunc(maxWait, func() { cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s: %v", name, err)
	}
	return string(out)
}

// With the commands that clew prints, gdb and lldb stop before the first instruction of the call.
// Clew ends with the call. For a string argument gdb allocates memory with the session's malloc.
func TestDebugByDebuggers(t *testing.T) {
	program := buildClew(t) // debuggers need symbols, which the binary of go test lacks
	object := debuggedObject(t, "fib.c")
	unix := sample.Of(t, []string{"gdb", "lldb-14"}, 1) // the other connects by TCP
	for _, name := range []string{"gdb", "lldb-14"} {
		for _, address := range []string{":0", "unix:" + filepath.Join(t.TempDir(), "a socket")} {
			if !sample.Full() && slices.Contains(unix, name) == (address == ":0") {
				continue
			}
			if name == "lldb-14" && address != ":0" {
				address = "unix:" + filepath.Join(t.TempDir(), "socket") // lldb accepts no quotes here
			}
			t.Run(name+" "+address[:2], func(t *testing.T) {
				testprogram.RequireTool(t, name)
				s := serve(t, exec.Command(program, "debug", object, "--call", "fib(5)", "--rsp", address))
				var out string
				var wants []string
				if name == "gdb" {
					out = runDebugger(t, name, []string{"-nx", "-batch", "-ex", "set debuginfod enabled off"}, "-ex", append(s.gdb,
						"bt 1", "break fib if n == 3", "continue", "bt 3", "delete", "p fib(7)", `p ((unsigned long (*)(const char *))strlen)("twelve chars")`, "finish", "continue")...)
					wants = []string{`(?m)^#0 .*\bfib \(n=`, `(?m)^Breakpoint 1, fib \(n=3\) at .*fib.c:6$`, `(?m)^#2 .* in fib \(n=5\) at`, `= 13`, `= 12`, `Value returned is .* = 2`}
				} else {
					// Its own limit is a quarter of a second, which a busy machine exceeds.
					out = runDebugger(t, name, []string{"--no-lldbinit", "--batch"}, "-o", append(s.lldb,
						"bt", "breakpoint set -n fib -c 'n == 3'", "continue", "bt", "expression --timeout 60000000 -- fib(7)", `expression --timeout 60000000 -- ((unsigned long (*)(const char *))strlen)("twelve chars")`, "breakpoint delete -f", "finish", "detach")...)
					wants = []string{"frame #0: .*`fib.n=", "stop reason = breakpoint 1.1", "fib.n=3. at fib.c:6", "frame #2: .*`fib.n=5.", "= 13", "= 12", "Return value: .* = 2"}
				}
				unmatched := out
				for _, want := range wants {
					at := regexp.MustCompile(want).FindStringIndex(unmatched)
					if at == nil {
						t.Fatalf("%s does not print %s, or not in this order:\n%s", name, want, out)
					}
					unmatched = unmatched[at[1]:]
				}
				if line, err := s.lines.ReadString('\n'); line != "fib(5) = 5\n" {
					t.Errorf("clew prints %q and %q: %v", line, s.stderr.String(), err)
				}
				if err := s.cmd.Wait(); err != nil {
					t.Error(err)
				}
			})
		}
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

// A client of another user is refused with an error, and clew prints a warning. Other interfaces
// need a flag, and clew prints a warning.
func TestDebugServerRefusesOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can become another user")
	}
	bash := testprogram.RequireTool(t, "bash")
	object := debuggedObject(t, "fib.c")
	asNobody := func(address, text string) string {
		cmd := exec.Command(bash, "-c", `exec 3<>"/dev/tcp/${1%:*}/${1##*:}" && printf "$2" >&3 && exec timeout 20 cat <&3`, "bash", address, text)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("%v: %v", cmd, err)
		}
		return string(out)
	}
	const refusal = "a client of user 65534 was refused: only user 0 may connect"
	for _, test := range []struct{ protocol, text string }{
		{"--rsp", "+$?#3f+$vMustReplyEmpty#3a"},
		{"--dap", `Content-Length: 60\r\n\r\n{"seq":1,"type":"request","command":"launch","arguments":{}}`},
	} {
		s := serve(t, clew(t, "debug", object, "--call", "fib(5)", test.protocol, ":0"))
		if !strings.Contains(s.rights, "A client may run any code as root; clients of other users are refused.\n") {
			t.Errorf("clew prints the rights %q", s.rights)
		}
		for range 3 {
			if out := asNobody(s.address, test.text); !strings.Contains(out, refusal) {
				t.Errorf("%s: the client gets %q", test.protocol, out)
			}
		}
		s.cmd.Process.Signal(syscall.SIGINT)
		s.cmd.Wait()
		if got := s.stderr.String(); got != "clew debug: "+refusal+"\n" {
			t.Errorf("%s: clew prints %q", test.protocol, got)
		}
	}

	out, err := clew(t, "debug", object, "--call", "fib(5)", "--rsp", "0.0.0.0:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "clew debug: 0.0.0.0:0: not a loopback address: other machines could run code as this user; use unix:PATH or :PORT, or --allow-remote") {
		t.Errorf("%s, %v", out, err)
	}
	s := serve(t, clew(t, "debug", object, "--call", "fib(5)", "--rsp", "0.0.0.0:0", "--allow-remote"))
	s.cmd.Process.Signal(syscall.SIGINT)
	s.cmd.Wait()
	if got := s.stderr.String(); got != "clew debug: warning: every user and machine that can reach "+s.address+" may run any code as root\n" {
		t.Errorf("clew prints %q", got)
	}
}

// An editor can launch the call repeatedly.
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
		// The server accepts a client as soon as it has answered disconnect.
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
					t.Errorf("stopped for the reason %q", m.Body.Reason)
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
