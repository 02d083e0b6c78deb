// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// attrSize is PERF_ATTR_SIZE_VER6. Older kernels than 5.5 accept it if the fields that they do
// not know are zero. perf reads a whole perf_event_attr of this size at least.
const attrSize = 128

// Bits of perf_event_attr that package unix does not name: Linux 4.12, 5.1 and 6.19. The bit build_id
// must not be set: see RATIONALE.
const (
	bitNamespaces = unix.CBitFieldMaskBit28
	bitKsymbol    = unix.CBitFieldMaskBit29
	bitsDeferred  = unix.CBitFieldMaskBit38 | unix.CBitFieldMaskBit39 // defer_callchain and defer_output
)

const sampleType = perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldCPU | perfdata.FieldPeriod |
	perfdata.FieldCallchain | perfdata.FieldUserRegs | perfdata.FieldUserStack | perfdata.FieldIdentifier

// event is the event that is sampled.
type event struct {
	name    string
	attr    unix.PerfEventAttr
	adapted bool // to the buffer
	sized   bool // adaptTo has chosen the size of stack copies
}

// newEvents describes the event of the options, and for Options.Wall also that of waits.
func newEvents(opts *Options, m *arch.Machine) (first, waits *event, err error) {
	if first, err = newEvent(opts, m, opts.OffCPU); err != nil || !opts.Wall {
		return first, nil, err
	}
	if waits, err = newEvent(opts, m, true); err == nil {
		waits.attr.Bits &^= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitMmapData | unix.PerfBitComm | unix.PerfBitCommExec |
			unix.PerfBitTask | bitNamespaces | bitKsymbol // the first event has these records
	}
	return first, waits, err
}

// newEvent describes the event of the options, or that of waits.
func newEvent(opts *Options, m *arch.Machine, waits bool) (*event, error) {
	e := &event{name: opts.Event}
	switch {
	case waits:
		e.name = "context-switches"
	case e.name == "":
		e.name = "cpu-clock"
	}
	a := &e.attr
	if err := e.find(); err != nil {
		return nil, err
	}
	a.Size = attrSize
	a.Sample_type = uint64(sampleType)
	a.Bits = unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitExcludeHv |
		unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
		unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark | bitNamespaces | bitKsymbol
	a.Clockid = unix.CLOCK_MONOTONIC // as in jitdumps
	if opts.Raw != nil {
		// perf finds unwind tables in mappings only, also in those that are not executable.
		a.Bits |= unix.PerfBitMmapData
	}
	if opts.NoKernel {
		a.Bits |= unix.PerfBitExcludeKernel
	}
	switch {
	case waits:
		a.Sample = 1
		a.Bits |= unix.PerfBitContextSwitch // the user's part of the chain would follow after the wait
	case opts.Period != 0:
		a.Sample = opts.Period
	case a.Type == unix.PERF_TYPE_TRACEPOINT:
		a.Sample = 1
	default:
		a.Bits |= unix.PerfBitFreq
		a.Sample = DefaultFrequency
		if opts.Frequency != 0 {
			a.Sample = uint64(opts.Frequency)
		}
	}
	if opts.Deferred && !waits {
		a.Bits |= bitsDeferred
	}
	a.Sample_regs_user = userRegisters(m)
	a.Sample_stack_user = uint32(opts.StackSize+7) &^ 7
	return e, nil
}

// userRegisters returns perf's mask of the registers that unwinding needs. Columns from 48 on are
// flags and segment registers on x86-64; arm64 has none of them.
func userRegisters(m *arch.Machine) (mask uint64) {
	for i, column := range m.Perf.Columns {
		if i == m.Perf.PC || column < 48 {
			mask |= 1 << i
		}
	}
	return mask
}

// minStackSize is the smallest size of stack copies that is chosen for a buffer.
const minStackSize = 8 << 10

// adaptTo makes the kernel wake clew when a buffer of this size is half full. If no size of stack
// copies is set, it chooses the largest with which the buffer holds the samples of half a second.
func (e *event) adaptTo(buffer int) {
	e.adapted = true
	e.attr.Wakeup = uint32(buffer / 2)
	if e.attr.Sample_stack_user != 0 && !e.sized {
		return
	}
	e.sized = true
	size := uint64(2*buffer) / max(e.rate(), 1)
	e.attr.Sample_stack_user = uint32(min(max(size, minStackSize), MaxStackSize)) &^ 7
}

// rate returns the number of samples a second on a processor, or a guess.
func (e *event) rate() uint64 {
	if e.attr.Bits&unix.PerfBitFreq == 0 {
		return 1000
	}
	return e.attr.Sample
}

// find sets the type and the configuration of the event with this name.
func (e *event) find() error {
	if kind, config, ok := perfdata.EventByName(e.name); ok {
		e.attr.Type, e.attr.Config = kind, config
		return nil
	}
	group, name, ok := strings.Cut(e.name, ":")
	if !ok {
		return fmt.Errorf("event %q: %w; a name is one of cpu-clock, cycles, page-faults, … (see 'perf list') or a tracepoint like sched:sched_switch", e.name, ErrUnsupported)
	}
	if _, _, known := perfdata.EventByName(group); known {
		return fmt.Errorf("event %q: %w: modifiers are not supported; --no-kernel omits the kernel", e.name, ErrUnsupported)
	}
	if strings.ContainsAny(e.name, "/\x00") || group == ".." || name == ".." {
		return fmt.Errorf("event %q: %w", e.name, ErrUnsupported)
	}
	var failed error
	for _, root := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		b, err := os.ReadFile(filepath.Join(root, "events", group, name, "id"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		id, bad := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if failed = cmp.Or(err, bad); failed == nil {
			e.attr.Type, e.attr.Config = unix.PERF_TYPE_TRACEPOINT, id
			return nil
		}
	}
	switch {
	case errors.Is(failed, fs.ErrPermission):
		return fmt.Errorf("event %q: %w: only root may read the kernel's tracepoints: %w", e.name, ErrRefused, failed)
	case failed != nil:
		return fmt.Errorf("event %q: %w: %w", e.name, ErrUnsupported, failed)
	}
	return fmt.Errorf("event %q: %w: no such tracepoint in /sys/kernel/tracing/events; 'perf list' prints them", e.name, ErrUnsupported)
}

// bytes returns the perf_event_attr as the kernel has read it.
func (e *event) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&e.attr)), attrSize)
}

