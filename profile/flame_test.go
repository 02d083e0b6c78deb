// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
)

const hostile = `</script><img src=x onerror=alert(1)><b>{{script}} & "q" 'q' ` + "\u2028<!--"

// hostileProfile returns a profile with names that are markup unless they are escaped.
func hostileProfile() *profile.Profile {
	p := aProfile()
	p.Title = hostile
	p.Notes = append(p.Notes, hostile)
	l := p.Location(1, []profile.Frame{{Function: hostile, Object: hostile, File: hostile, Line: 3, Code: profile.Generated}})
	p.Add([]profile.Location{l}, profile.Labels{Process: hostile}, 100)
	return p
}

func flame(t *testing.T, p *profile.Profile) (page string, path string) {
	t.Helper()
	var out bytes.Buffer
	if err := p.Flame(&out); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "flame.html")
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return out.String(), path
}

// The data of the page is golden, because the page around it changes more often.
func TestFlameData(t *testing.T) {
	page := string(written(t, (*profile.Profile).Flame))
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	if data == nil {
		t.Fatal("the page has no data")
	}
	golden(t, "flame.json", []byte(data[1]+"\n"))
	table := regexp.MustCompile(`(?s)<tbody>\n(<tr><td>.*?)</tbody>`).FindStringSubmatch(page)
	if table == nil {
		t.Fatal("the page has no table for browsers without JavaScript")
	}
	golden(t, "heaviest.html", []byte(table[1]))
}

// Names do not change the text around them: bidirectional controls and other unprintable
// characters are escaped.
func TestFlameIsPrintable(t *testing.T) {
	const name = "a\u202eb\u2066\x1b\nc"
	p := aProfile()
	p.Title = name
	p.Notes = append(p.Notes, name)
	l := p.Location(1, []profile.Frame{{Function: name, Object: name, File: name, Line: 3, Code: profile.Generated}})
	p.Add([]profile.Location{l}, profile.Labels{Process: name}, 100)
	page, _ := flame(t, p)
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	var texts struct {
		Title          string
		Notes, Strings []string
	}
	if err := json.Unmarshal([]byte(data[1]), &texts); err != nil {
		t.Fatal(err)
	}
	for _, text := range slices.Concat([]string{texts.Title}, texts.Notes, texts.Strings) {
		if text != printable.Text(text) {
			t.Errorf("%q is not printable", text)
		}
	}
	if texts.Title != printable.Text(name) || !slices.Contains(texts.Strings, printable.Text(name)) {
		t.Errorf("the title is %q", texts.Title)
	}
	for line := range strings.Lines(page) {
		if line = strings.TrimSuffix(line, "\n"); strings.ContainsAny(line, "\u202e\u2066\x1b") {
			t.Errorf("%q is in the page", line)
		}
	}
}

// Names are text in all parts of the page.
func TestFlameEscapes(t *testing.T) {
	page, _ := flame(t, hostileProfile())
	if strings.Contains(page, "<img") || strings.Contains(page, "<b>") || strings.Contains(page, "<!--") {
		t.Error("a name is markup")
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d script elements end, want 2", n)
	}
	for _, source := range []string{"http:", "https:", "//cdn", "eval(", "new Function", "innerHTML"} {
		if strings.Contains(page, source) {
			t.Errorf("the page has %q", source)
		}
	}
}

