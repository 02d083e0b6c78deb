// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/rootfs"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/perfdata"
	"github.com/clewdev/clew/unwind"
)

// fileKey is what tells files apart that a recording maps.
type fileKey struct {
	path    string
	buildID string
	inode   inode // zero where a build ID is known
	mount   perfdata.Namespace
}

// inode is a file as its system knows it.
type inode struct {
	major, minor       uint32
	number, generation uint64
}

// file is a file that the recording maps, opened when a frame first lies in it.
type file struct {
	fileKey
	index   int32 // in Recording.Objects
	builder *builder
	pid     int32 // a process that maps it, for what it sees only

	opened bool
	object *object.File
	err    error
	golang bool
	tables tables
}

// bias opens the file and returns its load bias where it is mapped as m.
func (f *file) bias(m *mapping) (uint64, error) {
	if !f.opened {
		f.opened = true
		f.open(m)
	}
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
func (f *file) open(m *mapping) {
	if f.buildID == "" {
		f.buildID = f.builder.buildIDs[f.path]
	}
	var failures []error
	for name, open := range f.candidates(m) {
		o, err := open()
		if err == nil {
			if err = f.verify(o, name); err == nil {
				f.object = o
				break
			}
			o.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) || len(failures) == 0 {
			failures = append(failures, err)
		}
	}
	if f.object == nil {
		f.err = errors.Join(failures...)
		if f.err == nil {
			f.err = fmt.Errorf("%s: %w", f.path, errNoFile)
		}
		return
	}
	err := object.Guard(func() (err error) {
		f.tables.sections, _, err = target.CallFrames(f.object)
		if err == nil {
			f.tables.source, f.golang = target.GoSource(&f.tables, f.object)
		}
		return err
	})
	if err != nil {
		f.tables.source = failedSource{fmt.Errorf("%w: %w", cfi.ErrNoFDE, err)}
	}
}

var errNoFile = errors.New("no file")

// candidates yields where the file may be, the best place first.
func (f *file) candidates(m *mapping) func(yield func(string, func() (*object.File, error)) bool) {
	open := func(path string) func() (*object.File, error) {
		return func() (*object.File, error) { return object.Open(path) }
	}
	b := f.builder
	return func(yield func(string, func() (*object.File, error)) bool) {
		if f.path == vdsoName {
			if !yield(vdsoName, openVDSO) {
				return
			}
		} else {
			path := strings.TrimSuffix(f.path, deletedSuffix)
			in := func(root string) func() (*object.File, error) {
				return func() (*object.File, error) {
					file, err := rootfs.Open(root, path)
					if err != nil {
						return nil, err
					}
					defer file.Close()
					return object.OpenFile(file, path)
				}
			}
			proc := "/proc/" + strconv.Itoa(int(f.pid))
			foreign := f.mount != (perfdata.Namespace{}) && f.mount != b.ownMount()
			if b.opts.Root != "" {
				if !yield(path, in(b.opts.Root)) {
					return
				}
			} else {
				if foreign && namespaceOf(proc+"/ns/mnt") == f.mount && !yield(path, in(proc+"/root")) {
					return
				}
				// What has the right build ID is the right file, wherever it is.
				if (!foreign || f.buildID != "") && !yield(path, open(path)) {
					return
				}
				if strings.HasSuffix(f.path, deletedSuffix) {
					name := fmt.Sprintf("%s/map_files/%x-%x", proc, m.start, m.end)
					if !yield(f.path, f.sameInode(name)) {
						return
					}
				}
			}
		}
		if len(f.buildID) < 4 || b.opts.Cache == "" {
			return
		}
		cached := filepath.Join(b.opts.Cache, ".build-id", f.buildID[:2], f.buildID[2:])
		for _, name := range []string{"elf", "vdso"} {
			if !yield(cached, open(filepath.Join(cached, name))) {
				return
			}
		}
	}
}

const (
	deletedSuffix = " (deleted)"
	vdsoName      = "[vdso]"
)

// sameInode opens what a living process has mapped, if that is still the file.
func (f *file) sameInode(name string) func() (*object.File, error) {
	return func() (*object.File, error) {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		if f.buildID == "" && (f.inode.number == 0 || identityOf(info).number != f.inode.number) {
			return nil, fmt.Errorf("%s: %w", name, errNoFile)
		}
		return object.OpenFile(file, f.path)
	}
}

// identity is a file as this machine knows it.
type identity struct{ device, number uint64 }

// identityOf returns what tells a file from others; zero where nothing does.
func identityOf(info fs.FileInfo) identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{uint64(st.Dev), uint64(st.Ino)}
}

// errBuildID is wrapped by the error of a file that is not the recorded one.
var errBuildID = errors.New("it is not the file that was recorded")

// verify tells why an object is not the file of the recording.
func (f *file) verify(o *object.File, path string) error {
	if m := f.builder.machine; m != nil && o.Machine().ELF != m.ELF {
		return fmt.Errorf("%s: a file for %s, of %s expected", path, o.Machine().Name, m.Name)
	}
	want := f.buildID
	if want == "" {
		return nil
	}
	id := o.BuildID()
	// perf keeps 20 bytes of an ID, and pads shorter ones with zeros.
	have := hex.EncodeToString(id[:min(len(id), 20)])
	if strings.TrimRight(have, "0") != strings.TrimRight(want, "0") {
		return fmt.Errorf("%s: %w: build ID %s, %s expected", path, errBuildID, have, want)
	}
	return nil
}

// namespaceOf returns the namespace that a file of /proc stands for, zero where
// it cannot be read.
func namespaceOf(path string) perfdata.Namespace {
	info, err := os.Stat(path)
	if err != nil {
		return perfdata.Namespace{}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return perfdata.Namespace{}
	}
	return perfdata.Namespace{Device: uint64(st.Dev), Inode: st.Ino}
}

// isFile reports whether the path of a mapping can be that of an object file, and
// whether the memory can hold code at all.
func isFile(path []byte) bool {
	for _, prefix := range []string{"/dev/", "/SYSV", "//anon", "/anon_hugepage", "/[aio]", "/i915", "/dmabuf"} {
		if bytes.HasPrefix(path, []byte(prefix)) {
			return false
		}
	}
	return len(path) > 0 && path[0] == '/' || string(path) == vdsoName
}

// namesNoFile reports whether a path is one of memory that can, but need not, hold
// an object file.
func namesNoFile(path string) bool { return strings.HasPrefix(path, "/memfd:") }

// tables are the unwind tables of a file: addresses are looked up where the
// sections are, one by one, until compiling them all pays.
type tables struct {
	sections *unwind.Sections
	source   unwind.Source // this, with what Go programs need
	table    *unwind.Table
	asked    int
}

// compileCost is how many bytes of .eh_frame are compiled in the time that one
// look-up without a table takes.
const compileCost = 60

// Rules implements unwind.Source.
func (t *tables) Rules(pc uint64) (*unwind.Rules, error) {
	s := t.sections
	if t.table == nil && s.EHFrame != nil {
		if t.asked++; t.asked*compileCost > len(s.EHFrame.Data) {
			t.table = unwind.Compile(s.EHFrame)
		}
	}
	if t.table != nil {
		if rules, err := t.table.Rules(pc); err == nil {
			return rules, nil
		}
	}
	return s.Rules(pc)
}

// failedSource is the source of a file whose tables cannot be read.
type failedSource struct{ err error }

func (s failedSource) Rules(uint64) (*unwind.Rules, error) { return nil, s.err }
