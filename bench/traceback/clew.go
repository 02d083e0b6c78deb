// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !cgosymbolizer

package main

import (
	"fmt"
	"os"

	"github.com/clewdev/clew/cgotraceback"
)

func prepare() {
	cgotraceback.Configure(cgotraceback.Options{NamesOnly: true})
	if err := cgotraceback.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
