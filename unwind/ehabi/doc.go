// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package ehabi finds the rules of frames in the exception tables of 32-bit Arm,
// .ARM.exidx and .ARM.extab, which programs for Arm have in place of .eh_frame
// (Exception Handling ABI for the Arm Architecture, EHABI32).
//
// The tables describe a function's frame at its calls, not in its prologue and
// epilogue. So the package returns rules for an interrupted frame only where they are
// certain: after a system call, and in functions without a frame. The package reads no
// file and walks nothing.
package ehabi
