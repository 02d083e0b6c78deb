// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// build is a way to compile testdata/frames.cc.
type build struct{ compiler, flags string }

// The compilers of C++ for arm64.
const (
	arm64GCC   = "aarch64-linux-gnu-g++"
	arm64Clang = "clang++ --target=aarch64-linux-gnu"
)

func (b build) String() string { return b.compiler + " " + b.flags }

// builds are compilers and options that make frames of their own.
func builds() []build {
	var list []build
	for _, compiler := range []string{"g++", "clang++"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			for _, more := range []string{"-fomit-frame-pointer", "-fno-omit-frame-pointer", "-fcf-protection=full -fstack-clash-protection", "-mavx2 -fstack-protector-all"} {
				list = append(list, build{compiler, level + " " + more})
			}
		}
	}
	for _, compiler := range []string{arm64GCC, arm64Clang} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			for _, more := range []string{"-fomit-frame-pointer", "-fno-omit-frame-pointer -fstack-clash-protection", "-mbranch-protection=standard",
				"-mbranch-protection=pac-ret+leaf+b-key -march=armv8.3-a", "-fstack-protector-all -march=armv8.1-a"} {
				list = append(list, build{compiler, level + " " + more})
			}
		}
	}
	return list
}

// someBuilds returns a sample of them with every compiler and option.
func someBuilds(t *testing.T, n int) []build {
	return sample.Covering(t, builds(), n, func(b build) []string { return append(strings.Fields(b.flags), b.compiler) })
}

// compile builds testdata/frames.cc as a shared library.
func (b build) compile(t testing.TB) *object.File {
	t.Helper()
	command := strings.Fields(b.compiler)
	testprogram.RequireTool(t, command[0])
	if strings.Contains(b.compiler, "aarch64") {
		testprogram.RequireTool(t, arm64GCC) // clang uses its headers and linker
	}
	command = append(append(command, strings.Fields(b.flags)...), "-w", "-shared", "-fPIC")
	return open(t, testprogram.Compile(t, "frames.so", "testdata/frames.cc", command...))
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

// assemble builds a source in assembly language as a shared library.
func assemble(t testing.TB, machine, source string, flags ...string) *object.File {
	t.Helper()
	compiler := "gcc"
	if machine == "arm64" {
		compiler = "aarch64-linux-gnu-gcc"
	}
	testprogram.RequireTool(t, compiler)
	dir := t.TempDir()
	path := filepath.Join(dir, "code.s")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(dir, "code.so")
	args := append([]string{"-nostdlib", "-shared", "-o", library, path}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return open(t, library)
}
