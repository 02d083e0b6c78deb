// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package worker starts and controls workers, the processes of debug sessions. A worker shares this
// program's address space, and this program traces it. The package starts a worker, reads and sets
// its registers, resumes it, and waits for it.
//
// A worker has no code except an endless pause: a caller sets its registers and resumes it. No signal
// reaches a worker: it blocks all, and the tracer takes those of faults.
//
// The package knows nothing of images, breakpoints and calls.
package worker
