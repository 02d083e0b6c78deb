// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/clewdev/clew/profile"
)

var formats = map[string]func(*profile.Profile, *bytes.Buffer) error{
	"pprof":      func(p *profile.Profile, b *bytes.Buffer) error { return p.Pprof(b) },
	"folded":     func(p *profile.Profile, b *bytes.Buffer) error { return p.Folded(b) },
	"page":       func(p *profile.Profile, b *bytes.Buffer) error { return p.Flame(b) },
	"speedscope": func(p *profile.Profile, b *bytes.Buffer) error { return p.Speedscope(b) },
}

// A profile that is read again has the same functions with the same weights.
func TestRead(t *testing.T) {
	for name, write := range formats {
		want := aProfile()
		want.Roots = profile.NoRoots
		var b bytes.Buffer
		if err := write(want, &b); err != nil {
			t.Fatal(err)
		}
		got, err := profile.Read(&b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Total() != aProfilesTotal || got.Unit() != "samples" {
			t.Errorf("%s: %d %s, expected %d samples", name, got.Total(), got.Unit(), aProfilesTotal)
		}
		for _, c := range profile.NewDifference(want, got).Functions() {
			// Its name has a line break, which some formats cannot express.
			if strings.HasPrefix(c.Function, "fib") {
				continue
			}
			if math.Abs(c.Self()) > 1e-9 || math.Abs(c.Total()) > 1e-9 {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// Of a profile of several kinds of weights, Read takes the default kind, or the last.
func TestReadKinds(t *testing.T) {
	for _, test := range []struct {
		defaults, unit string
		total          int64
	}{{"", "nanoseconds", 700}, {"samples", "samples", 7}} {
		f := &pprof.Function{ID: 1, Name: "main.f", Filename: "f.go"}
		m := &pprof.Mapping{ID: 1, File: "/bin/f"}
		l := &pprof.Location{ID: 1, Mapping: m, Address: 0x10, Line: []pprof.Line{{Function: f, Line: 3}}}
		p := &pprof.Profile{
			SampleType:        []*pprof.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
			DefaultSampleType: test.defaults,
			Mapping:           []*pprof.Mapping{m}, Function: []*pprof.Function{f}, Location: []*pprof.Location{l},
			Sample: []*pprof.Sample{{Location: []*pprof.Location{l}, Value: []int64{7, 700}}},
		}
		var b bytes.Buffer
		if err := p.WriteUncompressed(&b); err != nil {
			t.Fatal(err)
		}
		got, err := profile.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got.Total() != test.total || got.Unit() != test.unit {
			t.Errorf("with the default %q: %d %s, expected %d %s", test.defaults, got.Total(), got.Unit(), test.total, test.unit)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, text := range []string{
		"", "\n \n", "main", "main x", "main -1", "main 1e30", "main NaN", "{", "{}", `{"profiles": [{"type": "evented"}]}`,
		`{"profiles": [{"type": "sampled", "samples": [[1]], "weights": [1]}]}`,
		`{"profiles": [{"type": "sampled", "samples": [[]], "weights": [-1]}]}`,
		"<html>", `<script id="data">{</script>`, `<script id="data">{"nodes": {"parent": [0], "frame": [0], "self": []}}</script>`,
		`<script id="data">{"nodes": {"parent": [0], "frame": [0], "self": [1]}}</script>`,
		`<script id="data">{"frames": {"name": [0], "kind": [1], "inlined": [0]}, "nodes": {"parent": [0, 7], "frame": [0, 0], "self": [1, 1]}}</script>`,
		"\x1f\x8b", "\x01\x02\x03", "\x7fELF\x02\x01\x01",
	} {
		p, err := profile.Read(strings.NewReader(text))
		if err == nil {
			t.Errorf("%q is read as %d %s", text, p.Total(), p.Unit())
		} else if !strings.HasPrefix(text, "\x1f\x8b") && !errors.Is(err, profile.ErrFormat) && !strings.Contains(err.Error(), "weight") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, write := range formats {
		var b bytes.Buffer
		if err := write(aProfile(), &b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("a;b 1\na;c 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := profile.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		d := profile.NewDifference(p, aProfile())
		d.Functions()
		var out bytes.Buffer
		if err := d.Flame(&out); err != nil {
			t.Fatal(err)
		}
	})
}

func folded(t *testing.T, text string) *profile.Profile {
	t.Helper()
	p, err := profile.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDifference(t *testing.T) {
	// The second profile is twice as long.
	before := folded(t, "main;work;sort 60\nmain;work 20\nmain;old 20\n")
	after := folded(t, "main;work;sort 40\nmain;work 40\nmain;new;work;sort 120\n")
	var got []string
	for _, c := range profile.NewDifference(before, after).Functions() {
		got = append(got, fmt.Sprintf("%s %.2f %.2f %.2f %.2f", c.Function, c.SelfBefore, c.SelfAfter, c.TotalBefore, c.TotalAfter))
	}
	want := []string{"sort 0.60 0.80 0.60 0.80", "old 0.20 0.00 0.20 0.00", "new 0.00 0.00 0.00 0.60", "work 0.20 0.20 0.80 1.00", "main 0.00 0.00 1.00 1.00"}
	// The changes of sort and old are equal but for rounding.
	if len(got) > 1 && strings.HasPrefix(got[0], "old") {
		got[0], got[1] = got[1], got[0]
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Builds in different places have the same functions. A profile without objects is compared by
// the names of functions.
func TestDifferenceOfBuilds(t *testing.T) {
	at := func(object string) *profile.Profile {
		p := profile.New("samples")
		p.Add([]profile.Location{p.Location(1, []profile.Frame{{Function: "f", Object: object}})}, profile.Labels{}, 3)
		return p
	}
	for _, test := range []struct {
		after *profile.Profile
		want  int
	}{{at("/b/server"), 1}, {at("/a/client"), 2}, {at(""), 1}} {
		if n := len(profile.NewDifference(at("/a/server"), test.after).Functions()); n != test.want {
			t.Errorf("%d functions, expected %d", n, test.want)
		}
	}
}

// testDifference shows the page of a difference.
func testDifference(t *testing.T, b *browser) {
	d := profile.NewDifference(folded(t, "main;shrinks 60\nmain;same 20\nmain;gone 20\n"), folded(t, "main;shrinks 40\nmain;same 40\nmain;grows 120\n"))
	var out bytes.Buffer
	if err := d.Flame(&out); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "difference.html")
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	b.open(path)
	if got := b.text("#legend"); !strings.Contains(got, "more than before") || !strings.Contains(got, "less") {
		t.Errorf("the legend says %q", got)
	}
	// Of a row of 1,200 pixels, grows has 120 of 200, shrinks and same 40 each.
	count := colours(b.picture("difference"))
	for name, width := range map[string]int{"--grown": 720, "--shrunk": 240, "--same": 240 + 1200} {
		if got, want := count[b.colour(name)], 20*width; got < want*8/10 || got > want*11/10 {
			t.Errorf("%d pixels have the colour %s, expected about %d", got, name, want)
		}
	}
	b.mouse(300, b.row(0), true)
	b.press("ArrowDown", "ArrowDown")
	if got := b.text("#graph .reader"); !strings.HasPrefix(got, "grows, total 120 samples, 60.0 % (+60.0 %)") {
		t.Errorf("the second frame is %q", got)
	}
	b.press("f")
	if got := b.text("#rows"); !strings.Contains(got, "+60.0 %") || !strings.Contains(got, "\u221240.0 %") || !strings.Contains(got, "gone") {
		t.Errorf("the table is %q", got)
	}
	if len(b.complained()) > 0 {
		t.Errorf("the page made requests, or its console complains: %q", b.complained())
	}
}
