// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/session/frontend"
)

// sourceOf returns a source file in the form of the protocol: with the editor's path if a
// breakpoint had one, otherwise with the path in debugging information.
func (c *client) sourceOf(file string) *dap.Source {
	if own, ok := c.paths[file]; ok {
		return &dap.Source{Name: path.Base(own), Path: own}
	}
	s := c.files[file]
	if s == nil {
		s = &dap.Source{Name: path.Base(file), Path: file}
		if n, ok := slices.BinarySearch(c.sources, file); ok {
			s.SourceReference = n + 1
		} else if _, err := untrusted.Stat("", file); err != nil {
			s.PresentationHint = "deemphasize"
		}
		if len(c.files) < maxSources {
			c.files[file] = s
		}
	}
	return s
}

// sameFile reports whether two paths are equal, or one is a suffix of the other.
func sameFile(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

const maxComponents = 64 // of a path, that are tried

// locateLine finds the code of a line of a source, given by the editor's path or by a source
// reference. The path can differ from the one at compilation: the longest suffix of it that
// debugging information has counts.
func (c *client) locateLine(editorPath string, reference, line int) (file string, addresses []uint64, err error) {
	if reference > 0 && reference <= len(c.sources) {
		editorPath = c.sources[reference-1]
	}
	if line < 1 {
		return "", nil, fmt.Errorf("there is no line %d", line)
	}
	components := strings.Split(strings.ReplaceAll(path.Clean(editorPath), `\`, "/"), "/")
	components = components[max(0, len(components)-maxComponents):]
	for n := range components {
		suffix := strings.Join(components[n:], "/")
		if suffix == "" {
			continue
		}
		addresses, err = c.target.session.Locate(fmt.Sprintf("%s:%d", suffix, line))
		if err != nil {
			continue
		}
		for _, address := range addresses {
			for _, l := range frontend.Locations(c.target.session, address) {
				if sameFile(l.File, suffix) {
					if editorPath != l.File && reference == 0 {
						c.paths[l.File] = editorPath
					}
					return l.File, addresses, nil
				}
			}
		}
		return suffix, addresses, nil
	}
	return "", nil, fmt.Errorf("no code for line %d of %s", line, path.Base(editorPath))
}

const maxSources = 1 << 12 // in the list of sources

// loadedSources lists the source files with functions.
func (c *client) loadedSources(r *dap.LoadedSourcesRequest) (dap.Message, error) {
	files := map[string]bool{}
	for _, s := range c.sources {
		files[s] = true
	}
	for f := range frontend.Functions(c.target.session) {
		if len(files) >= maxSources {
			break
		}
		for _, l := range frontend.Locations(c.target.session, f.Start) {
			files[l.File] = true
		}
	}
	delete(files, "")
	body := dap.LoadedSourcesResponseBody{Sources: []dap.Source{}}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		body.Sources = append(body.Sources, *c.sourceOf(file))
	}
	return &dap.LoadedSourcesResponse{Response: answer(r), Body: body}, nil
}

func (c *client) source(r *dap.SourceRequest) (dap.Message, error) {
	n := r.Arguments.SourceReference
	if n == 0 && r.Arguments.Source != nil {
		n = r.Arguments.Source.SourceReference
	}
	if n < 1 || n > len(c.sources) {
		return nil, fmt.Errorf("there is no source %d", n)
	}
	return &dap.SourceResponse{Response: answer(r), Body: dap.SourceResponseBody{Content: c.target.Sources[c.sources[n-1]]}}, nil
}
