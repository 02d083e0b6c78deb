// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// folder is the folder of the test's programs.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "clew-rsp-"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// build is a way to build the test program.
type build struct {
	name  string
	cgo   bool
	flags []string
}

var (
	static = build{name: "static", flags: linking}
	pie    = build{name: "pie", flags: append([]string{"-buildmode=pie"}, linking...)}
	cgo    = build{name: "cgo", cgo: true, flags: append([]string{"-tags=c"}, linking...)}
	builds = []build{static, pie, cgo}

	// linking removes the Go program's debugging information if gdb is emulated, because gdb needs
	// half a minute to read it. No test uses it.
	linking = map[string][]string{"arm64": {"-ldflags=-w"}}[runtime.GOARCH]
)

// buildsOfDay returns one of the builds. On the emulated machine, scripts/test-arm64 chooses.
func buildsOfDay(t *testing.T) []build {
	if runtime.GOARCH != "amd64" {
		return builds
	}
	return sample.Of(t, builds, 1)
}

var built struct {
	sync.Mutex
	paths map[string]string
}

// path builds the program, once.
func (b build) path(t *testing.T) string {
	t.Helper()
	if b.cgo {
		testprogram.RequireTool(t, "gcc")
	}
	return once(t, b.name, func(path string) *exec.Cmd {
		cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", path}, b.flags...), "./testdata/program")...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if b.cgo {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		}
		return cmd
	})
}

// object compiles a file of testdata, once.
func object(t *testing.T, name string) string {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	return once(t, name+".o", func(path string) *exec.Cmd {
		return exec.Command("gcc", "-g", "-O0", "-c", "-o", path, filepath.Join("testdata", name+".c"))
	})
}

func once(t *testing.T, name string, command func(path string) *exec.Cmd) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[name]; ok {
		return path
	}
	path := filepath.Join(folder, name)
	cmd := command(path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	if built.paths == nil {
		built.paths = make(map[string]string)
	}
	built.paths[name] = path
	return path
}

// program is the running test program.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	input   interface{ Close() error }
	address string // that it listens on

	mu     sync.Mutex
	output bytes.Buffer
	ended  chan struct{}
}

// launch starts the program with steps, after steps that load the debugged code.
func launch(t *testing.T, b build, address string, steps ...string) *program {
	t.Helper()
	words, err := filepath.Abs("testdata/words.fth")
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{}
	if steps[0] == "-wait" {
		arguments, steps = append(arguments, "-wait"), steps[1:]
	}
	arguments = append(arguments, address, "load "+object(t, "target"), "forth "+words, "listen")
	p := &program{t: t, cmd: exec.Command(b.path(t), append(arguments, steps...)...), ended: make(chan struct{})}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if address, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
				listening <- address
				continue
			}
			p.mu.Lock()
			p.output.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.ended
		p.cmd.Wait()
	})
	select {
	case p.address = <-listening:
	case <-p.ended:
		t.Fatalf("the program does not listen:\n%s", p.said())
	}
	return p
}

func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// says waits until the program has printed parts, in this order.
func (p *program) says(parts ...string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		text := p.said()
		if missing(text, parts...) == "" {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the program does not say %q but\n%s", parts, text)
		}
	}
}

// ends waits for the successful end of the program.
func (p *program) ends(parts ...string) {
	p.t.Helper()
	p.input.Close()
	p.says(append(parts, "^done")...)
}

// gdbCommand returns a gdb with commands. It executes those in before and connects to the program
// first.
func (p *program) gdbCommand(before []string, commands ...string) *exec.Cmd {
	p.t.Helper()
	all := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no"}
	// On a busy machine an answer can take more than gdb's two seconds.
	list := append([]string{"set confirm off", "set width 0", "set breakpoint pending on", "set remotetimeout 20"}, before...)
	list = append(list, "target remote "+p.address)
	for _, c := range append(list, commands...) {
		all = append(all, "-ex", c)
	}
	cmd := patiently(p.t, testprogram.RequireTool(p.t, "gdb"), all...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd
}

// patience is the time after which a command hangs: longer than it takes on an emulated
// machine on a busy host.
const patience = 2 * time.Minute

// patiently returns a command that is killed if it hangs.
func patiently(t *testing.T, name string, arguments ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.WaitDelay = 10 * time.Second // for what it started
	return cmd
}

// transcript is the output of a running command.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *transcript) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// interrupt starts gdb and sends ^C until gdb prints that. gdb ignores one if it is not ready.
func interrupt(t *testing.T, cmd *exec.Cmd) *transcript {
	t.Helper()
	out := new(transcript)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFile(t, filepath.Join(cmd.Dir, "ready"))
	time.Sleep(500 * time.Millisecond)
	for n := 0; !strings.Contains(out.String(), "received signal SIGINT"); n++ {
		if n%20 == 0 && cmd.Process.Signal(syscall.SIGINT) != nil {
			t.Fatalf("gdb has ended:\n%s", out)
		}
		time.Sleep(250 * time.Millisecond)
	}
	return out
}

// gdb runs commands in gdb, and returns what it prints.
func (p *program) gdb(commands ...string) string {
	p.t.Helper()
	out, _ := p.gdbCommand(nil, commands...).CombinedOutput() // its status is that of its last command
	return string(out)
}

// lldb runs commands in lldb, with the program as an argument and connected to it.
func (p *program) lldb(commands ...string) string {
	p.t.Helper()
	all := []string{"--no-lldbinit", "--batch"}
	_, port, _ := strings.Cut(p.address, ":")
	for _, c := range append([]string{"settings set plugin.jit-loader.gdb.enable on", "gdb-remote " + port}, commands...) {
		how := "-o"
		if after, ok := strings.CutPrefix(c, faulted); ok {
			how, c = "-k", after
		}
		all = append(all, how, ofMachine.Replace(c))
	}
	// For an emulated machine it is lldb of the host, connected by scripts/machine: on the emulated
	// machine it needs seven seconds to start, and called functions have only half a second.
	lldb, err := exec.LookPath("host-lldb-14")
	if err != nil {
		lldb = testprogram.RequireTool(p.t, "lldb-14")
	}
	cmd := patiently(p.t, lldb, append(all, p.cmd.Path)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// lldbAll runs commands that can fail. lldb ends at the first one that does, unless it reads them
// from a file.
func (p *program) lldbAll(commands ...string) string {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "commands")
	if err := os.WriteFile(path, []byte(strings.Join(commands, "\n")+"\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return p.lldb("command source -e false -c false " + path)
}

// faulted begins a command of lldb for after a fault, when lldb runs no other commands.
const faulted = "faulted: "

// inOrder fails unless text has parts, regular expressions, in this order.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	if p := missing(text, parts...); p != "" {
		t.Errorf("no %q in its place in\n%s", p, text)
	}
}

func missing(text string, parts ...string) string {
	for _, p := range parts {
		at := regexp.MustCompile("(?m)" + p).FindStringIndex(text)
		if at == nil {
			return p
		}
		text = text[at[1]:]
	}
	return ""
}
