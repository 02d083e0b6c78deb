// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
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

// Watch holds samples of the stacks of a process's threads.
type Watch struct {
	Threads       // the distinct stacks of each thread; Pause is the sum of the pauses of all threads
	Counts  []int // how often each stack was seen
	Lost    int   // stacks that were seen but not kept

	Samples  int
	Interval time.Duration // requested time between samples
	Took     time.Duration // from the first sample to the last
	Stops    int           // number of times that a thread was stopped
	Longest  time.Duration // longest pause of a thread
	Late     int           // samples that were skipped because the previous one was not complete
	Ended    string        // why there are fewer samples than requested, or ""
}

// AddTo adds each stack to a profile, with its count as weight.
func (w *Watch) AddTo(p *profile.Profile) {
	w.Threads.addTo(p, false, func(i int) (profile.Labels, string, int) {
		labels, name := w.thread(i)
		return labels, name, w.Counts[i]
	})
	p.Notes = append(p.Notes, w.Notes()...)
}

// Notes returns remarks on the samples as a whole.
func (w *Watch) Notes() (notes []string) {
	if w.Ended != "" {
		notes = append(notes, fmt.Sprintf("process %d was sampled only %s: %s", w.PID, times(w.Samples), w.Ended))
	}
	if w.Late > 0 {
		notes = append(notes, fmt.Sprintf("process %d could not be sampled every %v: %s skipped, because the previous one was not complete", w.PID, w.Interval, style.Count(w.Late, "sample")))
	}
	if w.Lost > 0 {
		notes = append(notes, fmt.Sprintf("%s of process %d not counted: too many distinct stacks", style.Count(w.Lost, "stack"), w.PID))
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
	for _, note := range []string{w.incomplete(), w.undescribed()} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// incomplete returns how many stacks end early, and the reason of the most frequent one.
func (w *Watch) incomplete() string {
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
	return fmt.Sprintf("incomplete: %s of %s of process %d: %s", style.Grouped(uint64(n)), style.Count(w.total(), "stack"), w.PID, why)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return style.Grouped(uint64(n)) + " times"
}

// watchedGroup is stacks with the same functions.
type watchedGroup struct {
	frames  []profile.Frame // innermost first; file and line are zero if the stacks differ
	end     string          // why they end early
	count   int
	threads []watchedThread
}

// watchedThread is a thread of a group, also in JSON.
type watchedThread struct {
	TID   int    `json:"tid"`
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// groups returns groups of stacks with the same functions, most frequent first.
func (w *Watch) groups() []watchedGroup {
	var list []watchedGroup
	index := make(map[string]int)
	var key strings.Builder
	for i := range w.Threads.Stacks {
		s := &w.Threads.Stacks[i]
		frames := watchedFrames(s)
		end := endText(s.End())
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
		slices.SortStableFunc(list[i].threads, func(a, b watchedThread) int { return b.Count - a.Count })
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
		if g.threads[i].TID == t.ID {
			g.threads[i].Count += n
			return
		}
	}
	g.threads = append(g.threads, watchedThread{t.ID, t.Name, n})
}

// watchedFrames returns the frames of a stack, with inlined calls and the base names of
// objects.
func watchedFrames(s *stack.Stack) (list []profile.Frame) {
	for i := range s.Frames {
		list = appendCalls(list, &s.Frames[i])
	}
	for i := range list {
		f := &list[i]
		f.Function, f.Object = shownName(f), shownObject(f)
	}
	return list
}

// total returns the number of stacks that were seen.
func (w *Watch) total() (n int) {
	for _, c := range w.Counts {
		n += c
	}
	return n
}

const (
	maxWatched        = 20 // groups that are printed even if they have less than 1% of the stacks
	maxWatchedThreads = 8  // threads of a group that are named
)

// Text writes the stacks for people: groups of stacks with the same functions and their
// counts, most frequent first.
func (w *Watch) Text(out io.Writer, palette style.Palette) error {
	p := stackPrinter{Options: Options{Palette: palette}, machine: w.Machine}
	target := w.Target
	target.Pause = 0
	p.heading(&target, fmt.Sprintf("sampled %s in %v, every %v", times(w.Samples), w.Took.Round(time.Millisecond), w.Interval))
	if w.Stops > 0 {
		p.out = fmt.Appendf(p.out, "threads stood still for %v in total: %v on average, %v at most\n", w.Pause.Round(time.Microsecond),
			(w.Pause / time.Duration(w.Stops)).Round(time.Microsecond), w.Longest.Round(time.Microsecond))
	}
	total, unlisted, unlistedStacks := w.total(), 0, 0
	for i, g := range w.groups() {
		if i >= maxWatched && 100*g.count < total {
			unlisted++
			unlistedStacks += g.count
			continue
		}
		p.watched(&g, total)
	}
	if unlisted > 0 {
		p.out = fmt.Appendf(p.out, "\n%5.1f%%  %s of %s more kinds\n", 100*float64(unlistedStacks)/float64(total), style.Count(unlistedStacks, "stack"), style.Grouped(uint64(unlisted)))
	}
	p.out = appendNotes(p.out, append(Notes(w.Threads.Stacks), w.Notes()...))
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
		p.out = fmt.Appendf(p.out, "%s %d %s", before, t.TID, printable.Text(t.Name))
	}
	p.out = append(p.out, '\n')
	for i := 0; i < len(g.frames); {
		round, repeated := recursion(g.frames[i:], func(a, b *profile.Frame) bool { return a.Function == b.Function && a.Object == b.Object })
		for k := i; k < i+round; k++ {
			p.watchedFrame(k, &g.frames[k])
		}
		if repeated > 0 {
			p.out = fmt.Appendf(p.out, "     … %s more frames like these\n", style.Grouped(uint64(repeated)))
		}
		i += round + repeated
	}
	if g.end != "" {
		p.out = fmt.Appendf(p.out, "     %s\n", p.Palette.Error.Text(printable.Text(g.end)))
	}
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
		p.out = appendSource(p.out, p.Palette.Source, f.File, f.Line)
	} else if f.File != "" {
		p.out = append(p.out, " at "...)
		p.out = p.Palette.Source.Append(p.out, printable.Text(f.File))
	}
	p.out = append(p.out, '\n')
}

type jsonWatched struct {
	PID        int               `json:"pid"`
	Command    string            `json:"command,omitempty"`
	Machine    string            `json:"machine"`
	Samples    int               `json:"samples"`
	IntervalNS int64             `json:"interval_ns"`
	TookNS     int64             `json:"took_ns"`
	Late       int               `json:"late,omitempty"`
	PauseNS    jsonPause         `json:"pause_ns"`
	Ended      string            `json:"ended,omitempty"`
	Stacks     []jsonKindOfStack `json:"stacks"`
	Notes      []string          `json:"notes,omitempty"`
}

type jsonPause struct {
	Total   int64 `json:"total"`
	Mean    int64 `json:"mean"`
	Longest int64 `json:"longest"`
}

type jsonKindOfStack struct {
	Count   int                `json:"count"`
	Threads []watchedThread    `json:"threads"`
	Frames  []jsonWatchedFrame `json:"frames"`
	End     string             `json:"end"`
}

type jsonWatchedFrame struct {
	Function string `json:"function,omitempty"`
	Module   string `json:"module,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
}

// WatchSchema describes what [Watch.JSON] writes.
const WatchSchema = `Each line is an object for one process:
  pid, command, machine
  samples         the number of samples
  interval_ns, took_ns   the requested interval, and the whole duration
  late            samples that were skipped, because the previous one was not complete
  pause_ns        how long threads stood still, each by itself: {"total", "mean",
                  "longest"}
  ended           why there are fewer samples than requested
  stacks          most frequent first; stacks through the same functions are one:
    count         how often it was seen
    threads       the threads that had it: [{"tid", "name", "count"}]
    frames        innermost first: [{"function", "module", "file", "line",
                  "inlined"}]; "line" is absent if it differs
    end           why the walk ended; "end of stack" is a complete stack
  notes           ["…"]`

// JSON writes the stacks as one JSON object on one line. WatchSchema describes it.
func (w *Watch) JSON(to io.Writer) error {
	groups := w.groups()
	out := jsonWatched{PID: w.PID, Command: w.Command, Machine: w.Machine.Name, Samples: w.Samples,
		IntervalNS: w.Interval.Nanoseconds(), TookNS: w.Took.Nanoseconds(), Late: w.Late,
		PauseNS: jsonPause{w.Pause.Nanoseconds(), w.Pause.Nanoseconds() / int64(max(w.Stops, 1)), w.Longest.Nanoseconds()},
		Ended:   w.Ended, Stacks: make([]jsonKindOfStack, len(groups)), Notes: slices.Concat(Notes(w.Threads.Stacks), w.Notes(), w.Missed)}
	for i := range groups {
		g, s := &groups[i], &out.Stacks[i]
		*s = jsonKindOfStack{Count: g.count, Threads: g.threads, Frames: make([]jsonWatchedFrame, len(g.frames)), End: cmp.Or(g.end, "end of stack")}
		for k, f := range g.frames {
			s.Frames[k] = jsonWatchedFrame{f.Function, f.Object, f.File, f.Line, f.Inlined}
			if f.Function == unnamed {
				s.Frames[k].Function = ""
			}
		}
	}
	return printable.EncodeJSON(to, &out)
}
