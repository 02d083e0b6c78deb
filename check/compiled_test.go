// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package check_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// compile returns an image of testdata/functions.c.
func compile(t testing.TB, compiler string, flags ...string) *session.Image {
	t.Helper()
	testprogram.RequireTool(t, compiler)
	out := filepath.Join(t.TempDir(), "functions.o")
	command := exec.Command(compiler, append(flags, "-g0", "-c", "-o", out, "testdata/functions.c")...)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	f, err := object.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	image, err := session.LoadImage(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	return image
}

// builds are compilers and options whose functions have different frames.
func builds() (all [][]string) {
	for _, compiler := range []string{"gcc", "clang"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			all = append(all, []string{compiler, level})
		}
		all = append(all, []string{compiler, "-O2", "-fno-omit-frame-pointer"}, []string{compiler, "-O2", "-fstack-clash-protection"})
		if runtime.GOARCH == "amd64" {
			all = append(all, []string{compiler, "-O2", "-fcf-protection=full"}, []string{compiler, "-O3", "-mavx2"})
		} else {
			all = append(all, []string{compiler, "-O2", "-mbranch-protection=standard"})
		}
	}
	return all
}

// The tables of gcc and clang agree with the execution of 18 functions of each build.
func TestCompilers(t *testing.T) {
	require(t)
	functions, instructions := 0, 0
	sampled := sample.Covering(t, builds(), 6, func(build []string) []string { return build })
	for _, build := range sampled {
		t.Run(strings.Join(build, " "), func(t *testing.T) {
			image := compile(t, build[0], build[1:]...)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s, err := session.New(&session.Options{Images: []*session.Image{image}, Locked: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, f := range image.Functions() {
				if isStatic(f.Name) || strings.Contains(f.Name, ".") {
					continue // called by the others, or a part of one
				}
				functions++
				for _, args := range [][]uint64{{5, 3, 11}, {12, 8, 1}} {
					result, err := check.Session(s, f.Start, session.Arguments{Words: args}, nil)
					if err != nil {
						t.Fatalf("%s%v: %v", f.Name, args, err)
					}
					instructions += result.Instructions
					if result.Agree != result.Instructions {
						t.Errorf("%s%v: %d of %d instructions agree", f.Name, args, result.Agree, result.Instructions)
					}
					for i := range min(len(result.Mismatches), 3) {
						t.Errorf("%s%v: %s", f.Name, args, check.Describe(s, &result.Mismatches[i]))
					}
				}
			}
		})
	}
	t.Logf("%d functions, %d instructions", functions, instructions)
	if functions < len(sampled)*18 {
		t.Errorf("only %d functions", functions)
	}
}

// isStatic reports whether a function of functions.c has arguments of its own.
func isStatic(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	return strings.Contains(" mix seventh realigned_many sum make ", " "+name+" ")
}

// BenchmarkSession has the instructions that are compared in a second.
func BenchmarkSession(b *testing.B) {
	require(b)
	image := compile(b, "gcc", "-O2")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := session.New(&session.Options{Images: []*session.Image{image}, Locked: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	address, _ := image.Symbol("loops")
	n := 0
	for b.Loop() {
		result, err := check.Session(s, address, session.Arguments{Words: []uint64{5, 3, 11}}, nil)
		if err != nil {
			b.Fatal(err)
		}
		n += result.Instructions
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "instructions/s")
}