func TestFlameInABrowser(t *testing.T) {
	shown := printable.Text(hostile)
	b := startBrowser(t)
	b.size(1200, 700, false)
	b.prefer("light")
	_, path := flame(t, hostileProfile())
	b.open(path)

	if got := b.text("#title"); got != shown {
		t.Errorf("the title is %q", got)
	}
	if got := b.text("#summary"); got != "178 samples, 11 functions, 7 frames deep" {
		t.Errorf("the summary is %q", got)
	}
	if got, want := b.text("#legend"), "native 2.8 %Go 3.9 %JIT 67.4 %kernel 25.3 %unknown 0.6 %"; got != want {
		t.Errorf("the legend is %q, want %q", got, want)
	}
	light := b.picture("light")
	if n := len(colours(light)); n < 12 {
		t.Errorf("the picture has %d colours", n)
	}

	b.mouse(300, b.row(2), false)
	if got, want := b.text("#tip"), shown+"total 100 samples, 56.2 %self 100 samples, 56.2 %JIT"+shown+shown+":3"; got != want {
		t.Errorf("the tooltip says %q, want %q", got, want)
	}
	b.mouse(5, 5, false)
	if !b.yes("document.querySelector('#tip').hidden") {
		t.Error("the tooltip stays")
	}

	run := func(name string, test func(t *testing.T)) {
		t.Run(name, func(inner *testing.T) {
			b.t = inner
			defer func() { b.t = t }()
			test(inner)
		})
	}
	run("search", func(t *testing.T) { testSearch(t, b) })
	run("keys", func(t *testing.T) { testKeys(t, b) })
	run("mouse", func(t *testing.T) { testMouse(t, b) })
	run("functions", func(t *testing.T) { testFunctions(t, b) })
	run("dark", func(t *testing.T) { testDark(t, b) })
	run("phone", func(t *testing.T) { testPhone(t, b) })
	run("touch", func(t *testing.T) { testTouch(t, b) })
	run("nothing", func(t *testing.T) { testNothing(t, b) })
	run("many frames", func(t *testing.T) { testManyFrames(t, b) })
	run("difference", func(t *testing.T) { testDifference(t, b) })

	if len(b.complained()) > 0 {
		t.Errorf("the page made requests, or its console complains: %q", b.complained())
	}
}

// row returns the vertical position of the frames at a depth. Rows are 21 pixels: all, the
// processes, their outermost frames.
func (b *browser) row(depth int) float64 {
	top := b.number("document.querySelector('#graph').getBoundingClientRect().top")
	return top + 21*float64(depth) + 10
}

// testSearch finds frames by regular expressions.
func testSearch(t *testing.T, b *browser) {
	mark := b.colour("--mark")
	if n := colours(b.picture(""))[mark]; n > 0 {
		t.Errorf("%d pixels are marked without a search", n)
	}
	b.press("/")
	b.write("^(work|main)$")
	if got := b.text("#matches"); got != "2 frames match, 39.3 %" {
		t.Errorf("the search says %q", got)
	}
	// The underline of two boxes, 3 pixels high.
	searched := b.picture("search")
	if got, want := colours(searched)[mark], int(3*1200*(70+50)/178); got < want*9/10 || got > want*12/10 {
		t.Errorf("%d pixels are marked, want about %d", got, want)
	}
	b.press("Enter")
	if got := b.text("#graph .reader"); !strings.HasPrefix(got, "main, total 70 samples, 39.3 %") {
		t.Errorf("Enter goes to %q", got)
	}
	b.press("Escape")
	if got := b.text("#matches"); got != "" {
		t.Errorf("after Escape the search says %q", got)
	}
	b.write("(")
	if got := b.text("#matches"); got != "Not a regular expression yet" {
		t.Errorf("of ( the search says %q", got)
	}
	b.press("Escape")
	b.write("<img")
	if got := b.text("#matches"); got != "2 frames match, 56.2 %" { // it and its process
		t.Errorf("of a hostile name the search says %q", got)
	}
	b.press("Escape", "Escape")
	if !b.yes("document.activeElement.id === 'graph'") {
		t.Error("Escape does not leave the search")
	}
}

// testKeys walks and zooms by keys.
func testKeys(t *testing.T, b *browser) {
	b.press("Home")
	for _, step := range []struct{ key, now string }{
		{"ArrowDown", printable.Text(hostile) + " (0)"}, {"ArrowRight", "server (42), total 70"}, {"ArrowDown", "_start"}, {"ArrowDown", "main"},
		{"ArrowDown", "work"}, {"ArrowRight", "[unknown]"}, {"ArrowUp", "main"},
	} {
		b.press(step.key)
		if got := b.text("#graph .reader"); !strings.HasPrefix(got, strings.TrimSuffix(step.now, " (0)")) {
			t.Errorf("%s goes to %q, want %q", step.key, got, step.now)
		}
		if !b.yes("document.getElementById(document.querySelector('#graph').getAttribute('aria-activedescendant'))") {
			t.Errorf("after %s nothing is the active descendant", step.key)
		}
	}
	before := b.picture("")
	b.press("Enter")
	if got := b.text("#zoomed"); got != "Zoomed to main, 39.3 %" {
		t.Errorf("after Enter: %q", got)
	}
	zoomed := b.picture("zoomed")
	if same(before, zoomed) {
		t.Error("zooming changes nothing that is seen")
	}
	b.press("-")
	if got := b.text("#zoomed"); got != "Zoomed to 62.9 %" {
		t.Errorf("after -: %q", got)
	}
	b.press("+", "+")
	if got := b.text("#zoomed"); got != "Zoomed to 24.6 %" {
		t.Errorf("after + +: %q", got)
	}
	b.press("Escape")
	if got := b.text("#zoomed"); got != "" || !same(before, b.picture("")) {
		t.Errorf("Escape does not show all: %q", got)
	}
	b.press("i")
	turned := b.picture("flame")
	if same(before, turned) {
		t.Error("turning it upside down changes nothing that is seen")
	}
	b.press("ArrowUp")
	if got := b.text("#graph .reader"); !strings.HasPrefix(got, "work") {
		t.Errorf("in a flame, ArrowUp goes to %q", got)
	}
	b.press("i")
}

