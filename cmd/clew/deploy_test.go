// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/internal/testprogram/collector"
)

const deploy = "../../deploy/"

// unit returns the settings of the systemd unit.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(deploy + "clew.service")
	if err != nil {
		t.Fatal(err)
	}
	settings := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			settings[name] = append(settings[name], value)
		}
	}
	return settings
}

// capabilities returns names as setpriv has them: "sys_ptrace".
func capabilities(names string) (list []string) {
	for name := range strings.FieldsSeq(names) {
		list = append(list, strings.ToLower(strings.TrimPrefix(name, "CAP_")))
	}
	return list
}

// containerfile returns the instructions of the container file, and the capabilities that its
// comment adds.
func containerfile(t *testing.T) (instructions [][2]string, caps []string) {
	t.Helper()
	text, err := os.ReadFile(deploy + "Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		for _, c := range regexp.MustCompile(`--cap-add=(\w+)`).FindAllStringSubmatch(line, -1) {
			caps = append(caps, strings.ToLower(c[1]))
		}
		if line != "" && line[0] != '#' {
			name, rest, _ := strings.Cut(line, " ")
			instructions = append(instructions, [2]string{name, rest})
		}
	}
	return instructions, caps
}

// systemd accepts the unit, and its rating of the unit is at most 3.0 (0 is best). The unit and
// the container file name the same capabilities.
func TestUnit(t *testing.T) {
	settings := unit(t)
	caps := capabilities(settings["AmbientCapabilities"][0])
	if bounding := capabilities(settings["CapabilityBoundingSet"][0]); !slices.Equal(caps, bounding) {
		t.Errorf("the unit's sets differ: %v and %v", caps, bounding)
	}
	if _, container := containerfile(t); !slices.Equal(caps, container) {
		t.Errorf("capabilities: %v in the unit, %v in the container file", caps, container)
	}
	analyze := testprogram.RequireTool(t, "systemd-analyze")
	text, err := os.ReadFile(deploy + "clew.service")
	if err != nil {
		t.Fatal(err)
	}
	// verify looks for the program.
	path := filepath.Join(t.TempDir(), "clew.service")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/clew", "/bin/true")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", "--man=no", path}, {"security", "--offline=true", "--threshold=30", path}} {
		if out, err := exec.Command(analyze, args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

// observed is what a service has sent about two programs: hidden is a program of another user, in a
// directory of that user's alone, and contained is one of root's in another mount namespace.
type observed struct{ hidden, service, contained, kernel bool }

// deployment is what the tests of deploy/ share.
type deployment struct {
	setpriv, dir, program string
	command               []string // of the unit, with "${CLEW_SEND}"
	caps                  []string
	hidden, contained     *testprogram.Process
}

// newDeployment builds clew as the container file does, and starts the two programs.
func newDeployment(t *testing.T) *deployment {
	t.Helper()
	// A directory that every user may read, for the program of other users.
	dir, err := os.MkdirTemp("", "clew-deploy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	settings := unit(t)
	d := &deployment{setpriv: testprogram.RequireTool(t, "setpriv"), dir: dir, program: filepath.Join(dir, "clew"), caps: capabilities(settings["AmbientCapabilities"][0])}
	spool, own := filepath.Join(dir, "spool"), filepath.Dir(d.own())
	d.command = strings.Fields(strings.NewReplacer("/usr/local/bin/clew", d.program, "/var/lib/clew/spool", spool).Replace(settings["ExecStart"][0]))
	source := testprogram.Build(t, "shares.c", "-O2", "-g", "-Wl,--build-id")
	shares, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	instructions, _ := containerfile(t)
	i := slices.IndexFunc(instructions, func(i [2]string) bool { return strings.Contains(i[1], "go build") })
	if i < 0 {
		t.Fatal("the container file builds nothing")
	}
	build := exec.Command("sh", "-c", strings.ReplaceAll(instructions[i][1], "-o /clew ", "-o "+d.program+" "))
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	for _, err := range []error{err, os.Chmod(dir, 0o755), os.Mkdir(spool, 0o700), os.Chown(spool, serviceUser, serviceUser), os.Mkdir(own, 0o700),
		os.WriteFile(d.own(), shares, 0o755), os.Chown(own, otherUser, otherUser)} {
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Setenv("OTEL_SERVICE_NAME", "a service")
	other := fmt.Sprint(otherUser)
	d.hidden = testprogram.Start(t, d.setpriv, "--reuid", other, "--regid", other, "--clear-groups", d.own(), "1", "0")
	os.Unsetenv("OTEL_SERVICE_NAME")
	d.contained = testprogram.StartElsewhere(t, source, "1", "0")
	return d
}

// own returns the path of a program that only its user can read.
func (d *deployment) own() string { return filepath.Join(d.dir, "own", "shares") }

// start starts a command that becomes the service, and sends to a URL.
func (d *deployment) start(t *testing.T, url string, command ...string) *service {
	t.Helper()
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "${CLEW_SEND}", url)
	}
	return startCommand(t, exec.Command(command[0], command[1:]...))
}

// sampled waits until a service records, and both programs have then run for a second.
func (d *deployment) sampled(t *testing.T, s *service) {
	t.Helper()
	waitRecording(t, s.cmd.Process.Pid)
	waitUsed(t, time.Second, d.hidden.PID, d.contained.PID)
}

// TestLeastPrivileges runs the commands of the unit and of the container file with their rights,
// and with one less (a sample).
func TestLeastPrivileges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can become another user with capabilities")
	}
	testprogram.RequireTool(t, "curl")
	d := newDeployment(t)
	all := observed{true, true, true, true}
	type loss struct {
		without string
		want    observed
	}
	losses := sample.Of(t, []loss{
		{"perfmon", observed{}}, // it does not begin
		{"sys_ptrace", observed{true, true, false, true}},
		{"dac_read_search", observed{false, false, true, true}},
		{"syslog", observed{true, true, true, !kernelNamesNeedSyslog(t)}},
	}, 2)
	for _, test := range append(losses, loss{"none", all}) {
		t.Run("unit without "+test.without, func(t *testing.T) {
			c := collector.Start(t, collector.Options{})
			given := slices.DeleteFunc(slices.Clone(d.caps), func(s string) bool { return s == test.without })
			// With the smallest limit of locked memory, a kernel's default.
			s := d.start(t, "http://"+c.HTTP, slices.Concat([]string{"prlimit", "--memlock=65536"}, rights(d.setpriv, given, serviceUser), d.command)...)
			if test.without == "perfmon" {
				if s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 2 || !strings.Contains(s.log.String(), "CAP_PERFMON") {
					t.Errorf("%v: %s", s.cmd.ProcessState, s.log.String())
				}
				return
			}
			d.sampled(t, s)
			s.terminate(t, 0)
			if got := d.observe(t, c); got != test.want {
				t.Errorf("%+v, expected %+v", got, test.want)
			}
		})
	}
	t.Run("system calls", d.systemCalls)
	t.Run("container", func(t *testing.T) {
		c := collector.Start(t, collector.Options{})
		s := d.start(t, "http://"+c.HTTP, d.container(t)...)
		d.sampled(t, s)
		s.terminate(t, 0)
		if got := d.observe(t, c); got != all {
			t.Errorf("%+v, expected %+v", got, all)
		}
	})
}

