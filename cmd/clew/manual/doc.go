// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package manual is the text and the layout of Clew's manual. A page describes a command
// or a topic. It is printed on a terminal, as a man page (groff's man macros) and as
// Markdown, all from the same source.
//
// The package knows nothing of flags or commands: package main describes them to it.
package manual
