// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/perf"
)

// maxSourceFiles bounds what is read of all files that a target wrote: that of
// millions of functions.
const maxSourceFiles = 1 << 30

// ErrOtherProcess says that a file that should be the target's is another
// process's, of which the target has the number.
var ErrOtherProcess = errors.New("of another process")

// jitdumps reads the jitdumps that the target has mapped, as perf asks runtimes
// to do.
func (g *generated) jitdumps() (sources []*CodeSource) {
	s := g.objects.snapshot
	seen := make(map[string]bool)
	for i := range s.Mappings {
		m := &s.Mappings[i]
		if !perf.IsMarker(m.Path) || seen[m.Path] || len(seen) == maxJitdumps {
			continue
		}
		seen[m.Path] = true
		source := &CodeSource{Kind: Jitdump, Place: m.Path}
		if f, err := openJitdump(s, m); err != nil {
			source.Err = err
		} else {
			data, _, err := g.files.Read(f)
			f.Close()
			if len(data) == 0 && err != nil {
				source.Err = err
			} else {
				source.jitdump(s, data, err)
			}
		}
		if source.Err != nil {
			g.skip(fmt.Errorf("jitdump: %w", source.Err))
		}
		sources = append(sources, source)
	}
	return sources
}

// openJitdump opens the file of a marker: of a live process the very one, also
// where it was deleted; of a core, which holds at most a page of it, what is at
// its path now.
func openJitdump(s *Snapshot, m *Mapping) (*os.File, error) {
	switch {
	case !s.Live && s.OpenPath != nil:
		return s.OpenPath(m.Path)
	case s.Open != nil:
		return s.Open(m)
	}
	return nil, fmt.Errorf("%s: files of the target are not to be had", m.Path)
}

// maxJitdumps bounds how many jitdumps a target has: a process that was forked
// has its own and those of its parents.
const maxJitdumps = 64

// jitdump adds what is in a jitdump.
func (source *CodeSource) jitdump(s *Snapshot, data []byte, damage error) {
	dump, err := perf.ParseJitdump(source.Place, data)
	if err != nil {
		source.Err = errors.Join(damage, err)
		return
	}
	if s != nil && dump.Machine != s.Machine.ELF {
		source.Err = fmt.Errorf("code for %v, and the target is for %s", dump.Machine, s.Machine.Name)
		return
	}
	index := dump.Index()
	if err := fits(s, len(index.Functions()), func(i int) uint64 { return index.Functions()[i].Address }); err != nil {
		source.Err = fmt.Errorf("%s: %w", source.Place, err)
		return
	}
	_, bad := index.Damage()
	source.Err = errors.Join(damage, dump.Damage(), bad)
	source.Entries = len(index.Functions())
	source.objects = []*Object{newGeneratedObject(s, Jitdump, &dumpCode{index: index, machine: dumpMachine(dump)})}
}

// dumpMachine is the machine of a jitdump's code. The header does not tell widths
// apart, so it is the machine's usual one.
func dumpMachine(d *perf.Jitdump) *arch.Machine {
	data := elf.ELFDATA2LSB
	if d.Order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	return arch.Lookup(d.Machine, elf.ELFCLASSNONE, data)
}

// perfMaps reads the target's perf map.
func (g *generated) perfMaps() []*CodeSource {
	s := g.objects.snapshot
	if s.OpenPath == nil {
		return nil
	}
	pid := s.NSPID
	if pid == 0 {
		pid = s.PID
	}
	source := &CodeSource{Kind: PerfMap, Place: fmt.Sprintf("/tmp/perf-%d.map", pid)}
	f, err := s.OpenPath(source.Place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		var data []byte
		var info fs.FileInfo
		data, info, err = g.files.Read(f)
		f.Close()
		switch {
		case info == nil:
		case !s.Began.IsZero() && info.ModTime().Before(s.Began.Add(-time.Second)):
			err = fmt.Errorf("%w: it was last written at %s, and the process began at %s", ErrOtherProcess,
				info.ModTime().Format(time.DateTime), s.Began.Format(time.DateTime))
		default:
			source.perfMap(s, data, err)
			err = source.Err
		}
	}
	if source.Err = err; err != nil {
		g.skip(fmt.Errorf("perf map: %w", err))
	}
	return []*CodeSource{source}
}

// perfMap adds what is in a perf map.
func (source *CodeSource) perfMap(s *Snapshot, data []byte, damage error) {
	m := perf.ParseMap(source.Place, data)
	_, bad := m.Damage()
	if bad != nil {
		bad = fmt.Errorf("%s: %w", source.Place, bad)
	}
	source.Err = errors.Join(damage, bad)
	if err := fits(s, len(m.Symbols()), func(i int) uint64 { return m.Symbols()[i].Address }); err != nil {
		source.Err = fmt.Errorf("%s: %w", source.Place, err)
		return
	}
	source.Entries = len(m.Symbols())
	source.objects = []*Object{newGeneratedObject(s, PerfMap, &mapCode{symbols: m})}
}

// fits returns an error where functions are not a snapshot's, given their
// addresses. Where a core is read another process can have had the number, or the
// name of the file; its code lies elsewhere.
func fits(s *Snapshot, all int, address func(i int) uint64) error {
	if s == nil || s.Live {
		return nil
	}
	in := 0
	for i := range all {
		if m := s.Mapping(address(i)); m != nil && m.Executable {
			in++
		}
	}
	if 2*in < all {
		return fmt.Errorf("%w: %d of its %d functions lie where the target has code", ErrOtherProcess, in, all)
	}
	return nil
}

// ReadCodeSource reads a file that a runtime wrote for perf: a jitdump, or else a
// perf map; name is what the source is called. What is wrong with parts of the
// file is in the source's Err. The error is that of a file that is neither.
func ReadCodeSource(name string, data []byte) (*CodeSource, error) {
	source := &CodeSource{Kind: Jitdump, Place: name}
	_, err := perf.ParseJitdump(name, data)
	if err == nil {
		source.jitdump(nil, data, nil)
		return source, nil
	}
	if !errors.Is(err, perf.ErrHeader) {
		return nil, err
	}
	source.Kind = PerfMap
	source.perfMap(nil, data, nil)
	if source.Entries == 0 {
		return nil, fmt.Errorf("neither a jitdump nor a perf map: %w; and none of its lines is an address, a size and a name", err)
	}
	return source, nil
}
