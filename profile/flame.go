// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/printable"
)

// The page, and its scripts: a model of the tree, the graph, and the controls.
var (
	//go:embed flame.html
	flamePage string
	//go:embed flame.css
	flameStyle string
	//go:embed flame_tree.js
	flameTree string
	//go:embed flame_graph.js
	flameGraph string
	//go:embed flame.js
	flameControls string
)

// Flame writes an HTML page with a flame graph of the profile. The page is
// self-contained and forbids itself all network access. Users can search, zoom and
// invert the graph, and look at it function by function. The graph merges stacks of
// different addresses in the same functions.
func (p *Profile) Flame(w io.Writer) error { return writeFlame(w, p.flameData()) }

func writeFlame(w io.Writer, data *flameData) error {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded) // escapes '<', so that the data cannot end the script element
	if err := e.Encode(data); err != nil {
		return err
	}
	script := "\"use strict\";\n" + flameTree + flameGraph + flameControls
	page := strings.NewReplacer(
		"{{title}}", html.EscapeString(cmp.Or(data.Title, "Flame graph")),
		"{{policy}}", "default-src 'none'; base-uri 'none'; form-action 'none'; style-src "+sourceHash(flameStyle)+"; script-src "+sourceHash(script),
		"{{style}}", flameStyle,
		"{{script}}", script,
		"{{data}}", string(printable.AppendJSONText(nil, bytes.TrimSpace(encoded.Bytes()))),
		"{{heaviest}}", data.heaviest(),
	)
	_, err := page.WriteString(w, flamePage)
	return err
}

// sourceHash returns the expression of a content security policy that allows an inline script
// or style (CSP 3 §2.3.1, hash-source).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// flameData is the data of the page. Texts are indexes of Strings. A frame or a node is the
// elements at one index of several arrays.
type flameData struct {
	Title   string   `json:"title"`
	Unit    string   `json:"unit"`
	Notes   []string `json:"notes"`
	Kinds   []string `json:"kinds"`   // names of the kinds of frames
	Strings []string `json:"strings"` // the first is ""

	Frames struct {
		Name    []int32 `json:"name"`
		Object  []int32 `json:"object"`
		File    []int32 `json:"file"`
		Kind    []int32 `json:"kind"`
		Inlined []int32 `json:"inlined"` // 0 or 1
	} `json:"frames"`

	// Nodes follow their parents. The first is the root of all stacks.
	Nodes struct {
		Parent []int32 `json:"parent"` // distance to the parent, which comes earlier
		Frame  []int32 `json:"frame"`
		Self   []int64 `json:"self"`
		Line   []int32 `json:"line"` // in the frame's file; 0 if there are none or several

		// In a Difference, the weights of Before, scaled.
		Before []int64 `json:"before,omitempty"`
	} `json:"nodes"`
}

// rootKind is the kind of the frames of processes, threads and all stacks.
const rootKind = int32(Kernel) + 1

type flameFrame struct {
	name, object string
	kind         int32
	inlined      bool
}

type flameBuilder struct {
	*flameData
	strings map[string]int32
	frames  map[flameFrame]int32
	nodes   map[pair]int32
}

// newFlameBuilder returns a builder of a page with the title, the notes and the unit of a profile.
func newFlameBuilder(p *Profile) *flameBuilder {
	d := &flameData{Title: printable.Text(p.Title), Unit: printable.Text(p.unit), Notes: make([]string, len(p.Notes)),
		Kinds: []string{"unknown", "native", "Go", "JIT", "kernel", "root"}}
	for i, note := range p.Notes {
		d.Notes[i] = printable.Text(note)
	}
	b := &flameBuilder{d, make(map[string]int32), make(map[flameFrame]int32), make(map[pair]int32)}
	b.text("")
	return b
}

func (p *Profile) flameData() *flameData {
	b := newFlameBuilder(p)
	numbers := make([]int32, len(p.frames))
	for i := range p.frames {
		f := &p.frames[i]
		numbers[i] = b.frame(flameFrame{f.Name(), f.Object, int32(f.Code), f.Inlined}, f.File)
	}
	b.add(p, numbers, p.rootNames(), func(n int32, weight int64) { b.Nodes.Self[n] += weight })
	return b.flameData
}

