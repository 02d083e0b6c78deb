// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package sectioncache

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/object"
)

// identity returns a name that identifies a file's version at a place, and the time of
// its last change. It returns false if nothing identifies it.
//
// Only the kernel sets the time of a change (st_ctime), from the administrator's clock,
// so that another user's file cannot imitate a known one. File systems that a user
// mounts can report any data; those without a device, such as FUSE and network file
// systems, have device numbers that are reused. They identify nothing. The device
// numbers of disks are assigned again when the system boots.
func identity(place object.SectionPlace) (name string, changed time.Time, ok bool) {
	s, ok := place.File.Sys().(*syscall.Stat_t)
	boot := bootID()
	if !ok || unix.Major(uint64(s.Dev)) == 0 || boot == "" {
		return "", changed, false
	}
	name = fmt.Sprintf("%s-%x-%x-%x-%x.%x-%x.%x-%x-%x", boot, s.Dev, s.Ino, s.Size,
		s.Mtim.Sec, s.Mtim.Nsec, s.Ctim.Sec, s.Ctim.Nsec, place.Offset, place.Size)
	return name, time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec)), true
}

// bootID returns the kernel's ID of the current boot, or "" if unknown.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(string(id)), "-", "")
})

// A twentieth of a file system, or a gibibyte, is left free.
const (
	spared     = 20
	mostSpared = 1 << 30
)

// hasSpace reports whether so many bytes can be written below dir.
func hasSpace(dir string, size int) bool {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return false
	}
	block := uint64(fs.Frsize) // the unit of the block counts: statvfs(3)
	if block == 0 {
		block = uint64(fs.Bsize)
	}
	// Some file systems in memory have no size.
	return fs.Blocks == 0 || block != 0 && fs.Bavail > min(fs.Blocks/spared, mostSpared/block)+uint64(size)/block
}
