// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package unwindtest lets tests of unwinders load C and C++ code and call it:
// tests cannot use cgo themselves. It works on Linux with cgo only.
package unwindtest
