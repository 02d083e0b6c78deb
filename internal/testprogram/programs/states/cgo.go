// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

// #include <unistd.h>
// static void rest(void) { pause(); }
import "C"

//go:noinline
func inC() { C.rest() }

func more() { go inC() }
