// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

// The work for a section is bounded by the size of the file, because the parts of a hostile
// file multiply: thousands of FDEs share one language-specific data area, and each jump reads
// the same table. A unit of work is a step of the analysis, a row, a call site or an entry of
// a jump table.
const (
	minWork     = 1 << 23
	workPerByte = 16      // real files need up to 2
	maxWork     = 1 << 34 // of code in memory whose size is unknown
	bytesPerJob = 2       // bytes of code that are read or decoded for a unit of work
)

// maxCounted bounds the code of one function whose instructions are counted without analysis.
const maxCounted = 8 * maxUnitSize

// Limits of what one function and one section report.
const (
	maxFindings  = 1 << 10 // of an FDE
	maxPathSteps = 1 << 20 // of a section
)

// setBudget sets the work for a section whose code is in a file of a size, 0 if that is unknown.
func (c *checker) setBudget(size uint64) {
	if size == 0 {
		size = uint64(len(c.section.Data))
		for _, r := range c.fdes {
			size = min(size+min(r.End-r.Start, maxUnitSize), maxWork)
		}
	}
	c.work = minWork + int64(min(size, maxWork/workPerByte)*workPerByte)
	c.pathSteps = maxPathSteps
}

// spend takes units of work from the budget, and returns false if none are left.
func (c *checker) spend(n int) bool {
	c.work -= int64(n)
	return c.work >= 0
}
