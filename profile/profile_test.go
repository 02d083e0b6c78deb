// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/clewdev/clew/profile"
)

var update = flag.Bool("update", false, "write testdata anew: go test ./profile -update")

// aProfile has one of everything: two processes, one of them with threads of
// equal stacks, each kind of code, an inlined call, recursion, frames that are
// not known, and a stack without frames.
func aProfile() *profile.Profile {
	p := profile.New("samples")
	p.Title = "server & client"
	p.Notes = []string{"12 samples were lost"}
	one := func(address uint64, f profile.Frame) profile.Location {
		return p.Location(address, []profile.Frame{f})
	}
	p.SetBuildID("/opt/server", "0badc0ffee")
	p.SetBuildID("/opt/server", "0badc0ffee")
	p.SetBuildID("/opt/client", "0123") // and another build of it
	p.SetBuildID("/opt/client", "")
	start := one(0x1025, profile.Frame{Function: "_start", Object: "/opt/server", Code: profile.Native})
	main := one(0x1140, profile.Frame{Function: "main", Object: "/opt/server", File: "/src/main.c", Line: 12, Code: profile.Native})
	elsewhere := one(0x1160, profile.Frame{Function: "main", Object: "/opt/server", File: "/src/main.c", Line: 15, Code: profile.Native})
	work := p.Location(0x1200, []profile.Frame{
		{Function: "std::min<int>", Object: "/opt/server", File: "/usr/include/algo.h", Line: 7, Code: profile.Native, Inlined: true},
		{Function: "work", Object: "/opt/server", File: "/src/work.c", Line: 99, Code: profile.Native},
	})
	unnamed := one(0x64af, profile.Frame{Object: "/lib/libc.so.6", Code: profile.Native})
	nowhere := one(0x7f0000001234, profile.Frame{})
	jitted := one(0x7f0000002000, profile.Frame{Function: "fib;odd\n", Object: "[jit]", Code: profile.Generated})
	kernel := one(0xffffffff81000000, profile.Frame{Function: "do_syscall_64", Object: "[kernel]", Code: profile.Kernel})
	goMain := one(0x401000, profile.Frame{Function: "main.(*T).Run", Object: "/opt/client", File: "/src/t.go", Line: 5, Code: profile.Go})

	server := func(tid int) profile.Labels {
		return profile.Labels{Process: "server", PID: 42, Thread: "worker", TID: tid}
	}
	p.Add([]profile.Location{kernel, unnamed, work, main, start}, server(43), 30)
	p.Add([]profile.Location{kernel, unnamed, work, main, start}, server(44), 12)
	p.Add([]profile.Location{work, elsewhere, start}, server(43), 5)
	p.Add([]profile.Location{jitted, jitted, jitted, nowhere, main, start}, server(44), 20)
	p.Add([]profile.Location{goMain}, profile.Labels{Process: "client", PID: 50, TID: 50}, 7)
	p.Add(nil, profile.Labels{}, 1)
	p.Add([]profile.Location{start}, server(43), 0)
	p.Add([]profile.Location{kernel, unnamed, work, main, start}, server(43), 3)
	return p
}

const aProfilesTotal = 30 + 12 + 5 + 20 + 7 + 1 + 3

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

// written returns what a form writes, of the same profile made twice.
func written(t *testing.T, form func(*profile.Profile, io.Writer) error) []byte {
	t.Helper()
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := form(aProfile(), out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same profile is written in two ways")
	}
	return first.Bytes()
}

func TestTotal(t *testing.T) {
	p := aProfile()
	if got := p.Total(); got != aProfilesTotal {
		t.Errorf("the total is %d, want %d", got, aProfilesTotal)
	}
	if p.Unit() != "samples" {
		t.Errorf("the unit is %q", p.Unit())
	}
}

func TestLocation(t *testing.T) {
	p := profile.New("samples")
	f, g := profile.Frame{Function: "f"}, profile.Frame{Function: "g"}
	all := []profile.Location{
		p.Location(1, []profile.Frame{f}),
		p.Location(2, []profile.Frame{f}),
		p.Location(1, []profile.Frame{g}),
		p.Location(1, []profile.Frame{f, g}),
		p.Location(1, []profile.Frame{g, f}),
		p.Location(1, nil),
	}
	seen := make(map[profile.Location]int)
	for i, l := range all {
		if other, ok := seen[l]; ok {
			t.Errorf("%d and %d are one location", other, i)
		}
		seen[l] = i
	}
	if again := p.Location(1, []profile.Frame{f, g}); again != all[3] {
		t.Errorf("the same address and frames are %d, then %d", all[3], again)
	}
}

