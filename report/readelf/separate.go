// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/clewdev/clew/object"
)

// SeparateFiles opens the separate debug files of f where readelf looks for
// them, which is more places than [object.File.OpenDebugFile] looks in: the
// working directory comes first. It takes f.Name for a path. The files are in
// the order in which readelf prints them: by build ID, by .gnu_debuglink, by
// .gnu_debugaltlink. The caller closes them. A file that is not there is no
// error; one that is there and cannot be used is.
func SeparateFiles(f *object.File) ([]*object.File, error) {
	var files []*object.File
	var problems []error
	add := func(d *object.File, err error) {
		if err != nil {
			problems = append(problems, err)
		}
		if d == nil {
			return
		}
		same := func(o *object.File) bool { return sameFile(o.Name(), d.Name()) }
		if slices.ContainsFunc(files, same) {
			d.Close()
			return
		}
		files = append(files, d)
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

// linkCandidates are the paths that a link of the file at path can mean.
func linkCandidates(path, link string) []string {
	candidates := []string{link, ".debug/" + link}
	if real, err := filepath.Abs(path); err == nil {
		if resolved, err := filepath.EvalSymlinks(real); err == nil {
			real = resolved
		}
		dir, _ := filepath.Split(real)
		candidates = append(candidates, dir+link, dir+".debug/"+link,
			"/usr/lib/debug/"+link, "/usr/lib/debug/"+dir+"/"+link)
	}
	return append(candidates, "/usr/lib/debug/usr/"+link, "/lib/debug/"+link)
}

// first opens the first of the candidates that is an ELF file, and has the
// checksum if one is given.
func first(candidates []string, checksum *uint32) (*object.File, error) {
	var problems []error
	for _, name := range candidates {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if checksum != nil {
			if sum, err := crc(name); err != nil {
				problems = append(problems, err)
				continue
			} else if sum != *checksum {
				problems = append(problems, fmt.Errorf("%s: checksum %08x, %08x expected", name, sum, *checksum))
				continue
			}
		}
		d, err := object.Open(name)
		if err == nil {
			return d, nil
		}
		problems = append(problems, err)
	}
	return nil, errors.Join(problems...)
}

func crc(name string) (uint32, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	_, err = io.Copy(h, f)
	return h.Sum32(), err
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
