package sectioncache

import "golang.org/x/sys/unix"

// Of a file system a twentieth is left alone, or a gibibyte.
const (
	spared     = 20
	mostSpared = 1 << 30
)

// hasRoom reports whether so many bytes can be written below dir.
func hasRoom(dir string, size int) bool {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return false
	}
	block := uint64(fs.Frsize) // what blocks are counted in: statvfs(3)
	if block == 0 {
		block = uint64(fs.Bsize)
	}
	// Some in memory have no size.
	return fs.Blocks == 0 || block != 0 && fs.Bavail > min(fs.Blocks/spared, mostSpared/block)+uint64(size)/block
}
