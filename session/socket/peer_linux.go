// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package socket

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// admit returns a *RefusedError unless the other end of a connection belongs to this
// process's effective user.
func admit(fd int) error {
	refused := &RefusedError{Owner: os.Geteuid()}
	refused.User, refused.Err = peerUser(fd)
	if refused.Err == nil && refused.User == refused.Owner {
		if refused.Err = distinct(refused.Owner); refused.Err == nil {
			return nil
		}
	}
	return refused
}

// distinct returns an error if other users can have the same ID for this process: the kernel shows
// users outside the user namespace as the overflow user (user_namespaces(7), "Unmapped user and group
// IDs").
func distinct(user int) error {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(overflow)) != strconv.Itoa(user) {
		return nil
	}
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return err
	}
	if strings.Join(strings.Fields(string(users)), " ") != "0 0 4294967295" {
		return fmt.Errorf("user %d stands for all users outside this user namespace", user)
	}
	return nil
}

// peerUser returns the user of the other end of a connection.
func peerUser(fd int) (int, error) {
	local, err := unix.Getsockname(fd)
	if err != nil {
		return -1, err
	}
	if _, ok := local.(*unix.SockaddrUnix); ok {
		peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return -1, err
		}
		return int(peer.Uid), nil
	}
	peer, err := unix.Getpeername(fd)
	if err != nil {
		return -1, err
	}
	client, server := endpoint(peer), endpoint(local)
	return tcpUser(client, func() (row, error) {
		found, err := diagnose(client, server)
		if err != nil { // a seccomp filter, or a kernel without sock_diag
			found, err = tableRow(client, server, openTable)
		}
		return found, err
	})
}

// endpoint returns the address of a TCP socket, in four bytes for IPv4.
func endpoint(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// openTable opens a table of sockets in this process's network namespace.
func openTable(name string) (io.ReadCloser, error) {
	f, err := os.Open("/proc/self/net/" + name)
	if err != nil {
		return nil, err
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil || fs.Type != unix.PROC_SUPER_MAGIC {
		f.Close()
		return nil, errors.New("/proc is not procfs")
	}
	return f, nil
}

// tcpUser returns the user of the socket that is bound to client. The function find returns its row.
//
// A closed socket has user 0 while its connection is closing. So a row counts only while the connection
// is established, and only if a second look finds it too: the socket was then open when its user was
// read.
func tcpUser(client netip.AddrPort, find func() (row, error)) (int, error) {
	first, err := find()
	if err != nil {
		return -1, err
	}
	second, err := find()
	if err != nil {
		return -1, err
	}
	if second != first {
		return -1, fmt.Errorf("the connection from %v changed hands", client)
	}
	return first.user, nil
}

// tableRow returns the row of the socket that is bound to local and connected to remote,
// from the tables of procfs. An IPv4 connection can have its row in tcp6, if its client
// uses IPv4-mapped addresses.
func tableRow(local, remote netip.AddrPort, open func(table string) (io.ReadCloser, error)) (row, error) {
	var found []row
	for _, name := range []string{"tcp", "tcp6"} {
		table, err := open(name)
		if errors.Is(err, os.ErrNotExist) && name == "tcp6" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return row{}, err
		}
		found, err = appendRows(found, table, local, remote)
		table.Close()
		if err != nil {
			return row{}, fmt.Errorf("/proc/net/%s: %w", name, err)
		}
	}
	// A socket can be listed twice if others open or close while the table is read.
	found = slices.Compact(found)
	if len(found) != 1 {
		return row{}, fmt.Errorf("%d established connections from %v to %v in /proc/net/tcp and tcp6, expected 1", len(found), local, remote)
	}
	return found[0], nil
}

// row is the owner of a socket in a table of sockets.
type row struct {
	user  int
	inode uint64
}

// appendRows appends the rows of the established connections from local to remote.
func appendRows(rows []row, table io.Reader, local, remote netip.AddrPort) ([]row, error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		// proc_pid_net(5): sl, local and remote address, st, the queues, tr and
		// tm->when, retrnsmt, uid, timeout, inode.
		f := strings.Fields(lines.Text())
		const established = "01"
		if len(f) < 10 || f[3] != established || f[9] == "0" {
			continue
		}
		if a, ok := parseEndpoint(f[1]); !ok || a != local {
			continue
		}
		if a, ok := parseEndpoint(f[2]); !ok || a != remote {
			continue
		}
		user, err := strconv.Atoi(f[7])
		if err != nil {
			return rows, err
		}
		inode, err := strconv.ParseUint(f[9], 10, 64)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{user, inode})
	}
	return rows, lines.Err()
}

// parseEndpoint parses an address and a port in hexadecimal. The address has words in the host's byte
// order, the port is a number.
func parseEndpoint(text string) (netip.AddrPort, bool) {
	address, port, _ := strings.Cut(text, ":")
	words, err := hex.DecodeString(address)
	number, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(words)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for w := words; len(w) > 0; w = w[4:] {
		binary.NativeEndian.PutUint32(w, binary.BigEndian.Uint32(w))
	}
	ip, ok := netip.AddrFromSlice(words)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), ok
}
