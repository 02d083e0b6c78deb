// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Runtime is a program that loops forever in code that it generated, and one way in which it
// describes that code to tools.
type Runtime struct {
	Name string // "php map"

	// Stack are the names of successive generated functions on the stack, innermost
	// first. The runtime's names contain them.
	Stack []string

	command func(t testing.TB) *exec.Cmd
	started func(t testing.TB, p *Process)
}

// Runtimes returns the runtimes that Clew is tested with. A "list" is the list of the GDB JIT
// interface, a "map" a perf map, a "jitdump" has unwind tables if the runtime makes them.
func Runtimes() []Runtime {
	js := []string{"spin", "deep", "deep", "deep", "deep", "deep", "deep"}
	words := []string{"inside", "left", "enter", "toplevel"}
	return []Runtime{
		{Name: "php list", Stack: []string{"spin"}, command: php("0x100")},
		{Name: "php map", Stack: []string{"spin"}, command: php("0x10")},
		{Name: "php jitdump", Stack: []string{"spin"}, command: php("0x20")},
		{Name: "node map", Stack: js, command: node("--perf-basic-prof")},
		{Name: "node jitdump", Stack: js, command: node("--perf-prof", "--perf-prof-unwinding-info", "--no-opt")},
		{Name: "node optimized jitdump", Stack: js, command: node("--perf-prof", "--perf-prof-unwinding-info", "--interpreted-frames-native-stack", "--allow-natives-syntax")},
		{Name: "java map", Stack: append(slices.Clone(js), "main"), command: java, started: writeJavaMap},
		{Name: "lli list", Stack: append(slices.Clone(js), "main"), command: lli("-fomit-frame-pointer")},
		{Name: "lli jitdump", Stack: append(slices.Clone(js), "main"), command: lli("-fno-omit-frame-pointer")},
		{Name: "wazero map", Stack: []string{".inner", "main"}, command: wazero},
		{Name: "forth list", Stack: words, command: forth(""), started: resume},
		{Name: "forth map", Stack: words, command: forth("map"), started: resume},
		{Name: "forth jitdump", Stack: words, command: forth("jitdump"), started: resume},
	}
}

// Command returns the command that runs the program, in a new directory, where it writes its
// jitdump. It is for callers that do not use Start. Standard input must be at its end or hold
// a line. The program writes "ready", or that it pauses, once its functions are compiled.
// Only Start makes Java write its map. The caller removes files with Remove.
func (r Runtime) Command(t testing.TB) *exec.Cmd {
	t.Helper()
	cmd := r.command(t)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "JITDUMPDIR="+cmd.Dir)
	return cmd
}

// Start runs the program. When it returns, the program has described its code and loops in
// it.
func (r Runtime) Start(t testing.TB) *Process {
	t.Helper()
	cmd := r.Command(t)
	var p *Process
	// After the program is killed.
	t.Cleanup(func() {
		if p != nil {
			Remove(p.PID)
		}
	})
	p = start(t, cmd)
	if r.started != nil {
		r.started(t, p)
	}
	return p
}

// Remove removes the files that a program always leaves in /tmp.
func Remove(pid int) {
	os.Remove(fmt.Sprintf("/tmp/perf-%d.map", pid))
	os.Remove(fmt.Sprintf("/tmp/jit-%d.dump", pid))
}

func php(debug string) func(testing.TB) *exec.Cmd {
	return func(t testing.TB) *exec.Cmd {
		t.Helper()
		tool := RequireTool(t, "php8.2")
		if out, _ := exec.Command(tool, "-m").Output(); !strings.Contains(string(out), "Zend OPcache") {
			t.Skip("skipped: opcache of php8.2 is not installed")
		}
		return exec.Command(tool, "-d", "opcache.enable_cli=1", "-d", "opcache.memory_consumption=8", "-d", "opcache.interned_strings_buffer=1", "-d", "opcache.jit_buffer_size=1M",
			"-d", "opcache.jit=1255", "-d", "opcache.jit_debug="+debug, Path("programs/spin.php"))
	}
}

func node(flags ...string) func(testing.TB) *exec.Cmd {
	return func(t testing.TB) *exec.Cmd {
		t.Helper()
		return exec.Command(RequireTool(t, "node"), append(flags, "--always-sparkplug", "--max-inlined-bytecode-size=0", Path("programs/spin.js"))...)
	}
}

