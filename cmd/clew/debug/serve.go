// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
	"github.com/clewdev/clew/session/dap"
	"github.com/clewdev/clew/session/rsp"
	"github.com/clewdev/clew/session/socket"
)

// listen opens the listener of a debug server, and prints the rights of its clients. A signal or
// stop ends the returned context.
func listen(address string, remote bool) (l *listener, ctx context.Context, stop context.CancelFunc, err error) {
	open := socket.Listen
	if remote {
		open = socket.ListenRemote
	}
	at, err := open(address)
	if errors.Is(err, socket.ErrRemote) {
		err = fmt.Errorf("%w; use unix:PATH or :PORT, or --allow-remote if you trust every client that can reach it", err)
	}
	if err != nil {
		return nil, nil, nil, output.InputError(err)
	}
	user := userName()
	if at.Remote() {
		output.Warn("warning: every user and machine that can reach %s may run any code as %s", at.Address(), user)
	} else {
		fmt.Fprintf(output.Stdout, "A client may run any code as %s; clients of other users are refused.\n", user)
	}
	ctx, stop = signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	return &listener{Listener: at, reported: make(map[int]bool)}, ctx, stop, nil
}

func userName() string {
	if id := os.Geteuid(); id != 0 {
		return "user " + strconv.Itoa(id)
	}
	return "root"
}

// listener warns of refused clients. It warns once for each user, because a user could connect
// without end.
type listener struct {
	*socket.Listener
	reported map[int]bool // by user ID; for Accept only, which one goroutine calls
}

func (l *listener) Accept() (io.ReadWriteCloser, error) {
	stream, err := l.Listener.Accept()
	if refused, ok := errors.AsType[*socket.RefusedError](err); ok && !l.reported[refused.User] && len(l.reported) < 10 {
		l.reported[refused.User] = true
		output.Warn("%v", refused)
	}
	return stream, err
}

// serveRSP lets gdb or lldb debug the call. Without a call it serves until Ctrl-C, so that the
// debugger can make calls itself.
func serveRSP(s *session.Session, p *program, flags *options) error {
	c, call, err := prepare(s, p, flags.call)
	if err != nil {
		return err
	}
	l, ctx, stop, err := listen(flags.rsp, flags.allowRemote)
	if err != nil {
		return err
	}
	defer stop()
	defer l.Close()
	server, err := rsp.New(s, &rsp.Options{Wait: true})
	if err != nil {
		return output.InputError(err)
	}
	defer server.Close()
	go server.Serve(l)
	if !HasSymbols() {
		fmt.Fprintln(output.Stdout, "This clew has no symbols ('go run' strips them); gdb needs them to find the code: go build ./cmd/clew")
	}
	fmt.Fprint(output.Stdout, howToConnect(flags.rsp, l.Address()))
	if call == nil {
		<-ctx.Done()
		return nil
	}
	type end struct {
		stop *session.Stop
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		stop, err := callThrough(server, call)
		ended <- end{stop, err}
	}()
	select {
	case <-ctx.Done():
		return output.Status(128 + int(syscall.SIGINT))
	case e := <-ended:
		err := e.err
		if err == nil {
			err = server.Close() // before that the session belongs to the server
		}
		if err == nil {
			err = c.ShowStop(call, e.stop)
		}
		switch {
		case err != nil:
			return output.Partial(err)
		case c.Abnormal():
			return output.Status(output.ExitNo)
		}
		return nil
	}
}

// prepare calls the constructors of the object files and prepares the call of --call, nil without
// one. The returned console prints its end.
func prepare(s *session.Session, p *program, text string) (c *console.Console, call *console.Call, err error) {
	if err := construct(s); err != nil {
		return nil, nil, err
	}
	c = console.New(s, &console.Options{Output: output.Stdout, Palette: output.Stdout.Palette(), UTF8: output.UTF8(), Language: p.language})
	if text != "" {
		if call, err = c.Prepare(text); err != nil {
			return nil, nil, output.InputError(err)
		}
	}
	return c, call, nil
}

// callThrough makes a call under the control of a server's client.
func callThrough(server *rsp.Server, call *console.Call) (*session.Stop, error) {
	if call.Main != nil {
		return server.CallMain(call.Function, call.Main, call.Arguments)
	}
	return server.Call(call.Function, call.Arguments)
}

// howToConnect returns the commands for users of gdb and lldb. gdb gets the name of the program
// from the server; lldb does not. lldb finds generated code only with
// plugin.jit-loader.gdb.enable on, which is the default on macOS only.
func howToConnect(asked, address string) string {
	program := executable()
	if strings.ContainsAny(program, " '\"\\") {
		program = strconv.Quote(program)
	}
	connect := "gdb-remote " + address
	if strings.HasPrefix(asked, "unix:") {
		if path, err := filepath.Abs(address); err == nil {
			address = path
		}
		connect = "process connect unix-connect://" + address
	}
	return fmt.Sprintf("Waiting at %s. In gdb:\n  target remote %[1]s\nIn lldb:\n  target create %s\n  settings set plugin.jit-loader.gdb.enable on\n  %s\n",
		address, program, connect)
}

