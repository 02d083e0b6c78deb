// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package resource

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/profile/otlp"
)

const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestCgroup(t *testing.T) {
	const pod = "8a6c1f1e-52b0-4c06-8d9c-1e9d29c0f3aa"
	for _, test := range []struct{ lines, container, pod string }{
		{"0::/\n", "", ""},
		{"0::/system.slice/nginx.service\n", "", ""},
		{"0::/system.slice/docker-" + id + ".scope\n", id, ""},
		{"0::/../" + id + "\n", id, ""},
		{"12:pids:/docker/" + id + "\n1:name=systemd:/docker/" + id + "\n0::/\n", id, ""},
		{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope/container\n", id, ""},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + strings.ReplaceAll(pod, "-", "_") + ".slice/cri-containerd-" + id + ".scope\n", id, pod},
		{"0::/kubepods/besteffort/pod" + pod + "/" + id + "\n", id, pod},
		{"0::/kubepods.slice/kubepods-pod" + strings.ReplaceAll(pod, "-", "_") + ".slice:cri-containerd:" + id + "\n", id, ""},
		{"0::/docker/" + strings.Repeat("f", 64) + "/docker/" + id + "\n", id, ""},
		{"0::/docker-" + id[1:] + ".scope\n", "", ""},
		{"0::/docker-" + strings.ToUpper(id) + ".scope\n", "", ""},
		{"no colons\n::\n0::", "", ""},
	} {
		got := map[string]any{"container.id": "", "k8s.pod.uid": ""}
		for _, a := range fromCgroup(test.lines) {
			got[a.Key] = a.Value
		}
		if got["container.id"] != test.container || got["k8s.pod.uid"] != test.pod {
			t.Errorf("%q: %v", test.lines, got)
		}
	}
}

func TestLabels(t *testing.T) {
	got, err := ParseLabels("a=b, service.version = 1%2C2,empty=")
	want := []otlp.Attribute{{Key: "a", Value: "b"}, {Key: "service.version", Value: "1,2"}, {Key: "empty", Value: ""}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"a", "=b", "a=%zz", "a=b,", strings.Repeat("k", 2000) + "=v"} {
		if got, err := ParseLabels(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The attributes of a process come from /proc and its environment. It cannot declare another
// process ID or host.
func TestProcess(t *testing.T) {
	command := exec.Command("sleep", "60")
	command.Env = append(os.Environ(), "OTEL_SERVICE_NAME=checkout", "POD_NAMESPACE=shop", "KUBERNETES_SERVICE_HOST=10.0.0.1", "HOSTNAME=checkout-1",
		"SECRET_KEY=hidden", "OTEL_RESOURCE_ATTRIBUTES=service.version=7,process.pid=1,host.name=evil,container.id=x,service.name=other")
	if err := command.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { command.Process.Kill(); command.Wait() }()
	for len(readStart(fmt.Sprintf("/proc/%d/cmdline", command.Process.Pid), 1)) == 0 { // exec(2) may still run
		time.Sleep(time.Millisecond)
	}
	f := Finder{Labels: []otlp.Attribute{{Key: "team", Value: "blue"}}}
	p := otlp.Process{Name: "sleep", PID: command.Process.Pid}
	got := attributes(f.Process(p))
	hostname, _ := os.Hostname()
	for key, want := range map[string]any{
		"service.name": "checkout", "service.version": "7", "k8s.namespace.name": "shop", "k8s.pod.name": "checkout-1", "team": "blue",
		"process.pid": int64(p.PID), "host.name": hostname, "process.executable.name": "sleep", "process.command": "sleep", "process.executable.path": command.Path,
	} {
		if got[key] != want && !(key == "process.executable.path" && strings.HasSuffix(fmt.Sprint(got[key]), "/sleep")) {
			t.Errorf("%s: %v, want %v", key, got[key], want)
		}
	}
	if text := fmt.Sprint(got); strings.Contains(text, "hidden") {
		t.Errorf("a secret is in %v", got)
	}
	// Once it has ended, the attributes are remembered, until no sample has been of it for a while.
	command.Process.Kill()
	command.Wait()
	f.Forget()
	if again := attributes(f.Process(p)); !reflect.DeepEqual(again, got) {
		t.Errorf("after its end: %v", again)
	}
	f.Forget()
	f.Forget()
	if again := attributes(f.Process(p)); again["service.name"] != "sleep" || again["process.executable.path"] != nil || again["process.executable.name"] != "sleep" {
		t.Errorf("forgotten: %v", again)
	}
	// A process with the same number and another name is another process.
	other := attributes(f.Process(otlp.Process{Name: "other", PID: os.Getpid()}))
	if other["process.executable.path"] != nil || other["service.name"] != "other" {
		t.Errorf("%v", other)
	}
}

func attributes(list []otlp.Attribute) map[string]any {
	m := make(map[string]any)
	for _, a := range list {
		m[a.Key] = a.Value
	}
	return m
}

func TestSelf(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.version=9")
	t.Setenv("OTEL_SERVICE_NAME", "")
	got := attributes(Self("clew", nil))
	if got["service.name"] != "clew" || got["service.version"] != "9" || got["process.pid"] != int64(os.Getpid()) {
		t.Error(got)
	}
}
