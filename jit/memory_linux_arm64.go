// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of membarrier(2), include/uapi/linux/membarrier.h.
const (
	membarrierSyncCore         = 1 << 5 // MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE
	membarrierRegisterSyncCore = 1 << 6 // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE
)

// synchronizeCode makes code visible to the instruction fetch: first in the caches of all
// processors, then for instructions that threads on other processors have prefetched (Arm
// ARM, Concurrent modification and execution of instructions).
func synchronizeCode(code []byte) {
	flushInstructions(uintptr(unsafe.Pointer(unsafe.SliceData(code))), uintptr(len(code)))
	if registerSyncCore() {
		unix.Syscall(unix.SYS_MEMBARRIER, membarrierSyncCore, 0, 0)
	}
}

// registerSyncCore reports whether the kernel has the barrier: from Linux 4.16 on, but not
// under qemu-user. Without it, the next exception return of each thread is a barrier.
var registerSyncCore = sync.OnceValue(func() bool {
	_, _, err := unix.Syscall(unix.SYS_MEMBARRIER, membarrierRegisterSyncCore, 0, 0)
	return err == 0
})

// flushInstructions cleans the data cache for size bytes at an address to the point of
// unification, and invalidates the instruction cache.
func flushInstructions(address, size uintptr)
