// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// An outcome is one run of a contender. The counts and the checksum are
// compared between contenders that do the same work.
type outcome struct {
	took     time.Duration
	entries  uint64
	rows     uint64
	checksum uint64
	allocs   uint64 // heap allocations, of contenders in this process
	peak     uint64 // maximum memory of a program, bytes
}

// A contender does a piece of work once.
type contender struct {
	name    string
	program string // the program that it runs; "" for none
	run     func() (outcome, error)
	goal    float64 // maximum of Clew's cost, relative to this peer's; 0 for no goal
	same    bool    // its outcome must equal Clew's
}

// A measurement compares Clew with other programs that do the same.
type measurement struct {
	name      string
	clew      contender
	peers     []contender
	maxRounds int  // maximum number of timed rounds, where one takes long; 0 for no maximum
	once      bool // one round, without another one to warm up: each takes minutes
	memory    bool // the memory is compared, not the time
}

// costs returns the memory or the time of each run.
func (m *measurement) costs(runs []outcome) []float64 {
	costs := make([]float64, len(runs))
	for i, o := range runs {
		costs[i] = float64(o.took)
		if m.memory {
			costs[i] = float64(o.peak)
		}
	}
	return costs
}

// A result compares Clew with one peer.
type result struct {
	What       string        `json:"what"`
	Clew       time.Duration `json:"clew_ns"` // medians
	ClewAllocs uint64        `json:"clew_allocations"`
	Peer       string        `json:"peer"`
	PeerTime   time.Duration `json:"peer_ns"`
	Ratio      float64       `json:"ratio"` // Clew's cost relative to the peer's, the median over the rounds
	Goal       float64       `json:"goal,omitempty"`
	Met        bool          `json:"met"`
	Memory     uint64        `json:"clew_peak_bytes,omitempty"`
	PeerMemory uint64        `json:"peer_peak_bytes,omitempty"`
}

// measure runs all contenders in turn, one round to warm up and then the timed ones.
func (m *measurement) measure(rounds int) ([]*result, error) {
	if m.maxRounds > 0 {
		rounds = min(rounds, m.maxRounds)
	}
	warm := 1
	if m.once {
		warm, rounds = 0, 1
	}
	contenders := append([]contender{m.clew}, m.peers...)
	runs := make([][]outcome, len(contenders))
	for round := range warm + rounds {
		for i, c := range contenders {
			o, err := c.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if round >= warm {
				runs[i] = append(runs[i], o)
			}
		}
	}
	own := runs[0]
	costs := m.costs(own)
	var results []*result
	for i, peer := range m.peers {
		other := runs[i+1]
		if a, b := own[0], other[0]; peer.same && (a.entries != b.entries || a.rows != b.rows || a.checksum != b.checksum) {
			return nil, fmt.Errorf("clew read %d entries, %d rows (checksum %#x), %s %d, %d (%#x)",
				a.entries, a.rows, a.checksum, peer.name, b.entries, b.rows, b.checksum)
		}
		// The speed of the machine may change between rounds: ratios are of runs in the
		// same round.
		peerCosts := m.costs(other)
		ratios := make([]float64, rounds)
		for n := range rounds {
			ratios[n] = costs[n] / peerCosts[n]
		}
		r := &result{What: m.name, ClewAllocs: own[rounds-1].allocs, Peer: peer.name, Ratio: median(ratios), Goal: peer.goal}
		if m.memory {
			r.Memory, r.PeerMemory = uint64(median(costs)), uint64(median(peerCosts))
		} else {
			r.Clew, r.PeerTime = time.Duration(median(costs)), time.Duration(median(peerCosts))
		}
		r.Met = r.Goal == 0 || r.Ratio <= r.Goal
		results = append(results, r)
	}
	return results, nil
}

func median[T cmp.Ordered](values []T) T {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}

func printTable(w io.Writer, results []*result, rounds int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tclew\tallocations\tpeer\ttime\tclew / peer\tgoal\t")
	for _, r := range results {
		goal, verdict := "", ""
		if r.Goal > 0 {
			goal, verdict = fmt.Sprintf("≤ %.3g", r.Goal), "met"
			if !r.Met {
				verdict = "MISSED"
			}
		}
		clew, peer := short(r.Clew), short(r.PeerTime)
		if r.Memory > 0 {
			clew, peer = fmt.Sprintf("%.1f MiB", float64(r.Memory)/(1<<20)), fmt.Sprintf("%.1f MiB", float64(r.PeerMemory)/(1<<20))
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%.3f\t%s\t%s\n",
			r.What, clew, r.ClewAllocs, r.Peer, peer, r.Ratio, goal, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Medians of %d rounds (of three where one takes seconds) in which the contenders took turns; ratios are of runs in the same round.\n", rounds)
	return err
}

// short returns a time with three digits.
func short(d time.Duration) string {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}