// testMouse zooms by clicks.
func testMouse(t *testing.T, b *browser) {
	b.mouse(900, b.row(1), true)
	if got := b.text("#zoomed"); got != "Zoomed to server (42), 39.3 %" {
		t.Errorf("a click makes it %q", got)
	}
	b.mouse(10, b.row(2), true)
	if got := b.text("#graph .reader"); !strings.HasPrefix(got, "_start, total 70 samples") {
		t.Errorf("a click within goes to %q", got)
	}
	b.mouse(10, b.row(0), true)
	if got := b.text("#zoomed"); got != "" {
		t.Errorf("a click on all makes it %q", got)
	}
}

// testFunctions reads the list of functions, and the callers of one.
func testFunctions(t *testing.T, b *browser) {
	b.press("Home", "f")
	if got := b.text("#rows tr:nth-child(2)"); got != "25.3 %25.3 %do_syscall_64[kernel]" {
		t.Errorf("the second row is %q", got)
	}
	b.eval("document.querySelector('#rows tr:nth-child(2) button').click()", nil)
	b.settle()
	if got := b.text("#chosen"); got != "do_syscall_64" {
		t.Errorf("chosen is %q", got)
	}
	b.picture("functions")
	b.eval("document.querySelector('#callers').focus()", nil)
	b.press("Home", "ArrowUp")
	if got := b.text("#callers .reader"); !strings.HasPrefix(got, "[libc.so.6], total 45 samples") {
		t.Errorf("its caller is %q", got)
	}
	b.eval("document.querySelector('#by-total').click()", nil)
	if got := b.text("#rows tr:nth-child(3)"); !strings.HasSuffix(got, "39.3 %mainserver") {
		t.Errorf("by total, the third row is %q", got)
	}
	b.press("f")
}

// testDark compares the themes.
func testDark(t *testing.T, b *browser) {
	b.mouse(1150, 690, false)
	light := b.picture("")
	b.prefer("dark")
	dark := b.picture("dark")
	corner := func(i *image.RGBA) uint8 { return i.Pix[0] }
	if corner(light) < 200 || corner(dark) > 60 {
		t.Errorf("the page is %d when light, %d when dark", corner(light), corner(dark))
	}
	inLight := colours(light)
	for c, pixels := range colours(dark) {
		if pixels > 400 && inLight[c] > 400 {
			t.Errorf("%v is in both", c)
		}
	}
	b.press("d")
	if !same(light, b.picture("")) {
		t.Error("the toggle does not make it light again")
	}
	b.press("d")
}

// testPhone opens the page on a small screen.
func testPhone(t *testing.T, b *browser) {
	b.size(360, 640, true)
	b.picture("phone")
	if wide := b.number("document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %v pixels wide on 360", wide)
	}
	b.press("f")
	b.picture("phone-functions")
	for _, id := range []string{"list", "callers", "callees"} {
		if bottom := b.number("document.getElementById('" + id + "').getBoundingClientRect().bottom"); bottom > 640 {
			t.Errorf("%s ends at %v of 640", id, bottom)
		}
	}
	if !b.yes("(g => g.scrollTop + g.clientHeight >= g.scrollHeight - 1)(document.getElementById('callers'))") {
		t.Error("the function is not seen below its callers")
	}
	b.press("i")
	b.size(1200, 700, false)
}

