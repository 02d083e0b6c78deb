// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// clientVariable makes the test program a client of the address in it.
const clientVariable = "CLEW_TEST_CLIENT"

func TestMain(m *testing.M) {
	address := os.Getenv(clientVariable)
	if address == "" {
		os.Exit(m.Run())
	}
	if err := beClient(address); err != nil {
		fmt.Println(err)
	}
}

// beClient connects to a path or to FAMILY ADDRESS, reports that, and waits for the end of its
// standard input.
func beClient(address string) error {
	family, to := unix.AF_UNIX, unix.Sockaddr(&unix.SockaddrUnix{Name: address})
	if ip, at, ok := strings.Cut(address, " "); ok {
		a, err := netip.ParseAddrPort(at)
		if err != nil {
			return err
		}
		switch ip {
		case "4":
			family, to = unix.AF_INET, &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}
		case "6": // an IPv4 address becomes an IPv4-mapped one
			family, to = unix.AF_INET6, &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port())}
		}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Connect(fd, to)
	}
	if err == nil {
		fmt.Println("connected")
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return err
}

// program returns a copy of the test program that every user can execute.
func program(t *testing.T) (dir, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = os.MkdirTemp("", "clew-socket"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path = filepath.Join(dir, "client")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, data, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

// A client of another user is refused from any address, and one of the same user is admitted.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can become another user")
	}
	const unprivileged = 65534 // the user nobody
	dir, client := program(t)
	path := filepath.Join(dir, "socket")
	for _, test := range []struct{ listen, family, host string }{
		{":0", "4", "127.0.0.1"}, {":0", "6", "127.0.0.1"}, {"127.0.0.2:0", "4", "127.0.0.2"},
		{"[::1]:0", "6", "[::1]"}, {"[::ffff:127.0.0.1]:0", "4", "127.0.0.1"}, {"[::ffff:127.0.0.1]:0", "6", "127.0.0.1"},
		{"unix:" + path, "", path},
	} {
		for _, user := range []uint32{unprivileged, 0} {
			t.Run(fmt.Sprintf("%s%s-%d", test.listen, test.family, user), func(t *testing.T) {
				l, err := Listen(test.listen)
				if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) {
					t.Skip("skipped: no IPv6 here")
				}
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				port := l.Address()[strings.LastIndexByte(l.Address(), ':')+1:]
				address := test.family + " " + test.host + ":" + port
				if test.family == "" {
					address = path
					// The mode alone would already refuse other users.
					if err := os.Chmod(path, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(client)
				cmd.Env, cmd.Dir = []string{clientVariable + "=" + address}, "/"
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer cmd.Wait()
				defer in.Close()
				b := make([]byte, 100)
				if n, err := out.Read(b); string(b[:n]) != "connected\n" {
					t.Fatalf("the client says %q, %v", b[:n], err)
				}
				c, err := l.Accept()
				if c == nil {
					t.Fatal(err)
				}
				defer c.Close()
				var refused *RefusedError
				switch {
				case user == 0 && err != nil:
					t.Error(err)
				case user != 0 && (!errors.As(err, &refused) || refused.User != unprivileged || refused.Owner != 0 || refused.Err != nil):
					t.Errorf("%v, expected user %d to be refused", err, unprivileged)
				}
			})
		}
	}
}

// A client that has closed its socket does not count as root, although such sockets have user 0.
func TestClosedClient(t *testing.T) {
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := netip.MustParseAddrPort(l.Address())
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())})
	if err := errors.Join(err, unix.Close(fd)); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Err == nil {
		t.Errorf("%v, expected a client of unknown user", err)
	}
	c.Close()
}

