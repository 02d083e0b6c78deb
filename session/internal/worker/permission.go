// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import "fmt"

// PermissionError is the error of a system call that a worker needs.
type PermissionError struct {
	Call string // clone, ptrace
	Err  error
}

func (e *PermissionError) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Err) }

func (e *PermissionError) Unwrap() error { return e.Err }
