// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/clewdev/clew/internal/rootfs"
	"github.com/clewdev/clew/object"
)

// module is a file that was mapped.
type module struct {
	core    *Core
	path    string // as the target saw it
	deleted bool   // the path led to it no more
	program bool   // it is the program

	first   uint64 // lowest address that it was mapped to
	base    uint64 // address of the file's first byte
	hasBase bool

	// Of a module that the core does not list, but the dynamic linker does.
	linked  bool
	looked  bool // findData did
	bias    uint64
	dynamic uint64 // address of its dynamic section

	once   sync.Once
	id     []byte // build ID, as the core has it
	notELF bool   // as the core has its first bytes, or the file that lies there now
	reopen func() (*os.File, error)
	file   *os.File
	err    error
}

// add says that the file's byte at an offset was mapped to an address.
func (m *module) add(start, offset uint64) {
	if m.first == 0 || start < m.first {
		m.first = start
	}
	if offset == 0 && !m.hasBase {
		m.base, m.hasBase = start, true
	}
}

// A RefusedError says that a file is not the one that was mapped.
type RefusedError struct {
	Path   string // of the file
	Reason string
}

func (e *RefusedError) Error() string { return e.Path + " was not used: " + e.Reason }

// open finds the module's file once. It says where it was looked for.
func (m *module) open() error {
	m.once.Do(func() {
		m.identify()
		m.find()
		if m.err == nil {
			return
		}
		if !m.notELF {
			m.core.missed(m)
		}
		m.err = fmt.Errorf("%s: %w", m.path, m.err)
	})
	return m.err
}

// identify reads what the core itself has of the file: the page of its ELF
// header, which kernels dump by default.
func (m *module) identify() {
	var magic [4]byte
	if !m.hasBase || m.core.dumped.ReadMemory(magic[:], m.base) != nil {
		return
	}
	if m.notELF = string(magic[:]) != elf.ELFMAG; m.notELF {
		return
	}
	if image, err := m.core.image(m.base, m.path); err == nil {
		m.id = image.BuildID()
	}
}

// candidate is a place where a module's file can be.
type candidate struct {
	name string
	open func() (*os.File, error)
	// sure says that the file must be proved to be the one.
	sure bool
}

// searchError says why each place that was looked at was none.
type searchError []error

func (e searchError) Error() string {
	var text []string
	for _, err := range e {
		text = append(text, err.Error())
	}
	return strings.Join(text, "; ")
}

func (e searchError) Unwrap() []error { return e }

// find opens the first file that is the module's.
func (m *module) find() {
	var failed searchError
	tried := make(map[string]bool)
	for _, c := range m.candidates() {
		if tried[c.name] {
			continue
		}
		tried[c.name] = true
		f, err := c.open()
		if err == nil {
			if err = m.verify(f, c.name, c.sure); err == nil {
				m.file, m.reopen = f, c.open
				return
			}
			f.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			failed = append(failed, err)
		}
	}
	if len(failed) == 0 {
		where := ""
		if m.core.options.Sysroot != "" {
			where = ", under " + m.core.options.Sysroot
		}
		failed = append(failed, fmt.Errorf("it is not there%s", where))
	}
	if m.id != nil {
		failed = append(failed, fmt.Errorf("no file of build ID %x was found in %s", m.id, strings.Join(m.core.options.DebugDirectories, ", ")))
	}
	m.err = failed
}

func (m *module) candidates() (list []candidate) {
	opts := &m.core.options
	plain := func(name string, sure bool) {
		list = append(list, candidate{name, func() (*os.File, error) { return openPlain(name) }, sure})
	}
	below := func(name string, sure bool) {
		if opts.Sysroot != "" && path.IsAbs(name) {
			full := path.Join(opts.Sysroot, name)
			list = append(list, candidate{full, func() (*os.File, error) {
				if err := regular(full); err != nil {
					return nil, err
				}
				return rootfs.Open(opts.Sysroot, name)
			}, sure})
		}
	}
	if m.program && opts.Program != "" {
		plain(opts.Program, false)
	}
	if strings.Contains(m.path, "/") {
		below(m.path, m.deleted)
		if opts.Sysroot == "" || m.program && !m.core.notes.hasFile {
			// An emulator's program lies beside its libraries' root.
			plain(m.path, m.deleted)
			if !path.IsAbs(m.path) {
				// It writes the core into the directory that the path is relative to.
				plain(filepath.Join(m.core.dir, m.path), m.deleted)
			}
		} else {
			plain(m.path, true)
		}
	}
	if len(m.id) < 2 {
		return list
	}
	name := hex.EncodeToString(m.id)
	for _, dir := range opts.DebugDirectories {
		file := path.Join(dir, ".build-id", name[:2], name[2:])
		below(file, true)
		plain(file, true)
	}
	if cache := debuginfodCache(); cache != "" {
		plain(filepath.Join(cache, name, "executable"), true)
	}
	return list
}

