// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/session/rsp"
	"github.com/clewdev/clew/session/socket"
)

// underDebugger starts gdb or lldb at this terminal, connected to the session and stopped at the
// entry of the call. The exit code is the debugger's.
func underDebugger(s *session.Session, p *program, flags *options) error {
	kind, find := "gdb", findGDB
	if flags.lldb {
		kind, find = "lldb", findLLDB
	}
	path, err := find()
	if err != nil {
		return err
	}
	if !HasSymbols() {
		return fmt.Errorf("this clew has no symbols ('go run' strips them), and %s needs them to find the code: go build ./cmd/clew", kind)
	}
	c, call, err := prepare(s, p, flags.call)
	if err != nil {
		return err
	}
	l, err := listenPrivately()
	if err != nil {
		return output.InputError(err)
	}
	defer l.remove()
	defer l.Close()
	server, err := rsp.New(s, &rsp.Options{Wait: true, Private: true})
	if err != nil {
		return output.InputError(err)
	}
	defer server.Close()
	go server.Serve(l)

	arguments := gdbArguments(l.Address(), flags)
	if flags.lldb {
		arguments = lldbArguments(l.Address(), flags)
	}
	d := &child{cmd: exec.Command(path, arguments...)}
	if err := d.start(); err != nil {
		return output.InputError(err)
	}
	if call == nil {
		return d.wait()
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		stop, err := callThrough(server, call)
		if closed := server.Close(); err == nil { // before that the session belongs to the server
			err = closed
		}
		if err == nil {
			err = c.ShowStop(call, stop)
		}
		if err != nil && !errors.Is(err, session.ErrClosed) {
			output.Warn("%v", err)
		}
	}()
	status := d.wait()
	server.Close() // aborts the call if the debugger has left it
	<-shown
	return status
}

// findGDB returns the path of gdb.
func findGDB() (string, error) {
	if path, err := exec.LookPath("gdb"); err == nil {
		return path, nil
	}
	return "", errors.New("gdb is not installed: install the package gdb, or debug with the prompt of clew: leave out --gdb")
}

// findLLDB returns the path of lldb. Debian's packages lldb-14, lldb-15 and so on contain no
// program of the name lldb.
func findLLDB() (string, error) {
	if path, err := exec.LookPath("lldb"); err == nil {
		return path, nil
	}
	for version := 40; version >= 10; version-- {
		if path, err := exec.LookPath("lldb-" + strconv.Itoa(version)); err == nil {
			return path, nil
		}
	}
	return "", errors.New("lldb is not installed: install the package lldb, or debug with the prompt of clew: leave out --lldb")
}

// executable returns the path of this program, from which debuggers read symbols.
func executable() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// gdbArguments returns the arguments with which gdb connects and sets the breakpoints. gdb reads
// the user's .gdbinit as always, and decides itself which scripts of object files to execute. Only
// for clew itself they are off, because gdb would warn about the script of Go's runtime.
func gdbArguments(socket string, flags *options) []string {
	list := []string{"-q"}
	for _, d := range flags.directories {
		list = append(list, "-d", d)
	}
	list = append(list, "-ex", "set sysroot /", // the files are those of this machine
		"-ex", "with auto-load python-scripts off -- file "+strconv.Quote(executable()), "-ex", "target remote "+socket)
	for _, b := range flags.breakpoints {
		list = append(list, "-ex", "break "+b)
	}
	return list
}

// lldbArguments returns the arguments with which lldb connects and sets the breakpoints. lldb finds
// generated code only with plugin.jit-loader.gdb.enable on, which is the default on macOS only.
func lldbArguments(socket string, flags *options) []string {
	commands := []string{"target create " + strconv.Quote(executable()), "settings set plugin.jit-loader.gdb.enable on"}
	for _, d := range flags.directories {
		commands = append(commands, "settings append target.source-map . "+strconv.Quote(d))
	}
	commands = append(commands, "process connect unix-connect://"+socket)
	for _, b := range flags.breakpoints {
		commands = append(commands, lldbBreakpoint(b))
	}
	var list []string
	for _, c := range commands {
		list = append(list, "-o", c)
	}
	return list
}

// lldbBreakpoint returns lldb's command for a breakpoint of gdb: "fib if n == 3" or "fib.c:6".
func lldbBreakpoint(text string) string {
	location, condition := console.CutCondition(text)
	command := "breakpoint set --name " + strconv.Quote(location)
	if address, ok := strings.CutPrefix(location, "*"); ok {
		command = "breakpoint set --address " + strconv.Quote(address)
	} else if i := strings.LastIndexByte(location, ':'); i > 0 && !strings.HasSuffix(location[:i], ":") {
		command = "breakpoint set --file " + strconv.Quote(location[:i]) + " --line " + strconv.Quote(location[i+1:])
	}
	if condition != "" {
		command += " --condition " + strconv.Quote(condition)
	}
	return command
}

