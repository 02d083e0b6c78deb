// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// lineOf returns the number of a line of program.c.
func lineOf(t *testing.T, text string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/program/program.c")
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(b), text+"\n")
	if !ok {
		t.Fatalf("no line %q", text)
	}
	return strconv.Itoa(strings.Count(before, "\n") + 1)
}

// TestHTTP fetches profiles and traces from net/http/pprof while C code runs, and looks for the
// functions of C, C++ and Rust with their lines in what Go's tools print.
func TestHTTP(t *testing.T) {
	tags, rust := "-tags=http", ""
	if hasRust(nil) {
		tags, rust = "-tags=rust,http", `step::middle \S*/step\.rs:\d+\s+rust_step \S*/step\.rs:\d+\s+`
	}
	p := testprogram.Start(t, build(t, nil, tags), "http")
	address := "http://" + strings.TrimSpace(p.Output()) + "/debug/pprof/"
	get := func(name string) string {
		response, err := http.Get(address + name)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		b, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(err, response.Status)
		}
		return string(b)
	}
	for _, what := range []struct {
		name, want string
		print      func() string
	}{
		{"profile", `add \S*/program\.c:\d+ \(inline\)\s+spin \S*/program\.c:\d+\s+c_inner \S*/program\.c:\d+\s+` + rust +
			`step::next \S*/step\.cc:\d+\s+cpp_step \S*/step\.cc:\d+\s+runtime\.cgocall (?s:[^|]*)` +
			`\sc_outer \S*/program\.c:\d+(?s:[^|]*) main\.goOuter \S*/main\.go:`,
			func() string {
				return strings.ReplaceAll(run(t, exec.Command("go", "tool", "pprof", "-symbolize=remote", "-lines", "-traces", address+"profile?seconds=1")), "-+-", "|")
			}},
		{"trace", `\n\s*goMiddle @.*\n.*\n\s*c_outer @ 0x[0-9a-f]+\n.*/program\.c:\d+\n`,
			func() string {
				file := filepath.Join(t.TempDir(), "trace")
				if err := os.WriteFile(file, []byte(get("trace?seconds=1")), 0o666); err != nil {
					t.Fatal(err)
				}
				return run(t, exec.Command("go", "tool", "trace", "-d=parsed", file))
			}},
		// The runtime looks the addresses of C frames up anew, plus 1.
		{"block", `\sgoMiddle \S*(?s:[^|]*?)\sc_outer \S*/program\.c:` + lineOf(t, "\t\tgoMiddle(kind);") + `\s`, func() string {
			return strings.ReplaceAll(run(t, exec.Command("go", "tool", "pprof", "-symbolize=remote", "-lines", "-traces", address+"block")), "-+-", "|")
		}},
		{"goroutine", `\ngoMiddle\n.*\nc_outer\n.*/program\.c:\d+ `, func() string { return get("goroutine?debug=2") }},
	} {
		t.Run(what.name, func(t *testing.T) {
			var out string
			for range 20 { // on a busy machine a second can have no sample
				if out = what.print(); regexp.MustCompile(what.want).MatchString(out) {
					return
				}
			}
			t.Errorf("no frames of C like %s:\n%.5000s", what.want, out)
		})
	}
}
