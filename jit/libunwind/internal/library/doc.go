// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package library calls the libunwind that the program is linked with or has loaded. It
// looks it up at run time. Without cgo, and on systems other than Linux, the package is
// empty.
package library
