// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/recording"
)

// checkCounts fails the test if records were lost or were wrong.
func checkCounts(t *testing.T, rec *recording.Recording) {
	t.Helper()
	if rec.Counts.Missed() != 0 || rec.Counts.Late != 0 || rec.Counts.Invalid != 0 || !rec.Complete {
		t.Errorf("complete: %v, counts %+v, notes %q", rec.Complete, rec.Counts, rec.Notes)
	}
}

// rerun runs a test again in another process, which the command starts with the test's program as its
// last arguments. It returns true in that process, and skips the test if the command cannot run a program.
func rerun(t *testing.T, command ...string) bool {
	t.Helper()
	if os.Getenv("CLEW_RECORD_TEST") == t.Name() {
		return true
	}
	path := testprogram.RequireTool(t, command[0])
	if out, err := exec.Command(path, append(command[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("skipped: %s: %v", strings.TrimSpace(string(out)), err)
	}
	cmd := exec.Command(path, append(command[1:], os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), "CLEW_RECORD_TEST="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// 256 processes live at the same time, each of which was forked by another one.
func TestForkBomb(t *testing.T) {
	path := testprogram.Build(t, "bomb.c", "-O2")
	cmd := exec.Command(path, "8", "4")
	rec, err := record.Run(context.Background(), record.Options{Command: cmd, Frequency: 999, StackSize: 8 << 10})
	if err != nil || !cmd.ProcessState.Success() {
		t.Fatalf("%v; the command ends with %v", err, cmd.ProcessState)
	}
	checkCounts(t, rec)
	spinning := make(map[int32]int)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		thread := &rec.Threads[s.Thread]
		if thread.Process != "bomb" && thread.Process != "bomb.c" && filepath.Base(path) != thread.Process {
			t.Errorf("process %d is named %q", thread.PID, thread.Process)
		}
		if names := functions(rec, s); slices.Contains(names, "spin") {
			spinning[thread.PID] += int(s.Samples)
			if !slices.Contains(names, "explode") || !slices.Contains(names, "main") {
				t.Errorf("%d samples without the callers of spin: %q", s.Samples, names)
			}
		}
	}
	if len(spinning) < 250 {
		t.Errorf("%d processes have samples in spin, expected 256", len(spinning))
	}
}

// Threads start and end all the time.
func TestEndingThreads(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "churn.c", "-O1", "-pthread"))
	// With small copies of the stacks, the buffers last while other programs have the processors.
	rec, err := record.Run(context.Background(), record.Options{Targets: []int{p.PID}, Wall: true, Frequency: 999, StackSize: 2 << 10, Duration: time.Second})
	if os.Geteuid() != 0 && errors.Is(err, record.ErrRefused) {
		t.Skip("skipped: waits need the permission for the kernel's frames")
	}
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, rec)
	slept, samples := time.Duration(0), uint64(0)
	threads := make(map[int32]bool)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		thread := &rec.Threads[s.Thread]
		// Above some thousand threads, the further ones are one without an ID.
		if thread.PID != int32(p.PID) && thread.PID != 0 || thread.Process != "churn" || thread.Name != "churn" {
			t.Errorf("a thread of %d is %+v", p.PID, thread)
		}
		if time.Duration(s.Weight) > 20*rec.Span() {
			t.Errorf("a stack weighs %v in %v: %q", time.Duration(s.Weight), rec.Span(), functions(rec, s))
		}
		if slices.Contains(functions(rec, s), "live") {
			slept += time.Duration(s.Weight)
			samples += s.Samples
			threads[thread.TID] = true
		}
	}
	t.Logf("%d threads wait %d times in live, for %v in %v", len(threads), samples, slept, rec.Span())
	if len(threads) < 20 || slept > 17*rec.Span() || slept < time.Duration(samples)*150*time.Microsecond {
		t.Error("expected more than 20 threads, and waits of 200 µs or more of 16 threads at most")
	}
}

