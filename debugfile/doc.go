// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package debugfile finds the files of modules: the object file that a process
// had mapped, and the separate debug file of that, by path and by build ID. It is
// the one place that knows where such files lie: below a sysroot or in another
// mount namespace, in the folders of a distribution's debug packages, and in the
// caches of perf and debuginfod. Live processes, cores and recordings are all
// looked up by it.
//
// A file is never guessed: where the build ID of the module is known, a file that
// has another one, or none, is refused, and the error says so. Nothing is fetched
// from the network unless Search.Fetch does, and no file is changed.
package debugfile
