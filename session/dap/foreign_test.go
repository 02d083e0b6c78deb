// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session/socket"
)

// A client that Clew did not write, npm's @vscode/debugadapter-testsupport, launches, sets
// breakpoints of every kind, steps, evaluates, restarts and disconnects, also in the middle.
func TestForeignClient(t *testing.T) {
	node := testprogram.RequireTool(t, "node")
	modules := testprogram.NodeModules(t, "dap-client", "testdata/client")
	p := compile(t, "-O0")
	l, err := socket.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	server := New(Options{Launch: load})
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	port := l.Address()[strings.LastIndexByte(l.Address(), ':')+1:]
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, "testdata/client/client.js", modules, port, p.object, p.path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), " scenarios\n") {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "not ok") {
			t.Error(strings.TrimSpace(line))
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != ErrClosed {
		t.Error(err)
	}
}
