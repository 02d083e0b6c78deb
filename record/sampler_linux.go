// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
)

// sampler holds the open events and their buffers.
type sampler struct {
	machine *arch.Machine
	event   *event
	waits   *event          // of Options.Wall, or nil
	first   uint64          // the ID of event in the stream
	isWait  map[uint64]bool // the IDs of waits
	cpus    []int
	rings   []*ring // by processor, as cpus
	size    int     // the most for a ring, in bytes
	fds     []int

	wakeups *wakeups
}

// onlineCPUs returns the processors that run: a list such as 0-3,8.
func onlineCPUs() (cpus []int, err error) {
	const path = "/sys/devices/system/cpu/online"
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, bad := strconv.Atoi(last)
		if err != nil || bad != nil || from < 0 || to < from || to > 1<<16 {
			return nil, fmt.Errorf("%s: unexpected content %q", path, b)
		}
		for ; from <= to; from++ {
			cpus = append(cpus, from)
		}
	}
	return cpus, nil
}

func newSampler(e, waits *event, m *arch.Machine) (*sampler, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	return &sampler{machine: m, event: e, waits: waits, isWait: make(map[uint64]bool), cpus: cpus, rings: make([]*ring, len(cpus)), size: ringSizes[0]}, nil
}

// shrink unmaps all buffers, for smaller ones: the last did not fit into the limit of locked
// memory after the others. It returns false if they already have the smallest size.
func (s *sampler) shrink() bool {
	largest := 0
	for _, r := range s.rings {
		if r != nil {
			largest = max(largest, len(r.data))
		}
	}
	if largest <= ringSizes[len(ringSizes)-1] {
		return false
	}
	s.reset()
	s.size, s.event.adapted = largest/2, false
	return true
}

// reset closes all events and buffers.
func (s *sampler) reset() {
	s.close()
	s.rings, s.fds = make([]*ring, len(s.cpus)), nil
	clear(s.isWait)
}

// add opens the event for a thread, for all with pid -1, or for a control group, on each
// processor. All events of a processor share its buffer.
func (s *sampler) add(pid, flags int) error {
	offline := 0
	for i, cpu := range s.cpus {
		fd, err := s.event.open(pid, cpu, flags)
		if err == unix.ENODEV && offline < len(s.cpus)-1 {
			offline++ // since newSampler
			continue
		}
		if err != nil {
			return s.event.refused(pid, flags, err)
		}
		s.fds = append(s.fds, fd)
		if s.rings[i] != nil {
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, s.rings[i].fd); err != nil {
				return fmt.Errorf("event %s: its records could not be joined with others: %w", s.event.name, err)
			}
		} else if s.rings[i], err = newRing(fd, len(s.cpus), s.size); err != nil {
			if s.shrink() {
				return s.add(pid, flags)
			}
			return err
		}
		if s.event.adapted && s.waits != nil {
			if err := s.addWaits(pid, cpu, flags, s.rings[i].fd); err != nil {
				return err
			}
		}
		if !s.event.adapted {
			// Only now the size of the buffer is known: open the event again.
			s.event.adaptTo(len(s.rings[i].data))
			if s.waits != nil {
				s.waits.attr.Sample_stack_user = min(s.event.attr.Sample_stack_user, minStackSize)
				s.waits.adaptTo(len(s.rings[i].data))
			}
			s.reset()
			return s.add(pid, flags)
		}
	}
	return nil
}

// addWaits opens the event of waits, whose records go to the buffer of another event.
func (s *sampler) addWaits(pid, cpu, flags, buffer int) error {
	fd, err := s.waits.open(pid, cpu, flags)
	if err == unix.ENODEV || err == unix.ESRCH {
		return nil // the first event was opened
	}
	if err != nil {
		return s.waits.refused(pid, flags, err)
	}
	s.fds = append(s.fds, fd)
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, buffer); err != nil {
		return fmt.Errorf("event %s: its records could not be joined with others: %w", s.waits.name, err)
	}
	id, err := idOf(fd)
	if err != nil {
		return fmt.Errorf("event %s: %w", s.waits.name, err)
	}
	s.isWait[id] = true
	return nil
}

// isWaitSample reports whether a sample is one of waits.
func (s *sampler) isWaitSample(record []byte) bool {
	return s.waits != nil && len(record) >= 16 && s.isWait[order.Uint64(record[8:])] // header, IDENTIFIER
}

// addProcess opens the event for all threads of a process. The event of a thread is also that
// of the threads that it starts later, so a second look would count these twice.
func (s *sampler) addProcess(pid int) error {
	before := len(s.fds)
	for _, tid := range tasks(pid) {
		if err := s.add(tid, 0); err != nil && err != unix.ESRCH {
			return err
		}
	}
	if len(s.fds) == before {
		return noProcess(pid)
	}
	return nil
}

// addGroup opens the event for a control group.
func (s *sampler) addGroup(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return fmt.Errorf("control group %s: %w; expected a directory, or a path below /sys/fs/cgroup", path, err)
	}
	defer unix.Close(fd)
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if !isGroup(&system) {
		return fmt.Errorf("%s: not a directory of a control group", path)
	}
	err = s.add(fd, unix.PERF_FLAG_PID_CGROUP)
	if !errors.Is(err, ErrUnsupported) {
		return err
	}
	if system.Type == unix.CGROUP_SUPER_MAGIC {
		return fmt.Errorf("%s: %w: it is a control group of version 1; name one of version 2, or of the controller perf_event", path, ErrUnsupported)
	}
	if b, _ := os.ReadFile("/proc/self/cgroup"); strings.Contains(string(b), ":perf_event:") {
		return fmt.Errorf("%s: %w: control groups of version 1 have the controller perf_event here; name one of them (mount -t cgroup -o perf_event none DIR)", path, ErrUnsupported)
	}
	return err
}

func (s *sampler) control(request uint) error {
	for _, fd := range s.fds {
		if err := unix.IoctlSetInt(fd, request, 0); err != nil {
			return fmt.Errorf("event %s: %w", s.event.name, err)
		}
	}
	return nil
}

// id returns the ID of one of the events.
func (s *sampler) id() (uint64, error) {
	id, err := idOf(s.fds[0])
	if err != nil {
		err = fmt.Errorf("event %s: %w", s.event.name, err)
	}
	return id, err
}

func idOf(fd int) (id uint64, err error) {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id))); errno != 0 {
		return 0, errno
	}
	return id, nil
}

// interval is the most time between looks at the buffers.
const interval = 100 * time.Millisecond

// wait waits until a buffer is half full, at most for a time.
func (s *sampler) wait(most time.Duration) (err error) {
	if s.wakeups == nil {
		if s.wakeups, err = newWakeups(s.rings); err != nil {
			return err
		}
	}
	return s.wakeups.wait(most)
}

func (s *sampler) close() error {
	var errs []error
	if s.wakeups != nil {
		errs = append(errs, s.wakeups.close())
	}
	for _, r := range s.rings {
		if r != nil {
			errs = append(errs, r.close())
		}
	}
	for _, fd := range s.fds {
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}
