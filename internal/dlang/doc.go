// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dlang turns the symbols of compilers of D into names, as binutils and
// gdb write them. It knows the mangling of the D ABI since 2017, with back
// references, and what of the older one is the same.
//
// It allocates no more than the longest result it was allowed, whatever the
// symbol: references back can make a short one stand for a very long name.
package dlang
