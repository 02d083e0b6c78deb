// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestListen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: only Linux is listened on")
	}
	path := filepath.Join(t.TempDir(), "socket")
	for _, test := range []struct{ address, network string }{
		{":0", "tcp"}, {"127.0.0.1:0", "tcp"}, {"localhost:0", "tcp"}, {"unix:" + path, "unix"},
	} {
		l, err := Listen(test.address)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); test.network == "unix" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%v, %v: others can connect", info, err)
		}
		done := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				defer c.Close()
				_, err = io.Copy(c, c)
			}
			done <- err
		}()
		client, err := net.Dial(test.network, l.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		var answer [5]byte
		if _, err := io.ReadFull(client, answer[:]); err != nil || string(answer[:]) != "hello" {
			t.Fatalf("%q, %v", answer, err)
		}
		client.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		go func() {
			_, err := l.Accept()
			done <- err
		}()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != os.ErrClosed {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, address := range []string{"", "1234", "example.org:80", ":x", ":65536"} {
		if _, err := Listen(address); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", address, err)
		}
	}
	taken, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Listen(taken.Address()); err == nil {
		t.Error("twice")
	}
}
