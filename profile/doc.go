// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package profile collects weighted stacks and writes them in four formats: a profile
// for pprof, folded stacks, a page with a flame graph, and a file for speedscope.
//
// A [Profile] is a tree. [Profile.Location] records the frames at an address, once for
// each address, and returns a number. [Profile.Add] takes a stack of such numbers, and
// allocates nothing for a known stack. The size of a profile grows with the number of
// different stacks, not with the number of samples.
//
// The same calls in the same order write the same bytes. Names are untrusted data. Each
// format writes a name so that readers get it back unchanged. If the format cannot
// express a name, the name is changed, and the text around it is unharmed.
//
// The package knows nothing about processes, recordings or terminals. The package and the
// pages that it writes open no files and use no network. Package profile/otlp writes profiles
// of OpenTelemetry, because the module for that takes time to start.
package profile
