// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package exchange is the folder through which the emulated arm64 machine of
// scripts/test-arm64 and its host ask each other to run programs. The host
// makes the folder; the machine reads and writes it by semihosting, which
// offers open, read, write, rename and remove and no more, so both sides look
// for files by name.
//
//	run/N.call    a Call of the host, N counting from 1
//	run/N.out     what that program has written so far
//	run/N.status  its Result, without output
//	tool/X.call   a Call of the machine, X as it likes
//	tool/X.result its Result
//	tool/X.to     what its connection writes to the machine, a stream
//	tool/X.from   what comes back
//	ended         why the machine is gone, once it is
//
// A file but for run/N.out and streams is written beside its place and renamed:
// who sees it sees all of it. The package doesn't run anything.
package exchange
