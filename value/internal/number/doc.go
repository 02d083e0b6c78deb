// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package number reads and writes numbers in the byte order of a machine: integers, and
// binary and decimal floating-point numbers of all formats that compilers use.
package number
