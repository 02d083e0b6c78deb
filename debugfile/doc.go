// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package debugfile finds the files of modules by path and build ID: the object file that a
// process has mapped, and its separate debug file. It is the only package that knows where such
// files are: below a sysroot or in another mount namespace, in the directories of a
// distribution's debug packages, and in the caches of perf and debuginfod. It serves live
// processes, cores and recordings alike.
//
//	search := &debugfile.Search{Root: "/srv/sysroot"}
//	f, err := search.OpenObject(&debugfile.Module{Path: "/usr/lib/libc.so.6", BuildID: id})
//
// A file is never guessed: if the build ID of the module is known, a file with another one,
// or without one, is refused, and the error says so. The package never fetches from the
// network unless Search.Fetch does (package debuginfod), and changes no file. Package
// sectioncache caches decompressed sections.
package debugfile
