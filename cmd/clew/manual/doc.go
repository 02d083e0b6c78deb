// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package manual has the topics and the layout of Clew's manual. A page describes a command or a
// topic. The package writes it as text for a terminal, as a man page (groff's man macros) and as
// Markdown.
//
// The package does not depend on the commands. Package main makes the pages that describe them.
package manual
