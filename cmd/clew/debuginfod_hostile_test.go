// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

// A failure of a server is reported once. The stack and the exit code are those without a server.
func TestHostileDebuginfod(t *testing.T) {
	objcopy := testprogram.RequireTool(t, "objcopy")
	testprogram.RequireTool(t, "curl")
	built := func(id string) string { return testprogram.Build(t, "f2c.c", "-O2", "-g", "-Wl,--build-id=0x"+id) }
	const id, otherID = "ba0ba0ba0ba0ba0b", "0b0b0b0b0b0b0b0b"
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	right, wrong := read(built(id)), read(built(otherID))
	program := filepath.Join(t.TempDir(), "f2c")
	if out, err := exec.Command(objcopy, "--strip-all", built(id), program).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	core := testprogram.Core(t, testprogram.CoreOptions{}, program)
	stack, stderr, status := runToEnd(t, clew(t, "stack", core), "DEBUGINFOD_URLS=")
	if status != 0 || stderr != "" || !strings.Contains(stack, "_start") || strings.Contains(stack, "f2c.c") {
		t.Fatalf("without a server: exit %d, %q\n%s", status, stderr, stack)
	}

	var asked atomic.Int32 // requests to a server that is not in DEBUGINFOD_URLS
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.Write(right) }))
	t.Cleanup(func() {
		elsewhere.Close()
		if n := asked.Load(); n > 0 {
			t.Errorf("a server that is not in DEBUGINFOD_URLS got %d requests", n)
		}
	})
	leads := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	endless := func(w io.Writer) {
		block := make([]byte, 64<<10)
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for _, test := range []struct {
		name   string
		env    string
		handle http.HandlerFunc
		want   string
	}{
		{"hangs", "DEBUGINFOD_TIMEOUT=1", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "gave no answer in 1s"},
		{"hangs in the middle", "DEBUGINFOD_TIMEOUT=5", func(w http.ResponseWriter, r *http.Request) {
			w.Write(right[:4096])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "sent nothing more for 5s, after 4096 bytes"},
		{"drips", "DEBUGINFOD_MAXTIME=2", func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(right) && r.Context().Err() == nil; i++ {
				w.Write(right[i:][:1])
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		}, "exceeded the time of 2s for all fetches (set $DEBUGINFOD_MAXTIME to change it)"},
		{"sends garbage", "", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>please log in</html>") },
			"sent an invalid object file: not an ELF file"},
		{"sends nothing", "", func(http.ResponseWriter, *http.Request) {}, "sent an invalid object file: "},
		{"sends another file", "", func(w http.ResponseWriter, _ *http.Request) { w.Write(wrong) },
			"sent another file: its build ID is " + otherID + ", and " + id + " is expected"},
		{"sends a part", "", func(w http.ResponseWriter, _ *http.Request) { w.Write(right[:len(right)/2]) }, "sent an incomplete file: the file is truncated"},
		{"breaks off", "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			w.Write(right[:4096])
			panic(http.ErrAbortHandler)
		}, "failed: curl: (18) "},
		{"is broken", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "failed: curl: (22) "},
		{"leads to a file", "", leads("file://" + built(id)), "redirects to file:, which is neither http nor https"},
		{"leads to another scheme", "", leads("gopher://127.0.0.1/"), "redirects to gopher:, which is neither http nor https"},
		{"leads elsewhere", "", leads(elsewhere.URL), `redirects to "` + elsewhere.URL + `", which is not one of the servers`},
		{"leads in circles", "", leads("/"), "redirects more than 5 times"},
		{"sends without end", "DEBUGINFOD_MAXSIZE=1000000", func(w http.ResponseWriter, _ *http.Request) { endless(w) }, "sent more than the limit of 1000000 bytes"},
		{"sends a bomb", "DEBUGINFOD_MAXSIZE=1000000", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			endless(gzip.NewWriter(w))
		}, "sent more than the limit of 1000000 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkHostileServer(t, test.handle, test.env, test.want, core, stack)
		})
	}
}

// checkHostileServer prints the stack of a core with a failing server. The stack is the same as
// without a server, and the failure is reported once.
func checkHostileServer(t *testing.T, handle http.HandlerFunc, env, want, core, stack string) {
	t.Helper()
	server := httptest.NewServer(handle)
	defer server.Close()
	defer server.CloseClientConnections()
	cache := t.TempDir()
	settings := []string{"DEBUGINFOD_URLS=" + server.URL, "DEBUGINFOD_CACHE_PATH=" + cache, "DEBUGINFOD_TIMEOUT=60"}
	stdout, stderr, status := runToEnd(t, clew(t, "stack", core), append(settings, env)...)
	if status != 0 || stdout != stack {
		t.Errorf("exit %d, and the stack is\n%s\nwithout a server\n%s", status, stdout, stack)
	}
	begin, end := "clew stack: debug file of ", "; it is not asked again\n"
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, begin) || !strings.HasSuffix(stderr, end) ||
		!strings.Contains(stderr, ": debuginfod: "+server.URL+" "+want) {
		t.Errorf("clew prints %q, expected that the server %s", stderr, want)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) > 0 {
		t.Errorf("the cache has %v, %v", entries, err)
	}
}
