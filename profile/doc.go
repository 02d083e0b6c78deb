// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package profile collects weighted stacks, and writes them in the forms that
// programs and people look at them in: as a profile for pprof, as folded
// stacks, as a page with a flame graph, and for speedscope.
//
// A [Profile] is a tree. [Profile.Location] tells it what is at an address,
// once for each, and gets a number back; [Profile.Add] takes a stack of such
// numbers, and allocates nothing where it has seen the stack before. What a
// profile holds grows with the number of different stacks, never with that of
// samples.
//
// The same calls in the same order make the same bytes. Names are data: each
// form writes any name such that it comes back as it was, or, where the form
// cannot say it, changed without harm to what stands beside it.
//
// The package knows no process, no recording and no terminal, opens no file,
// and asks no network; nor does a page that it wrote.
package profile
