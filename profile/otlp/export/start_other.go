// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package export

import "os/exec"

// start starts a program.
func start(cmd *exec.Cmd) error { return cmd.Start() }
