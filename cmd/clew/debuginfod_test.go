// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/testprogram"
)

// runToEnd runs a program to its end.
func runToEnd(t *testing.T, cmd *exec.Cmd, env ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errors strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errors
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errors.String(), cmd.ProcessState.ExitCode()
}

// With the files of elfutils' server, the functions of a stripped program have names: in a live
// process, in tables, and in a core without its program. Clew fetches the same files as elfutils'
// client, which finds them in the cache.
func TestDebuginfod(t *testing.T) {
	server, find := testprogram.RequireTool(t, "debuginfod"), testprogram.RequireTool(t, "debuginfod-find")
	objcopy := testprogram.RequireTool(t, "objcopy")
	testprogram.RequireTool(t, "curl")
	testprogram.RequireTool(t, "gcore")
	const id = "c1e3debc1e3debc1"
	dir := t.TempDir()
	path := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	do := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	whole, program := testprogram.Build(t, "f2c.c", "-O2", "-g", "-Wl,--build-id=0x"+id), path("f2c")
	do(objcopy, "--strip-all", whole, program)
	stripped, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	debug := path("served", "f2c.debug")
	if err := os.Mkdir(path("served"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("served", "f2c"), stripped, 0o755); err != nil {
		t.Fatal(err)
	}
	do(objcopy, "--only-keep-debug", whole, debug)
	// A program with unwind tables for debuggers only.
	const bareID = "ba5eba5eba5eba5e"
	tables, bare := testprogram.Build(t, "chain.c", "-O2", "-g", "-fno-asynchronous-unwind-tables", "-Wl,--build-id=0x"+bareID), path("bare")
	do(objcopy, "--strip-all", tables, bare)
	do(objcopy, "--only-keep-debug", tables, path("served", "bare.debug"))

	url := startDebuginfod(t, server, path("served"), id+"/debuginfo", id+"/executable", bareID+"/debuginfo")
	cache := "DEBUGINFOD_CACHE_PATH=" + path("cache")
	const off, lost = "DEBUGINFOD_URLS=", "f2c.c:"
	p := testprogram.Start(t, program)
	p.Settle(t)
	stack := func(target string, env ...string) (stdout, stderr string, status int) {
		t.Helper()
		return runToEnd(t, clew(t, "stack", target), append(env, "DEBUGINFOD_TIMEOUT=60")...)
	}
	pid := strconv.Itoa(p.PID)
	if stdout, stderr, code := stack(pid, off, cache); code != 0 || stderr != "" || strings.Contains(stdout, lost) {
		t.Errorf("without a server: exit %d, %q\n%s", code, stderr, stdout)
	}
	named := func(target string) {
		t.Helper()
		stdout, stderr, code := stack(target, "DEBUGINFOD_URLS="+url, cache)
		if code != 0 || stderr != "" || !like(stdout, "...\n  #... convert... at ...f2c.c:20\n  #... main... at ...f2c.c:...\n...") {
			t.Errorf("%s: exit %d, %q\n%s", target, code, stderr, stdout)
		}
	}
	named(pid)

	// Tables and rules have names too, from the cache.
	for _, test := range []struct {
		args               []string
		stdout, noneStderr string // output with a server, and errors without
	}{
		{[]string{"at", program, "convert+1", "--source"}, "...\n...f2c.c:20...\n...", "clew at: ...f2c: no function named convert\n...or set DEBUGINFOD_URLS to servers that may have it."},
		{[]string{"table", program, "--func", "convert"}, "convert  0x...\n...", "clew table: ...f2c: no function with an unwind table is called convert\n...or set DEBUGINFOD_URLS to servers that may have it."},
		{[]string{"table", bare, "--section", ".debug_frame"}, "...\nmain  0x...  .debug_frame FDE...\n...", "clew table: ...bare: no call frame information in a section .debug_frame; it has .eh_frame"},
	} {
		if stdout, stderr, code := runToEnd(t, clew(t, test.args...), "DEBUGINFOD_URLS="+url, cache, "DEBUGINFOD_TIMEOUT=60"); code != 0 || stderr != "" || !like(stdout, test.stdout) {
			t.Errorf("%s: exit %d, %q\n%s", test.args, code, stderr, stdout)
		}
		if stdout, stderr, code := runToEnd(t, clew(t, test.args...), off, "DEBUGINFOD_CACHE_PATH="+path("none")); code != output.ExitNo || stdout != "" || !like(stderr, test.noneStderr) {
			t.Errorf("%s without a server: exit %d, %q\n%s", test.args, code, stderr, stdout)
		}
	}

	// A server that does not answer only costs time.
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	stdout, stderr, code := runToEnd(t, clew(t, "stack", pid), "DEBUGINFOD_URLS="+hangs.URL, "DEBUGINFOD_CACHE_PATH="+path("other"), "DEBUGINFOD_TIMEOUT=1")
	if code != 0 || !strings.Contains(stdout, "in f2c") || strings.Contains(stdout, lost) ||
		strings.Count(stderr, "debuginfod: "+hangs.URL+" gave no answer in 1s; it is not asked again") != 1 {
		t.Errorf("a server that hangs: exit %d, %q\n%s", code, stderr, stdout)
	}

	// For a core, the program is fetched too.
	core := testprogram.GCore(t, p.PID)
	p.Kill()
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if stdout, _, code := stack(core, off, cache); code != output.ExitNo || !strings.Contains(stdout, "or servers in DEBUGINFOD_URLS") {
		t.Errorf("a core without its program: exit %d\n%s", code, stdout)
	}
	named(core)

	for kind, want := range map[string]string{"debuginfo": debug, "executable": path("served", "f2c")} {
		checkFetched(t, find, url, dir, id, kind, want)
	}
}

// checkFetched compares a file of clew's cache with the served file, and with that of elfutils'
// client, which also finds it in clew's cache. The caches are in dir.
func checkFetched(t *testing.T, find, url, dir, id, kind, want string) {
	t.Helper()
	ours := filepath.Join(dir, "cache", id, kind)
	stdout, stderr, code := runToEnd(t, exec.Command(find, kind, id), "DEBUGINFOD_URLS="+url, "DEBUGINFOD_CACHE_PATH="+filepath.Join(dir, "theirs"))
	theirs := strings.TrimSpace(stdout)
	if code != 0 || theirs != filepath.Join(dir, "theirs", id, kind) {
		t.Fatalf("debuginfod-find: exit %d, %s%s", code, stdout, stderr)
	}
	var files [3][]byte
	for i, name := range []string{want, ours, theirs} {
		var err error
		if files[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) || !bytes.Equal(files[0], files[2]) {
		t.Errorf("%s: %d bytes are served, clew fetches %d and debuginfod-find %d", kind, len(files[0]), len(files[1]), len(files[2]))
	}
	// Nothing listens at this server, but without any server debuginfod-find does not search.
	stdout, stderr, code = runToEnd(t, exec.Command(find, kind, id), "DEBUGINFOD_URLS=http://127.0.0.1:1", "DEBUGINFOD_CACHE_PATH="+filepath.Join(dir, "cache"))
	if code != 0 || strings.TrimSpace(stdout) != ours {
		t.Errorf("debuginfod-find with clew's cache: exit %d, %s%s", code, stdout, stderr)
	}
}

// startDebuginfod starts elfutils' server for a folder, and returns its URL as soon as it has the
// files, "ID/debuginfo".
func startDebuginfod(t *testing.T, program, folder string, files ...string) string {
	t.Helper()
	// It does not support port 0. A port that was just free is most likely still free.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	var log bytes.Buffer
	cmd := exec.Command(program, "-F", "-p", strconv.Itoa(port), "-d", ":memory:", folder)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "DEBUGINFOD_CACHE_PATH="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() { cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(stop)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		found := 0
		for _, file := range files {
			if r, err := http.Get(url + "/buildid/" + file); err == nil {
				r.Body.Close()
				if r.StatusCode == http.StatusOK {
					found++
				}
			}
		}
		if found == len(files) {
			return url
		}
		if time.Now().After(end) {
			stop()
			t.Fatalf("debuginfod does not find %s:\n%s", files, log.String())
		}
	}
}
