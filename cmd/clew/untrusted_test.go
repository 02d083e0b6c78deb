// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
)

// publicDir returns a new directory that every user can read.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// compileWaiting builds a program that prints that it is ready, and waits. Its debugging information
// names source as the file of its function waits.
func compileWaiting(t *testing.T, dir, source string, flags ...string) (program string) {
	t.Helper()
	text := fmt.Sprintf("#include <unistd.h>\n#line 2 %q\nvoid waits(void) { write(1, \"ready\\n\", 6); pause(); }\nint main(void) { waits(); return 0; }\n", source)
	program = filepath.Join(dir, "program")
	cmd := exec.Command(testprogram.RequireTool(t, "gcc"), append([]string{"-O0", "-g", "-x", "c", "-o", program, "-"}, flags...)...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// startAs starts a program as a user, and returns its process ID when it is ready.
func startAs(t *testing.T, user uint32, program string) int {
	t.Helper()
	cmd := exec.Command(program)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if n, err := stdout.Read(make([]byte, 6)); n != 6 {
		t.Fatalf("the program did not print that it is ready: %v", err)
	}
	return cmd.Process.Pid
}

const anybody = 65534

// Root does not print lines of a file that only root may read if debugging information names the
// file, unless --source-path allows it.
func TestSourceIsReadWithTheTargetsRights(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root runs programs as other users")
	}
	dir := publicDir(t)
	secret := filepath.Join(dir, "folder", "secret")
	if err := os.Mkdir(filepath.Dir(secret), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte(strings.Repeat("root:$y$SECRET\n", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	program := compileWaiting(t, dir, secret)
	pid := strconv.Itoa(startAs(t, anybody, program))
	check := func(shown bool, args ...string) {
		t.Helper()
		stdout, stderr, status := runToEnd(t, clew(t, args...), "DEBUGINFOD_URLS=")
		if strings.Contains(stdout+stderr, "$y$SECRET") != shown {
			t.Errorf("clew %s: exit %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
		}
		const reason = "permission denied: it is read with the rights of user 65534; --source-path DIR allows"
		if strings.Contains(stderr, reason) == shown {
			t.Errorf("clew %s prints: %s", strings.Join(args, " "), stderr)
		}
		if !strings.Contains(stdout, "waits") {
			t.Errorf("clew %s:\n%s", strings.Join(args, " "), stdout)
		}
	}
	stack := []string{"stack", "--source", pid}
	hold := []string{"stack", "--source", "--hold", pid}
	at := []string{"at", program, "waits", "--source"}
	path := []string{"--source-path", dir}
	core := []string{"stack", "--source", "--source-path", "/nonexistent", testprogram.GCore(t, startedPID(t, pid))}
	for _, args := range [][]string{stack, hold} {
		check(false, args...)
		check(true, append(args, path...)...)
	}
	check(true, at...)    // root owns the program
	check(false, core...) // root owns the core, but the core has the user of the process
	if err := os.Chown(program, anybody, anybody); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(core[len(core)-1], anybody, anybody); err != nil {
		t.Fatal(err)
	}
	check(false, at...)
	check(false, core...)
	check(true, append(at, path...)...)
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	check(true, stack...)
	check(true, hold...)
	check(true, at...)
	check(true, core...)
	// The rights for the directory count too.
	if err := os.Chmod(filepath.Dir(secret), 0o700); err != nil {
		t.Fatal(err)
	}
	check(false, stack...)
	check(false, at...)
}

// With a split unit of another user, only source files that this user may read are printed.
func TestSourceOfPlantedPartOfProcess(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root runs programs as other users")
	}
	dir := publicDir(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("root:$y$SECRET\n", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	program := compileWaiting(t, dir, secret, "-gsplit-dwarf", "-dumpdir", dir+"/")
	parts, err := filepath.Glob(filepath.Join(dir, "*.dwo"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("split units %q, %v", parts, err)
	}
	pid := strconv.Itoa(startAs(t, 0, program))
	for _, owner := range []int{0, anybody} {
		if err := os.Chown(parts[0], owner, owner); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"stack", "--source", pid}, {"stack", "--source", "--hold", pid}} {
			stdout, stderr, _ := runToEnd(t, clew(t, args...), "DEBUGINFOD_URLS=")
			if shown := strings.Contains(stdout+stderr, "$y$SECRET"); shown != (owner == 0) || !strings.Contains(stdout, "waits") {
				t.Errorf("clew %s, split unit of user %d:\n%s%s", strings.Join(args, " "), owner, stdout, stderr)
			}
		}
	}
}

// A recording of root has generated code of any user, which can name any source file.
func TestSourceOfRecording(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has more rights than others")
	}
	secret := filepath.Join(publicDir(t), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openJIT(filepath.Join("..", "..", "snapshot", "perfdata", "testdata", "true.data"), &jitFlags{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if f, err := j.process.OpenSource(secret); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, %v: expected an error", f, err)
	}
}

// The path of a perf map can be a link to any file. Root prints no lines of that file.
func TestPerfMapLeadsToSecret(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root runs programs as other users")
	}
	dir := publicDir(t)
	secret := filepath.Join(dir, "secret")
	pid := strconv.Itoa(startAs(t, anybody, compileWaiting(t, dir, "source.c")))
	const lines = "root:$y$SECRET\n1000 root:$y$SECRET\n1000 10\n"
	perfMap := "/tmp/perf-" + pid + ".map"
	if err := os.WriteFile(secret, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(perfMap)
	for want, plant := range map[string]func(old, new string) error{"it is a symbolic link": os.Symlink, "3 invalid lines": os.Link} {
		os.Remove(perfMap)
		if err := plant(secret, perfMap); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"stack", pid}, {"jit", pid}, {"jit", pid, "--json"}} {
			stdout, stderr, status := runToEnd(t, clew(t, args...), "DEBUGINFOD_URLS=")
			if all := stdout + stderr; strings.Contains(all, "SECRET") || args[0] == "jit" && !strings.Contains(all, want) {
				t.Errorf("%s: clew %s: exit %d\n%s%s", want, strings.Join(args, " "), status, stdout, stderr)
			}
		}
	}
}

func startedPID(t *testing.T, pid string) int {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A source file that is a FIFO, a device or a file of procfs is not opened, and the target does
// not wait.
func TestSourceIsARegularFile(t *testing.T) {
	dir := publicDir(t)
	fifo := filepath.Join(dir, "fifo.c")
	if err := unix.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	for source, kind := range map[string]string{fifo: "a FIFO", "/dev/zero": "a character device", "/proc/kmsg": "a file of procfs", dir: "a directory"} {
		program := compileWaiting(t, t.TempDir(), source)
		pid := strconv.Itoa(startAs(t, uint32(os.Getuid()), program))
		for _, args := range [][]string{{"stack", "--source", pid}, {"stack", "--source", "--hold", pid}, {"at", program, "waits", "--source"}} {
			stdout, stderr, status := runToEnd(t, clew(t, args...), "DEBUGINFOD_URLS=")
			if status != 0 || !strings.Contains(stdout, "waits") || !strings.Contains(stderr, "source file not shown: open "+source+": not a regular file (it is "+kind+")") {
				t.Errorf("clew %s: exit %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
			}
		}
	}
}

// A process that holds a lease on a debug file does not delay clew.
func TestLeasedDebugFile(t *testing.T) {
	objcopy := testprogram.RequireTool(t, "objcopy")
	dir := publicDir(t)
	program := compileWaiting(t, dir, "/source.c", "-Wl,--build-id=none")
	debug := program + ".debug"
	for _, args := range [][]string{{"--only-keep-debug", program, debug}, {"--strip-all", "--add-gnu-debuglink=" + debug, program}} {
		if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v\n%s", err, out)
		}
	}
	signal.Ignore(unix.SIGIO)
	f, err := os.OpenFile(debug, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no lease on files of %s: %v", dir, err)
	}
	pid := strconv.Itoa(startAs(t, uint32(os.Getuid()), program))
	_, stderr, status := runToEnd(t, clew(t, "stack", pid), "DEBUGINFOD_URLS=")
	if lease, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0); err != nil || lease == unix.F_UNLCK {
		t.Errorf("clew waited until the lease was broken: %d, %v", lease, err)
	}
	if !strings.Contains(stderr, "a process holds a lease on the file (fcntl F_SETLEASE)") {
		t.Errorf("exit %d, %s", status, stderr)
	}
}

// plantBomb makes the .debug_info of a program decompress to a number of bytes, and gives the
// program a sparse tail of a terabyte.
func plantBomb(t *testing.T, program string, expanded int) {
	t.Helper()
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	w := zlib.NewWriter(&stream)
	for left := expanded; left > 0; left -= 1 << 20 {
		if _, err := w.Write(make([]byte, min(left, 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	table := binary.LittleEndian.Uint64(b[40:])
	for i, s := range f.Sections {
		if s.Name != ".debug_info" {
			continue
		}
		entry := b[table+64*uint64(i):]
		binary.LittleEndian.PutUint64(entry[8:], uint64(elf.SHF_COMPRESSED))
		binary.LittleEndian.PutUint64(entry[24:], uint64(len(b)))
		binary.LittleEndian.PutUint64(entry[32:], uint64(24+stream.Len()))
	}
	for _, v := range []uint64{uint64(elf.COMPRESS_ZLIB), uint64(expanded), 1} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	if err := os.WriteFile(program, append(b, stream.Bytes()...), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(program, 1<<40); err != nil {
		t.Skip(err)
	}
}

// A sparse tail of a program does not raise the memory limit.
func TestSparseProgram(t *testing.T) {
	program := compileWaiting(t, publicDir(t), "/source.c")
	plantBomb(t, program, 1<<30)
	pid := strconv.Itoa(startAs(t, uint32(os.Getuid()), program))
	for _, args := range [][]string{{"stack", pid}, {"at", program, "waits", "--source"}, {"table", program, "--func", "waits"}} {
		cmd := clew(t, args...)
		stdout, stderr, status := runToEnd(t, cmd, "DEBUGINFOD_URLS=")
		if !strings.Contains(stdout, "waits") || args[0] != "table" && !strings.Contains(stdout+stderr, "would exceed what a file that stores") {
			t.Errorf("clew %s: exit %d\n%s%s", args[0], status, stdout, stderr)
		}
		if peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; peak > 300<<10 {
			t.Errorf("clew %s takes %d KiB", args[0], peak)
		}
	}
}

// A minidump of another user can list a file as mapped, with a stack pointer into it. If root reads
// the minidump, the contents of the file are not printed.
func TestDumpOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root reads files with the rights of another user")
	}
	dir := publicDir(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte{0x37, 0x13, 0xad, 0xde, 0, 0, 0, 0}, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	p := testprogram.Start(t, testprogram.Build(t, "chain.c", "-O2", "-g"))
	p.Settle(t)
	s := stacktest.Take(t, p.PID)
	const at = 0x10000
	s.Mappings = append([]snapshot.Mapping{{Start: at, End: at + 0x1000, Offset: 0x1000, Readable: true, Inode: 1, Path: secret}}, s.Mappings...)
	s.Threads[0].Registers.Set(uint64(s.Machine.StackPointer), at+64)
	s.Threads[0].Registers.Set(uint64(s.Machine.FramePointer), at+128)
	dump := filepath.Join(dir, "other.dmp")
	if err := errors.Join(os.WriteFile(dump, stacktest.Minidump(t, s, stacktest.MinidumpOptions{}), 0o644), os.Chown(dump, anybody, anybody)); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []bool{false, true} {
		stdout, stderr, _ := runToEnd(t, clew(t, "stack", "--locals", dump), "DEBUGINFOD_URLS=")
		if text := stdout + stderr; strings.Contains(text, "dead1337") != shown || !shown && !strings.Contains(text, "permission denied") {
			t.Errorf("mode %v: %s", shown, text)
		}
		if err := os.Chmod(secret, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
