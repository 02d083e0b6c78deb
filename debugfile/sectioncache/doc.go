// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package sectioncache caches decompressed sections in files of the user: a C library's
// debug file is then decompressed once, not by each command that reads it. It implements
// [object.SectionCache].
//
// Files are named for the SHA-256 of the compressed section, so that another file with the
// same build ID, as in a container, cannot change the result. They are mapped, and only the
// parts that are read take memory. Links to them, named for the place of a section in a
// file that has not changed since, save computing the hash.
//
// The cache is optional: errors of writing are ignored. It writes nothing if the file
// system is almost full, and removes the least recently used files above its limit.
package sectioncache