// 200 programs that live for some milliseconds have their own names.
func TestShortLived(t *testing.T) {
	program := testprogram.RequireTool(t, "true")
	const script = `i=0; while [ $i -lt 200 ]; do "$0"; i=$((i+1)); done`
	rec, err := record.Run(context.Background(), record.Options{Command: exec.Command("/bin/sh", "-c", script, program), Frequency: 4999, StackSize: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, rec)
	own, named, all := make(map[int32]bool), 0, 0
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		thread := &rec.Threads[s.Thread]
		frames := rec.Frames(s)
		switch thread.Process {
		case "true":
			own[thread.PID] = true
			for _, f := range frames {
				if f.Object != nil && strings.HasPrefix(filepath.Base(f.Object.Name), "sh") {
					t.Errorf("process %d, %s, has a frame in %s", thread.PID, thread.Process, f.Object.Name)
				}
			}
		case "sh":
		default:
			t.Errorf("process %d is named %q", thread.PID, thread.Process)
		}
		for _, f := range frames {
			if f.Object != nil && filepath.Base(f.Object.Name) == "dash" {
				continue // it has no symbols, and is sampled more often while the machine is busy
			}
			if all++; f.Symbol.Name != "" {
				named++
			}
		}
	}
	// The first sample of a process comes after a whole period.
	t.Logf("%d of 200 programs have samples; %d of %d frames have names", len(own), named, all)
	if len(own) < 10 || named < all*9/10 {
		t.Error("expected samples of more than ten, and names of 90% of the frames")
	}
}

// A process has the ID of a former one. Names of the former one's programs and generated code must not
// appear for it.
func TestReusedID(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("skipped: the program contains code for amd64")
	}
	if !rerun(t, "unshare", "-m", "-p", "-f", "--mount-proc") {
		return
	}
	const dir = "/mnt" // only this process and its children see its content
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	names := []string{"first", "second", "third"}
	for _, name := range names {
		program, err := os.ReadFile(testprogram.Build(t, "reuse.c", "-O1", "-no-pie", "-Denter=enter_"+name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), program, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	// All generate code, but only the second process writes a perf map. It is still there when the third one
	// runs, and at the end of the recording. Times of files are compared with a tolerance of a second.
	const script = `for name in first second third; do
	echo 999 >/proc/sys/kernel/ns_last_pid || exit 3
	code=; [ $name = second ] && code=code_of_second
	"$0/$name" "$code" &
	[ $! = 1000 ] || exit 4
	wait $! || exit 5
	sleep 1.1
done`
	cmd := exec.Command("/bin/sh", "-c", script, dir)
	rec, err := record.Run(context.Background(), record.Options{Command: cmd, Frequency: 999})
	if err != nil {
		t.Fatal(err)
	}
	if !cmd.ProcessState.Success() {
		t.Fatalf("the command ends with %v (3: cannot choose IDs, 4: other ID)", cmd.ProcessState)
	}
	checkCounts(t, rec)
	inCode := make(map[string]int)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		process := rec.Threads[s.Thread].Process
		if rec.Threads[s.Thread].PID != 1000 || !slices.Contains(names, process) {
			continue
		}
		for _, f := range rec.Frames(s) {
			for _, other := range names {
				if _, found, of := strings.Cut(f.Symbol.Name, "_"+other); other != process && of && found == "" {
					t.Errorf("%d samples of %s are in %s", s.Samples, process, f.Symbol.Name)
				}
			}
			if f.Symbol.Name == "code_of_"+process || f.Symbol.Name == "" && process != "second" {
				inCode[process] += int(s.Samples)
			}
		}
	}
	t.Logf("samples in generated code: %v", inCode)
	for _, name := range names {
		if inCode[name] < 10 {
			t.Errorf("%d samples in the code of %s", inCode[name], name)
		}
	}
}

// container runs a program with another root directory, in new namespaces. Its arguments are the program, and
// those of the program.
const container = `mount -t tmpfs tmpfs /mnt && mkdir -p /mnt/root/app && cp "$1" /mnt/root/app/hidden || exit 3
for file in $(ldd "$1" | grep -o '/[^ ]*'); do
	mkdir -p "/mnt/root/${file%/*}" && cp "$file" "/mnt/root/$file" || exit 3
done
mkdir /mnt/root/tmp && mount -t tmpfs tmpfs /mnt/root/tmp || exit 3
shift
exec chroot /mnt/root /app/hidden "$@"`

