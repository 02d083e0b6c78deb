// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package c brings the C runtime into a program, so that the C linker links it.
package c

// static int zero(void) { return 0; }
import "C"

func init() { _ = C.zero() }
