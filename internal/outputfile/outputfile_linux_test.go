// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package outputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// directory makes a directory with a mode and an owner.
func directory(t *testing.T, mode uint32, user int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dir")
	if err := errors.Join(os.Mkdir(dir, 0o700), unix.Chmod(dir, mode), os.Chown(dir, user, user)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func needRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give files to other users")
	}
}

func want(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(path)
	info, statErr := os.Lstat(path)
	if err != nil || statErr != nil || string(data) != content || info.Mode() != mode {
		t.Errorf("%s: %q, %v, %v, %v; expected %q, %v", path, data, info, err, statErr, content, mode)
	}
}

// A new file appears when it is complete, with the mode of new files. A replacement keeps the
// mode and owner of the old file. No other file stays in the directory.
func TestWrite(t *testing.T) {
	old := unix.Umask(0o022)
	defer unix.Umask(old)
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		want(t, path, "one", 0o600)
	} else {
		want(t, path, "one", 0o644)
	}
	for _, m := range []fs.FileMode{0o600, 0o640, 0o666, 0o400} {
		if err := os.Chmod(path, m); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text(m.String())); err != nil {
			t.Fatal(err)
		}
		want(t, path, m.String(), m)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 1, 2); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text("owned")); err != nil {
			t.Fatal(err)
		}
		want(t, path, "owned", 0o400)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 1 || st.Gid != 2 {
			t.Errorf("it belongs to %d:%d, expected 1:2", st.Uid, st.Gid)
		}
	}
	failed := errors.New("failed")
	for _, path := range []string{path, filepath.Join(dir, "new")} {
		if err := Write(path, func(w io.Writer) error { io.WriteString(w, "half"); return failed }); err != failed {
			t.Error(err)
		}
	}
	if err := Write(filepath.Join(dir, strings.Repeat("n", 255)), text("long")); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 2 {
		t.Errorf("%v, %v: expected the file and the one with a long name", names, err)
	}
	for path, expected := range map[string]error{
		dir: unix.EISDIR, "/": unix.EISDIR, dir + "/.": unix.EISDIR, dir + "/..": unix.EISDIR, "": unix.ENOENT,
		dir + "/absent/file": unix.ENOENT, dir + "/absent/": unix.ENOENT, path + "/": unix.ENOTDIR, path + "/x": unix.ENOTDIR,
	} {
		err := Write(path, text("never"))
		if at, ok := errors.AsType[*fs.PathError](err); !ok || at.Path != path || !errors.Is(err, expected) {
			t.Errorf("%q: %v, expected %v", path, err, expected)
		}
	}
}

// Links are followed in directories that other users cannot write to, and their targets are
// replaced like other files.
func TestOwnLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	err := errors.Join(os.Chmod(dir, 0o700), os.Mkdir("sub", 0o700), os.WriteFile("sub/file", []byte("old"), 0o640),
		os.Symlink("sub/file", "relative"), os.Symlink(dir+"/sub", "absolute"), os.Symlink("../relative", "sub/back"),
		os.Symlink("sub/new", "dangling"), os.Symlink("loop", "loop"), os.Chmod("sub/file", 0o640))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"relative", "./relative", "absolute/file", "absolute/back", "sub/../absolute/./back", dir + "//absolute/back"} {
		if err := Write(path, text(path)); err != nil {
			t.Error(err)
		}
		want(t, "sub/file", path, 0o640)
	}
	if err := Write("dangling", text("new")); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile("sub/new"); string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	if err := Write("loop", text("")); !errors.Is(err, unix.ELOOP) {
		t.Error(err)
	}
	for _, link := range []string{"relative", "absolute", "sub/back", "dangling"} {
		if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s is not a link any more: %v, %v", link, info, err)
		}
	}
}