// privateListener is a Unix socket in a directory that only this user can enter. The directory is
// removed as soon as the debugger has connected, so that nothing is left if clew is killed.
type privateListener struct {
	*socket.Listener
	directory string
	once      sync.Once
}

// maxSocketPath is the longest path of a Unix socket: sun_path without the final zero (unix(7)).
const maxSocketPath = 107

func listenPrivately() (*privateListener, error) {
	var failed error
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if !filepath.IsAbs(base) || len(base) > maxSocketPath-len("/clew-debug-4294967295/socket") || strings.ContainsAny(base, " \t\n\"'\\") {
			continue
		}
		if err := protects(base); err != nil {
			failed = err
			continue
		}
		directory, err := os.MkdirTemp(base, "clew-debug-") // of mode 0700
		if err != nil {
			failed = err
			continue
		}
		l, err := socket.Listen("unix:" + filepath.Join(directory, "socket"))
		if err == nil {
			return &privateListener{Listener: l, directory: directory}, nil
		}
		os.Remove(directory)
		failed = err
	}
	if failed == nil {
		failed = errors.New("no directory for a socket: set TMPDIR to a short absolute path")
	}
	return nil, failed
}

// protects returns an error for a directory in which other users can rename a new directory. They
// could put a socket of theirs in its place, for the debugger to connect to. XDG_RUNTIME_DIR is
// such a directory after su, which leaves it that of the other user.
func protects(directory string) error {
	info, err := os.Stat(directory)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("%s: owned by another user (user ID %d): set TMPDIR to a directory of yours", directory, owner)
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&os.ModeSticky == 0 {
		return fmt.Errorf("%s: other users can rename files in it (mode %v): set TMPDIR to a directory of yours", directory, mode.Perm())
	}
	return nil
}

func (l *privateListener) Accept() (io.ReadWriteCloser, error) {
	stream, err := l.Listener.Accept()
	if err == nil {
		l.remove()
	}
	return stream, err
}

func (l *privateListener) remove() {
	l.once.Do(func() {
		os.Remove(l.Address())
		os.Remove(l.directory)
	})
}

// child is a debugger at this terminal. It is in the process group of clew, which is the foreground
// group of the terminal: Ctrl-C and Ctrl-Z reach the debugger, as does a new size of the window.
type child struct {
	cmd     *exec.Cmd
	ended   chan error
	signals chan os.Signal
	modes   *term.State // of the terminal before the debugger starts; nil without a terminal
}

// deadline is the time that a debugger gets to end after a signal for clew.
const deadline = 3 * time.Second

func (d *child) start() error {
	stdin := int(os.Stdin.Fd())
	if modes, err := term.GetState(stdin); err == nil {
		d.modes = modes
	}
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = os.Stdin, output.Stdout.File, output.Stderr.File
	// The kernel ends the debugger when clew is killed, because its prompt would be useless. The
	// signal is sent when the thread ends that has started the process (prctl(2)).
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	d.ended, d.signals = make(chan error, 1), make(chan os.Signal, 4)
	// Handled signals have their default action in the debugger; ignored ones would stay ignored.
	signal.Notify(d.signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := d.cmd.Start()
		started <- err
		if err == nil {
			d.ended <- d.cmd.Wait()
		}
	}()
	err := <-started
	if err != nil {
		signal.Stop(d.signals)
	}
	return err
}

// wait waits for the end of the debugger. SIGTERM and SIGHUP for clew end it.
func (d *child) wait() error {
	defer signal.Stop(d.signals)
	for {
		select {
		case err := <-d.ended:
			return d.status(err)
		case s := <-d.signals:
			if s == syscall.SIGINT || s == syscall.SIGQUIT {
				continue // they are for the debugger
			}
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-d.ended:
			case <-time.After(deadline):
				_ = d.cmd.Process.Kill()
				<-d.ended
			}
			d.restore()
			return output.Status(128 + int(s.(syscall.Signal)))
		}
	}
}

// status returns the error for the exit code of the debugger, after err of Wait.
func (d *child) status(err error) error {
	if err == nil {
		return nil
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return output.InputError(err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		d.restore()
		output.Warn("%s was killed by %s", filepath.Base(d.cmd.Path), frontend.SignalName(int(status.Signal())))
		return output.Status(128 + int(status.Signal()))
	}
	return output.Status(exit.ExitCode())
}

// restore restores the modes of the terminal after a debugger that could not.
func (d *child) restore() {
	if d.modes == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // stops a background process that changes the modes
	_ = term.Restore(int(os.Stdin.Fd()), d.modes)
	signal.Reset(syscall.SIGTTOU)
}
