// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"path"

	"github.com/clewdev/clew/report/style"
)

// undescribed returns a note on frames in undescribed generated code of a live process, if
// the stack also has frames of a runtime that can describe its code. The note says how to
// make it do so.
func (s *Threads) undescribed() string {
	if s.Core != nil || s.PID == 0 {
		return ""
	}
	total, advice := 0, ""
	for i := range s.Stacks {
		frames, runtimeAdvice := 0, ""
		for k := range s.Stacks[i].Frames {
			if o := s.Stacks[i].Frames[k].Object; o == nil {
				frames++
			} else if runtimeAdvice == "" {
				runtimeAdvice = perfMapAdvice(path.Base(o.Name), s.PID)
			}
		}
		if runtimeAdvice != "" && frames > 0 {
			total, advice = total+frames, runtimeAdvice
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("no description of the generated code of %s: %s", style.Count(total, "frame"), advice)
}

// perfMapAdvice returns how to make the runtime in a file write a perf map.
func perfMapAdvice(file string, pid int) string {
	switch file {
	case "libjvm.so": // JDK 17
		return fmt.Sprintf("run 'jcmd %d Compiler.perfmap'; for whole stacks, also start the JVM with -XX:+PreserveFramePointer", pid)
	case "node":
		return "start node with --perf-basic-prof --interpreted-frames-native-stack"
	}
	return ""
}
