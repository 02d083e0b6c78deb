// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/symfile"
)

// tool skips the test if a program is not installed.
func tool(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("skipped: %s is not installed", name)
	}
}

// run runs a command that must succeed and returns both outputs.
func run(t testing.TB, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	tool(t, name)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=", "HOME="+home, "XDG_CACHE_HOME="+home)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// write makes a file in a directory and returns its path.
func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// images are images that all readers below must accept without a warning.
func images(t testing.TB, m *arch.Machine) map[string][]byte {
	near, far := callers(t, m, 5, 4, true), callers(t, m, 5, 4, true)
	far.Address += 1 << 40
	merged, err := symfile.Merge(nil, [][]byte{mustAppend(t, far), mustAppend(t, near)}, func(start uint64) bool { return start/32%3 > 0 })
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"one":    mustAppend(t, callers(t, m, 1, 0, false)),
		"lines":  mustAppend(t, callers(t, m, 100, 0, true)),
		"merged": merged,
		"calls":  mustMerge(t, split(t, inlined(t, m, 20), 4), nil),
	}
}

var machines = []*arch.Machine{amd64, arm64, arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)}

func TestReadelf(t *testing.T) {
	for _, m := range machines[:2] {
		readelf := map[*arch.Machine]string{amd64: "readelf", arm64: "aarch64-linux-gnu-readelf"}[m]
		for name, image := range images(t, m) {
			path := write(t, t.TempDir(), name+".elf", image)
			stdout, stderr := run(t, readelf, "-aW", "--debug-dump=abbrev,info,rawline,decodedline,Ranges,frames-interp,str", path)
			if stderr != "" || strings.Contains(strings.ToLower(stdout), "warning") || strings.Contains(stdout, "<unknown>") {
				t.Errorf("%s, %s: readelf complains: %s", m.Name, name, stderr)
			}
			want := []string{"EXEC", ".text", " FDE "}
			if name == "one" {
				want = append(want, " f0\n")
			} else {
				want = append(want, " f2\n", "DW_TAG_subprogram", "/src/file0.w", "callers")
			}
			for _, w := range want {
				if !strings.Contains(stdout, w) {
					t.Errorf("%s, %s: readelf does not print %q", m.Name, name, w)
				}
			}
		}
	}
}

func TestDwarfdump(t *testing.T) {
	for _, m := range machines[:2] {
		for name, image := range images(t, m) {
			path := write(t, t.TempDir(), name+".elf", image)
			stdout, stderr := run(t, "llvm-dwarfdump", "--verify", path)
			if !strings.Contains(stdout, "No errors.") || stderr != "" {
				t.Errorf("%s, %s: %s%s", m.Name, name, stdout, stderr)
			}
			stdout, stderr = run(t, "llvm-dwarfdump", "--all", path)
			if stderr != "" || strings.Contains(stdout, "error") || strings.Contains(stdout, "warning") {
				t.Errorf("%s, %s: %s", m.Name, name, stderr)
			}
			if name == "lines" && (strings.Count(stdout, "FDE cie=") != 100 || strings.Count(stdout, "DW_TAG_subprogram\n") != 100) {
				t.Errorf("%s, %s: not 100 FDEs and functions in\n%s", m.Name, name, stdout)
			}
		}
	}
}

func TestEUReadelf(t *testing.T) {
	for _, m := range machines[:2] {
		for name, image := range images(t, m) {
			path := write(t, t.TempDir(), name+".elf", image)
			args := []string{"-a", path}
			if name != "one" { // which has no DWARF, and that is an error with -w
				args = append(args, "-w")
			}
			stdout, stderr := run(t, "eu-readelf", args...)
			if stderr != "" || strings.Contains(stdout, "invalid") {
				t.Errorf("%s, %s: %s", m.Name, name, stderr)
			}
			if !strings.Contains(stdout, "f0") {
				t.Errorf("%s, %s: eu-readelf names no f0", m.Name, name)
			}
		}
	}
}

// TestMachines checks that the image for each 64-bit little-endian machine is its ELF file.
func TestMachines(t *testing.T) {
	for _, m := range machines {
		c := callers(t, arm64, 3, 0, true)
		c.Machine = m
		for i := range c.Functions {
			c.Functions[i].Unwind = nil
		}
		f, err := elf.NewFile(bytes.NewReader(mustAppend(t, c)))
		if err != nil || f.Machine != m.ELF {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// host builds the program in testdata/host.c once a test.
func host(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host")
	run(t, "gcc", "-O1", "-g", "-o", path, filepath.Join("testdata", "host.c"))
	return path
}

// sources writes the source files of the callers' lines and returns their directory:
// line 7 of the first says "file0 line 7".
func sources(t *testing.T, lines int) string {
	t.Helper()
	dir := t.TempDir()
	for file := range 2 {
		var b bytes.Buffer
		for i := range lines {
			fmt.Fprintf(&b, "file%d line %d\n", file, i+1)
		}
		write(t, dir, fmt.Sprintf("file%d.w", file), b.Bytes())
	}
	return dir
}
