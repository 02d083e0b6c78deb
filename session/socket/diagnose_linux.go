// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// The request and the answer of sock_diag(7) for one socket: struct inet_diag_req_v2 and
// inet_diag_msg of include/uapi/linux/inet_diag.h, each after a struct nlmsghdr.
const (
	netlinkHeader = 16
	diagRequest   = netlinkHeader + 56
	diagAnswer    = netlinkHeader + 72

	loopbackInterface = 1 // LOOPBACK_IFINDEX of include/net/flow.h; sockets without an interface match too
)

var errAnswer = errors.New("sock_diag: unexpected answer")

// diagnose asks the kernel for the socket that is bound to local and connected to remote, both of the
// loopback interface. Unlike the tables of procfs, the answer does not list all connections of the
// machine.
func diagnose(local, remote netip.AddrPort) (row, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return row{}, fmt.Errorf("sock_diag: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, diagnoseRequest(local, remote), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return row{}, fmt.Errorf("sock_diag: %w", err)
	}
	var b [4096]byte
	n, from, err := unix.Recvfrom(fd, b[:], 0)
	if err != nil {
		return row{}, fmt.Errorf("sock_diag: %w", err)
	}
	if kernel, ok := from.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 || n < netlinkHeader {
		return row{}, errAnswer
	}
	order := binary.NativeEndian
	switch order.Uint16(b[4:]) {
	case unix.NLMSG_ERROR:
		return row{}, fmt.Errorf("sock_diag: %w", unix.Errno(-int32(order.Uint32(b[netlinkHeader:]))))
	case unix.SOCK_DIAG_BY_FAMILY:
	default:
		return row{}, errAnswer
	}
	if n < diagAnswer {
		return row{}, errAnswer
	}
	answer := b[netlinkHeader:]
	const established = 1
	found := row{user: int(order.Uint32(answer[64:])), inode: uint64(order.Uint32(answer[68:]))}
	ports := binary.BigEndian.Uint16(answer[4:]) == local.Port() && binary.BigEndian.Uint16(answer[6:]) == remote.Port()
	if answer[1] != established || !ports || found.inode == 0 {
		return row{}, fmt.Errorf("no established connection from %v to %v", local, remote)
	}
	return found, nil
}

// diagnoseRequest returns the request for one socket. IPv4 addresses also find a connection from a
// client with IPv4-mapped ones.
func diagnoseRequest(local, remote netip.AddrPort) []byte {
	b := make([]byte, diagRequest)
	order := binary.NativeEndian
	order.PutUint32(b, diagRequest)
	order.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(b[6:], unix.NLM_F_REQUEST)
	request := b[netlinkHeader:]
	request[0], request[1] = unix.AF_INET, unix.IPPROTO_TCP
	if local.Addr().Is6() {
		request[0] = unix.AF_INET6
	}
	order.PutUint32(request[4:], ^uint32(0)) // all states
	id := request[8:]
	binary.BigEndian.PutUint16(id, local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:], local.Addr().AsSlice())
	copy(id[20:], remote.Addr().AsSlice())
	order.PutUint32(id[36:], loopbackInterface)
	order.PutUint64(id[40:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	return b
}
