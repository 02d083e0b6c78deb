// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// noteMissing notes the objects that are missing, and the samples with incomplete stacks.
func (b *builder) noteMissing() {
	used := make(map[*stack.Object]bool)
	for i := range b.rec.places {
		used[b.rec.places[i].Object] = true
	}
	for _, o := range b.rec.Objects {
		if o.Err == nil || !used[o] || o.BuildID == "" && isMemfd(o.Name) {
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
		b.note("%s%s is missing: %s", o.Name, id, strings.ReplaceAll(text, "\n", "; "))
	}
	if err := b.reader.Header().Damage; err != nil {
		b.complete = false
		b.note("%v", err)
	}
	b.noteWrongFiles()
	for _, p := range b.processes {
		p.lists.noteGuessed()
	}
	if b.opts.Live != nil { // these files were kept from an earlier interval, or read again
		for _, key := range slices.SortedFunc(maps.Keys(b.dumps), fileKey.compare) {
			if d := b.dumps[key]; d.opened {
				d.note()
			}
		}
	}
	for _, m := range b.maps {
		b.noteRefused(m.code.Err)
		b.noteError(m.check())
	}
	b.noteCount(b.rec.Counts.Missed()-b.missed, "1 record was", "%d records were", "lost during the recording")
	b.noteCount(b.uncopied, "no copy of the user stack was recorded for 1 sample", "no copy of the user stack was recorded for %d samples", "")
	b.noteCount(b.lostMaps, "1 process", "%d processes", "ended, in another mount namespace, before a perf map could be looked for")
	shortened := min(b.shortened, b.ends[unwind.CallersMissing])
	b.ends[unwind.CallersMissing] += b.gaps - shortened
	const stack, stacks = "the stack of 1 sample ", "the stacks of %d samples "
	unlabelled := b.unlabelled
	if !b.rec.hasLabels() {
		unlabelled = b.inDo // the others probably have none
	}
	b.noteCount(unlabelled, "the labels of goroutines are unknown for 1 sample", "the labels of goroutines are unknown for %d samples",
		": the goroutine went on before its labels could be read; labels are mostly known in calls of pprof.Do, and of C code, that last 50 ms or more")
	b.noteCount(b.unfinished, stack+"is", stacks+"are", "without the part in user mode, because the record that follows later is missing (PERF_RECORD_CALLCHAIN_DEFERRED)")
	b.noteCount(b.ends[unwind.StackCut], stack+"is", stacks+"are", fmt.Sprintf("longer than the recorded copy of at most %d bytes: the outer frames are missing%s", b.longestCopy, b.copyAdvice()))
	b.noteCount(b.ends[unwind.NoRule], stack+"ends", stacks+"end", "at a frame without unwind information")
	b.noteCount(b.ends[unwind.UnreadableMemory], stack+"ends", stacks+"end", "where the unwind rules need memory that is not in the recording")
	b.noteCount(b.ends[unwind.NoProgress], stack+"ends", stacks+"end", "where the unwind rules lead back to an earlier frame")
	b.noteCount(b.ends[unwind.TooManyFrames], stack+"is", stacks+"are", fmt.Sprintf("longer than %d frames and cut there", cmp.Or(b.opts.MaxFrames, unwind.DefaultMaxFrames)))
	b.noteCount(b.ends[unwind.CallersMissing], stack+"can", stacks+"can", "lack callers: functions without an unwind table and a frame pointer, that were called by a jump, or that ran on another stack")
	b.noteCount(shortened, stack+"lacks", stacks+"lack", "callers where Go code calls C code or is called by it: the call ended before the other stack could be read")
	if b.omitted > 0 {
		b.notes = append(b.notes, fmt.Sprintf("%d more notes", b.omitted))
	}
}

// copyAdvice says how to record larger copies of stacks, if that is possible.
func (b *builder) copyAdvice() string {
	// In between clew record chooses the size by the frequency. The kernel shortens a copy by the other
	// fields of a sample, of which the call chain has up to a KiB (perf_sample_ustack_size in
	// kernel/events/core.c).
	const least, most = 8 << 10, 61 << 10
	switch {
	case b.opts.Live == nil:
		return " (use perf record --call-graph dwarf,SIZE)"
	case least < b.longestCopy && b.longestCopy < most:
		return " (with a lower --frequency the copies are larger)"
	case b.longestCopy >= most:
		return " (the kernel copies no more)"
	}
	return ""
}

// noteCount adds a note about n things, if there are any. Many has a verb for n.
func (b *builder) noteCount(n uint64, one, many, text string) {
	if n > 1 {
		one = fmt.Sprintf(many, n)
	}
	if n > 0 {
		if !strings.HasPrefix(text, ":") {
			one += " "
		}
		b.note("%s", strings.TrimSpace(one+text))
	}
}

// noteWrongFiles notes files that are not the recorded ones by build IDs that a stream
// contains after the samples.
func (b *builder) noteWrongFiles() {
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
		want, _ := hex.DecodeString(id)
		var refused *object.RefusedError
		if errors.As(f.object.CheckBuildID(f.path, want), &refused) {
			b.complete = false
			b.note("%s: %s; do not trust the frames in it", refused.Path, refused.Reason)
		}
	}
}
