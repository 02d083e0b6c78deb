// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
)

// fileKey identifies a file that a recording maps.
type fileKey struct {
	path    string
	buildID string
	inode   inode // zero where a build ID is known
	mount   perfdata.Namespace
}

// compare orders files, by their paths first.
func (k fileKey) compare(other fileKey) int {
	return cmp.Or(cmp.Compare(k.path, other.path), cmp.Compare(k.buildID, other.buildID),
		cmp.Compare(k.inode.major, other.inode.major), cmp.Compare(k.inode.minor, other.inode.minor),
		cmp.Compare(k.inode.number, other.inode.number), cmp.Compare(k.inode.generation, other.inode.generation),
		cmp.Compare(k.mount.Device, other.mount.Device), cmp.Compare(k.mount.Inode, other.mount.Inode))
}

// inode identifies a file to the system on which it is.
type inode struct {
	major, minor       uint32
	number, generation uint64
}

// file is a file that the recording maps. It is opened for the first frame in it.
type file struct {
	fileKey
	builder     *builder
	stackObject *stack.Object // nil before the first frame
	pid         int32         // a process that maps the file

	opened  bool
	trimmed bool   // the tables were dropped: see builder.trim
	mark    uint64 // builder.marks when a process last had the file
	latest  uint64 // builder.mmaps when it was last mapped
	shared  *file  // stands for this one, if it is not nil: see shareObject

	search debugfile.Search // for the file and its separate debug file
	object *object.File
	err    error
	tables stack.FileTables
}

// bias opens the file and returns its load bias where it is mapped.
func (f *file) bias(m *mapped) (uint64, error) {
	if !f.opened {
		f.opened = true
		f.open(m)
	}
	f = f.canonical()
	f.renew()
	if f.err != nil {
		return 0, f.err
	}
	bias, ok := f.object.Bias(m.start, m.offset, true)
	if !ok {
		return 0, fmt.Errorf("%s: no segment of the file fits its mapping at %#x", f.path, m.start)
	}
	return bias, nil
}

// open finds the file and its unwind tables.
func (f *file) open(m *mapped) {
	if f.buildID == "" {
		f.buildID = f.builder.buildIDs[f.path]
	}
	opts := &f.builder.opts
	if f.search = opts.Search; opts.Live != nil && opts.Interval != nil {
		f.search.Fetch = nil // the samples after an interval do not wait for a server
	}
	if f.path == vdsoName {
		f.object = f.builder.ownVDSO(f.buildID)
	}
	if f.object == nil {
		wanted := f.wanted(m)
		search := f.search
		if opts.Live != nil {
			search.Fetch = nil // samples do not wait for a server
		}
		if f.object, f.err = search.OpenObject(wanted); f.err != nil {
			return
		}
	}
	if f.builder.shareObject(f); f.shared == nil {
		f.tables = stack.ReadTables(f.object, true)
	}
}

// wanted describes the file to search for.
func (f *file) wanted(m *mapped) *debugfile.Module {
	b := f.builder
	path, deleted := strings.CutSuffix(f.path, deletedSuffix)
	w := &debugfile.Module{Path: path, Machine: b.machine, Stale: deleted, Same: f.same}
	w.BuildID, _ = hex.DecodeString(f.buildID)
	if f.search.Root != "" {
		return w
	}
	root, err := b.root(f.pid, f.mount)
	f.search.Root = root
	w.Stale = w.Stale || err != nil
	if deleted || root != "" && err == nil {
		// /proc still gives the file while the process lives, unless another process
		// has its number. It also does if the path is relative to another root: /proc/PID/maps
		// names the files of a process that has changed its root by the root of its mount
		// namespace. The device identifies nothing: overlayfs gives that of a
		// layer or its own.
		place := debugfile.Place{Path: fmt.Sprintf("/proc/%d/map_files/%x-%x", f.pid, m.start, m.end), Trust: debugfile.Doubtful, Named: true}
		if info, err := os.Stat(place.Path); err == nil && f.inode.number != 0 && untrusted.IdentityOf(info).Inode == f.inode.number {
			place.Trust = debugfile.Certain
		}
		w.Places = []debugfile.Place{place}
	}
	return w
}

// same reports whether a file is the recorded inode. A different inode proves nothing:
// the file can have been copied to the machine that reads the recording.
func (f *file) same(found *os.File, _ *object.File) (bool, error) {
	info, err := found.Stat()
	if err != nil || f.inode.number == 0 {
		return false, nil
	}
	return untrusted.IdentityOf(info) == untrusted.Identity{Device: unix.Mkdev(f.inode.major, f.inode.minor), Inode: f.inode.number}, nil
}

// root returns the root directory of a process in a mount namespace, "" for that of this
// process. It fails if the namespace cannot be reached any more.
func (b *builder) root(pid int32, mount perfdata.Namespace) (string, error) {
	if mount == (perfdata.Namespace{}) || mount == b.ownMount() {
		return "", nil
	}
	proc := "/proc/" + strconv.Itoa(int(pid))
	if namespaceOf(proc+"/ns/mnt") != mount {
		return "", errEnded
	}
	return proc + "/root", nil
}

var errEnded = errors.New("its process, in another mount namespace, has ended")

const deletedSuffix = " (deleted)"

// namespaceOf returns the namespace that a file of /proc stands for, zero if it cannot
// be read.
func namespaceOf(path string) perfdata.Namespace {
	info, err := os.Stat(path)
	if err != nil {
		return perfdata.Namespace{}
	}
	return perfdata.Namespace(untrusted.IdentityOf(info))
}

// isFile reports whether the path of a mapping can be that of an object file.
func isFile(path []byte) bool {
	for _, prefix := range []string{"/dev/", "/SYSV", "//anon", "/anon_hugepage", "/[aio]", "/i915", "/dmabuf"} {
		if bytes.HasPrefix(path, []byte(prefix)) {
			return false
		}
	}
	return len(path) > 0 && path[0] == '/' || string(path) == vdsoName
}

// isMemfd reports whether a path is that of a memfd, which may contain an object file.
func isMemfd(path string) bool { return strings.HasPrefix(path, "/memfd:") }

const vdsoName = "[vdso]"

// ownVDSO opens the vDSO that the kernel has given this process. It returns nil if that
// is not the recorded one.
func (b *builder) ownVDSO(buildID string) *object.File {
	o, err := openVDSO()
	if err != nil {
		return nil
	}
	id, err := hex.DecodeString(buildID)
	if len(id) == 0 && err == nil && (b.machine == nil || o.Machine().ELF == b.machine.ELF) ||
		len(id) > 0 && o.CheckBuildID(vdsoName, id) == nil {
		return o
	}
	o.Close()
	return nil
}

func openVDSO() (*object.File, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	mappings, err := snapshot.ParseMappings(maps)
	i := slices.IndexFunc(mappings, func(m snapshot.Mapping) bool { return m.Path == vdsoName })
	if i < 0 {
		return nil, errors.Join(errors.New("this process has no vDSO"), err)
	}
	m := &mappings[i]
	image := make([]byte, m.End-m.Start)
	if _, err := memory.ReadAt(image, int64(m.Start)); err != nil {
		return nil, err
	}
	return object.NewFile(image, vdsoName)
}
