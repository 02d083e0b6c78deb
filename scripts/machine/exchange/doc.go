// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package exchange describes the directory through which the emulated arm64 machine of
// scripts/test-arm64 and its host ask each other to run programs. The host makes the
// directory. The machine reads and writes it by semihosting, which only has open, read, write,
// rename and remove, so both sides look for files by name.
//
//	run/N.call    a Call of the host; N counts from 1
//	run/N.out     the output of that program so far
//	run/N.status  its Result, without output
//	tool/X.call   a Call of the machine; X is any name
//	tool/X.result its Result
//	tool/X.to     data of its connection to the machine, a stream
//	tool/X.from   data from the machine, a stream
//	ended         the reason why the machine has ended
//
// Except for run/N.out and streams, a file is written under another name and renamed when it
// is complete. The package runs no programs.
package exchange
