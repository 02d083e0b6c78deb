// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package unwindtest lets tests of unwinders load and call C and C++ code, because test
// files cannot use cgo. It works on Linux with cgo only.
package unwindtest