// open opens the event for a thread, or for all threads with pid -1, on a processor. It leaves out
// what the kernel refuses to this user, or does not know. The error is an errno.
func (e *event) open(pid, cpu, flags int) (int, error) {
	for {
		fd, err := unix.PerfEventOpen(&e.attr, pid, cpu, -1, flags|unix.PERF_FLAG_FD_CLOEXEC)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR:
			continue
		case unix.EACCES, unix.EPERM:
			if e.drop(bitNamespaces, bitKsymbol) {
				continue
			}
			if e.attr.Bits&(unix.PerfBitExcludeKernel|unix.PerfBitContextSwitch) == 0 {
				e.attr.Bits |= unix.PerfBitExcludeKernel
				continue
			}
		case unix.EINVAL:
			if e.drop(bitKsymbol, bitNamespaces) {
				continue
			}
		}
		return -1, err
	}
}

// drop removes the first of the groups of bits that is set, and reports whether there was one.
func (e *event) drop(bits ...uint64) bool {
	for _, bit := range bits {
		if e.attr.Bits&bit != 0 {
			e.attr.Bits &^= bit
			return true
		}
	}
	return false
}

// forbidden is the error for a policy that refuses all events, also those of the user's own
// processes, which ptrace can stop.
type forbidden struct{ error }

func (f forbidden) Unwrap() error { return f.error }

// isFiltered reports whether a seccomp filter is installed on this thread.
func isFiltered() bool {
	b, _ := os.ReadFile("/proc/thread-self/status")
	return strings.Contains(string(b), "\nSeccomp:\t2\n")
}

// refused explains why an event could not be opened.
func (e *event) refused(pid, flags int, err error) error {
	switch err {
	case unix.EACCES, unix.EPERM, unix.ENOSYS:
		b, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		level, unknown := strconv.Atoi(strings.TrimSpace(string(b)))
		switch {
		case err != unix.EACCES && isFiltered():
			// The kernel's own policy answers with EACCES.
			return forbidden{fmt.Errorf("event %s: %w: a seccomp filter, as containers have, forbids perf_event_open; start the container with --cap-add=PERFMON, or another seccomp profile", e.name, ErrRefused)}
		case unknown == nil && e.attr.Bits&unix.PerfBitContextSwitch != 0 && level > 1:
			return fmt.Errorf("event %s: %w: samples of switches are taken in the kernel, which needs CAP_PERFMON, or the sysctl kernel.perf_event_paranoid at 1 or below; it is %d", e.name, ErrRefused, level)
		case err == unix.ENOSYS || unknown != nil:
			return forbidden{fmt.Errorf("event %s: %w: the kernel has no perf events, or they are hidden here (a container's seccomp profile)", e.name, ErrRefused)}
		case (pid < 0 || flags&unix.PERF_FLAG_PID_CGROUP != 0) && level > 0:
			return fmt.Errorf("event %s: %w: samples of all processes, or of a control group, need CAP_PERFMON, or the sysctl kernel.perf_event_paranoid at 0 or below; it is %d", e.name, ErrRefused, level)
		case level > 2:
			return forbidden{fmt.Errorf("event %s: %w: the sysctl kernel.perf_event_paranoid is %d; it must be 2 or less, or clew needs CAP_PERFMON", e.name, ErrRefused, level)}
		}
		return fmt.Errorf("event %s: %w: process %d belongs to another user, or a container's seccomp profile forbids perf_event_open; run clew as root, or with CAP_PERFMON and CAP_SYS_PTRACE", e.name, ErrRefused, pid)
	case unix.ENOENT, unix.EOPNOTSUPP, unix.ENODEV:
		return fmt.Errorf("event %s: %w (virtual machines often have no hardware events; cpu-clock works everywhere)", e.name, ErrUnsupported)
	case unix.EMFILE:
		return fmt.Errorf("event %s: an event takes a file for each thread and processor, and the limit of open files is reached; raise it with 'ulimit -n'", e.name)
	case unix.ESRCH:
		return err
	case unix.EINVAL:
		if e.attr.Bits&bitsDeferred != 0 {
			return fmt.Errorf("event %s: %w: deferred call chains need Linux 6.19", e.name, ErrUnsupported)
		}
		b, _ := os.ReadFile("/proc/sys/kernel/perf_event_max_sample_rate")
		if most, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); e.attr.Bits&unix.PerfBitFreq != 0 && most > 0 && e.attr.Sample > most {
			return fmt.Errorf("event %s: the frequency is %d, but the sysctl kernel.perf_event_max_sample_rate allows at most %d", e.name, e.attr.Sample, most)
		}
	}
	return fmt.Errorf("event %s: %w", e.name, err)
}
