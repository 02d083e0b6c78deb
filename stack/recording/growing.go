// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/stack/codefile"
)

// retry says when something may be read again. Reading it takes at most a tenth of the time, and reading
// everything a third.
type retry struct {
	next  time.Time
	pause time.Duration
	cost  time.Duration // of a read
}

const (
	minPause = 4 * time.Millisecond // shorter than the time between frequent looks
	maxPause = 5 * time.Second
)

func (r *retry) due(b *builder) bool {
	now := time.Now()
	return !now.Before(r.next) && !now.Before(b.nextRead)
}

// done sets the next time after a read that began at a time. Without news the pause doubles.
func (r *retry) done(b *builder, began time.Time, news bool) {
	if r.pause = min(2*r.pause, maxPause); news {
		r.pause = 0
	}
	now := time.Now()
	cost := max(now.Sub(began), time.Microsecond)
	if r.cost > 0 {
		cost = min(cost, 2*r.cost) // another program can have had the processor for a while
	}
	r.cost, r.pause = cost, max(r.pause, minPause, 10*cost)
	r.next, b.nextRead = now.Add(r.pause), now.Add(2*cost)
}

// growing is a file of generated code that is read while its runtime writes it.
type growing struct {
	until uint64 // the file was read, or had the same size, at this time
	size  int64  // when it was read
	stale bool   // it has grown since
	bytes int64  // of it that are in memory
	retry retry

	read time.Time     // when it was last read
	took time.Duration // to read it
}

// keeps reports whether the next interval keeps the content of the file. Content that is kept can be old: catchUp
// notices that a file has grown, but not that it was rewritten with the same size. Therefore each file is read again
// after 100 times as long as the reading took, so that reading takes a hundredth of the time.
func (g *growing) keeps(b *builder) bool {
	return b.opts.Live != nil && time.Since(g.read) < 100*g.took
}

// begin notes the time and the size before the file is read for the first time.
func (g *growing) begin(b *builder, size func() int64) {
	if b.opts.Live != nil {
		g.until, g.size = b.opts.Live.Now(), size()
	}
}

// catchUp reads the file again if it has grown before a time: a function can be missing, or replaced by a
// new one. It reports whether look-ups can have other results. size returns the size of the file, and read
// reads it.
func (g *growing) catchUp(b *builder, at uint64, size func() int64, read func() bool) (changed bool) {
	if at <= g.until {
		return false
	}
	now, n := b.opts.Live.Now(), size()
	switch {
	case n == g.size:
		g.until = now
		return false
	case !g.retry.due(b):
		changed, g.stale = !g.stale, true
		return changed
	}
	began := time.Now()
	changed = g.stale
	if g.stale = !read(); !g.stale {
		changed = true
		g.until, g.size = now, n
	}
	g.retry.done(b, began, true)
	return changed
}

func (d *jitdump) catchUp(at uint64) bool {
	return d.opened && d.growing.catchUp(d.builder, at, d.size, d.renew)
}

// size returns the size of the jitdump in bytes, or -1 if it cannot be opened.
func (d *jitdump) size() int64 {
	writer, err := d.builder.writer(d.pid, d.mount)
	if err != nil {
		return -1
	}
	return codefile.DumpSize(writer, codefile.Marker{Path: d.path, Inode: d.inode.number})
}

func (m *perfMap) catchUp(at uint64) bool {
	return m.opened && m.growing.catchUp(m.builder, at, m.size, m.renew)
}

// size returns the size of the perf map in bytes, or -1 if there is none.
func (m *perfMap) size() int64 {
	writer, err := m.writer()
	if err != nil {
		return -1
	}
	return codefile.MapSize(writer)
}

// held returns the size in bytes of the files of generated code that are in memory, without one of them: those of
// a process, and those of the others. What may be read is bounded for all together.
func (b *builder) held(pid int32, but *growing) (own, others int64) {
	add := func(of int32, g *growing) {
		switch {
		case g == but:
		case of == pid:
			own += g.bytes
		default:
			others += g.bytes
		}
	}
	for _, d := range b.dumps {
		if d.code != nil {
			add(d.pid, &d.growing)
		}
	}
	for _, m := range b.maps { // also those of programs that have ended
		add(m.process.pid, &m.growing)
	}
	return own, others
}

// maxIntervalBytes bounds the files of generated code in a recording with intervals, which runs for days beside
// programs of other users. While a file is read again, its former content is also in memory.
const maxIntervalBytes = 128 << 20

// maxCode returns how many bytes of files of generated code may be in memory. While programs run, these are at most
// an eighth of the available memory: a jitdump, which any user can write, must not exhaust it.
func maxCode(opts Options) int64 {
	switch {
	case opts.Interval != nil:
		return maxIntervalBytes
	case opts.Live == nil:
		return codefile.MaxBytes
	}
	b, _ := os.ReadFile("/proc/meminfo")
	if available, ok := availableMemory(b); ok {
		return min(available/8, codefile.MaxBytes)
	}
	return codefile.MaxBytes
}

