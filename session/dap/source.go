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

// numberSources gives the sources that are in no file their references.
func (c *client) numberSources() {
	c.sources = slices.Sorted(maps.Keys(c.target.Sources))
}

// sourceOf describes a source file to the editor: by the editor's own path if a
// breakpoint gave one, else by the path in debugging information.
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

// sameFile reports whether one path is the other, or its last components.
func sameFile(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// maxComponents is how many of a path's last components are tried.
const maxComponents = 64

// locateLine finds the code of a line. The editor's path of a file need not be the
// one it was compiled with: the longest end of it that debugging information knows
// counts.
func (c *client) locateLine(editors string, number, line int) (file string, addresses []uint64, err error) {
	if number > 0 && number <= len(c.sources) {
		editors = c.sources[number-1]
	}
	if line < 1 {
		return "", nil, fmt.Errorf("there is no line %d", line)
	}
	components := strings.Split(strings.ReplaceAll(path.Clean(editors), `\`, "/"), "/")
	components = components[max(0, len(components)-maxComponents):]
	for n := range components {
		end := strings.Join(components[n:], "/")
		if end == "" {
			continue
		}
		addresses, err = c.target.session.Locate(fmt.Sprintf("%s:%d", end, line))
		if err != nil {
			continue
		}
		for _, address := range addresses {
			for _, l := range frontend.Locations(c.target.session, address) {
				if sameFile(l.File, end) {
					if editors != l.File && number == 0 {
						c.paths[l.File] = editors
					}
					return l.File, addresses, nil
				}
			}
		}
		return end, addresses, nil
	}
	return "", nil, fmt.Errorf("no code is for line %d of %s", line, path.Base(editors))
}

// maxSources is how many sources are listed.
const maxSources = 1 << 12

// sourcePaths returns the paths of all source files that functions are in.
func (c *client) sourcePaths() []string {
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
	return slices.Sorted(maps.Keys(files))
}

func (c *client) loadedSources(r *dap.LoadedSourcesRequest) (dap.Message, error) {
	body := dap.LoadedSourcesResponseBody{Sources: []dap.Source{}}
	for _, file := range c.sourcePaths() {
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
