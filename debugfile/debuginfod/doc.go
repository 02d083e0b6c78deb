// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package debuginfod fetches files by build ID from debuginfod servers: separate
// debug files, and the executables and libraries that a core's machine had. A
// Client's Fetch is made for debugfile.Search.Fetch; FromEnvironment makes one of
// the variables that all debuginfod clients go by, debuginfod_find_debuginfo(3).
//
// What was fetched is kept in the cache that is every such client's. Nothing of a
// server is believed: what it sends is bounded in time and size, and kept only when
// it is an object file that has the build ID. A server that fails is not asked again.
// The cache is never cleaned: elfutils' clients do that.
//
// The package does not link net/http, and so no program becomes dynamic, or starts
// later, by it: curl makes the requests, unless Client.Get is set.
package debuginfod
