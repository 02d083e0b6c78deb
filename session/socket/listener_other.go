// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package socket

import (
	"errors"
	"io"
)

// Listener accepts connections, on Linux only.
type Listener struct{}

// Listen returns errors.ErrUnsupported: debug sessions are for Linux.
func Listen(address string) (*Listener, error) {
	if _, _, err := parse(address); err != nil {
		return nil, err
	}
	return nil, errors.ErrUnsupported
}

// ListenRemote is Listen.
func ListenRemote(address string) (*Listener, error) { return Listen(address) }

func (*Listener) Address() string { return "" }

func (*Listener) Remote() bool { return false }

func (*Listener) Accept() (io.ReadWriteCloser, error) { return nil, errors.ErrUnsupported }

func (*Listener) Close() error { return nil }
