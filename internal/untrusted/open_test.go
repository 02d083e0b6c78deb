// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package untrusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// withoutOpenat2 runs a test a second time without the system call, as before Linux 5.6 or
// under a seccomp filter.
func withoutOpenat2(t *testing.T, test func(t *testing.T)) {
	t.Run("openat2", test)
	for name, err := range map[string]error{"ENOSYS": unix.ENOSYS, "EPERM": unix.EPERM, "EAGAIN": unix.EAGAIN} {
		t.Run(name, func(t *testing.T) {
			defer func(old func(int, string, *unix.OpenHow) (int, error)) { openat2 = old }(openat2)
			openat2 = func(int, string, *unix.OpenHow) (int, error) { return -1, err }
			test(t)
		})
	}
}

// makeTree makes the files and links of a test in a new directory.
func makeTree(t *testing.T, files, links map[string]string, directories ...string) (outer string) {
	t.Helper()
	outer = t.TempDir()
	for _, name := range directories {
		if err := os.MkdirAll(filepath.Join(outer, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(outer, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range links {
		if err := os.Symlink(to, filepath.Join(outer, link)); err != nil {
			t.Fatal(err)
		}
	}
	return outer
}

func TestOpenStaysBelowRoot(t *testing.T) {
	outer := makeTree(t, map[string]string{"secret": "outside", "root/secret": "inside", "root/lib/a": "a"},
		map[string]string{"root/up": "../secret", "root/lib/b": "a", "root/absolute": "/secret", "root/loop": "loop", "root/folder": "/lib",
			"root/lib/up": "../../../lib", "root/self": "/proc/self/root/secret", "alias": "root", "root/out": "../../secret"})
	withoutOpenat2(t, func(t *testing.T) {
		for _, tt := range []struct{ name, want string }{
			{"/lib/a", "a"},
			{"lib/a", "a"},
			{"/lib/b", "a"},
			{"/lib/../lib/a", "a"},
			{"//lib/./b", "a"},
			{"/folder/b", "a"},
			{"/folder/up/up/../folder/a", "a"},
			{"/../secret", "inside"},
			{"/lib/../../../secret", "inside"},
			{"/up", "inside"},
			{"/out", "inside"},
			{"/absolute", "inside"},
			{"/self", ""},
			{"/absent", ""},
			{"/absent/../secret", ""},
			{"/secret/../secret", ""},
			{"/loop", ""},
			{"/", ""},
			{"", ""},
			{strings.Repeat("/lib/..", 1000) + "/secret", ""},
			{strings.Repeat("/lib/..", 10) + "/secret", "inside"},
			{"/a\x00b", ""},
		} {
			for _, root := range []string{filepath.Join(outer, "root"), filepath.Join(outer, "alias")} {
				f, err := Open(root, tt.name)
				if err != nil {
					var pathError *fs.PathError
					if tt.want != "" || !errors.As(err, &pathError) {
						t.Errorf("%.20s: %v", tt.name, err)
					}
					continue
				}
				b, err := io.ReadAll(f)
				f.Close()
				if err != nil || string(b) != tt.want {
					t.Errorf("%.20s holds %q (%v), expected %q", tt.name, b, err, tt.want)
				}
			}
		}
	})
}

// A link of procfs can lead anywhere, independently of its text: to another process's files,
// or out of a root directory.
func TestOpenFollowsNoMagicLink(t *testing.T) {
	outer := makeTree(t, map[string]string{"file": "text"}, map[string]string{"exe": "/proc/self/exe", "out": "/proc/self/root", "in": "file"})
	f, err := os.Open(filepath.Join(outer, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	descriptor := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	withoutOpenat2(t, func(t *testing.T) {
		for _, name := range []string{filepath.Join(outer, "exe"), filepath.Join(outer, "out", outer, "file"), "/proc/self/exe", descriptor, "/proc/self/cwd/doc.go"} {
			for _, root := range []string{"", "/"} {
				if f, err := Open(root, name); err == nil || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%q, %s: %v", root, name, err)
					f.Close()
				}
			}
			f, err := OpenNamed(name) // the user typed it
			if err != nil {
				t.Error(err)
				continue
			}
			f.Close()
		}
		for _, tt := range []struct{ root, name string }{{"/proc/self/root", filepath.Join(outer, "in")}, {"", filepath.Join(outer, "in")}, {"", "doc.go"},
			{"", "../untrusted/doc.go"}} {
			f, err := Open(tt.root, tt.name)
			if err != nil {
				t.Errorf("%q, %s: %v", tt.root, tt.name, err)
				continue
			}
			f.Close()
		}
	})
}

// Only regular files are opened: opening a FIFO waits, and opening a device may have an
// effect. The test sees whether the FIFO has a reader.
func TestOpenRefusesDevicesAndFIFOs(t *testing.T) {
	root := makeTree(t, map[string]string{"file": ""}, map[string]string{"link": "file", "device": "/dev/zero", "dev/watchdog": "/dev/null",
		"tofifo": "fifo", "kmsg": "/proc/kmsg", "uevent": "/sys/kernel/uevent_seqnum"}, "directory", "dev")
	fifo := filepath.Join(root, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	if err := unix.Bind(socket, &unix.SockaddrUnix{Name: filepath.Join(root, "socket")}); err != nil {
		t.Fatal(err)
	}
	withoutOpenat2(t, func(t *testing.T) {
		for _, tt := range []struct {
			root, name string
			kind       string // "" for a regular file
		}{
			{root, "/directory", "a directory"},
			{root, "/fifo", "a FIFO"},
			{root, "/tofifo", "a FIFO"},
			{root, "/socket", "a socket"},
			{"", filepath.Join(root, "directory"), "a directory"},
			{"", filepath.Join(root, "fifo"), "a FIFO"},
			{"", filepath.Join(root, "device"), "a character device"},
			{"", filepath.Join(root, "dev/watchdog"), "a character device"},
			{"", "/dev/null", "a character device"},
			{"/", "/dev/null", "a character device"},
			{"/", filepath.Join(root, "device"), "a character device"},
			{"", filepath.Join(root, "kmsg"), "a file of procfs"},
			{"", "/proc/version", "a file of procfs"},
			{"/", "/proc/version", "a file of procfs"},
			{"", filepath.Join(root, "uevent"), "a file of sysfs"},
			{"/sys", "/kernel/uevent_seqnum", "a file of sysfs"},
			{"", filepath.Join(root, "link"), ""},
			{root, "/link", ""},
			{"", "open_test.go", ""}, // relative to the working directory
		} {
			f, err := Open(tt.root, tt.name)
			if err == nil {
				f.Close()
			}
			if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(tt.name, "/sys") {
				continue // a sandbox without it
			}
			if (tt.kind == "") != (err == nil) || tt.kind != "" && (!errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), "(it is "+tt.kind+")")) {
				t.Errorf("%q, %q: %v", tt.root, tt.name, err)
			}
			if tt.root != "" {
				continue
			}
			if f, err := OpenNamed(tt.name); (tt.kind == "") != (err == nil) {
				t.Errorf("%q, named: %v", tt.name, err)
			} else if err == nil {
				f.Close()
			}
		}
	})
	for _, name := range []string{"/dev/null", filepath.Join(root, "link")} {
		f, err := OpenInput(name)
		if err != nil {
			t.Error(err)
			continue
		}
		f.Close()
	}
	go os.WriteFile(fifo, []byte("streamed"), 0)
	f, err := OpenInput(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "streamed" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// A lease on a file delays every open of the file by 45 seconds.
func TestOpenDoesNotWaitForLease(t *testing.T) {
	dir := makeTree(t, map[string]string{"leased": "text"}, nil)
	path := filepath.Join(dir, "leased")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	signal.Ignore(unix.SIGIO) // the kernel sends it to the holder
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no lease on files of %s: %v", dir, err)
	}
	withoutOpenat2(t, func(t *testing.T) {
		for _, root := range []string{"", "/"} {
			if f, err := Open(root, path); !errors.Is(err, ErrLeased) || !errors.Is(err, unix.EWOULDBLOCK) {
				t.Error(f, err)
			}
		}
		if f, err := OpenNamed(path); !errors.Is(err, ErrLeased) {
			t.Error(f, err)
		}
	})
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
		t.Fatal(err)
	}
	if f, err := Open("", path); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}

// Without procfs only files with trusted names are opened.
func TestOpenWithoutProc(t *testing.T) {
	defer func(old string) { descriptors = old }(descriptors)
	descriptors = "/nonexistent/"
	dir := makeTree(t, map[string]string{"file": "text"}, nil)
	path := filepath.Join(dir, "file")
	if f, err := Open("", path); !errors.Is(err, errNoProc) {
		t.Error(f, err)
	}
	f, err := OpenNamed(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := ReadAll(f, 10); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range []string{dir, "/dev/null", "/proc/version"} {
		if f, err := OpenNamed(name); !errors.Is(err, ErrNotRegular) {
			t.Error(name, f, err)
		}
	}
}

// If a file is replaced while it is opened, one of the two is opened: never a device or
// FIFO, and never a file outside of the root.
func TestSwappedWhileOpened(t *testing.T) {
	outer := makeTree(t, map[string]string{"secret": "outside", "root/a/file": "inside", "root/b/file": "inside"},
		map[string]string{"root/out": "../secret", "root/device": "/dev/zero", "root/outer": ".."}, "root", "root/d")
	root := filepath.Join(outer, "root")
	fifo := filepath.Join(root, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		exchange := func(a, b string) {
			unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, a), unix.AT_FDCWD, filepath.Join(root, b), unix.RENAME_EXCHANGE)
		}
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, other := range []string{"out", "fifo", "device", "d", "outer"} {
				exchange("a/file", other)
				exchange("a", "outer")
				exchange("a", "outer")
				exchange("a/file", other)
			}
		}
	}()
	defer func() {
		close(stop)
		<-stopped
		if f, err := os.OpenFile(fifo, os.O_WRONLY|unix.O_NONBLOCK, 0); !errors.Is(err, unix.ENXIO) {
			t.Error("the FIFO is open", f, err)
		}
	}()
	withoutOpenat2(t, func(t *testing.T) {
		opened := 0
		// The other thread may have to wait for a processor after it has put a bad file there.
		for i := 0; i < 3000 || opened == 0 && i < 3_000_000; i++ {
			for _, name := range []string{"/a/file", "/a/../a/file", "/b/../a/../a/file"} {
				f, err := Open(root, name)
				if err != nil {
					continue
				}
				opened++
				if text, err := ReadAll(f, 100); string(text) != "inside" || err != nil {
					t.Fatalf("%s holds %q (%v)", name, text, err)
				}
				f.Close()
			}
		}
		if opened == 0 {
			t.Error("nothing was ever opened")
		}
	})
}

// As root, OpenPlanted does not follow a link in the last component.
func TestOpenPlanted(t *testing.T) {
	dir := makeTree(t, map[string]string{"file": "", "folder/file": ""}, map[string]string{"link": "file", "up": "folder", "folder/link": "../link"})
	withoutOpenat2(t, func(t *testing.T) {
		for name, ok := range map[string]bool{"file": true, "link": false, "up/file": true, "up/link": false, "gone": false} {
			for _, root := range []string{"", dir} {
				full := name
				if root == "" {
					full = filepath.Join(dir, name)
				}
				f, err := OpenPlanted(root, full)
				if err == nil {
					f.Close()
				}
				ok := ok || os.Geteuid() != 0 && name != "gone"
				if (err == nil) != ok || !ok && name != "gone" && !errors.Is(err, ErrNotRegular) {
					t.Errorf("%s in %q: %v", name, root, err)
				}
			}
		}
	})
}