// A page of 200,000 nodes, and 5,000 frames deep, draws what is seen of it.
func testManyFrames(t *testing.T, b *browser) {
	p := profile.New("samples")
	functions := make([]profile.Location, 1000)
	for i := range functions {
		functions[i] = p.Location(uint64(i), []profile.Frame{{Function: fmt.Sprint("function", i), Code: profile.Code(i % 5)}})
	}
	stack := make([]profile.Location, 5000)
	for i := range stack {
		stack[i] = functions[i%7]
	}
	p.Add(stack, profile.Labels{}, 500)
	stack = stack[:65]
	for n := range 3050 {
		for i := range stack {
			stack[len(stack)-1-i] = functions[(i*13+n%(i+1))%len(functions)]
		}
		stack[0] = functions[n%1000]
		p.Add(stack, profile.Labels{}, 1)
	}
	_, path := flame(t, p)
	b.open(path)
	if nodes := b.number("JSON.parse(document.querySelector('#data').textContent).nodes.frame.length"); nodes < 150_000 {
		t.Fatalf("only %v nodes", nodes)
	}
	b.eval(`{
		const fill = CanvasRenderingContext2D.prototype.fillRect;
		window.drawn = 0;
		CanvasRenderingContext2D.prototype.fillRect = function (...box) { drawn++; fill.apply(this, box); };
		const clear = CanvasRenderingContext2D.prototype.clearRect;
		CanvasRenderingContext2D.prototype.clearRect = function (...box) { drawn = 0; clear.apply(this, box); };
	}`, nil)
	b.eval("document.querySelector('#graph').focus()", nil)
	b.press("Home")
	// No more than a box a pixel of each row that is seen.
	if drawn := b.number("drawn"); drawn < 100 || drawn > 2*1200*31 {
		t.Errorf("%v boxes are drawn", drawn)
	}
	b.eval("document.querySelector('#graph').scrollTop = 1e9", nil)
	b.settle()
	bottom := b.picture("bottom")
	if n := len(colours(bottom)); n < 8 {
		t.Errorf("the innermost frames have %d colours", n)
	}
	// A finger scrolls.
	before := b.number("document.querySelector('#graph').scrollTop")
	b.touch(between([]point{{600, 300}}, []point{{600, 500}}, 10)...)
	if now := b.number("document.querySelector('#graph').scrollTop"); now >= before {
		t.Errorf("a finger that goes down scrolls from %v to %v", before, now)
	}
}

// picture returns what is seen.
func (b *browser) picture(name string) *image.RGBA {
	b.t.Helper()
	decoded, err := png.Decode(bytes.NewReader(b.screenshot(name)))
	if err != nil {
		b.t.Fatal(err)
	}
	picture := image.NewRGBA(decoded.Bounds())
	draw.Draw(picture, picture.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	return picture
}

// colours counts the pixels of each colour.
func colours(i *image.RGBA) map[color.RGBA]int {
	found := make(map[color.RGBA]int)
	for p := 0; p < len(i.Pix); p += 4 {
		found[color.RGBA{i.Pix[p], i.Pix[p+1], i.Pix[p+2], 255}]++
	}
	return found
}

// same reports whether two pictures are equal but for the status above the graph
// and the details below it.
func same(a, b *image.RGBA) bool {
	from, to := 110*a.Stride, (a.Bounds().Dy()-110)*a.Stride
	return a.Bounds() == b.Bounds() && bytes.Equal(a.Pix[from:to], b.Pix[from:to])
}

// colour returns what a variable of the page's style is now.
func (b *browser) colour(variable string) (c color.RGBA) {
	b.t.Helper()
	var text string
	b.eval(fmt.Sprintf(`(() => {
		const probe = document.querySelector("#notes"), old = probe.style.color;
		probe.style.color = "var(%s)";
		const colour = getComputedStyle(probe).color;
		probe.style.color = old;
		return colour;
	})()`, variable), &text)
	if _, err := fmt.Sscanf(text, "rgb(%d, %d, %d)", &c.R, &c.G, &c.B); err != nil {
		b.t.Fatalf("%s is %q", variable, text)
	}
	c.A = 255
	return c
}

func (b *browser) number(expression string) (n float64) {
	b.t.Helper()
	b.eval(expression, &n)
	return n
}

func (b *browser) yes(condition string) (yes bool) {
	b.t.Helper()
	b.eval("!!("+condition+")", &yes)
	return yes
}

// complained returns what the page did that it should not.
func (b *browser) complained() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.complaints
}
