// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package entry reads the entries of DWARF debugging information for package value: units,
// attributes, the names that a unit declares, trees of entries and location lists
// (DWARF 5 §2, §7.5). It knows nothing of types, values and frames.
//
// Every byte is hostile. A [Reader] follows chains of references for a bounded number of
// steps. The work of one call, and the memory of caches, are bounded in proportion to the size of the
// sections.
package entry
