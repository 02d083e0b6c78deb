// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dlang demangles symbols of D compilers as binutils and gdb do. It knows the mangling of
// the D ABI since 2017, with back references, and the parts of the older one that are the same.
//
// Names are bounded in length for every symbol: with back references a short symbol can stand for a
// very long name.
package dlang
