// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package library calls the libunwind that the program is linked with or has
// loaded, which it looks up at run time. It needs cgo; without it, and on other
// systems than Linux, it holds nothing.
package library
