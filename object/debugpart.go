// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object/internal/dwarf"
)

// DebugKind is a kind of file with debugging information.
type DebugKind uint8

const (
	SeparateDebug      DebugKind = iota // the debug file of a stripped file
	SupplementaryDebug                  // the parts that several debug files share, by dwz
	SplitDebug                          // a unit that was not linked: .dwo
	PackagedDebug                       // all split units of a program: .dwp
)

var debugKinds = [...]string{"debug file", "supplementary file", "split unit", "package of split units"}

func (k DebugKind) String() string { return debugKinds[k] }

// place is a path that a file may be at.
type place struct{ root, name string }

// debugParts opens the other files with debugging information of a file, in the directories
// of OpenDebugFile's search. They are closed with the file.
type debugParts struct{ *File }

var _ dwarf.Files = debugParts{}

func (p debugParts) Supplementary() (s dwarf.Sections, err error) {
	f, err := p.part("supplementary", p.openSupplementary)
	if err != nil {
		return s, err
	}
	return f.debugSections("")
}

var errNoSupplementary = errors.New("neither .gnu_debugaltlink nor .debug_sup names it")

// openSupplementary opens the supplementary file, by its name or its build ID.
func (f *File) openSupplementary(search *DebugSearch) (*File, error) {
	name, id := f.DebugAltLink()
	if name == "" || len(id) == 0 {
		return nil, errNoSupplementary
	}
	paths := []string{name}
	if !path.IsAbs(name) {
		paths = []string{path.Join(f.directory(search), name)}
	}
	for _, dir := range search.directories() {
		paths = append(paths, path.Join(dir, ".dwz", path.Base(name)))
	}
	return f.openPart(SupplementaryDebug, search, name, paths, id, func(d *File) error {
		other := d.BuildID()
		if _, checksum, supplementary := d.debugSup(); supplementary {
			other = checksum
		}
		if string(other) != string(id) {
			return fmt.Errorf("%s: ID %x, %x expected", d.name, other, id)
		}
		return nil
	})
}

