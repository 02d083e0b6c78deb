// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// maxProfile bounds the size of a profile that Read accepts, in bytes, uncompressed. Reading one
// takes several times its size.
const maxProfile = 512 << 20

// ErrFormat is wrapped by errors about a file in no format that Read knows.
var ErrFormat = errors.New("not a profile in a known format")

// Read reads a profile in any format that the methods of Profile write: a pprof profile, compressed
// or not, folded stacks, a page with a flame graph, or a speedscope file of the form that Speedscope
// writes. If a pprof profile has several types of samples, Read reads the default one. An error
// that wraps ErrFormat concerns the whole file.
func Read(r io.Reader) (*Profile, error) {
	b, err := readAll(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		if b, err = readAll(z); err != nil {
			return nil, err
		}
	}
	text := bytes.TrimLeft(b, " \t\r\n\ufeff")
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%w: it is empty", ErrFormat)
	case bytes.ContainsFunc(b[:min(len(b), 1<<10)], isBinary):
		return readPprof(b)
	case text[0] == '{':
		return readSpeedscope(text)
	case text[0] == '<':
		return readPage(text)
	}
	return readFolded(b)
}

// isBinary reports whether a character does not occur in text. A pprof profile contains such
// characters: field numbers and lengths.
func isBinary(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	if err == nil && len(b) > maxProfile {
		err = fmt.Errorf("the profile is larger than %d MiB", maxProfile>>20)
	}
	return b, err
}

// addNames adds a stack with a name for each frame, outermost first.
func (p *Profile) addNames(names []string, weight int64) error {
	if weight < 0 {
		return fmt.Errorf("weight %d of a stack, expected at least 0", weight)
	}
	stack := make([]Location, len(names))
	for i, name := range names {
		stack[len(names)-1-i] = p.Location(0, []Frame{frameNamed(name)})
	}
	p.Add(stack, Labels{}, weight)
	return nil
}

// frameNamed returns the frame of a name in a format without objects.
func frameNamed(name string) Frame {
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") && name != "[unknown]" {
		return Frame{Object: name[1 : len(name)-1]} // see Frame.Name
	}
	if name == "[unknown]" {
		name = ""
	}
	return Frame{Function: name}
}

func readFolded(b []byte) (*Profile, error) {
	p := New("samples")
	number := 0
	for line := range bytes.Lines(b) {
		number++
		text := strings.TrimRight(string(line), " \t\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		space := strings.LastIndexByte(text, ' ')
		if space < 0 {
			return nil, fmt.Errorf("%w: line %d is %.20q, expected names separated by semicolons, a space and a weight", ErrFormat, number, text)
		}
		weight, err := strconv.ParseFloat(text[space+1:], 64)
		if err != nil || weight < 0 || weight > math.MaxInt64/2 {
			return nil, fmt.Errorf("%w: line %d ends with %.20q, expected a weight", ErrFormat, number, text[space+1:])
		}
		if err := p.addNames(strings.Split(text[:space], ";"), int64(math.Round(weight))); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func readPprof(b []byte) (p *Profile, err error) {
	in, err := profile.ParseUncompressed(b)
	if err == nil {
		err = in.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	kind := len(in.SampleType) - 1
	for i, t := range in.SampleType {
		if t.Type == in.DefaultSampleType {
			kind = i
		}
	}
	if kind < 0 {
		return nil, fmt.Errorf("%w: a pprof profile without sample types", ErrFormat)
	}
	unit := in.SampleType[kind].Unit
	if unit == "count" || unit == "" {
		unit = in.SampleType[kind].Type
	}
	p = New(unit)
	locations := make(map[*profile.Location]Location, len(in.Location))
	for _, l := range in.Location {
		object := ""
		if l.Mapping != nil {
			object = l.Mapping.File
		}
		var frames []Frame
		for i, line := range l.Line {
			f := Frame{Object: object, Line: int(line.Line), Inlined: i < len(l.Line)-1}
			if line.Function != nil {
				f.Function, f.File = line.Function.Name, line.Function.Filename
			}
			if f.Function == "["+object+"]" {
				f.Function = "" // see Frame.Name
			}
			frames = append(frames, f)
		}
		if len(frames) == 0 {
			frames = []Frame{{Object: object}}
		}
		locations[l] = p.Location(l.Address, frames)
	}
	var stack []Location
	for _, s := range in.Sample {
		stack = stack[:0]
		for _, l := range s.Location {
			stack = append(stack, locations[l])
		}
		p.Add(stack, Labels{}, s.Value[kind])
	}
	return p, nil
}

func readSpeedscope(b []byte) (*Profile, error) {
	var in speedscopeFile
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if len(in.Profiles) == 0 {
		return nil, fmt.Errorf("%w: JSON without profiles", ErrFormat)
	}
	first := &in.Profiles[0] // of all threads
	if first.Type != "sampled" || len(first.Samples) != len(first.Weights) {
		return nil, fmt.Errorf("%w: the first profile has type %.20q, %d samples and %d weights; expected type sampled, and as many weights as samples",
			ErrFormat, first.Type, len(first.Samples), len(first.Weights))
	}
	unit := first.Unit
	if unit == "none" || unit == "" {
		unit = "samples"
	}
	p := New(unit)
	for i, s := range first.Samples {
		names := make([]string, len(s))
		for k, f := range s {
			if f < 0 || int(f) >= len(in.Shared.Frames) {
				return nil, fmt.Errorf("%w: sample %d has frame %d of %d", ErrFormat, i, f, len(in.Shared.Frames))
			}
			names[k] = in.Shared.Frames[f].Name
		}
		if err := p.addNames(names, first.Weights[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// readPage reads a page with a flame graph.
func readPage(b []byte) (*Profile, error) {
	_, b, found := bytes.Cut(b, []byte(`id="data">`))
	b, _, ended := bytes.Cut(b, []byte("</script>"))
	var d flameData
	if !found || !ended {
		return nil, fmt.Errorf("%w: a page without the data of a flame graph", ErrFormat)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	text := func(list []int32, i int32) string {
		if int(i) >= len(list) || i < 0 || list[i] < 0 || int(list[i]) >= len(d.Strings) {
			return ""
		}
		return d.Strings[list[i]]
	}
	p := New(d.Unit)
	p.Title, p.Notes = d.Title, d.Notes
	size := len(d.Nodes.Frame)
	if len(d.Nodes.Parent) != size || len(d.Nodes.Self) != size || len(d.Frames.Kind) != len(d.Frames.Name) || len(d.Frames.Inlined) != len(d.Frames.Name) {
		return nil, fmt.Errorf("%w: the lists of the page differ in length", ErrFormat)
	}
	at := make([]int32, size) // nodes of p.stacks, without the roots
	for n := range size {
		f, parent := d.Nodes.Frame[n], n-int(d.Nodes.Parent[n])
		if f < 0 || int(f) >= len(d.Frames.Kind) || parent < 0 || parent > n || parent == n && n > 0 {
			return nil, fmt.Errorf("%w: node %d of the page has frame %d and parent %d", ErrFormat, n, f, parent)
		}
		kind := d.Frames.Kind[f]
		if at[n] = at[parent]; kind != rootKind {
			l := p.Location(0, []Frame{{Function: text(d.Frames.Name, f), Object: text(d.Frames.Object, f), Code: Code(max(0, min(kind, rootKind-1)))}})
			at[n] = p.stacks.Child(at[parent], l)
		}
		if weight := d.Nodes.Self[n]; weight > 0 {
			p.addAt(at[n], Labels{}, weight)
		}
	}
	return p, nil
}
