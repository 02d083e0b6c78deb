// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package output prints for the user of the command: standard output and error, messages, progress,
// colours, and exit codes. It escapes all foreign text.
package output
