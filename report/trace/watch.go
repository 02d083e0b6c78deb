// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// Watch are the stacks that the threads of a process had at several moments.
type Watch struct {
	Threads       // the different ones of each thread, Pause being that of all threads together
	Counts  []int // how often each of them was met
	Lost    int   // stacks that were met and not kept

	Samples  int           // how many moments
	Interval time.Duration // that was to lie between them
	Took     time.Duration // from the first to the last
	Stops    int           // of threads: Pause is their sum
	Longest  time.Duration // of them
	Late     int           // moments that were left out, as the one before was not over
	Ended    string        // why there are no more, "" where there are as many as were asked for
}

// AddTo adds each stack to a profile, as often as it was met.
func (w *Watch) AddTo(p *profile.Profile) {
	w.Threads.addTo(p, false, func(i int) (profile.Labels, string, int) {
		labels, name := w.thread(i)
		return labels, name, w.Counts[i]
	})
	p.Notes = append(p.Notes, w.Notes()...)
}

// Notes says what is to be known of the watch as a whole.
func (w *Watch) Notes() (notes []string) {
	if w.Ended != "" {
		notes = append(notes, fmt.Sprintf("process %d was looked at %s only: %s", w.PID, times(w.Samples), w.Ended))
	}
	if w.Late > 0 {
		notes = append(notes, fmt.Sprintf("process %d could not be looked at every %v: that was left out %s, as the look before was not over", w.PID, w.Interval, times(w.Late)))
	}
	if w.Lost > 0 {
		notes = append(notes, fmt.Sprintf("%s of process %d are not counted, as there were too many different ones", style.Count(w.Lost, "stack"), w.PID))
	}
	gaps := 0
	for i := range w.Threads.Stacks {
		if w.Threads.Stacks[i].HasGap() {
			gaps += w.Counts[i]
		}
	}
	if gaps > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s of process %d can lack callers", style.Grouped(uint64(gaps)), style.Count(w.total(), "stack"), w.PID))
	}
	if note := w.notWhole(); note != "" {
		notes = append(notes, note)
	}
	if note := w.undescribed(); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// notWhole says how many stacks end early, and why one that was met most often does.
func (w *Watch) notWhole() string {
	n, most, why := 0, 0, ""
	for i := range w.Threads.Stacks {
		end := endNote(&w.Threads.Stacks[i])
		if end == "" {
			continue
		}
		n += w.Counts[i]
		if w.Counts[i] > most {
			most, why = w.Counts[i], end
		}
	}
	if n == 0 {
		return ""
	}
	end := "end"
	if n == 1 {
		end = "ends"
	}
	return fmt.Sprintf("%s of %s of process %d %s early: %s", style.Grouped(uint64(n)), style.Count(w.total(), "stack"), w.PID, end, why)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return style.Grouped(uint64(n)) + " times"
}

// watchedGroup is what stacks that lead through the same functions have in common.
type watchedGroup struct {
	frames  []profile.Frame // innermost first; file and line are zero where the stacks differ
	end     string          // why they end early
	count   int
	threads []watchedThread
}

type watchedThread struct {
	id, count int
	name      string
}

// groups returns the stacks by the functions that they lead through, those that were
// met most first.
func (w *Watch) groups() []watchedGroup {
	var list []watchedGroup
	index := make(map[string]int)
	var key strings.Builder
	for i := range w.Threads.Stacks {
		s := &w.Threads.Stacks[i]
		frames := watchedFrames(s)
		end := end(s)
		if len(s.Frames) == 0 {
			end = endNote(s)
		}
		key.Reset()
		for k := range frames {
			fmt.Fprintf(&key, "%s\x00%s\x00%t\x00", frames[k].Function, frames[k].Object, frames[k].Inlined)
		}
		key.WriteString(end)
		at, known := index[key.String()]
		if !known {
			at = len(list)
			index[key.String()] = at
			list = append(list, watchedGroup{frames: frames, end: end})
		}
		list[at].add(frames, s.Thread, w.Counts[i])
	}
	slices.SortStableFunc(list, func(a, b watchedGroup) int { return b.count - a.count })
	for i := range list {
		slices.SortStableFunc(list[i].threads, func(a, b watchedThread) int { return b.count - a.count })
	}
	return list
}

func (g *watchedGroup) add(frames []profile.Frame, t *snapshot.Thread, n int) {
	for k := range g.frames {
		if known := &g.frames[k]; known.File != frames[k].File {
			known.File, known.Line = "", 0
		} else if known.Line != frames[k].Line {
			known.Line = 0
		}
	}
	g.count += n
	for i := range g.threads {
		if g.threads[i].id == t.ID {
			g.threads[i].count += n
			return
		}
	}
	g.threads = append(g.threads, watchedThread{t.ID, n, t.Name})
}