func (p debugParts) Package() (s dwarf.Sections, err error) {
	f, err := p.part("package", func(search *DebugSearch) (*File, error) {
		var paths []string
		for _, of := range []*File{p.File, p.owner} {
			if of != nil {
				name := path.Join(of.directory(search), path.Base(of.name)) + ".dwp"
				paths = append(paths, name)
				for _, dir := range search.directories() {
					paths = append(paths, path.Join(dir, name))
				}
			}
		}
		return p.openPart(PackagedDebug, search, paths[0], paths, nil, nil)
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, dwarf.ErrNotSought) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return f.splitSections()
}

func (p debugParts) Split(name, directory string) (s dwarf.Sections, err error) {
	f, err := p.part("split "+directory+"\x00"+name, func(search *DebugSearch) (*File, error) {
		here := p.directory(search)
		compiled := name
		if !path.IsAbs(compiled) {
			compiled = path.Join(directory, compiled)
		}
		if !path.IsAbs(compiled) {
			compiled = path.Join(here, compiled)
		}
		paths := []string{compiled}
		// The program may have been moved together with its files.
		for _, of := range []*File{p.File, p.owner} {
			if of != nil {
				here := of.directory(search)
				paths = append(paths, path.Join(here, name), path.Join(here, path.Base(name)))
			}
		}
		for _, dir := range search.directories() {
			paths = append(paths, path.Join(dir, compiled))
		}
		return p.openPart(SplitDebug, search, compiled, paths, nil, nil)
	})
	if err != nil {
		return s, err
	}
	return f.splitSections()
}

// maxParts bounds the number of files with debugging information of one file.
const maxParts = 1 << 16

// part returns the part with a key. It opens the part at the first call.
func (f *File) part(key string, open func(*DebugSearch) (*File, error)) (*File, error) {
	search := f.search.Load()
	if search == nil {
		return nil, dwarf.ErrNotSought
	}
	f.partsMu.Lock()
	defer f.partsMu.Unlock()
	if p, ok := f.parts[key]; ok {
		return p.file, p.err
	}
	if len(f.parts) >= maxParts {
		return nil, fmt.Errorf("more than %d files", maxParts)
	}
	if f.parts == nil {
		f.parts = make(map[string]debugPart)
	}
	var p debugPart
	p.file, p.err = open(search)
	f.parts[key] = p
	return p.file, p.err
}

// debugPart is an open file, or the error of opening it.
type debugPart struct {
	file *File
	err  error
}

func (f *File) closeParts() (err error) {
	f.partsMu.Lock()
	defer f.partsMu.Unlock()
	for _, p := range f.parts {
		if p.file != nil {
			err = errors.Join(err, p.file.Close())
		}
	}
	f.parts = nil
	return err
}

// openPart opens the first file that fits and that check, if not nil, accepts: by the build
// ID id below the root of the search, at the paths there, by the ID outside of the root,
// and last the one that search.Open returns for the name. The error says why no file was
// used, and wraps fs.ErrNotExist if there is none.
func (f *File) openPart(kind DebugKind, search *DebugSearch, name string, paths []string, id []byte, check func(*File) error) (*File, error) {
	var candidates, outside []place
	if len(id) >= 2 {
		candidates = search.byBuildID(id)
		n := len(search.directories())
		candidates, outside = candidates[:n:n], candidates[n:]
	}
	for _, p := range paths {
		candidates = append(candidates, place{search.Root, p})
	}
	var problems problems
	try := func(at place, file *os.File, err error) *File {
		if err == nil && file != nil {
			defer file.Close()
			if at.root == "" {
				at.name = file.Name()
			}
			var d *File
			if d, err = OpenFile(file, at.name); err == nil {
				if err = f.fits(d); err == nil && check != nil {
					err = check(d)
				}
				if err == nil {
					d.search.Store(search)
					return d
				}
				d.Close()
			}
		}
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		case kind == SeparateDebug:
			problems.add(fmt.Errorf("debug file of %s: %w", f.name, err))
		default:
			problems.add(err)
		}
		return nil
	}
	for _, c := range append(candidates, outside...) {
		file, err := untrusted.Open(c.root, c.name)
		if d := try(c, file, err); d != nil {
			return d, nil
		}
	}
	if search.Open != nil && name != "" {
		file, err := search.Open(kind, name, id)
		if d := try(place{}, file, err); d != nil {
			return d, nil
		}
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// fits returns an error if d is for another machine than f.
func (f *File) fits(d *File) error {
	if d.machine != f.machine || d.class != f.class || d.header.data != f.header.data {
		return &RefusedError{d.name, fmt.Sprintf("it is for %v, and %v is expected", arch.ELFName(d.machine), arch.ELFName(f.machine))}
	}
	return nil
}

func (s *DebugSearch) directories() []string {
	if s.Directories == nil {
		return []string{"/usr/lib/debug"}
	}
	return s.Directories
}

// byBuildID returns the places of files with an ID: below the root, then outside of it.
func (s *DebugSearch) byBuildID(id []byte) (list []place) {
	name := hex.EncodeToString(id)
	for _, root := range []string{s.Root, ""} {
		for _, dir := range s.directories() {
			list = append(list, place{root, path.Join(dir, ".build-id", name[:2], name[2:]+".debug")})
		}
		if s.Root == "" {
			break
		}
	}
	return list
}

// directory returns the directory of the file as a process with the root of the search
// sees it, else an absolute one.
func (f *File) directory(search *DebugSearch) string {
	name := f.name
	if root, below := splitRoot(name); root != "" && root == search.Root {
		name = below
	} else if search.Root == "" {
		// The name is relative to the working directory.
		if abs, err := filepath.Abs(name); err == nil {
			name = abs
		}
	}
	return path.Dir(name)
}

// splitRoot splits a path through the root directory of a process (/proc/PID/root,
// proc_pid_root(5)) into that directory and the path as the process sees it; root is ""
// for other paths. The names of other files in a file are resolved below that root.
func splitRoot(name string) (root, below string) {
	rest, ok := strings.CutPrefix(name, "/proc/")
	process, rest, found := strings.Cut(rest, "/root/")
	if !ok || !found || strings.Contains(process, "/") {
		return "", name
	}
	return "/proc/" + process + "/root", "/" + rest
}

// splitSections returns the sections of a file with split units.
func (f *File) splitSections() (dwarf.Sections, error) {
	s, err := f.debugSections(".dwo")
	for name, index := range map[string]*[]byte{"cu_index": &s.CUIndex, "tu_index": &s.TUIndex} {
		if i, ok := f.findDebug(name); ok {
			data, indexErr := f.content(i)
			*index, err = data, errors.Join(err, indexErr)
		}
	}
	return s, err
}

// debugSup reads .debug_sup (DWARF 5 §7.3.6).
func (f *File) debugSup() (name string, checksum []byte, supplementary bool) {
	f.noteFault(func() {
		i, ok := f.find(".debug_sup")
		if !ok {
			return
		}
		data, _ := f.content(i)
		if len(data) < 4 || f.order.Uint16(data) != 5 {
			return
		}
		b := cString(data, 3)
		at := 3 + len(b) + 1
		if len(b) >= 4096 || at >= len(data) || data[at] >= 0x80 || int(data[at]) > len(data)-at-1 {
			return
		}
		name, supplementary = string(b), data[2] != 0
		checksum = append([]byte(nil), data[at+1:][:data[at]]...)
	})
	return name, checksum, supplementary
}
