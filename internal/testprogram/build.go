// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// dir is the directory of this package.
var dir = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}()

// Path returns the absolute path of a source of this package: "programs/chain.c".
func Path(name string) string { return filepath.Join(dir, name) }

// NodeModules returns the folder node_modules with the packages of a package-lock.json, which
// scripts/test has installed. name is the name of its folder in the cache, dir that of the file. If
// other packages or none are installed, NodeModules skips the test.
func NodeModules(t testing.TB, name, dir string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skipped: npm package for %s is not installed: %v", name, err)
	}
	want, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "clew", name)
	if got, err := os.ReadFile(filepath.Join(folder, "package-lock.json")); err != nil || !bytes.Equal(got, want) {
		t.Skipf("skipped: npm package for %s is not installed", name)
	}
	return filepath.Join(folder, "node_modules")
}

// RequireTool returns the path of a program. If the program is not installed, it skips the
// test.
func RequireTool(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("skipped: %s is not installed", tool)
	}
	return path
}

// Build compiles a program of the programs directory and returns the path of the executable.
// It compiles C with gcc, C++ with g++ and a directory with go build. The flags come before
// the source; C and C++ always get -pthread.
//
// The executable is in the user's cache, under a hash of its inputs, and other tests may use
// it. A test that changes it, or needs its own path, copies it first.
func Build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	compiler := "go"
	switch filepath.Ext(source) {
	case ".c":
		compiler = "gcc"
	case ".cc":
		compiler = "g++"
	}
	return BuildWith(t, compiler, source, flags...)
}

// BuildCgo is Build of a Go program with C code, which gcc compiles.
func BuildCgo(t testing.TB, source string, flags ...string) string {
	t.Helper()
	RequireTool(t, "gcc")
	return buildGo(t, source, dir, flags, "CGO_ENABLED=1")
}

// BuildGoFor is Build of a Go program without C code for the machine with a name of Go's.
func BuildGoFor(t testing.TB, goarch, source string) string {
	t.Helper()
	return buildGo(t, source, dir, nil, "CGO_ENABLED=0", "GOARCH="+goarch)
}

