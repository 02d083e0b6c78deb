// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stdtype knows types of standard libraries, and shows their values as people think
// of them: a string as its text, a vector as its elements, a map as its pairs. [Present] is
// for [print.Printer.Present].
//
// It knows most types of GNU's C++ library that hold values (of what gdb has printers
// for not any, path, error_code and the iterators of lists and deques), as its
// releases since GCC 5 lay them out, and the strings, containers, counted pointers and
// cells of Rust's, as of 1.63 to 1.95, and presents values as gdb shows them with the
// pretty printers that come with these libraries. What cannot be such a value, as one
// that is not made yet, is not presented: its members show more.
//
// The package reads nothing but what the values of package value lead to. Lists, trees and
// counts of the target's memory are hostile: what is listed is read as it is asked for, by
// who bounds how much that is, and of a tree a bounded number of steps for each element.
package stdtype