// The system calls of the service, by gRPC, are those that the unit's filter allows.
func (d *deployment) systemCalls(t *testing.T) {
	c := collector.Start(t, collector.Options{})
	summary := filepath.Join(d.dir, "calls")
	s := d.start(t, "grpc://"+c.GRPC, slices.Concat([]string{testprogram.RequireTool(t, "strace"), "-D", "-f", "-c", "-U", "name", "-o", summary}, rights(d.setpriv, d.caps, serviceUser), d.command)...)
	d.sampled(t, s)
	s.terminate(t, 0)
	var text []byte
	for end := time.Now().Add(time.Minute); !strings.Contains(string(text), "\ntotal") && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, _ = os.ReadFile(summary)
	}
	allowed, found := allowedCalls(t, unit(t)["SystemCallFilter"][0]), 0
	for _, name := range regexp.MustCompile(`(?m)^ *[a-z_0-9]+ *$`).FindAllString(string(text), -1) {
		name = strings.TrimSpace(name)
		if name == "syscall" || name == "total" || name == "ptrace" { // by which -D attaches strace
			continue
		}
		if found++; !allowed[name] {
			t.Errorf("SystemCallFilter refuses %s", name)
		}
	}
	if found < 30 || len(c.Profiles(t)) == 0 {
		t.Errorf("%d system calls, %d profiles\n%s", found, len(c.Profiles(t)), text)
	}
}

