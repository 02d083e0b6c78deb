// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package spelling knows how compilers spell the names of types and functions in debugging
// information, and how gdb prints them.
package spelling
