// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium with one page, driven by the DevTools protocol
// over a pair of pipes: messages are JSON, each ended by a zero byte
// (chromium's --remote-debugging-pipe).
type browser struct {
	t       *testing.T // that a failure is of
	w       *os.File
	session string

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	// What the page did that it should not: requests, and what its console and
	// its security policy said.
	complaints []string
}

type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// startBrowser starts Chromium. It is killed when the test ends.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("skipped: chromium is not installed")
	}
	theirs, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, ours}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	ours.Close()
	b := &browser{t: t, w: w, waiting: make(map[int]chan message)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(bufio.NewReaderSize(r, 1<<16))
	}()
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		timer := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		timer.Stop()
		w.Close()
		r.Close()
		<-done
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) read(r *bufio.Reader) {
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			continue
		}
		b.mu.Lock()
		switch {
		case m.ID != 0:
			b.waiting[m.ID] <- m
			delete(b.waiting, m.ID)
		case m.Method == "Network.requestWillBeSent":
			request := m.Params.(map[string]any)["request"].(map[string]any)
			if url := fmt.Sprint(request["url"]); !strings.HasPrefix(url, "file:") || !strings.HasSuffix(url, ".html") {
				b.complaints = append(b.complaints, "request: "+url)
			}
		case m.Method == "Runtime.exceptionThrown" || m.Method == "Runtime.consoleAPICalled" ||
			m.Method == "Log.entryAdded" || m.Method == "Page.javascriptDialogOpening":
			b.complaints = append(b.complaints, string(text))
		}
		b.mu.Unlock()
	}
}

func (b *browser) send(method string, params any) chan message {
	answer := make(chan message, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	b.waiting[b.last] = answer
	text, err := json.Marshal(message{ID: b.last, Method: method, Params: params, SessionID: b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	b.w.Write(append(text, 0))
	return answer
}

// call calls a method of the protocol, and sets result to what it returns.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	select {
	case m := <-b.send(method, params):
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(2 * time.Minute):
		b.t.Fatalf("%s has no answer", method)
	}
}

// open loads a page, and waits until its script has run.
func (b *browser) open(path string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.until("location.protocol === 'file:' && document.readyState === 'complete'")
	b.settle()
}

// settle waits until what was asked of the page is drawn.
func (b *browser) settle() {
	b.t.Helper()
	b.eval("new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 250))", nil)
}

// eval evaluates JavaScript in the page, and sets result to its value.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails any
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, answer.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			b.t.Fatalf("%s is %s: %v", expression, answer.Result.Value, err)
		}
	}
}

func (b *browser) until(condition string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var yes bool
		if b.eval("!!("+condition+")", &yes); yes {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("it does not come to pass that %s", condition)
		}
	}
}

// text returns what an element says.
func (b *browser) text(selector string) (text string) {
	b.t.Helper()
	b.eval(fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector), &text)
	return text
}

// press presses keys, named as KeyboardEvent.key names them.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		down := map[string]any{"type": "keyDown", "key": key}
		switch {
		case len(key) == 1:
			down["text"] = key
		case key == "Enter":
			down["text"] = "\r"
		case key == "Escape":
			down["windowsVirtualKeyCode"] = 27
		}
		b.call("Input.dispatchKeyEvent", down, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	}
	b.settle()
}

// write types a text into what has the focus.
func (b *browser) write(text string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": text}, nil)
	b.settle()
}

// mouse moves the pointer, or clicks.
func (b *browser) mouse(x, y float64, click bool) {
	b.t.Helper()
	kinds := []string{"mouseMoved"}
	if click {
		kinds = []string{"mouseMoved", "mousePressed", "mouseReleased"}
	}
	for _, kind := range kinds {
		event := map[string]any{"type": kind, "x": x, "y": y}
		if kind != "mouseMoved" {
			event["button"], event["clickCount"] = "left", 1
		}
		b.call("Input.dispatchMouseEvent", event, nil)
	}
	b.settle()
}

func (b *browser) size(width, height int, phone bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}, nil)
	b.settle()
}

// prefer sets what the system is said to prefer.
func (b *browser) prefer(scheme string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme},
	}}, nil)
	b.settle()
}

// screenshot returns a PNG of what is seen. With the variable SCREENSHOTS set
// to a folder, it is also kept there, to be looked at.
func (b *browser) screenshot(name string) []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if folder := os.Getenv("SCREENSHOTS"); folder != "" {
		if err := os.WriteFile(folder+"/"+name+".png", data, 0o666); err != nil {
			b.t.Fatal(err)
		}
	}
	return data
}