// systemd runs the unit as it is, and clew ends when systemd stops it.
func TestUnitInSystemd(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can start systemd")
	}
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		t.Skip("skipped: systemd runs this machine, and a second one would use the same control groups")
	}
	unshare, enter, boot := testprogram.RequireTool(t, "unshare"), testprogram.RequireTool(t, "nsenter"), testprogram.RequireTool(t, "/lib/systemd/systemd")
	d, c := newDeployment(t), collector.Start(t, collector.Options{})
	// The targets are empty, so that systemd starts nothing of this machine.
	const script = `set -e
		mount --make-rprivate /
		mount -t proc proc /proc
		for d in /run /var/lib /etc/systemd /usr/local/bin; do mount -t tmpfs -o mode=755 tmpfs $d; done
		cp "$1/clew" /usr/local/bin/
		mkdir -p /run/units/clew.service.d
		for t in sysinit basic shutdown network-online multi-user; do echo [Unit] >/run/units/$t.target; done
		printf '[Service]\nUser=%s\nExecStart=%s 1 0\n' "$5" "$6" >/run/units/shares.service
		printf '[Unit]\nWants=shares.service\n[Service]\nEnvironment=CLEW_SEND=%s\nStandardError=file:%s/service.log\n' "$3" "$1" >/run/units/clew.service.d/test.conf
		cp "$2" /run/units/
		exec env -i container=test SYSTEMD_UNIT_PATH=/run/units "$4" --system --unit=clew.service --log-target=console --show-status=no`
	path, err := filepath.Abs(deploy + "clew.service")
	if err != nil {
		t.Fatal(err)
	}
	manager := startCommand(t, exec.Command(unshare, "--pid", "--mount", "--fork", "--kill-child=KILL", "sh", "-c", script, "sh", d.dir, path, "http://"+c.HTTP, boot, fmt.Sprint(otherUser), d.own()))
	var inside []string // the start of a command that runs the rest in systemd's namespaces
	control := func(args ...string) string {
		if inside == nil {
			return ""
		}
		out, _ := exec.Command(inside[0], slices.Concat(inside[1:], []string{"systemctl"}, args)...).CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	for end := time.Now().Add(2 * time.Minute); control("is-active", "clew.service") != "active"; time.Sleep(10 * time.Millisecond) {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", manager.cmd.Process.Pid))
		if pid, _ := strconv.Atoi(strings.TrimSpace(string(children))); pid != 0 && inside == nil {
			inside = []string{enter, "-t", strconv.Itoa(pid), "-m", "-p"}
			t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) }) // systemd takes back unshare's --kill-child
		}
		if time.Now().After(end) {
			t.Fatal("systemd has not started the service")
		}
	}
	file := func(unit, name string) []byte {
		out, _ := exec.Command(inside[0], slices.Concat(inside[1:], []string{"cat", "/proc/" + control("show", "--property=MainPID", "--value", unit) + "/" + name})...).Output()
		return out
	}
	waitFor(t, "the service does not begin to record", func() bool { return bytes.Contains(file("clew.service", "maps"), []byte("[perf_event]")) })
	used := usedBy(t, file("shares.service", "stat")) + time.Second
	waitFor(t, "the program does not run", func() bool { return usedBy(t, file("shares.service", "stat")) >= used })
	control("stop", "clew.service")
	if got := control("show", "--property=Result,ExecMainStatus", "clew.service"); got != "Result=success\nExecMainStatus=0" {
		t.Error(got)
	}
	found := false
	for _, r := range byProcess(t, c.Profiles(t)) {
		found = found || r.attributes["process.executable.path"] == d.own() && r.share(`worker;(heavy|light);count`) > 0.5
	}
	log, err := os.ReadFile(filepath.Join(d.dir, "service.log"))
	if !found || err != nil {
		t.Errorf("the service has not sent the program's profile: %v\n%s", err, log)
	}
}