// construct calls the constructors of the object files before a debugger connects. Debuggers cannot
// stop in them; the console can.
func construct(s *session.Session) error {
	for _, image := range s.Images() {
		for _, constructor := range image.Constructors() {
			stop, err := s.Call(constructor)
			if err != nil {
				return output.InputError(err)
			}
			if stop.Reason != session.Returned {
				return output.Partialf("a constructor of %s does not return: %v; 'clew debug' without --rsp and --dap prints its stack", image.Name(), stop)
			}
		}
	}
	return nil
}

// HasSymbols reports whether this executable has a symbol table. Debuggers find the list of
// generated code by one of its symbols.
func HasSymbols() bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	f, err := elf.Open(self)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".symtab") != nil
}

// serveDAP lets editors debug the call until Ctrl-C.
func serveDAP(files []string, flags *options) error {
	// Report errors in the files before an editor connects.
	p, err := load(files, output.Stdout.Raw())
	if err != nil {
		return err
	}
	p.close()
	l, ctx, stop, err := listen(flags.dap, flags.allowRemote)
	if err != nil {
		return err
	}
	defer stop()
	server := dap.New(dap.Options{Launch: func(a dap.LaunchArguments) (*dap.Program, error) {
		return launch(files, flags, a)
	}})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	if strings.HasPrefix(flags.dap, "unix:") {
		fmt.Fprintf(output.Stdout, "Waiting for an editor at %s.\n", l.Address())
	} else {
		port := l.Address()[strings.LastIndexByte(l.Address(), ':')+1:]
		fmt.Fprintf(output.Stdout, `Waiting for an editor at %s. For VS Code, in launch.json, with the type of
any debugger that is installed:
  {"name": "clew", "type": "lldb", "request": "launch", "debugServer": %s, "stopOnEntry": true}
`, l.Address(), port)
	}
	select {
	case err := <-served:
		return output.InputError(err)
	case <-ctx.Done():
	}
	return server.Close()
}

// launch makes a session for an editor. The editor can override the files and the call of the
// command line.
func launch(files []string, flags *options, a dap.LaunchArguments) (_ *dap.Program, err error) {
	if len(a.Program) > 0 && a.Program[0] != "" {
		files = slices.Clone(a.Program)
		for n, path := range files {
			if a.Cwd != "" && !filepath.IsAbs(path) {
				files[n] = filepath.Join(a.Cwd, path)
			}
		}
	}
	text := cmp.Or(a.Call, flags.call)
	if text == "" {
		return nil, errors.New(`no function to call: start clew with --call 'fib(10)', or name it in launch.json: "call": "fib(10)"`)
	}
	p, err := load(files, cmp.Or(a.Output, output.Stdout.Raw()))
	if err != nil {
		return nil, err
	}
	if len(a.Args) > 0 {
		// These are the only arguments of a C main.
		name, _, _ := strings.Cut(text, "(")
		text = strings.TrimSpace(name)
		if p.language != nil || text != "main" {
			p.close()
			return nil, fmt.Errorf("args are for main, but the function is %s; write its arguments in the call: %[1]s(1, 2)", text)
		}
	}
	s, err := session.New(&session.Options{Images: p.images})
	if err != nil {
		p.close()
		return nil, err
	}
	if err := construct(s); err != nil {
		s.Close()
		p.close()
		return nil, err
	}
	c := console.New(s, &console.Options{UTF8: true, Language: p.language})
	var call *console.Call
	return &dap.Program{
		Session: s,
		Run: func(stopAtEntry bool) (*session.Stop, error) {
			var err error
			if call, err = c.Prepare(text); err != nil {
				return nil, err
			}
			if len(a.Args) > 0 {
				call.Main = append([]string{text}, a.Args...)
			}
			arguments := call.Arguments
			arguments.StopAtEntry = stopAtEntry
			if call.Main != nil {
				return s.CallMain(call.Function, call.Main, arguments)
			}
			return s.CallWith(call.Function, arguments)
		},
		Result: func(stop *session.Stop) (string, int, error) {
			if stop.Reason != session.Returned {
				return "", stop.ExitCode, nil
			}
			result, err := call.Result(stop)
			return strings.TrimSuffix(call.Text+" = "+result, " = "), 0, err
		},
		Close: func() error {
			err := s.Close()
			p.close()
			return err
		},
	}, nil
}