// Files that other users may have planted are refused, and not opened or changed.
func TestPlanted(t *testing.T) {
	needRoot(t)
	const other = 65534
	secret := filepath.Join(t.TempDir(), "secret")
	link := func(path string) error { return os.Symlink(secret, path) }
	file := func(mode uint32, user int) func(string) error {
		return func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("planted"), 0o600), unix.Chmod(path, mode), os.Chown(path, user, user))
		}
	}
	fifo := func(user int) func(string) error {
		return func(path string) error { return errors.Join(unix.Mkfifo(path, 0o666), os.Chown(path, user, user)) }
	}
	for _, test := range []struct {
		name   string
		mode   uint32
		user   int
		plant  func(string) error
		append bool
		reason string
	}{
		{"a link in a sticky directory", 0o1777, 0, link, false, "file is a symbolic link in a directory that other users can write to (mode 1777 of user 0); name its target instead"},
		{"a link in a directory of all", 0o777, 0, link, false, "symbolic link"},
		{"a link in a group's directory", 0o770, 0, link, false, "symbolic link"},
		{"a link in another's directory", 0o755, other, link, false, "symbolic link"},
		{"a FIFO in a sticky directory", 0o1777, 0, fifo(other), false, "a FIFO of user 65534"},
		{"a FIFO in another's directory", 0o755, other, fifo(other), false, "a FIFO of user 65534"},
		{"a file in a sticky directory", 0o1777, 0, file(0o666, other), false, "a regular file of user 65534"},
		{"a file in a directory of all", 0o777, 0, file(0o666, other), false, "a regular file of user 65534"},
		{"a file in a group's directory", 0o770, 0, file(0o666, other), false, "a regular file of user 65534"},
		{"a file in another's directory", 0o755, 12345, file(0o666, other), false, "a regular file of user 65534"},
		{"a link to append to", 0o1777, 0, link, true, "symbolic link"},
		{"a FIFO to append to", 0o700, 0, fifo(0), true, "a FIFO or a socket, expected a regular file"},
		{"a file to append to", 0o700, 0, file(0o600, other), true, "a file of user 65534, expected user 0"},
		{"a hard link to append to", 0o700, 0, func(path string) error { return os.Link(secret, path) }, true, "a file with 2 names, expected 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := directory(t, test.mode, test.user)
			path := filepath.Join(dir, "file")
			os.Remove(secret)
			if err := errors.Join(file(0o600, 0)(secret), test.plant(path)); err != nil {
				t.Fatal(err)
			}
			var before, after unix.Stat_t
			if err := unix.Lstat(path, &before); err != nil {
				t.Fatal(err)
			}
			var err error
			if test.append {
				_, err = Append(path)
			} else {
				err = Write(path, func(io.Writer) error { t.Error("it writes"); return nil })
			}
			at, ok := errors.AsType[*fs.PathError](err)
			if !ok || at.Path != path || !errors.Is(err, ErrPlanted) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("%v, expected %s", err, test.reason)
			}
			if err := unix.Lstat(path, &after); err != nil || after.Ino != before.Ino || after.Mode != before.Mode {
				t.Errorf("it was changed: %v", err)
			}
			want(t, secret, "planted", 0o600)
		})
	}
	// A link in an earlier component is refused too, also by Append.
	dir := directory(t, 0o1777, 0)
	if err := os.Symlink(filepath.Dir(secret), dir+"/up"); err != nil {
		t.Fatal(err)
	}
	_, err := Append(dir + "/up/secret")
	for _, err := range []error{Write(dir+"/up/secret", text("")), err} {
		if !errors.Is(err, ErrPlanted) || !strings.Contains(err.Error(), "up is a symbolic link") {
			t.Error(err)
		}
	}
	want(t, secret, "planted", 0o600)
	// So is one below another process's root, which may be that of a container.
	if err := Write(fmt.Sprintf("/proc/%d/root%s/up/secret", os.Getpid(), dir), text("")); !errors.Is(err, ErrPlanted) {
		t.Error(err)
	}
}

// Directory makes the directories of a path that do not exist, and none through a link that another user may have made.
func TestDirectory(t *testing.T) {
	needRoot(t)
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := t.TempDir()
	t.Chdir(dir)
	if err := errors.Join(os.Chmod(dir, 0o700), os.Symlink("new", "link"), os.WriteFile("file", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"link/one", dir + "/new/one//two/.", "new/one/two/../three/", "new", ".", "/", fmt.Sprintf("/proc/%d/cwd/new/four", os.Getpid())} {
		root, err := Directory(path)
		if err != nil {
			t.Error(err)
			continue
		}
		got, gotErr := root.Stat(".")
		expected, err := os.Stat(path)
		if err := errors.Join(gotErr, err, root.Close()); err != nil || !os.SameFile(got, expected) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, made := range []string{"new", "new/one", "new/one/two", "new/one/three", "new/four"} {
		if info, err := os.Lstat(made); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", made, info, err)
		}
	}
	shared := directory(t, 0o1777, 0)
	if err := errors.Join(os.Symlink(dir+"/new/four", shared+"/link"), os.Symlink(dir+"/new/four/new", shared+"/dangling")); err != nil {
		t.Fatal(err)
	}
	for path, expected := range map[string]error{
		"": unix.ENOENT, "file": unix.ENOTDIR, "file/new": unix.ENOTDIR, "/proc/new": unix.ENOENT,
		shared + "/link": ErrPlanted, shared + "/link/new": ErrPlanted, shared + "/dangling": ErrPlanted,
	} {
		_, err := Directory(path)
		if at, ok := errors.AsType[*fs.PathError](err); !ok || at.Path != path || !errors.Is(err, expected) {
			t.Errorf("%q: %v, expected %v", path, err, expected)
		}
	}
	if names, err := os.ReadDir("new/four"); err != nil || len(names) > 0 {
		t.Errorf("made %v, %v", names, err)
	}
}

// A user can write to that user's files in directories like /tmp.
func TestOwnInSharedDirectory(t *testing.T) {
	dir := directory(t, 0o1777, os.Getuid())
	path := filepath.Join(dir, "file")
	for range 2 {
		if err := Write(path, text("mine")); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(path); string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	for range 2 {
		f, err := Append(dir + "/log")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Error(err)
		}
		f.Close()
	}
	want(t, dir+"/log", "line\nline\n", 0o600)
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Write(dir+"/fifo", text("through")) }()
	if data, err := os.ReadFile(dir + "/fifo"); string(data) != "through" {
		t.Errorf("%q, %v", data, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Links of procfs can lead to files without a path: /dev/stdout, a pipe of the shell.
func TestProcfs(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, path := range []string{"/dev/fd/%d", "/proc/self/fd/%d"} {
		if err := Write(fmt.Sprintf(path, w.Fd()), text("out")); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	if data, err := io.ReadAll(r); string(data) != "outout" {
		t.Errorf("%q, %v", data, err)
	}
	if err := Write("/dev/null", text("out")); err != nil {
		t.Error(err)
	}
	if err := Write("/dev/full", text("out")); !errors.Is(err, unix.ENOSPC) {
		t.Error(err)
	}
}

// A temporary file has no name, with O_TMPFILE and without.
func TestTemporary(t *testing.T) {
	dir := t.TempDir()
	for _, open := range []func(string) (*os.File, error){Temporary, unnamed} {
		f, err := open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
			t.Errorf("%v, %v", names, err)
		}
		if _, err := f.WriteString("text"); err != nil {
			t.Error(err)
		}
		b := make([]byte, 4)
		if _, err := f.ReadAt(b, 0); err != nil || string(b) != "text" {
			t.Errorf("%q, %v", b, err)
		}
		if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}
