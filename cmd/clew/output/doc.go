// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package output is the command's side towards its user: standard output and error, messages,
// progress, colours, and exit codes. All foreign text that passes through it is escaped.
package output