// A stack that was seen costs no memory, be it of the same thread or another.
func TestAddAllocatesNothing(t *testing.T) {
	p := profile.New("samples")
	var stacks [8][]profile.Location
	for i := range stacks {
		for k := range 12 {
			stacks[i] = append(stacks[i], p.Location(uint64(k*(i%3+1)), []profile.Frame{{Function: fmt.Sprint("f", k)}}))
		}
	}
	labels := []profile.Labels{{PID: 1, TID: 1, Thread: "one"}, {PID: 1, TID: 2, Thread: "two"}}
	n := 0
	add := func() {
		p.Add(stacks[n%len(stacks)], labels[n/3%2], 1)
		n++
	}
	for range 100 {
		add()
	}
	if allocations := testing.AllocsPerRun(1_000_000, add); allocations > 0 {
		t.Errorf("%v allocations an Add", allocations)
	}
	if p.Total() != int64(n) {
		t.Errorf("the total is %d after %d samples", p.Total(), n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, same := range []int{0, 60} {
		b.Run(fmt.Sprintf("same=%d", same), func(b *testing.B) {
			p := profile.New("samples")
			var stacks [64][]profile.Location
			for i := range stacks {
				for k := range 70 {
					address := uint64(k)
					if 70-k > same {
						address += uint64(i) << 32
					}
					stacks[i] = append(stacks[i], p.Location(address, []profile.Frame{{Function: "f"}}))
				}
			}
			b.ReportAllocs()
			for i := range b.N {
				p.Add(stacks[i%len(stacks)], profile.Labels{PID: 1}, 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/70, "ns/frame")
		})
	}
}

func TestFolded(t *testing.T) {
	golden(t, "folded.txt", written(t, (*profile.Profile).Folded))
	golden(t, "folded-unrooted.txt", written(t, func(p *profile.Profile, w io.Writer) error {
		p.Roots = profile.NoRoots
		return p.Folded(w)
	}))
	golden(t, "folded-threads.txt", written(t, func(p *profile.Profile, w io.Writer) error {
		p.Roots = profile.ThreadRoots
		return p.Folded(w)
	}))
}

func TestSpeedscope(t *testing.T) {
	golden(t, "speedscope.json", written(t, (*profile.Profile).Speedscope))
}

func TestPprof(t *testing.T) {
	data := written(t, (*profile.Profile).Pprof)
	got, err := pprof.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.CheckValid(); err != nil {
		t.Fatal(err)
	}
	golden(t, "pprof.txt", []byte(got.String()))
}

// pprof reads the profile.
func TestGoToolPprof(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("skipped: go is not installed")
	}
	path := filepath.Join(t.TempDir(), "profile.pb.gz")
	if err := os.WriteFile(path, written(t, (*profile.Profile).Pprof), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags string
		want  []string
	}{
		{"-top", []string{
			"Type: samples", fmt.Sprintf("of %d total", aProfilesTotal), "45 57.69% 57.69%         45 57.69%  do_syscall_64",
			"70 89.74%  main", "[libc.so.6]", "[unknown]", "std::min<int> (inline)", "12 samples were lost",
		}},
		{"-traces", []string{"process:  server", "thread:  worker", "tid:  43", "33   do_syscall_64", "main.(*T).Run"}},
		{"-raw", []string{"samples/count[dflt]", "/src/work.c:99", "/opt/server 0badc0ffee", "/opt/client  [FN]"}},
	} {
		out, err := exec.Command("go", "tool", "pprof", test.flags, path).CombinedOutput()
		if err != nil {
			t.Errorf("go tool pprof %s: %v\n%s", test.flags, err, out)
		}
		for _, want := range test.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("go tool pprof %s does not say %q but\n%s", test.flags, want, out)
			}
		}
	}
}

// The first mapping is the program, even if the innermost frame is in another object.
func TestPprofNamesProgram(t *testing.T) {
	for _, test := range []struct {
		process string
		objects []string // innermost first
		want    string
	}{
		{"server", []string{"[kernel]", "/lib/libc.so.6", "/opt/server"}, "/opt/server"},
		{"a-server-of-file", []string{"[kernel]", "/lib/libc.so.6", "/opt/a-server-of-files"}, "/lib/libc.so.6"},
		{"a-server-of-fil", []string{"[kernel]", "/lib/libc.so.6", "/opt/a-server-of-files"}, "/opt/a-server-of-files"},
		{"", []string{"[kernel]", "/opt/server"}, "/opt/server"},
		{"swapper", []string{"[kernel]"}, "[kernel]"},
	} {
		p := profile.New("samples")
		var stack []profile.Location
		for i, object := range test.objects {
			stack = append(stack, p.Location(uint64(i), []profile.Frame{{Object: object}}))
		}
		p.Add(stack, profile.Labels{Process: test.process}, 1)
		var out bytes.Buffer
		if err := p.Pprof(&out); err != nil {
			t.Fatal(err)
		}
		got, err := pprof.ParseData(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Mapping) != len(test.objects) || got.Mapping[0].File != test.want {
			t.Errorf("%s: the mappings are %v, expected %s first", test.process, got.Mapping, test.want)
		}
	}
}
