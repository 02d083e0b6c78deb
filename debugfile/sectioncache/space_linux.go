package sectioncache

import "golang.org/x/sys/unix"

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
