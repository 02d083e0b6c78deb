// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

// mapLow is the flag of mmap for memory in the low 2 GiB: MAP_32BIT of
// arch/x86/include/uapi/asm/mman.h.
const mapLow = 0x40
