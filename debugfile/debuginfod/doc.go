// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package debuginfod fetches files by build ID from debuginfod servers: separate debug
// files, and the executables and libraries of a core's machine. [Client.Fetch] fits
// debugfile.Search.Fetch; [FromEnvironment] makes a client by the environment variables of
// all debuginfod clients, debuginfod_find_debuginfo(3).
//
// Fetched files are stored in the cache that all such clients share. No data of a server is
// trusted: time and size are bounded, and a file is kept only if it is an object file with
// the build ID. A server that fails is not asked again. The package never cleans the cache:
// elfutils' clients do.
//
// The package does not link net/http, which would make programs dynamic and slow to start:
// curl makes the requests, unless Client.Get is set.
package debuginfod