// add adds the stacks of a profile, whose frames have these numbers, below the names of the
// roots of its threads. It calls each with the node and the weight of each sample.
func (b *flameBuilder) add(p *Profile, numbers []int32, rootNames [][]string, each func(node int32, weight int64)) {
	if len(b.Nodes.Frame) == 0 {
		b.node(0, b.frame(flameFrame{name: "all", kind: rootKind}, ""), 0)
	}
	roots := make([]int32, len(p.threads))
	for i, names := range rootNames {
		for _, name := range names {
			roots[i] = b.node(roots[i], b.frame(flameFrame{name: name, kind: rootKind}, ""), 0)
		}
	}
	place := placer{b, p, numbers, make(map[pair]int32), nil}
	for _, s := range p.samples {
		each(place.node(roots[s.thread], s.node), s.weight)
	}
}

// placer finds the page's nodes for the nodes of a profile.
type placer struct {
	*flameBuilder
	p       *Profile
	numbers []int32        // of the page's frames, by number of the profile's frames
	placed  map[pair]int32 // by a root's node and a node of the profile
	path    []int32
}

// node returns the page's node for a node of the profile, below a root.
func (b *placer) node(root, n int32) int32 {
	b.path = b.path[:0]
	at := root
	for n != 0 {
		if known, ok := b.placed[pairOf(root, n)]; ok {
			at = known
			break
		}
		b.path = append(b.path, n)
		_, n = b.p.stacks.At(n)
	}
	for _, n := range slices.Backward(b.path) {
		location, _ := b.p.stacks.At(n)
		for _, f := range slices.Backward(b.p.locations[location].frames) {
			line := int32(0)
			if frame := &b.p.frames[f]; b.Frames.File[b.numbers[f]] == b.strings[frame.File] {
				line = int32(frame.Line)
			}
			at = b.flameBuilder.node(at, b.numbers[f], line)
		}
		b.placed[pairOf(root, n)] = at
	}
	return at
}

func (b *flameBuilder) node(parent, frame, line int32) int32 {
	key := pairOf(parent, frame)
	n, ok := b.nodes[key]
	if !ok {
		n = int32(len(b.Nodes.Frame))
		b.nodes[key] = n
		b.Nodes.Parent = append(b.Nodes.Parent, n-parent)
		b.Nodes.Frame = append(b.Nodes.Frame, frame)
		b.Nodes.Self = append(b.Nodes.Self, 0)
		b.Nodes.Line = append(b.Nodes.Line, line)
	}
	if b.Nodes.Line[n] != line {
		b.Nodes.Line[n] = 0
	}
	return n
}

// frame returns the number of a frame. The frame keeps the first known file.
func (b *flameBuilder) frame(f flameFrame, file string) int32 {
	i, ok := b.frames[f]
	if !ok {
		i = int32(len(b.Frames.Name))
		b.frames[f] = i
		inlined := int32(0)
		if f.inlined {
			inlined = 1
		}
		b.Frames.Name = append(b.Frames.Name, b.text(f.name))
		b.Frames.Object = append(b.Frames.Object, b.text(f.object))
		b.Frames.File = append(b.Frames.File, 0)
		b.Frames.Kind = append(b.Frames.Kind, f.kind)
		b.Frames.Inlined = append(b.Frames.Inlined, inlined)
	}
	if b.Frames.File[i] == 0 {
		b.Frames.File[i] = b.text(file)
	}
	return i
}

func (b *flameBuilder) text(s string) int32 {
	i, ok := b.strings[s]
	if !ok {
		i = int32(len(b.Strings))
		b.strings[s] = i
		b.Strings = append(b.Strings, printable.Text(s)) // browsers interpret bidirectional controls
	}
	return i
}

// heaviest returns rows of an HTML table of the functions with the largest self weights, for
// readers without JavaScript.
func (d *flameData) heaviest() string {
	const rows = 30
	self := make([]int64, len(d.Frames.Name))
	total := int64(0)
	for n, f := range d.Nodes.Frame {
		self[f] += d.Nodes.Self[n]
		total += d.Nodes.Self[n]
	}
	var order []int
	for f, weight := range self {
		if weight > 0 {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(self[b], self[a]) })
	var out strings.Builder
	for _, f := range order[:min(rows, len(order))] {
		fmt.Fprintf(&out, "<tr><td>%d</td><td>%.1f%%</td><td>%s</td><td>%s</td></tr>\n", self[f], 100*float64(self[f])/float64(total),
			html.EscapeString(d.Strings[d.Frames.Name[f]]), html.EscapeString(d.Strings[d.Frames.Object[f]]))
	}
	return out.String()
}