// debuginfodCache is where debuginfod's clients keep what they have fetched:
// debuginfod_find_debuginfo(3), "Cache".
func debuginfodCache() string {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "debuginfod_client")
	}
	return ""
}

// openPlain opens a file, and waits for no FIFO.
func openPlain(name string) (*os.File, error) {
	if err := regular(name); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

var errNotRegular = errors.New("no regular file")

// regular returns an error for what is no file of bytes. To open a device, as a
// core can name any, may do something.
func regular(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: it is %w", name, errNotRegular)
	}
	return err
}

// verify returns an error unless f can be the file that was mapped. With sure,
// something must prove it.
func (m *module) verify(f *os.File, name string, sure bool) error {
	refuse := func(format string, args ...any) error {
		return &RefusedError{name, fmt.Sprintf(format, args...)}
	}
	if m.notELF || !m.hasBase && m.dynamic == 0 && !m.program {
		// Data that was mapped.
		if proved, err := m.samePage(f); err != nil || !proved && sure {
			return refuse("nothing proves that it is the file that was mapped")
		}
		return nil
	}
	file, err := object.OpenFile(f, name)
	if err != nil {
		return err
	}
	defer file.Close()
	h := m.core.header
	if file.Machine() == nil || file.Machine().ELF != h.machine.ELF || file.Machine().Class != h.class || file.Machine().Order != h.order {
		return refuse("it is for %s, the core for %s", file.Machine().Name, h.machine.Name)
	}
	id := file.BuildID()
	switch {
	case m.id != nil && id == nil:
		return refuse("it has no build ID, and the core's file has %x", m.id)
	case m.id != nil && !bytes.Equal(m.id, id):
		return refuse("its build ID is %x, and the core's file has %x", id, m.id)
	case m.id != nil:
		return nil
	}
	proved, err := m.samePage(f)
	if err != nil {
		return refuse("%v", err)
	}
	if m.program {
		if err := m.core.isProgram(file); err != nil {
			return refuse("%v", err)
		}
		proved = true
	}
	if m.dynamic != 0 {
		if at, ok := segment(file.Segments(), elf.PT_DYNAMIC); !ok || at.Vaddr+m.bias != m.dynamic {
			return refuse("its dynamic section is not where the dynamic linker has it")
		}
		proved = true
	}
	if sure && !proved {
		return refuse("the core does not tell its build ID, so that nothing proves that it is the file that was mapped")
	}
	return nil
}

// samePage reports whether the core has the first page of the file, which must
// be equal then.
func (m *module) samePage(f *os.File) (same bool, err error) {
	var dumped, stored [512]byte
	if !m.hasBase || m.core.dumped.ReadMemory(dumped[:], m.base) != nil {
		return false, nil
	}
	if x := m.core.piece(m.base); x == nil || x.written {
		return false, nil
	}
	if n, err := f.ReadAt(stored[:], 0); n == 0 {
		return false, err
	}
	if dumped != stored {
		return false, errors.New("it does not begin as the core's file does")
	}
	return true, nil
}

// readAt reads from the module's file. What lies behind the file's end in its last
// page is zero.
func (m *module) readAt(p []byte, offset uint64) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if offset > 1<<62 {
		return 0, fmt.Errorf("%s: offset %#x", m.path, offset)
	}
	n, err := m.file.ReadAt(p, int64(offset))
	if err != io.EOF {
		return n, err
	}
	const page = 4096
	last := (offset + uint64(n) + page - 1) &^ (page - 1)
	for n < len(p) && offset+uint64(n) < last {
		p[n] = 0
		n++
	}
	if n == len(p) {
		err = nil
	} else {
		err = fmt.Errorf("%s: it ends before offset %#x", m.path, offset+uint64(n))
	}
	return n, err
}

func segment(list []elf.ProgHeader, typ elf.ProgType) (elf.ProgHeader, bool) {
	for _, p := range list {
		if p.Type == typ {
			return p, true
		}
	}
	return elf.ProgHeader{}, false
}
