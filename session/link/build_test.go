// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// tool skips the test if a program is not installed.
func tool(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("skipped: %s is not installed", name)
	}
}

// run returns the standard output of a command that must succeed.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	tool(t, name)
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// native is the machine on which the tests run.
var native = map[string]*machine{"amd64": &amd64, "arm64": &arm64}[runtime.GOARCH]

// compiled reports whether compilers for a machine are installed. Those for arm64 have the same
// names everywhere, and gcc is for this machine.
func compiled(m *machine) bool { return m == &arm64 || m == native }

// few returns n of the command lines, with every flag that any of them has, or all of
// them (see package sample). On an emulated machine it returns the first n.
func few(t *testing.T, list []string, n int) []string {
	if testing.Short() && native == &arm64 {
		return list[:n]
	}
	return sample.Covering(t, list, n, strings.Fields)
}

// compile makes an object file from a source: a file of testdata, or a text that begins with a
// line with the file's name ("x.s\n...").
func compile(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	path := filepath.Join("testdata", source)
	if name, text, ok := strings.Cut(source, "\n"); ok {
		path = testprogram.Source(t, name, text)
	}
	name, more, _ := strings.Cut(compiler, " ")
	args := append(append(strings.Fields(more), "-c"), flags...)
	if strings.HasSuffix(name, "-as") || name == "as" {
		args = flags
	}
	out := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + ".o"
	return testprogram.Compile(t, out, path, append([]string{name}, args...)...)
}

func open(t testing.TB, path string) *object.File {
	t.Helper()
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func files(t testing.TB, paths ...string) (list []*object.File) {
	t.Helper()
	for _, path := range paths {
		list = append(list, open(t, path))
	}
	return list
}

func openImage(t testing.TB, o *Object) *object.File {
	t.Helper()
	f, err := object.NewFile(o.ELF, o.Name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// at links files for a machine as if the program's memory were at base.
func at(t testing.TB, m *machine, base uint64, resolve func(string) (uint64, bool), paths ...string) (linked, error) {
	t.Helper()
	l := newLinker(m, base, resolve)
	p, err := l.link(files(t, paths...))
	return linked{l, p}, err
}

type linked struct {
	l *linker
	p *Program
}

func (a linked) symbol(t testing.TB, name string) uint64 {
	t.Helper()
	address, ok := a.p.Symbol(name)
	if !ok {
		t.Fatalf("no symbol %s", name)
	}
	return address
}

func newLinker(m *machine, base uint64, resolve func(string) (uint64, bool)) *linker {
	return &linker{
		machine: m, resolve: resolve, threads: new(offsets), page: 4096,
		reserve: func(_, align uint64, low bool) (uint64, error) {
			if low && base >= 1<<31 {
				return roundUp(0x20000000+base>>36&0xf<<24, align), nil
			}
			return roundUp(base, align), nil
		},
	}
}

// hosts is the folder of hosts, for all tests.
var hosts string

func TestMain(m *testing.M) {
	var err error
	if hosts, err = os.MkdirTemp("", "link"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(hosts)
	os.Exit(code)
}

// host builds the program of testdata/host.c for a machine.
func host(t testing.TB, m *machine) string {
	t.Helper()
	out := filepath.Join(hosts, m.elf.String())
	if _, err := os.Stat(out); err == nil {
		return out
	}
	if m == &arm64 {
		run(t, "aarch64-linux-gnu-gcc", "-g", "-static", "-O1", "-o", out, "testdata/host.c")
	} else {
		run(t, "gcc", "-g", "-O1", "-fpie", "-pie", "-fno-stack-protector", "-o", out, "testdata/host.c")
	}
	return out
}

// plan writes linked programs for the host, and calls of their functions.
func plan(t testing.TB, programs []linked, calls ...uint64) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	files := 0
	file := func(data []byte) string {
		path := filepath.Join(dir, fmt.Sprint(files))
		files++
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var init []uint64
	for _, a := range programs {
		for i, r := range a.l.regions {
			if r.start == r.end {
				continue
			}
			fmt.Fprintf(&b, "map %x %x %x %s\n", a.l.base+r.start, r.end-r.start, []int{5, 1, 1, 3}[i], file(a.l.memory(regionIndex(i))))
		}
		for _, o := range a.p.Objects {
			fmt.Fprintf(&b, "elf %s\n", file(o.ELF))
		}
		if t := a.p.TLS; t != nil {
			fmt.Fprintf(&b, "tls %x %x %s\n", uint64(t.Offset), t.Size, file(t.Image))
		}
		init = append(init, a.p.Init...)
	}
	for _, address := range append(init, calls...) {
		fmt.Fprintf(&b, "call %x\n", address)
	}
	return file([]byte(b.String()))
}

// memory returns the initial content of a region, without the zeros at its end.
func (l *linker) memory(i regionIndex) []byte {
	r := &l.regions[i]
	var b []byte
	for _, s := range r.sections {
		if len(s.data) > 0 {
			at := s.offset - r.start
			b = append(b, make([]byte, at-uint64(len(b)))...)
			b = append(b, s.data...)
		}
	}
	return b
}

// executeAll runs linked programs in the host, and returns the results of the calls.
func executeAll(t testing.TB, programs []linked, calls ...uint64) []string {
	t.Helper()
	command := []string{host(t, programs[0].l.machine), plan(t, programs, calls...)}
	if programs[0].l.machine == &arm64 && runtime.GOARCH != "arm64" {
		tool(t, "qemu-aarch64")
		command = append([]string{"qemu-aarch64"}, command...)
	}
	lines := strings.Fields(run(t, command[0], command[1:]...))
	if len(lines) < len(calls) {
		t.Fatalf("%d calls returned %q", len(calls), lines)
	}
	return lines[len(lines)-len(calls):] // those of constructors before
}

// execute is executeAll for one call.
func execute(t testing.TB, programs []linked, call uint64) string {
	t.Helper()
	return executeAll(t, programs, call)[0]
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
