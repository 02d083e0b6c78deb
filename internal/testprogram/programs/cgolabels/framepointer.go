// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build framepointer

package main

// #cgo CFLAGS: -fno-omit-frame-pointer
import "C"
