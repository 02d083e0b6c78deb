// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package sectioncache keeps what compressed sections inflate to, in files of the
// user: a C library's debug file is then inflated once, and not by each command that
// looks into it. It is an [object.SectionCache].
//
// Files are named for the SHA-256 of the compressed section: that another file has the
// same build ID, or that a container's has, changes nothing. They are mapped, and of
// what is mapped only what is read takes memory. Links to them, named for where a
// section lies in a file that has not changed since, spare the hash.
//
// A cache is a convenience: what cannot be written is not kept, and nobody is told. It
// writes nothing where the file system is almost full, and removes what was not used for
// longest when there is too much.
package sectioncache