// container returns the command of the container file as its engine would run it: root with the
// capabilities alone, in namespaces and a read-only root of its own, with the machine's processes
// and network.
func (d *deployment) container(t *testing.T) []string {
	t.Helper()
	var args []string
	instructions, _ := containerfile(t)
	for _, i := range instructions {
		if i[0] == "ENTRYPOINT" {
			if err := json.Unmarshal([]byte(i[1]), &args); err != nil {
				t.Fatal(err)
			}
		}
	}
	const script = `cd "$1" && mkdir -p usr/local/bin tmp && for d in usr etc bin lib lib64 dev proc sys; do
			[ ! -e /$d ] || { mkdir -p $d && mount --rbind /$d $d; }; done &&
		mount -t tmpfs tmpfs usr/local/bin && cp clew usr/local/bin/ && mount --rbind . . && cd "$1" &&
		mount -o bind,remount,ro . && mount -t tmpfs tmpfs tmp && shift && exec chroot . "$@"`
	return slices.Concat([]string{testprogram.RequireTool(t, "unshare"), "--mount", "--uts", "--ipc", "--cgroup", "sh", "-c", script, "sh",
		d.dir}, rights(d.setpriv, d.caps, 0), args, []string{"--send", "${CLEW_SEND}"})
}

const (
	serviceUser = 64321 // as systemd's dynamic users
	otherUser   = 65534
)

// rights returns the start of a command that runs the rest as another user with some capabilities.
func rights(setpriv string, caps []string, user int) []string {
	id, set := fmt.Sprint(user), "-all,+"+strings.Join(caps, ",+")
	return []string{setpriv, "--reuid", id, "--regid", id, "--clear-groups", "--no-new-privs", "--inh-caps", set, "--ambient-caps", set, "--bounding-set", set}
}

// allowedCalls returns the system calls of a filter, whose groups begin with @.
func allowedCalls(t *testing.T, filter string) map[string]bool {
	t.Helper()
	analyze := testprogram.RequireTool(t, "systemd-analyze")
	allowed := make(map[string]bool)
	for list := strings.Fields(filter); len(list) > 0; list = list[1:] {
		name := list[0]
		if allowed[name] {
			continue
		}
		if allowed[name] = true; name[0] != '@' {
			continue
		}
		out, err := exec.Command(analyze, "syscall-filter", name).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for line := range strings.Lines(string(out)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				list = append(list, line)
			}
		}
	}
	return allowed
}

// kernelNamesNeedSyslog reports whether the kernel gives its addresses only with CAP_SYSLOG.
func kernelNamesNeedSyslog(t *testing.T) bool {
	t.Helper()
	read := func(name string) string {
		b, _ := os.ReadFile("/proc/sys/kernel/" + name)
		return strings.TrimSpace(string(b))
	}
	restrict, paranoid := read("kptr_restrict"), read("perf_event_paranoid")
	return restrict == "1" || restrict == "0" && paranoid > "1"
}

// observe returns what a collector has received about the two programs.
func (d *deployment) observe(t *testing.T, c *collector.Collector) (o observed) {
	t.Helper()
	processes := byProcess(t, c.Profiles(t))
	for _, p := range []*testprogram.Process{d.hidden, d.contained} {
		r := processes[int64(p.PID)]
		if r == nil {
			continue
		}
		named := r.share(`worker;(heavy|light);count`) > 0.5
		if p == d.hidden {
			o.hidden, o.service = named, r.attributes["service.name"] == "a service"
		} else {
			o.contained = named
		}
		for name := range r.kernel {
			o.kernel = o.kernel || !strings.HasPrefix(name, "[")
		}
	}
	return o
}
