// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stored implements a snapshot in a file, for any file format: parts of the
// memory of a target, its threads, and a list of the mapped files. The reader of a format
// (snapshot/core, snapshot/minidump) fills a Dump and calls Arrange and Finish. The Dump
// then reads memory, from the file and from the mapped files, which it finds with package
// debugfile. It refuses a file that is not the mapped one.
//
// The package decodes no format of dumps, unwinds nothing and prints nothing.
package stored
