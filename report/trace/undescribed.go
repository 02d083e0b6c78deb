// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"path"

	"github.com/clewdev/clew/report/style"
)

// undescribed returns a note on frames of a live process in generated code that no source
// describes, if the stack also has frames of a runtime that can describe its code. The note
// says how to make it do so.
func (s *Threads) undescribed() string {
	if s.Core != nil || s.PID == 0 {
		return ""
	}
	frames, how := 0, ""
	for i := range s.Stacks {
		nowhere, known := 0, ""
		for k := range s.Stacks[i].Frames {
			if o := s.Stacks[i].Frames[k].Object; o == nil {
				nowhere++
			} else if known == "" {
				known = perfMapAdvice(path.Base(o.Name), s.PID)
			}
		}
		if known != "" && nowhere > 0 {
			frames, how = frames+nowhere, known
		}
	}
	if frames == 0 {
		return ""
	}
	is := "are"
	if frames == 1 {
		is = "is"
	}
	return fmt.Sprintf("%s %s in generated code that no source describes: %s", style.Count(frames, "frame"), is, how)
}

// perfMapAdvice says how to make the runtime in a file write a perf map.
func perfMapAdvice(file string, pid int) string {
	switch file {
	case "libjvm.so": // JDK 17
		return fmt.Sprintf("the JVM does after 'jcmd %d Compiler.perfmap', and leads through it when it was started with -XX:+PreserveFramePointer", pid)
	case "node":
		return "node does when it was started with --perf-basic-prof --interpreted-frames-native-stack"
	}
	return ""
}
