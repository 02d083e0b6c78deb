// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// SeparateFiles opens the separate debug files of f, for which f.Name must be a path. It
// searches the same places as readelf, and so more places than [object.File.OpenDebugFile]: the
// working directory is the first. The files are in readelf's order: by build ID, by
// .gnu_debuglink, by .gnu_debugaltlink. The caller must close them. The error describes files
// that exist but cannot be used.
func SeparateFiles(f *object.File) ([]*object.File, error) {
	var files []*object.File
	var problems []error
	var known []untrusted.Identity
	add := func(d *opened, err error) {
		if err != nil {
			problems = append(problems, err)
		}
		if d == nil {
			return
		}
		if slices.Contains(known, d.Identity) {
			d.Close()
			return
		}
		files, known = append(files, d.File), append(known, d.Identity)
	}
	if id := hex.EncodeToString(f.BuildID()); len(id) > 2 {
		name := ".build-id/" + id[:2] + "/" + id[2:] + ".debug"
		add(first([]string{
			name, ".debug/" + name, "/usr/lib/debug/" + name, "/usr/lib/debug/usr/" + name, "/usr/lib64/debug/" + name,
		}, nil))
	}
	if name, checksum := f.DebugLink(); name != "" {
		add(first(linkCandidates(f.Name(), name), &checksum))
	}
	if name, _ := f.DebugAltLink(); name != "" {
		add(first(linkCandidates(f.Name(), name), nil))
	}
	return files, errors.Join(problems...)
}

// linkCandidates returns the possible paths for a link of the file at path.
func linkCandidates(path, link string) []string {
	candidates := []string{link, ".debug/" + link}
	if absolute, err := filepath.Abs(path); err == nil {
		if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = resolved
		}
		dir, _ := filepath.Split(absolute)
		candidates = append(candidates, dir+link, dir+".debug/"+link,
			"/usr/lib/debug/"+link, "/usr/lib/debug/"+dir+"/"+link)
	}
	return append(candidates, "/usr/lib/debug/usr/"+link, "/lib/debug/"+link)
}

// first opens the first candidate that is an ELF file and, if checksum is not nil, has this
// checksum.
func first(candidates []string, checksum *uint32) (*opened, error) {
	var problems []error
	for _, name := range candidates {
		d, err := openCandidate(name, checksum)
		if d != nil {
			return d, nil
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return nil, errors.Join(problems...)
}

// opened is a file with its identity.
type opened struct {
	*object.File
	untrusted.Identity
}

// openCandidate returns nil without an error if there is no regular file.
func openCandidate(name string, checksum *uint32) (*opened, error) {
	f, err := untrusted.Open("", name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, untrusted.ErrNotRegular) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	d, err := object.OpenFile(f, name)
	if err != nil {
		return nil, err
	}
	if checksum != nil {
		sum, err := d.Checksum()
		if err == nil && sum != *checksum {
			err = fmt.Errorf("%s: checksum %08x, expected %08x", name, sum, *checksum)
		}
		if err != nil {
			d.Close()
			return nil, err
		}
	}
	return &opened{d, untrusted.IdentityOf(info)}, nil
}
