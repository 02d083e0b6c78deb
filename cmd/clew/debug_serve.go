// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"

	"github.com/clewdev/clew/session"
)

func serveRSP(s *session.Session, p *debugged, flags *debugFlags) error {
	return errors.New("--rsp is not there yet")
}

func serveDAP(s *session.Session, p *debugged, flags *debugFlags) error {
	return errors.New("--dap is not there yet")
}
