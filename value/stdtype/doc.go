// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stdtype presents values of standard library types by their meaning: a string by its
// text, a vector by its elements, a map by its pairs. [Present] is a function for
// [print.Printer.Present].
//
// It presents most types of GNU's C++ library that hold values, as the releases since GCC 5 lay them
// out, and the strings, containers, counted pointers and cells of Rust 1.63 to 1.95. The result is
// what gdb shows with the pretty printers of these libraries. It does not present the iterators of
// deques, which those printers know. Invalid values, for example those that are not
// initialized, are not presented, because their members show more.
//
// The package reads only through the values of package value. Lists, trees and counts in the
// target's memory are not trusted: children are read one by one, the caller bounds their number, and
// the work for a step in a tree is bounded.
package stdtype
