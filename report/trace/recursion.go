// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
)

const (
	maxCycle     = 24 // frames of one round of a recursion that is shown once
	minRepeated  = 8  // frames that are worth a line in their place
	maxCycleName = 6  // functions of a round that are named
)

// recursion finds a recursion that starts at frame i: how many frames a round
// of it has, and how many frames after the first round only repeat it, whole
// rounds; 0 where there are too few.
func recursion(frames []stack.Frame, i int) (round, repeated int) {
	for round = 1; round <= maxCycle && i+round < len(frames); round++ {
		k := i + round
		for k < len(frames) && equalFrames(&frames[k], &frames[k-round]) {
			k++
		}
		repeated = (k - i - round) / round * round
		if repeated >= minRepeated {
			return round, repeated
		}
	}
	return 0, 0
}

// stackPart is frames that are shown, and how many after them only repeat the last
// round of them.
type stackPart struct{ start, frames, round, repeated int }

// stackParts returns what is shown of frames; of a recursion one round, unless all are.
func stackParts(frames []stack.Frame, all bool) (parts []stackPart) {
	if all {
		return []stackPart{{frames: len(frames)}}
	}
	part := stackPart{}
	for i := 0; i < len(frames); {
		round, repeated := recursion(frames, i)
		round = max(round, 1)
		part.frames += round
		i += round + repeated
		if repeated > 0 {
			part.round, part.repeated = round, repeated
			parts = append(parts, part)
			part = stackPart{start: i}
		}
	}
	return append(parts, part)
}

// repeated writes a line in the place of frames that repeat a round: who calls
// whom in it.
func (p *stackPrinter) repeated(round []stack.Frame, n int) {
	names := make([]string, 0, maxCycleName+1)
	for i := range round {
		if i == maxCycleName {
			names = append(names, "…")
			break
		}
		name := FunctionName(&round[len(round)-1-i])
		names = append(names, printable.Text(style.WithoutParameters(name)))
	}
	p.out = append(p.out, "     "...)
	p.out = p.Palette.Dim.Append(p.out, fmt.Sprintf("… %s more frames of %s", style.Grouped(uint64(n)), strings.Join(names, " → ")))
	p.out = append(p.out, '\n')
}
