// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// Search contains the places where files are looked for. The zero value uses the root
// directory and the DefaultStores. Its methods may be called concurrently.
type Search struct {
	// Root is the directory that the paths of modules are relative to: a sysroot, or
	// /proc/PID/root of a process in another mount namespace. Links are followed inside of it.
	// "" is the root directory. A file outside of Root is used only if it is proved to be the
	// right one.
	Root string

	// ReadAs is a user. If this process is root, files at paths from the target are opened
	// with the rights of the user. A file that the user may not read is opened only if it is
	// a program, a shared library or a jitdump, so that no other content is revealed. If
	// ReadAs is nil, this process's own rights decide.
	ReadAs *User

	// Stores are searched in order, a DebugDirectory first below Root; nil means
	// DefaultStores.
	Stores []Store

	// Fetch is called last, for a build ID of at least two bytes that no store has, as
	// package debugfile/debuginfod asks servers. The file is checked as others are. The
	// error wraps [fs.ErrNotExist] if there is no such file. Fetch may be nil. It is called
	// concurrently if the Search is used concurrently.
	Fetch func(what Kind, id []byte) (*os.File, error)

	// Sections caches decompressed sections, for example in files, as package
	// debugfile/sectioncache does; it may be nil.
	Sections object.SectionCache
}

// User is a user with its groups.
type User struct {
	ID, Group uint32
	Groups    []uint32 // supplementary ones
}

// Module describes a mapped file.
type Module struct {
	Path    string        // as the target sees it; a relative path is ignored
	BuildID []byte        // empty if unknown; see object.File.CheckBuildID
	Machine *arch.Machine // of its code; nil if unknown

	// Stale says that the path no longer leads to the file: a file there must be proved to
	// be it.
	Stale bool
	// Data says that the file is not an object file. It has no build ID.
	Data bool

	// Places are searched before Path.
	Places []Place

	// Same checks a file without a known build ID by other facts. It reports whether they
	// prove that f is the module's file, and returns an error if they prove the contrary.
	// The object o is nil if neither BuildID nor Machine is known. Same may be nil.
	Same func(f *os.File, o *object.File) (proved bool, err error)
}

// Place is a possible place of a module's file.
type Place struct {
	Root string // the directory that Path is relative to; "" is the root directory
	Path string
	Trust

	// Named says that the user or the kernel chose Path, not the target: it may be or contain a
	// link of procfs, such as /proc/PID/exe. Root must be "" then.
	Named bool

	user *User // see Search.ReadAs
}

// Trust is the proof that a file at a place needs to be used.
type Trust uint8

const (
	Likely   Trust = iota // used unless the build ID, Module.Machine or Module.Same disproves it
	Doubtful              // used only if the build ID or Module.Same proves it
	Certain               // used without a check: the kernel named it
)

// Name returns the path of the place outside of its root.
func (p *Place) Name() string {
	if p.Root == "" {
		return p.Path
	}
	return path.Join(p.Root, p.Path)
}

// Open opens the regular file at the place. The caller closes it. The error wraps an
// [*fs.PathError].
func (p *Place) Open() (*os.File, error) {
	switch {
	case p.Named:
		return untrusted.OpenNamed(p.Path)
	case p.user != nil:
		f, err := untrusted.OpenAs(untrusted.User(*p.user), p.Root, p.Path)
		if errors.Is(err, fs.ErrPermission) {
			return p.openCode(err)
		}
		return f, err
	}
	return untrusted.Open(p.Root, p.Path)
}

// openCode opens the file at the place with this process's rights if it has code for a
// process: a program, a shared library or a jitdump. Otherwise it returns denied.
func (p *Place) openCode(denied error) (*os.File, error) {
	f, err := untrusted.Open(p.Root, p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, denied
	}
	var b [18]byte // to the end of e_type
	if _, err := f.ReadAt(b[:], 0); err != nil || !isCode(b[:]) {
		f.Close()
		return nil, denied
	}
	return f, nil
}

func isCode(b []byte) bool {
	switch string(b[:4]) {
	case "DTiJ", "JiTD": // of a jitdump, in either byte order
		return true
	case elf.ELFMAG:
		var order binary.ByteOrder = binary.LittleEndian
		if elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB {
			order = binary.BigEndian
		}
		typ := elf.Type(order.Uint16(b[16:]))
		return typ == elf.ET_EXEC || typ == elf.ET_DYN
	}
	return false
}

// Places returns the possible places of a module's file, the best one first.
func (s *Search) Places(m *Module) []Place {
	list := slices.Clone(m.Places)
	if path.IsAbs(m.Path) {
		here := Place{Root: s.Root, Path: m.Path}
		if m.Stale {
			here.Trust = Doubtful
		}
		list = append(list, here)
		if s.Root != "" {
			// A sysroot can be a flat directory of collected files.
			list = append(list, Place{Root: s.Root, Path: "/" + path.Base(m.Path), Trust: Doubtful},
				Place{Path: m.Path, Trust: Doubtful})
		}
	}
	for i := range list {
		list[i].user = s.ReadAs
	}
	list = append(list, s.stored(m.BuildID, Executable)...)
	// Options of the caller can name a place that is searched anyway.
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(p Place) bool {
		name := p.Name()
		known := seen[name]
		seen[name] = true
		return known
	})
}

