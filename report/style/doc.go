// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package style holds what all reports share: demangled names, patterns that select
// functions by name, numbers, colours, and lines of source files.
//
// Only [SourceFiles] opens files: the source files that debug information names.
package style