// java keeps frame pointers. By default HotSpot's compilers use the register for other values.
func java(t testing.TB) *exec.Cmd {
	t.Helper()
	tool, javac := RequireTool(t, "java"), RequireTool(t, "javac")
	RequireTool(t, "jcmd")
	classes := cached(t, "java", Path("programs/Spin.java"), func(out string) *exec.Cmd {
		return exec.Command(javac, "-d", out, Path("programs/Spin.java"))
	})
	return exec.Command(tool, "-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Spin.*", "-XX:CompileCommand=dontinline,Spin.*",
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx16m", "-XX:CompressedClassSpaceSize=4m", "-XX:ReservedCodeCacheSize=4m", "-XX:+PreserveFramePointer", "-cp", classes, "Spin")
}

func writeJavaMap(t testing.TB, p *Process) {
	t.Helper()
	if out, err := exec.Command("jcmd", strconv.Itoa(p.PID), "Compiler.perfmap").CombinedOutput(); err != nil {
		t.Fatalf("jcmd: %v\n%s", err, out)
	}
}

// lli publishes to debuggers, and writes a jitdump without unwind tables.
func lli(frame string) func(testing.TB) *exec.Cmd {
	return func(t testing.TB) *exec.Cmd {
		t.Helper()
		tool, clang := RequireTool(t, "lli"), RequireTool(t, "clang")
		source := Path("programs/generated.c")
		code := cached(t, "spin.bc", source, func(out string) *exec.Cmd {
			return exec.Command(clang, "-DSPIN", "-O1", "-g", frame, "-emit-llvm", "-c", "-o", out, source)
		})
		return exec.Command(tool, "--jit-kind=mcjit", code)
	}
}

func wazero(t testing.TB) *exec.Cmd {
	t.Helper()
	return exec.Command(BuildModule(t, "wazero", "-tags=perfmap"))
}

// forth is the compiler in examples/forth. It always publishes to debuggers, and publishes to
// perf as CLEW_PERF says.
func forth(perf string) func(testing.TB) *exec.Cmd {
	return func(t testing.TB) *exec.Cmd {
		t.Helper()
		path := filepath.Join(t.TempDir(), "forth")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./examples/forth/cmd/forth")
		build.Dir = filepath.Join(dir, "../..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", build.Args, err, out)
		}
		// Signals that preempt goroutines would change the stack.
		cmd := exec.Command("sh", "-c", `exec "$0" "$1" 2>&1`, path, Path("programs/spin.fth"))
		cmd.Env = append(os.Environ(), "CLEW_PERF="+perf, "GODEBUG=asyncpreemptoff=1")
		return cmd
	}
}

// resume sends a newline to the program, which waits for it.
func resume(t testing.TB, p *Process) {
	t.Helper()
	if _, err := p.Stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
}

// StartContained runs the program in new mount and PID namespaces, with its own /tmp. Without
// root's rights it skips the test. The Process's PID is the one outside.
func (r Runtime) StartContained(t testing.TB) *Process {
	t.Helper()
	unshare := RequireTool(t, "unshare")
	if out, err := exec.Command(unshare, "-m", "-p", "-f", "mount", "-t", "tmpfs", "tmpfs", "/tmp").CombinedOutput(); err != nil {
		t.Skipf("skipped: cannot make namespaces: %s", strings.TrimSpace(string(out)))
	}
	inner := r.command(t)
	// The program, or its source, may be in the /tmp that the new one hides.
	last := inner.Args[len(inner.Args)-1]
	inner.Args[len(inner.Args)-1] = "/mnt/" + filepath.Base(last)
	const script = `mount -t tmpfs tmpfs /mnt && cp "$0" /mnt/ && mount -t tmpfs tmpfs /tmp && cd /tmp && exec "$@"`
	args := append([]string{"-m", "-p", "-f", "--kill-child", "sh", "-c", script, last}, inner.Args...)
	cmd := exec.Command(unshare, args...)
	cmd.Env = inner.Env
	p := start(t, cmd)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	if p.PID, err = strconv.Atoi(strings.TrimSpace(string(children))); err != nil {
		t.Fatalf("children %q: %v", children, err)
	}
	return p
}