// stored returns the places in the stores that can contain a file of a build ID.
func (s *Search) stored(id []byte, k Kind) (list []Place) {
	if len(id) < 2 {
		return nil
	}
	name := hex.EncodeToString(id)
	for _, store := range s.stores() {
		for _, file := range store.paths(name, k) {
			if s.Root != "" && store.Layout == DebugDirectory {
				list = append(list, Place{Root: s.Root, Path: file, Trust: Doubtful})
			}
			list = append(list, Place{Path: file, Trust: Doubtful})
		}
	}
	return list
}

func (s *Search) stores() []Store {
	if s.Stores == nil {
		return DefaultStores()
	}
	return s.Stores
}

// Open opens the first file that is the module's, and returns its place. The caller
// closes it. The error is a *NotFoundError.
func (s *Search) Open(m *Module) (*os.File, Place, error) {
	f, o, p, err := s.find(m)
	if o != nil {
		o.Close()
	}
	return f, p, err
}

// OpenObject opens the first object file that is the module's. Its name is the path of
// the place, relative to its root. The caller closes it. The error is a *NotFoundError.
func (s *Search) OpenObject(m *Module) (*object.File, error) {
	f, o, p, err := s.find(m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if o != nil {
		return o, nil
	}
	if o, err = object.OpenFile(f, p.Path); err != nil {
		return nil, &NotFoundError{Path: m.Path, BuildID: m.BuildID, Failed: []error{err}}
	}
	return o, nil
}

// find opens a module's file. The object is nil if no check needed it.
func (s *Search) find(m *Module) (*os.File, *object.File, Place, error) {
	missing := NotFoundError{Path: m.Path, BuildID: m.BuildID}
	check := func(f *os.File, err error, p *Place) (*object.File, error) {
		if err != nil {
			return nil, err
		}
		o, err := m.verify(f, p)
		if err != nil {
			f.Close()
		}
		return o, err
	}
	places := s.Places(m)
	for i := range places {
		p := &places[i]
		f, err := p.Open()
		o, err := check(f, err, p)
		if err == nil {
			return f, o, *p, nil
		}
		missing.add(p, err)
	}
	if len(m.BuildID) >= 2 {
		for _, store := range s.stores() {
			missing.Stores = append(missing.Stores, store.Dir)
		}
		if s.Fetch != nil {
			f, err := s.Fetch(Executable, m.BuildID)
			p := Place{Trust: Doubtful}
			if err == nil {
				p.Path = f.Name()
			}
			o, err := check(f, err, &p)
			if err == nil {
				return f, o, p, nil
			}
			if missing.Asked = errors.Is(err, fs.ErrNotExist); !missing.Asked {
				missing.Failed = append(missing.Failed, err)
			}
		}
	}
	return nil, nil, Place{}, &missing
}

// add records why the file at a place is not used.
func (e *NotFoundError) add(p *Place, err error) {
	switch {
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		e.Failed = append(e.Failed, err)
	case p.Trust != Doubtful || p.Path == e.Path:
		e.Absent = append(e.Absent, p.Name())
	}
}

// verify returns an error unless f can be the mapped file.
func (m *Module) verify(f *os.File, p *Place) (o *object.File, err error) {
	if p.Trust == Certain {
		return nil, nil
	}
	if !m.Data && (len(m.BuildID) > 0 || m.Machine != nil) {
		if o, err = object.OpenFile(f, p.Path); err != nil {
			return nil, err
		}
	}
	if err = m.check(f, o, p); err != nil && o != nil {
		o.Close()
		o = nil
	}
	return o, err
}

func (m *Module) check(f *os.File, o *object.File, p *Place) error {
	if o != nil && m.Machine != nil && o.Machine().ELF != m.Machine.ELF {
		return refuse(p, "built for %s, expected %s", o.Machine().Name, m.Machine.Name)
	}
	if o != nil && len(m.BuildID) > 0 {
		return o.CheckBuildID(p.Name(), m.BuildID)
	}
	proved := false
	if m.Same != nil {
		var err error
		if proved, err = m.Same(f, o); err != nil {
			return refuse(p, "%v", err)
		}
	}
	if p.Trust == Doubtful && !proved {
		return refuse(p, "no proof that it is the mapped file")
	}
	return nil
}

// ErrContents means that the contents of a file differ from the mapped memory.
var ErrContents = errors.New("the contents differ")

// SamePage compares memory at an address, in a mapping that was never written to, with
// the file's contents at an offset, for Module.Same. It returns false if the memory
// cannot be read, and an error that wraps ErrContents if they differ. In the file's last
// page, memory after the end of the file is zero.
func SamePage(memory cfi.Memory, address uint64, f *os.File, offset int64, size int) (same bool, err error) {
	mapped, stored := make([]byte, size), make([]byte, size)
	if memory.ReadMemory(mapped, address) != nil {
		return false, nil
	}
	if n, err := f.ReadAt(stored, offset); n == 0 {
		return false, err
	}
	if !bytes.Equal(mapped, stored) {
		return false, ErrContents
	}
	return true, nil
}
