// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package profile collects weighted stacks and writes them in four formats: a profile
// for pprof, folded stacks, a page with a flame graph, and a file for speedscope.
//
// A [Profile] is a tree. [Profile.Location] records what is at an address, once for
// each address, and returns a number; [Profile.Add] takes a stack of such numbers, and
// allocates nothing for a stack that it has seen before. The size of a profile grows
// with the number of different stacks, not with the number of samples.
//
// The same calls in the same order write the same bytes. Names are untrusted data. Each
// format writes a name so that readers get it back unchanged. If the format cannot
// express a name, the name is changed, and the text around it is unharmed.
//
// The package knows nothing about processes, recordings or terminals. It opens no file
// and uses no network; nor does a page that it wrote.
package profile
