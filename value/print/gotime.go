// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"fmt"
	"time"

	"github.com/clewdev/clew/value"
)

// The fields of a time.Time (package time's time.go): the low 30 bits of wall are nanoseconds.
// If its highest bit is set, the 33 bits between are seconds since 1885, and ext is the
// monotonic clock: nanoseconds since the process started. Otherwise ext is seconds since year 1.
const (
	goTimeMonotonic = 1 << 63
	goTimeShift     = 30
)

// goTimeYears bounds the years that are written, as those of RFC 3339 are.
const goTimeYears = 9999

// goTime returns the text of a time.Time; ok is false for other types. It is in UTC: the
// zone's name in the program need not be one of this machine's.
func goTime(v value.Value, t *value.Type) (text string, ok bool) {
	if t.Name() != "time.Time" {
		return "", false
	}
	wall, wallErr := v.FieldByName("wall").Uint()
	ext, extErr := v.FieldByName("ext").Uint()
	if wallErr != nil || extErr != nil {
		return "", false
	}
	seconds, monotonic := int64(ext), ""
	if wall&goTimeMonotonic != 0 {
		seconds = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix() + int64(wall<<1>>(goTimeShift+1))
		monotonic = fmt.Sprintf(", %+d", int64(ext))
	} else {
		first := time.Time{}.Unix()
		if seconds < 0 || seconds > time.Date(goTimeYears+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()-first {
			return "", false
		}
		seconds += first
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339) + monotonic, true
}
