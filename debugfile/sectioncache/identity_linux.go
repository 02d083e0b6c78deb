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

// identity returns a name that identifies a place in a file, and when the file was
// changed last. It is false where nothing does.
//
// Nobody but the kernel sets the time of a change (st_ctime), and its clock is the
// administrator's: a file that another user made cannot pass for one that was looked
// at. A file system that a user brings along can say of its files what it likes. Those
// that are on no device of their own, as FUSE's and a network's, have numbers that the
// next one gets: they identify nothing. Those of disks are given anew when the system
// starts.
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

// bootID returns what the kernel calls the time since it was started, "" where it does
// not say.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(string(id)), "-", "")
})
