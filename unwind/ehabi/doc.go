// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package ehabi finds the rules of frames in the exception tables of 32-bit Arm,
// .ARM.exidx and .ARM.extab, which programs have there in place of .eh_frame
// (Exception Handling ABI for the Arm Architecture, EHABI32).
//
// The tables describe what holds where a function calls another: not in its
// prologue and epilogue. So the rules of a frame that was interrupted are given
// only where they hold anyway: behind a system call, and in functions that have
// no frame. The package reads no file and walks nothing.
package ehabi
