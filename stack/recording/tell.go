// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// tell says what was missing of the recording and of what it leads to.
func (b *builder) tell() {
	used := make(map[*stack.Object]bool)
	for i := range b.rec.places {
		used[b.rec.places[i].Object] = true
	}
	for _, o := range b.rec.Objects {
		if o.Err == nil || !used[o] || o.BuildID == "" && namesNoFile(o.Name) {
			continue
		}
		b.complete = false
		text := o.Err.Error()
		if missing := (*debugfile.NotFoundError)(nil); errors.As(o.Err, &missing) {
			text = missing.Reason()
		}
		id := ""
		if o.BuildID != "" && !strings.Contains(text, o.BuildID) {
			id = " (build ID " + o.BuildID + ")"
		}
		b.note("%s%s is missing: %s", o.Name, id, oneLine(text))
	}
	if err := b.reader.Header().Damage; err != nil {
		b.complete = false
		b.note("%v", err)
	}
	b.tellLate()
	b.tellMaps()
	switch n := b.rec.Counts.Missed(); {
	case n == 1:
		b.note("1 record was lost while it was recorded")
	case n > 1:
		b.note("%d records were lost while it was recorded", n)
	}
	switch n := b.uncopied; {
	case n == 1:
		b.note("no copy of the user stack was recorded for 1 sample")
	case n > 1:
		b.note("no copy of the user stack was recorded for %d samples", n)
	}
	if n := b.severed; n > 0 {
		b.note("%s without the part in user mode, which was to come later and is not in the recording (PERF_RECORD_CALLCHAIN_DEFERRED)", stacks(n, "is", "are"))
	}
	b.ends[Gap] += b.gaps
	for end := range b.ends {
		n := b.ends[end]
		if n == 0 {
			continue
		}
		switch End(end) {
		case Cut:
			b.note("%s longer than the copy that was recorded, of %d bytes at most (perf record --call-graph dwarf,SIZE): the outer frames are missing",
				stacks(n, "is", "are"), b.longest)
		case NoRule:
			b.note("%s where no unwind information for the last frame", stacks(n, "ends", "end"))
		case Unreadable:
			b.note("%s where the rules ask for memory that is not in the recording", stacks(n, "ends", "end"))
		case NoProgress:
			b.note("%s where the rules lead back", stacks(n, "ends", "end"))
		case Gap:
			b.note("%s without some callers: of functions that have no unwind table and no frame pointer, or that were called by a jump", stacks(n, "can be", "can be"))
		case TooDeep:
			b.note("%s longer than %d frames and cut there", stacks(n, "is", "are"), cmp.Or(b.opts.MaxFrames, unwind.DefaultMaxFrames))
		}
	}
	if b.unsaid > 0 {
		b.notes = append(b.notes, fmt.Sprintf("%d notes more", b.unsaid))
	}
}

func stacks(n uint64, one, many string) string {
	if n == 1 {
		return "the stack of 1 sample " + one
	}
	return fmt.Sprintf("the stacks of %d samples %s", n, many)
}

// tellLate says which files turn out not to be the recorded ones by build IDs that
// came after they were read, as they do in a stream.
func (b *builder) tellLate() {
	if !b.reader.Pipe() {
		return
	}
	b.setBuildIDs()
	for _, f := range b.fileList {
		id := b.buildIDs[f.path]
		if f.buildID != "" || id == "" || f.object == nil {
			continue
		}
		f.buildID = id
		have, _ := hex.DecodeString(id)
		var refused *object.RefusedError
		if errors.As(f.object.CheckBuildID(f.path, have), &refused) {
			b.complete = false
			b.note("%s: %s; the frames in it are not to be trusted", refused.Path, refused.Reason)
		}
	}
}

// oneLine is the text of an error on one line.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }
