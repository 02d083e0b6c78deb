// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package console_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
	"github.com/clewdev/clew/session/hosted"
)

var update = flag.Bool("update", false, "rewrite the transcripts: go test ./session/console -update")

// program is a console for object files that were compiled for a test.
type program struct {
	*console.Console
	session *session.Session
	output  bytes.Buffer
}

// compile compiles a source file of the current directory.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	cc := testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c")+".o")
	cmd := exec.Command(cc, append(flags, "-c", "-o", path, source)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// open returns a console for object files.
func open(t testing.TB, o console.Options, paths ...string) *program {
	t.Helper()
	p := new(program)
	library, err := hosted.New(&hosted.Options{Output: &p.output})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { library.Close() })
	libc, err := library.Image()
	if errors.Is(err, session.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { libc.Close() })
	var objects []*object.File
	for _, path := range paths {
		f, err := object.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		objects = append(objects, f)
	}
	image, err := session.LoadImage(&session.ImageOptions{Imports: []*session.Image{libc}}, objects...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	p.session, err = session.New(&session.Options{Images: []*session.Image{image, libc}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.session.Close() })
	o.Output = &p.output
	p.Console = console.New(p.session, &o)
	return p
}

// do executes a command and returns its output and its error.
func (p *program) do(line string) string {
	p.output.Reset()
	if err := p.Execute(line); err != nil && !errors.Is(err, console.ErrQuit) {
		p.output.WriteString(err.Error() + "\n")
	}
	return p.output.String()
}

// addresses matches addresses that differ between runs. Small ones belong to the tests.
var addresses = regexp.MustCompile(`0x[0-9a-f]{7,16}`)

func normal(text string) string { return addresses.ReplaceAllString(text, "ADDR") }

const prompt = "(clew) "

// TestTranscripts executes testdata/*.txt; it executes NAME_MACHINE.txt on that machine
// only. The first line of a transcript is a comment with the command that compiles the
// program. Then each prompt with a command is followed by the output.
func TestTranscripts(t *testing.T) {
	requireGCC12(t)
	t.Chdir("testdata")
	paths, err := filepath.Glob("*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		if _, machine, ok := strings.Cut(strings.TrimSuffix(path, ".txt"), "_"); ok && machine != runtime.GOARCH {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			fields := strings.Fields(strings.TrimPrefix(first, "# gcc -c "))
			source := fields[len(fields)-1]
			p := open(t, console.Options{}, compile(t, source, fields[:len(fields)-1]...))
			var got strings.Builder
			got.WriteString(first + "\n")
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSuffix(line, "\n")
				command, ok := strings.CutPrefix(line+" ", prompt)
				command = strings.TrimSpace(command)
				if !ok {
					if command, ok = strings.CutPrefix(line, ">"); !ok {
						continue
					}
				}
				got.WriteString(strings.TrimRight(p.Prompt()+command, " ") + "\n")
				if text := normal(p.do(command)); text != "" {
					got.WriteString(strings.TrimSuffix(text, "\n") + "\n")
				}
			}
			switch {
			case got.String() == string(text):
			case *update:
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s differs, beginning with\n%s", path, firstDifference(got.String(), string(text)))
			}
		})
	}
}

// requireGCC12 skips the test for other versions of gcc, which produce other lines.
func requireGCC12(t *testing.T) {
	t.Helper()
	cc := testprogram.RequireTool(t, "gcc")
	out, err := exec.Command(cc, "-dumpversion").Output()
	if err != nil {
		t.Fatal(err)
	}
	if major, _, _ := strings.Cut(strings.TrimSpace(string(out)), "."); major != "12" {
		t.Skip("skipped: gcc 12 is not installed")
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(the end)", "(the end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return "got  " + a + "\nwant " + b
		}
	}
	return ""
}
