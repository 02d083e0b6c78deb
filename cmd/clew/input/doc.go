// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package input opens the files on a command line. It recognizes their format, refuses files that
// are not regular, and finds their debug files by the settings of the environment.
package input