// BuildModule is Build of a directory that is a separate Go module, because it needs modules
// that Clew does not. It has no C code.
func BuildModule(t testing.TB, source string, flags ...string) string {
	t.Helper()
	return buildGo(t, source, Path("programs/"+source), flags, "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
}

// buildGo runs go build in a directory of the module that the source belongs to.
func buildGo(t testing.TB, source, inModule string, flags []string, environment ...string) string {
	t.Helper()
	RequireTool(t, "go")
	path := Path("programs/" + source)
	return cached(t, source, path, func(out string) *exec.Cmd {
		cmd := exec.Command("go", slices.Concat([]string{"build", "-buildvcs=false", "-o", out}, flags, []string{path})...)
		cmd.Dir = inModule
		cmd.Env = append(os.Environ(), environment...)
		return cmd
	})
}

// BuildWith is Build with a given compiler.
func BuildWith(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	if compiler == "go" {
		return buildGo(t, source, dir, flags, "CGO_ENABLED=0")
	}
	RequireTool(t, compiler)
	path := Path("programs/" + source)
	return cached(t, strings.TrimSuffix(source, filepath.Ext(source)), path, func(out string) *exec.Cmd {
		arguments := []string{"-o", out}
		if compiler != "rustc" {
			arguments = append(arguments, "-pthread")
		}
		return exec.Command(compiler, slices.Concat(arguments, flags, []string{path})...)
	})
}

// Compile is Build of a source anywhere, with a command that takes flags, an output and a
// source. It returns the path of the output, which ends in name.
func Compile(t testing.TB, name, source string, command ...string) string {
	t.Helper()
	tool := RequireTool(t, command[0])
	path, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	return cached(t, name, path, func(out string) *exec.Cmd {
		return exec.Command(tool, slices.Concat(command[1:], []string{"-o", out, path})...)
	})
}

// Source returns the path of a source file with a text, for Compile: the same path for the
// same text.
func Source(t testing.TB, name, text string) string {
	t.Helper()
	folder := filepath.Join(cacheDir(t), fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:20])
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	new, err := os.CreateTemp(folder, "source")
	if err != nil {
		t.Fatal(err)
	}
	_, err = new.WriteString(text)
	if err = errors.Join(err, new.Close(), os.Rename(new.Name(), path)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Assemble assembles a source of the asm or hostile directory ("asm/widths.s") with the
// command in its first line, and returns the path of the object file. The flags come before
// the source.
func Assemble(t testing.TB, source string, flags ...string) string {
	t.Helper()
	path := Path(source)
	command := firstLine(t, path)
	RequireTool(t, command[0])
	name := strings.TrimSuffix(filepath.Base(source), ".s") + ".o"
	return cached(t, name, path, func(out string) *exec.Cmd {
		return exec.Command(command[0], slices.Concat(command[1:], flags, []string{"-o", out, path})...)
	})
}

// emulations are the emulations of the linker for assembler flags that do not select its
// default.
var emulations = map[string]string{
	"--32":         "elf_i386",
	"--x32":        "elf32_x86_64",
	"-mabi=ilp32d": "elf32lriscv",
	"-mabi=n32":    "elf32ltsmipn32",
}

// Link assembles a source as Assemble does, and links the object file alone into an
// executable without a start address, with an .eh_frame_hdr if ld makes one.
func Link(t testing.TB, source string, flags ...string) string {
	t.Helper()
	path := Path(source)
	command := firstLine(t, path)
	linker := strings.TrimSuffix(command[0], "as") + "ld"
	RequireTool(t, linker)
	args := append([]string{"--eh-frame-hdr", "-e", "0"}, flags...)
	for _, flag := range command[1:] {
		if emulation, ok := emulations[flag]; ok {
			args = append(args, "-m", emulation)
		}
	}
	object := Assemble(t, source)
	return cached(t, strings.TrimSuffix(filepath.Base(source), ".s"), object, func(out string) *exec.Cmd {
		return exec.Command(linker, slices.Concat(args, []string{"-o", out, object})...)
	})
}

// Sources returns the assembler sources of a directory ("asm" or "hostile"), as arguments of
// Assemble.
func Sources(t testing.TB, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(Path(folder + "/*.s"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s: %v", folder, err)
	}
	for i, p := range paths {
		paths[i] = folder + "/" + filepath.Base(p)
	}
	return paths
}

// firstLine returns the command in a source's first line, "# as --64".
func firstLine(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	command := strings.Fields(strings.TrimLeft(string(line), "#/|@! "))
	if len(command) == 0 {
		t.Fatalf("%s: the first line names no command", path)
	}
	return command
}

// cached returns the file that the command writes. It runs the command unless the cache has
// the result of the same command, sources and version of the program.
func cached(t testing.TB, name, source string, command func(out string) *exec.Cmd) string {
	t.Helper()
	key, first := sha256.New(), command(name)
	environment := first.Env[min(len(os.Environ()), len(first.Env)):] // added by the command
	fmt.Fprintf(key, "%s\n%q\n%q\n%s\n", runtime.Version(), first.Args, environment, version(first.Args[0]))
	if err := hashSources(key, source); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cacheDir(t), fmt.Sprintf("%x", key.Sum(nil)[:10]))
	path := filepath.Join(folder, filepath.Base(name))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	// Written elsewhere and renamed, because tests of other packages build concurrently.
	out, err := os.MkdirTemp(folder, "build")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(out)
	cmd := command(filepath.Join(out, "out"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, text)
	}
	if err := os.Rename(filepath.Join(out, "out"), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func cacheDir(t testing.TB) string {
	if cache, err := os.UserCacheDir(); err == nil {
		return filepath.Join(cache, "clew", "testprogram")
	}
	return t.TempDir()
}

// version returns the output of the program's version flag. It runs the program once.
func version(tool string) []byte {
	if known, ok := versions.Load(tool); ok {
		return known.([]byte)
	}
	flag := "--version"
	if tool == "go" {
		flag = "version"
	}
	out, _ := exec.Command(tool, flag).Output()
	versions.Store(tool, out)
	return out
}

var versions sync.Map // by tool

// hashSources hashes a source file and the headers beside it, or the Go files of a
// directory.
func hashSources(w io.Writer, source string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	paths := []string{source}
	pattern := filepath.Join(filepath.Dir(source), "*.h")
	if info.IsDir() {
		paths, pattern = nil, filepath.Join(source, "*.go")
	}
	more, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, path := range append(paths, more...) {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %d\n%s", filepath.Base(path), len(text), text)
	}
	if len(paths)+len(more) == 0 {
		return &fs.PathError{Op: "hash", Path: source, Err: fs.ErrNotExist}
	}
	return nil
}