// inContainer returns the arguments that run a program in a container.
func inContainer(t *testing.T, program string, args ...string) []string {
	t.Helper()
	command := []string{testprogram.RequireTool(t, "unshare"), "-m", "-p", "-f", "--kill-child", "sh", "-c", container, "sh", program}
	testprogram.RequireTool(t, "ldd")
	if out, err := exec.Command(command[0], "-m", "-p", "-f", "mount", "-t", "tmpfs", "tmpfs", "/mnt").CombinedOutput(); err != nil {
		t.Skipf("skipped: no namespaces: %s", strings.TrimSpace(string(out)))
	}
	return append(command, args...)
}

// Functions have names while a container runs.
func TestContainer(t *testing.T) {
	args := inContainer(t, build(t), "1", "0")
	p := testprogram.Start(t, args[0], args[1:]...)
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/task/" + strconv.Itoa(p.PID) + "/children")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, options := until(t, 200, pid)
	rec, err := record.Run(ctx, record.Options{Targets: []int{pid}, Frequency: 499, Recording: options})
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, rec)
	checkShares(t, spent(t, rec)[int32(pid)])
	withoutEvents(t, unix.EPERM, func() {
		ctx, options := until(t, 100, pid)
		rec, err := record.Run(ctx, record.Options{Targets: []int{pid}, Frequency: 199, Recording: options})
		if err != nil {
			t.Error(err)
			return
		}
		checkShares(t, spent(t, rec)[int32(pid)])
	})
}

// Functions have names after a container has ended.
func TestEndedContainer(t *testing.T) {
	args := inContainer(t, build(t), "1", "500")
	rec, err := record.Run(context.Background(), record.Options{Command: exec.Command(args[0], args[1:]...), Frequency: 499})
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, rec)
	sum := make(map[string]int)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		if rec.Threads[s.Thread].Process != "hidden" {
			continue
		}
		for _, name := range functions(rec, s) {
			if name == "heavy" || name == "light" {
				sum[name] += int(s.Samples)
			}
		}
	}
	checkShares(t, sum)
}

// The recorder and the recorded program have a time namespace: their clocks differ from the kernel's, as
// after a jump. Times stay in order, and waits are as long as they are.
func TestTimeNamespace(t *testing.T) {
	if !rerun(t, "unshare", "-T", "--monotonic", "100000", "-f") {
		return
	}
	before := int64(0)
	var raw bytes.Buffer
	options := recording.Options{Each: func(s *recording.Sample) error {
		if int64(s.Time) <= 0 || time.Duration(s.Period) > time.Minute {
			t.Errorf("a sample at %d of period %d", s.Time, s.Period)
		}
		if s.Event.Name == "cpu-clock" && int64(s.Time) < before {
			t.Errorf("a sample at %d after one at %d", s.Time, before)
		}
		before = int64(s.Time)
		return nil
	}}
	began := time.Now()
	rec, err := record.Run(context.Background(), record.Options{
		Command: exec.Command("sh", "-c", `"$0" 1 300 && exec sleep 0.3`, build(t)),
		Wall:    true, Frequency: 499, Raw: &raw, Recording: options,
	})
	if errors.Is(err, record.ErrRefused) {
		t.Skip("skipped: waits need the permission for the kernel's frames")
	}
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, rec)
	slept := time.Duration(0)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		if slices.ContainsFunc(functions(rec, s), func(name string) bool { return strings.HasSuffix(name, "nanosleep") }) {
			slept += time.Duration(s.Weight)
		}
	}
	// The thread leaves the processor some time after it has set the timer.
	if slept < 290*time.Millisecond || slept > rec.Span() {
		t.Errorf("the program sleeps for %v in %v", slept, rec.Span())
	}
	r, err := perfdata.NewReader(&raw)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := recording.Read(r, recording.Options{}); err != nil {
		t.Fatal(err)
	}
	clock := r.Header().Clock
	first := clock.Wall.Add(time.Duration(int64(rec.First - clock.Time)))
	if first.Before(began.Add(-time.Second)) || first.After(time.Now()) {
		t.Errorf("by the header's clock %+v the first sample was taken at %v, expected a time after %v", clock, first, began)
	}
}
