// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// Data that a client writes to the relay's port arrives in one stream, and the data of the
// other stream arrives at the client, completely.
func TestRelay(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(exchange.ToolFolder(root), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := newRelay(root, "x")
	if err != nil {
		t.Fatal(err)
	}
	args := r.replace([]string{"-o", "gdb-remote 4321", "14321"}, 4321)
	_, port, _ := net.SplitHostPort(r.listener.Addr().String())
	if args[1] != "gdb-remote "+port || args[2] != "14321" {
		t.Errorf("arguments %q, the port is %s", args, port)
	}
	client, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	long := strings.Repeat("0123456789abcdef", 20_000) // of several blocks

	// The machine sends back the data that it receives.
	down, err := os.Open(exchange.ToMachine(root, "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer down.Close()
	up, err := os.OpenFile(exchange.FromMachine(root, "x"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	echoed := make(chan error, 1)
	go func() {
		var got bytes.Buffer
		err := exchange.Receive(&got, down, nil)
		if err == nil {
			err = exchange.Send(up, &got)
		}
		echoed <- err
	}()
	if _, err := io.WriteString(client, long); err != nil {
		t.Fatal(err)
	}
	client.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(client); err != nil || string(got) != long {
		t.Errorf("%d bytes come back of %d: %v", len(got), len(long), err)
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
	r.close()
	if left, _ := os.ReadDir(exchange.ToolFolder(root)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// A relay ends without a client, and without data from the other side.
func TestRelayUnused(t *testing.T) {
	for _, connected := range []bool{false, true} {
		root := t.TempDir()
		if err := os.Mkdir(exchange.ToolFolder(root), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := newRelay(root, "x")
		if err != nil {
			t.Fatal(err)
		}
		if connected {
			client, err := net.Dial("tcp", r.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			client.Close()
		}
		r.close()
	}
}
