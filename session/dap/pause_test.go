// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"testing"

	"github.com/google/go-dap"
)

// A pause request during a stop succeeds without another stop.
func TestPauseWhenStopped(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "sum(2, first)", "stopOnEntry=true")
	e.run()
	e.stopped("entry")
	ask[*dap.PauseResponse](e, &dap.PauseRequest{Arguments: dap.PauseArguments{ThreadId: 1}})
	e.resume()
	e.ended(0)
	e.disconnect()
}

// An editor can connect as soon as the previous one has its last response.
func TestReconnect(t *testing.T) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	for range 10 {
		e.launch(p, "sum(2, first)", "stopOnEntry=true")
		e.run()
		e.stopped("entry")
		e.disconnect()
		e = dial(t, e.conn.RemoteAddr().String())
	}
}
