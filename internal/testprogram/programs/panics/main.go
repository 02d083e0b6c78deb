// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Panics reads through a nil pointer, and dumps core if GOTRACEBACK asks
// for it.
package main

import (
	"os"
	"strconv"
)

//go:noinline
func read(p *int) int { return *p }

//go:noinline
func outer(p *int) string { return strconv.Itoa(read(p)) }

func main() { os.Stdout.WriteString(outer(nil)) }