// availableMemory reads the available memory in bytes from /proc/meminfo: "MemAvailable:   12345 kB".
func availableMemory(meminfo []byte) (bytes int64, ok bool) {
	for line := range strings.Lines(string(meminfo)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemAvailable:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n << 10, err == nil && 0 < n && n < math.MaxInt64>>10
		}
	}
	return 0, false
}

// codeReader returns a Reader of files of generated code, beside others that have read some bytes.
func (b *builder) codeReader(used int64) *codefile.Reader {
	return codefile.NewReaderBeside(used + codefile.MaxBytes - b.maxCode)
}

// readCode calls read for a file of a process. While programs run, a process may have half of what the others
// leave, so that no program takes away the names of all others. Files that grow are read again: in the
// end each of n processes with large files has 1/(n+1) of the memory.
func (b *builder) readCode(pid int32, g *growing, read func()) {
	most := b.reads.Left()
	if b.opts.Live != nil {
		own, others := b.held(pid, g)
		most = (b.maxCode-others)/2 - own
	}
	left := b.reads.Left()
	began := time.Now()
	b.reads.AtMost(most, read)
	g.bytes, g.read, g.took = left-b.reads.Left(), began, time.Since(began)
}

// readAgain makes b.reads a Reader that replaces a file.
func (b *builder) readAgain(g *growing) {
	_, all := b.held(-1, g)
	b.reads = b.codeReader(all)
}

// renew reads the jitdump again, and reports whether that succeeded.
func (d *jitdump) renew() bool {
	former := *d
	d.builder.readAgain(&d.growing)
	if d.open(); d.code == nil {
		d.code, d.err, d.timed, d.bytes = former.code, former.err, former.timed, former.bytes
		return false
	}
	return true
}

// renew reads the perf map again, and reports whether that succeeded.
func (m *perfMap) renew() bool {
	former, bytes := m.code, m.bytes
	m.builder.readAgain(&m.growing)
	switch m.open(); {
	case m.code == nil:
		m.code, m.bytes = former, bytes
		return false
	case former == nil:
		m.note()
	}
	return true
}

// retryPlaces names the places of generated code that had no name when they were added, once their
// files are complete: a runtime can write the names late.
func (b *builder) retryPlaces() { b.retryPlacesOf(nil) }

// retryPlacesOf is retryPlaces for those that can be in one of some jitdumps, or for all if there are none.
func (b *builder) retryPlacesOf(dumps []*jitdump) {
	read := make(map[any]bool)
	for n, u := range b.unnamed {
		if len(dumps) > 0 && !slices.ContainsFunc(u.dumps, func(d *jitdump) bool { return slices.Contains(dumps, d) }) {
			continue
		}
		c := &b.rec.places[n].Code
		for _, d := range slices.Backward(u.dumps) {
			if !read[d] {
				read[d] = true
				d.retry, b.nextRead = retry{}, time.Time{}
				d.catchUp(math.MaxUint64)
			}
			// Another function can have been there when the place was added, or later.
			switch f := d.find(u.lookup, u.first); {
			case f == nil:
			case u.own && d.timed, f == d.find(u.lookup, codefile.End):
				c.Object = d.object()
				d.name(c, f)
			default:
				b.note("jitdump: %s grew faster than it was read: samples in functions that were replaced meanwhile have no name; a raw recording keeps their names", d.path)
			}
		}
		for m, i := u.perfMap, 0; m != nil && i < maxAncestors && c.Object == nil; m, i = m.parent, i+1 {
			if !read[m] {
				read[m] = true
				m.retry, b.nextRead = retry{}, time.Time{}
				m.catchUp(math.MaxUint64)
			}
			if s, ok := m.find(u.lookup, u.space); ok {
				c.Object, c.Symbol = m.stackObject, s
				c.Symbol.Name = b.copied(s.Name)
			}
		}
	}
	maps.DeleteFunc(b.unnamed, func(n int32, _ unnamedPlace) bool { return b.rec.places[n].Object != nil })
}

// retryManyPlaces is retryPlaces once there are many more places without a name than after the last try. It
// reports whether it tried.
func (b *builder) retryManyPlaces() bool {
	if len(b.unnamed) < max(b.retryAt, maxOwnPlaces/4) {
		return false
	}
	b.retryPlaces()
	b.retryAt = 2 * len(b.unnamed)
	b.forgetPaths()
	return true
}

// maxOwnPlaces bounds the unnamed places that only one sample has. The others are shared by all samples at their
// address, which can be in different functions.
const maxOwnPlaces = 1 << 14

// unnamedPlace is a place in executable memory without a file and without a name.
type unnamedPlace struct {
	lookup, first uint64 // its address, and the time when it was added
	own           bool   // only one sample has it
	space         *space
	dumps         []*jitdump
	perfMap       *perfMap
}