// Rows of the tables that are missing, closing, without a socket, duplicate, or different the
// second time.
func TestTCPUser(t *testing.T) {
	client, server := netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("127.0.0.1:1234")
	hexEndpoint := func(a netip.AddrPort, v6 bool) string {
		b := a.Addr().AsSlice()
		if v6 {
			mapped := a.Addr().As16()
			b = mapped[:]
		}
		text := ""
		for ; len(b) > 0; b = b[4:] {
			// As the kernel prints a __be32 with %08X.
			text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b))
		}
		return fmt.Sprintf("%s:%04X", text, a.Port())
	}
	line := func(from, to netip.AddrPort, v6 bool, state, user, inode string) string {
		return "   1: " + hexEndpoint(from, v6) + " " + hexEndpoint(to, v6) + " " + state + " 00000000:00000000 00:00000000 00000000  " + user + "        0 " + inode + " 1 0000000000000000 20 4 30 10 -1\n"
	}
	good := line(client, server, false, "01", "1000", "77")
	const none = "absent"
	for _, test := range []struct {
		name   string
		tables [4]string // tcp and tcp6, twice
		user   int
	}{
		{"IPv4", [4]string{good, "", good, ""}, 1000},
		{"a kernel without IPv6", [4]string{good, none, good, none}, 1000},
		{"mapped", [4]string{"", line(client, server, true, "01", "1000", "77"), "", line(client, server, true, "01", "1000", "77")}, 1000},
		{"missing", [4]string{"", "", "", ""}, -1},
		{"no /proc", [4]string{none, none, none, none}, -1},
		{"the server's own row", [4]string{line(server, client, false, "01", "0", "78"), "", "", ""}, -1},
		{"closing", [4]string{line(client, server, false, "04", "0", "77"), "", "", ""}, -1},
		{"orphaned", [4]string{line(client, server, false, "01", "0", "0"), "", "", ""}, -1},
		{"another connection comes", [4]string{line(client, server, false, "02", "0", "77"), "", "", ""}, -1},
		{"closed while it is read", [4]string{line(client, server, false, "01", "0", "77"), "", line(client, server, false, "04", "0", "0"), ""}, -1},
		{"used again while it is read", [4]string{good, "", line(client, server, false, "01", "0", "79"), ""}, -1},
		{"listed twice", [4]string{good + good, "", good, ""}, 1000},
		{"twice", [4]string{good + line(client, server, false, "01", "0", "80"), "", "", ""}, -1},
		{"truncated", [4]string{"   1: 0100007F:9C40", "", "", ""}, -1},
		{"no number", [4]string{line(client, server, false, "01", "x", "77"), "", "", ""}, -1},
	} {
		next := 0
		open := func(string) (io.ReadCloser, error) {
			text := test.tables[next]
			if next++; text == none {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader("  sl  local_address rem_address   st\n" + text)), nil
		}
		user, err := tcpUser(client, func() (row, error) { return tableRow(client, server, open) })
		if user != test.user || (err != nil) != (test.user < 0) {
			t.Errorf("%s: user %d, %v; expected %d", test.name, user, err, test.user)
		}
	}
}

// The kernel's answer for one connection is the same as in its tables.
func TestDiagnose(t *testing.T) {
	for _, test := range []struct{ network, listen, connect string }{
		{"tcp4", "127.0.0.1:0", ""}, {"tcp6", "[::1]:0", ""}, {"tcp", "[::]:0", "[::ffff:127.0.0.1]"},
	} {
		l, err := net.Listen(test.network, test.listen)
		if err != nil {
			t.Logf("%s: %v", test.listen, err)
			continue
		}
		defer l.Close()
		to := l.Addr().String()
		if test.connect != "" {
			_, port, _ := net.SplitHostPort(to)
			to = test.connect + ":" + port
		}
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		unmap := func(a net.Addr) netip.AddrPort {
			at := a.(*net.TCPAddr).AddrPort()
			return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
		}
		client, server := unmap(c.LocalAddr()), unmap(c.RemoteAddr())
		want, err := tableRow(client, server, openTable)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := diagnose(client, server); got != want || err != nil {
			t.Errorf("%s: %+v, %v; expected %+v", to, got, err, want)
		}
		// The listener is not a client, and the other port has no socket.
		for _, other := range []netip.AddrPort{server, netip.AddrPortFrom(client.Addr(), 1)} {
			if got, err := diagnose(other, server); err == nil {
				t.Errorf("%v to %v: %+v", other, server, got)
			}
		}
		c.Close()
		if got, err := diagnose(client, server); err == nil {
			t.Errorf("closed: %+v", got)
		}
	}
}

// A Unix socket has its mode from the start, and abstract addresses are refused. An address outside
// the loopback interface needs ListenRemote.
func TestAddresses(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	t.Chdir(t.TempDir())
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, ".", unix.IN_ATTRIB); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"socket", "@socket"} {
		l, err := Listen("unix:" + path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode()&fs.ModeSocket == 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		if n, err := unix.Read(watch, make([]byte, 1000)); err != unix.EAGAIN {
			t.Errorf("%s: %d bytes of events, %v: its mode was changed after it had its name", path, n, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, address := range []string{"unix:", "unix:a\x00b"} {
		if _, err := Listen(address); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:0.0.0.0]:0"} {
		if _, err := Listen(address); !errors.Is(err, ErrRemote) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for address, remote := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false, "unix:socket": false} {
		l, err := ListenRemote(address)
		if err != nil {
			t.Fatal(err)
		}
		if l.Remote() != remote {
			t.Errorf("%s: remote %t", address, l.Remote())
		}
		l.Close()
	}
}
