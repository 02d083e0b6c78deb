// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package input opens the files that a command line names: it says what they are, refuses what
// is not regular, and finds their debug files as the environment asks.
package input
