// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import "time"

// cut returns a function that reports whether an interval ends now. Intervals that are missed,
// because the machine was busy or suspended, are one.
func (o *Options) cut(began time.Time) func() bool {
	next := began.Add(o.Every)
	return func() bool {
		now := time.Now()
		if now.Before(next) {
			return false
		}
		next = next.Add((now.Sub(next)/o.Every + 1) * o.Every)
		return true
	}
}
