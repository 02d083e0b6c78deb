// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
)

var (
	flameJSON  = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
	flameTitle = regexp.MustCompile(`(?s)<title>(.*?)</title>`)
)

// With any names, each format can be read back, and has each frame once in a stack and the same
// weight. Names are unchanged if the format can express them.
func FuzzNames(f *testing.F) {
	f.Add("main", "/opt/server", "/src/main.c", "server", "worker", "a title")
	f.Add(hostile, hostile, hostile, hostile, hostile, hostile)
	f.Add("a;b\nc 12", "\x00", "\xff\xfe", "\x1b[2J", ";", "{{data}}")
	f.Add("", "", "", "", "", "")
	f.Add("a\u202eb", "\u009b2J", "\x9b2J", "\u2066", "\u061c\u200e", "\x7f")
	f.Add("[", "/", "//", "]", " ", "\u2028\u2029")
	f.Add("$1 \\1 ${x}", "...", "..", ".", "\"", "'")
	f.Fuzz(func(t *testing.T, function, object, file, process, thread, title string) {
		p := profile.New("samples")
		p.Title, p.Notes, p.Roots = title, []string{title}, profile.ThreadRoots
		frame := profile.Frame{Function: function, Object: object, File: file, Line: 7, Code: profile.Native}
		inlined := frame
		inlined.Inlined, inlined.Function = true, thread
		outer, inner := p.Location(1, []profile.Frame{frame}), p.Location(2, []profile.Frame{inlined, frame})
		labels := profile.Labels{Process: process, PID: 1, Thread: thread, TID: 2}
		p.Add([]profile.Location{inner, outer}, labels, 5)
		p.Add([]profile.Location{outer}, profile.Labels{Process: process}, 6)
		name := frame.Name()
		if name == "" {
			t.Fatal("a frame without a name")
		}
		checkPprof(t, p, name, file)
		checkFolded(t, p)
		checkSpeedscope(t, p, name, file)
		checkFlame(t, p, name, title)
	})
}

// format returns a profile in a format.
func format(t *testing.T, p *profile.Profile, form func(*profile.Profile, io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := form(p, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkPprof reads the pprof format back: the first function has the name and the file.
func checkPprof(t *testing.T, p *profile.Profile, name, file string) {
	t.Helper()
	parsed, err := pprof.ParseData(format(t, p, (*profile.Profile).Pprof))
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if got := parsed.Function[0]; got.Name != printable.Text(name) || got.Filename != printable.Text(file) {
		t.Errorf("pprof: %q in %q comes back as %q in %q", name, file, got.Name, got.Filename)
	}
	if total := parsed.Sample[0].Value[0] + parsed.Sample[1].Value[0]; total != 11 {
		t.Errorf("pprof: the total is %d", total)
	}
}

// checkFolded reads the folded format back: each frame is once in a stack.
func checkFolded(t *testing.T, p *profile.Profile) {
	t.Helper()
	folded := string(format(t, p, (*profile.Profile).Folded))
	weights := 0
	for line := range strings.Lines(folded) {
		line = strings.TrimSuffix(line, "\n")
		if printable.Text(line) != line || strings.Contains(line, "\t") {
			t.Errorf("folded: %q", line)
		}
		stack, weight, ok := cutLast(line, " ")
		n, err := strconv.Atoi(weight)
		if !ok || err != nil {
			t.Fatalf("folded: %q has no weight", line)
		}
		weights += n
		if frames := strings.Count(stack, ";") + 1; frames != 3 && frames != 5 {
			t.Errorf("folded: %q has %d frames", line, frames)
		}
	}
	if weights != 11 {
		t.Errorf("folded: the total is %d", weights)
	}
}

// checkSpeedscope reads the speedscope format back: the first frame has the name and the file.
func checkSpeedscope(t *testing.T, p *profile.Profile, name, file string) {
	t.Helper()
	var speedscope struct {
		Shared   struct{ Frames []struct{ Name, File string } }
		Profiles []struct {
			Type, Name, Unit     string
			StartValue, EndValue int
			Samples              [][]int
			Weights              []int
		}
	}
	text := format(t, p, (*profile.Profile).Speedscope)
	if err := json.Unmarshal(text, &speedscope); err != nil {
		t.Fatal(err)
	}
	if line := strings.TrimSuffix(string(text), "\n"); printable.Text(line) != line {
		t.Errorf("speedscope: %q", line)
	}
	if got := speedscope.Shared.Frames[0]; got.Name != valid(name) || got.File != valid(file) {
		t.Errorf("speedscope: %q in %q comes back as %+v", name, file, got)
	}
	for _, one := range speedscope.Profiles {
		sum := 0
		for _, w := range one.Weights {
			sum += w
		}
		if one.Type != "sampled" || len(one.Samples) != len(one.Weights) || sum != one.EndValue-one.StartValue {
			t.Errorf("speedscope: %+v", one)
		}
		for _, stack := range one.Samples {
			for _, frame := range stack {
				if frame < 0 || frame >= len(speedscope.Shared.Frames) {
					t.Errorf("speedscope: there is no frame %d", frame)
				}
			}
		}
	}
}

// checkFlame reads the data of the flame graph's page back.
func checkFlame(t *testing.T, p *profile.Profile, name, title string) {
	t.Helper()
	page := string(format(t, p, (*profile.Profile).Flame))
	data := flameJSON.FindStringSubmatch(page)
	if data == nil || strings.Count(page, "</script>") != 2 {
		t.Fatal("flame: the page has other elements")
	}
	if printable.Text(data[1]) != data[1] {
		t.Errorf("flame: %q", data[1])
	}
	var flame struct {
		Title   string
		Strings []string
		Nodes   struct{ Parent, Frame, Self []int }
	}
	if err := json.Unmarshal([]byte(data[1]), &flame); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(flame.Strings, printable.Text(name)) || flame.Title != printable.Text(title) {
		t.Errorf("flame: %q and %q come back as %q and %q", name, title, flame.Strings, flame.Title)
	}
	sum := 0
	for _, w := range flame.Nodes.Self {
		sum += w
	}
	if sum != 11 || len(flame.Nodes.Parent) != len(flame.Nodes.Frame) {
		t.Errorf("flame: the total is %d", sum)
	}
	if got := html.UnescapeString(flameTitle.FindStringSubmatch(page)[1]); title != "" && got != printable.Text(title) {
		t.Errorf("flame: the title %q comes back as %q", title, got)
	}
}

// valid returns a text as JSON has it: each byte that is not UTF-8 becomes
// U+FFFD.
func valid(s string) string {
	return strings.Map(func(r rune) rune { return r }, s)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
