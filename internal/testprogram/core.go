// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Emulation describes how to build and run programs of another machine.
type Emulation struct {
	Triplet string // of the cross compiler; the libraries are in /usr/TRIPLET
	QEMU    string // the emulator
}

// Emulations are indexed by package arch's names of machines.
var Emulations = map[string]Emulation{
	"arm64":   {"aarch64-linux-gnu", "qemu-aarch64"},
	"arm":     {"arm-linux-gnueabihf", "qemu-arm"},
	"i386":    {"i686-linux-gnu", "qemu-i386"},
	"loong64": {"loongarch64-linux-gnu", "qemu-loongarch64"}, // Debian has only Go's compiler for it
	"m68k":    {"m68k-linux-gnu", "qemu-m68k"},
	"mips":    {"mips-linux-gnu", "qemu-mips"},
	"mips64":  {"mips64-linux-gnuabi64", "qemu-mips64"},
	"ppc":     {"powerpc-linux-gnu", "qemu-ppc"},
	"ppc64":   {"powerpc64-linux-gnu", "qemu-ppc64"},
	"ppc64le": {"powerpc64le-linux-gnu", "qemu-ppc64le"},
	"riscv64": {"riscv64-linux-gnu", "qemu-riscv64"},
	"s390x":   {"s390x-linux-gnu", "qemu-s390x"},
	"sparc64": {"sparc64-linux-gnu", "qemu-sparc64"},
}

// Root returns the directory of the emulated machine's libraries.
func (e *Emulation) Root() string { return "/usr/" + e.Triplet }

// Build is the function Build for the emulated machine.
func (e *Emulation) Build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	return BuildWith(t, e.Triplet+"-gcc", source, flags...)
}

// BuildCgo is the function BuildCgo for arm64.
func (e *Emulation) BuildCgo(t testing.TB, source string, flags ...string) string {
	t.Helper()
	compiler := RequireTool(t, e.Triplet+"-gcc")
	return buildGo(t, source, dir, flags, "CGO_ENABLED=1", "GOARCH=arm64", "CC="+compiler)
}

// CoreOptions changes how Core makes a core. For the zero value the kernel writes it, with
// the default content.
type CoreOptions struct {
	Emulation *Emulation // the program is emulated, and the emulator writes the core
	Filter    string     // for /proc/PID/coredump_filter: "0x33"
	Crashes   bool       // the program crashes; otherwise Core sends SIGABRT once all threads sleep
}

// Core runs a program until it dumps core, and returns the core's path. It skips the test if
// the kernel passes cores to a program.
func Core(t testing.TB, opts CoreOptions, path string, args ...string) string {
	t.Helper()
	where, filter := "", opts.Filter
	dir := t.TempDir()
	if opts.Emulation != nil {
		// The filter is for the emulator, which should not write its own memory.
		where, filter = "qemu_*.core", "0"
		qemu := RequireTool(t, opts.Emulation.QEMU)
		args = append([]string{"-L", opts.Emulation.Root(), path}, args...)
		path = qemu
	} else {
		where = corePattern(t)
	}
	script := `ulimit -c unlimited; exec "$0" "$@"`
	if filter != "" {
		script = `echo ` + filter + ` >/proc/self/coredump_filter; ` + script
	}
	cmd := exec.Command("sh", append([]string{"-c", script, path}, args...)...)
	cmd.Dir = dir
	if opts.Crashes {
		if err := cmd.Run(); err == nil {
			t.Fatalf("%q did not crash", cmd.Args)
		}
	} else {
		p := start(t, cmd)
		p.Settle(t)
		if err := syscall.Kill(p.PID, syscall.SIGABRT); err != nil {
			t.Fatal(err)
		}
		<-p.exited
	}
	return findCore(t, cmd, where)
}

// corePattern returns the kernel's pattern for the paths of cores. It skips the test if the
// kernel passes cores to a program.
func corePattern(t testing.TB) string {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		t.Fatal(err)
	}
	where := strings.TrimSpace(string(pattern))
	if strings.HasPrefix(where, "|") || strings.HasPrefix(where, "@") {
		t.Skip("skipped: kernel.core_pattern that names a file is not installed")
	}
	return where
}

// findCore returns the core of a command, by the pattern for its path.
func findCore(t testing.TB, cmd *exec.Cmd, where string) string {
	t.Helper()
	if !filepath.IsAbs(where) {
		where = filepath.Join(cmd.Dir, where)
	}
	for n := byte(1); n > 0; n++ {
		where = strings.ReplaceAll(where, "%"+string(rune(n)), "*")
	}
	found, err := filepath.Glob(where + "*") // kernel.core_uses_pid
	if err != nil || len(found) != 1 {
		t.Fatalf("%q left %v (%v), expected one core %s", cmd.Args, found, err, where)
	}
	if !strings.HasPrefix(found[0], cmd.Dir) {
		t.Cleanup(func() { os.Remove(found[0]) })
	}
	return found[0]
}

// GCore writes the core of a running process with gdb's gcore, and returns its path. Most of the
// 1.5 GB of a Go process are zeros, which then take no space on the disk.
func GCore(t testing.TB, pid int) string {
	t.Helper()
	gcore := RequireTool(t, "gcore")
	prefix := filepath.Join(t.TempDir(), "core")
	if out, err := exec.Command(gcore, "-o", prefix, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		t.Fatalf("gcore: %v\n%s", err, out)
	}
	path := prefix + "." + strconv.Itoa(pid)
	if out, err := exec.Command("fallocate", "--dig-holes", path).CombinedOutput(); err != nil {
		t.Logf("the core keeps its size: %v %s", err, out)
	}
	return path
}
