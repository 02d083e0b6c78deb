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
	maxCycle     = 24 // frames of a round of a recursion
	minRepeated  = 8  // repeated frames that are replaced by a line
	maxCycleName = 6  // functions of a round that are named
)

// recursion finds a recursion at the start of frames. It returns the number of frames of a
// round and the number of following frames that repeat it in complete rounds. If the latter
// is too small, it returns 1, 0.
func recursion[F any](frames []F, equal func(a, b *F) bool) (round, repeated int) {
	for round = 1; round <= maxCycle && round < len(frames); round++ {
		k := round
		for k < len(frames) && equal(&frames[k], &frames[k-round]) {
			k++
		}
		if repeated = (k - round) / round * round; repeated >= minRepeated {
			return round, repeated
		}
	}
	return 1, 0
}

// stackPart is a range of frames that are printed, and the number of frames after them that
// repeat their last round.
type stackPart struct{ start, frames, round, repeated int }

// stackParts returns the frames to print: all of them, or only one round of each recursion.
func stackParts(frames []stack.Frame, all bool) (parts []stackPart) {
	if all {
		return []stackPart{{frames: len(frames)}}
	}
	part := stackPart{}
	for i := 0; i < len(frames); {
		round, repeated := recursion(frames[i:], (*stack.Frame).Equal)
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

// repeated writes a line instead of n frames that repeat a round: the chain of calls.
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
	text := fmt.Sprintf("… %s more frames of %s", style.Grouped(uint64(n)), strings.Join(names, " → "))
	p.out = fmt.Appendf(p.out, "     %s\n", p.Palette.Dim.Text(text))
}