// watchedFrames returns the frames of a stack with the calls inlined there, and with the
// base names of their objects.
func watchedFrames(s *stack.Stack) (list []profile.Frame) {
	for i := range s.Frames {
		list = appendFrame(list, &s.Frames[i])
	}
	for i := range list {
		f := &list[i]
		f.Function, f.Object = shownName(f), shownObject(f)
	}
	return list
}

// total is how many stacks were met.
func (w *Watch) total() (n int) {
	for _, c := range w.Counts {
		n += c
	}
	return n
}

const (
	// Stacks that were met less often than one in a hundred are shown up to so many.
	maxWatched = 20
	// maxWatchedThreads is how many threads of a group are named.
	maxWatchedThreads = 8
)

// Text writes the stacks for people: those that lead through the same functions
// together, how often they were met, and most often first.
func (w *Watch) Text(out io.Writer, palette style.Palette) error {
	p := stackPrinter{Options: Options{Palette: palette}, machine: w.Machine}
	p.out = fmt.Appendf(p.out, "process %d", w.PID)
	if w.Command != "" {
		p.out = append(p.out, ' ')
		p.out = palette.Name.Append(p.out, printable.Text(w.Command))
	}
	p.out = fmt.Appendf(p.out, ", looked at %s in %v, every %v\n", times(w.Samples), w.Took.Round(time.Millisecond), w.Interval)
	if w.Stops > 0 {
		p.out = fmt.Appendf(p.out, "threads stood still for %v in all: %v each time, %v at the longest\n", w.Pause.Round(time.Microsecond),
			(w.Pause / time.Duration(w.Stops)).Round(time.Microsecond), w.Longest.Round(time.Microsecond))
	}
	total, rest, restCount := w.total(), 0, 0
	for i, g := range w.groups() {
		if i >= maxWatched && 100*g.count < total {
			rest++
			restCount += g.count
			continue
		}
		p.watched(&g, total)
	}
	if rest > 0 {
		p.out = fmt.Appendf(p.out, "\n%5.1f%%  %s of %s more kinds\n", 100*float64(restCount)/float64(total), style.Count(restCount, "stack"), style.Grouped(uint64(rest)))
	}
	p.notes(append(Notes(w.Threads.Stacks), w.Notes()...))
	_, err := out.Write(p.out)
	return err
}

func (p *stackPrinter) watched(g *watchedGroup, total int) {
	p.out = fmt.Appendf(p.out, "\n%5.1f%%  %s", 100*float64(g.count)/float64(total), style.Count(g.count, "stack"))
	for i, t := range g.threads {
		if i == maxWatchedThreads {
			p.out = fmt.Appendf(p.out, ", %s", style.Count(len(g.threads)-i, "more thread"))
			break
		}
		before := ","
		if i == 0 {
			before = " of thread"
		}
		p.out = fmt.Appendf(p.out, "%s %d %s", before, t.id, printable.Text(t.name))
	}
	p.out = append(p.out, '\n')
	for i := 0; i < len(g.frames); {
		round, repeated := watchedRecursion(g.frames[i:])
		for k := i; k < i+round; k++ {
			p.watchedFrame(k, &g.frames[k])
		}
		if repeated > 0 {
			p.out = fmt.Appendf(p.out, "     … %s more frames like these\n", style.Grouped(uint64(repeated)))
		}
		i += round + repeated
	}
	if g.end != "" {
		p.out = append(p.out, "     "...)
		p.out = p.Palette.Error.Append(p.out, printable.Text(g.end))
		p.out = append(p.out, '\n')
	}
}

// watchedRecursion returns how many frames to show, and how many after them only
// repeat these.
func watchedRecursion(frames []profile.Frame) (round, repeated int) {
	for round = 1; round <= maxCycle && round < len(frames); round++ {
		k := round
		for k < len(frames) && frames[k].Function == frames[k-round].Function && frames[k].Object == frames[k-round].Object {
			k++
		}
		if repeated = (k - round) / round * round; repeated >= minRepeated {
			return round, repeated
		}
	}
	return 1, 0
}

func (p *stackPrinter) watchedFrame(n int, f *profile.Frame) {
	p.number(n)
	p.out = p.Palette.Name.Append(p.out, printable.Text(f.Function))
	switch {
	case f.Inlined:
		p.out = p.Palette.Dim.Append(p.out, " (inlined)")
	case f.Object == "":
		p.out = p.Palette.Dim.Append(p.out, " in no file")
	default:
		p.out = p.Palette.Dim.Append(p.out, " in "+printable.Text(f.Object))
	}
	if f.Line != 0 {
		p.source(f.File, f.Line)
	} else if f.File != "" {
		p.out = append(p.out, " at "...)
		p.out = p.Palette.Source.Append(p.out, printable.Text(f.File))
	}
	p.out = append(p.out, '\n')
}
