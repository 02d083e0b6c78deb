// Signals and slots: std::function, std::bind, std::mem_fn, references in wrappers and captures.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <functional>
#include <vector>
namespace ui {
struct Event { enum Kind { Press, Release, Move = 10 } kind; short x, y; };
using Slot = std::function<int(const Event &)>;
class Button {
	struct Binding { int id; Slot slot; bool once; };
	std::vector<Binding> bindings;
	int next = 1;
public:
	const char *label;
	explicit Button(const char *l) : label(l) { bindings.reserve(4); }
	int on(Slot slot, bool once = false) { bindings.push_back({next, std::move(slot), once}); return next++; }
	__attribute__((noinline)) int fire(const Event &e);
	friend struct Inspector;
};
int Button::fire(const Event &e)
{
	int sum = 0, count = 0;
	for (Binding &b : bindings) {
		sum += b.slot(e);
		b.once = false;
		++count;
	}
	HERE; // STOP print e; print e.kind; print e.kind == Event::Press; print e.x; print &e; print sum; print count; print label; print label[0]; print next; print this->next; print Event::Move; print (Event::Kind)1; print (Event::Kind)4; print/d e.kind; print *&e; print sizeof(Event); print sizeof(e); whatis e; whatis e.kind; whatis e.x + 1; whatis sum; whatis label; whatis this; ptype e; ptype Event; ptype Event::Kind; whatis Slot; print e.x * e.y; print (char)e.x; print *label@3; x/s label; bt; up; down; finish
	return sum;
}
struct Inspector {
	int seen = 0, *counter;
	int look(const Event &e, int scale) { seen += e.y; return seen * scale; }
	int operator()(const Event &e) const
	{
		++*counter;
		HERE; // STOP print *this; print seen; print counter; print *counter; print e; print e.kind; print this->seen + 1; print e.y - e.x; print -e.x; whatis *this; whatis this; whatis counter; whatis *counter; whatis e; ptype this; print counter == 0; print !seen; print/x e.y; print Event::Release; print (Event::Kind)10; info args
		return e.x;
	}
};
}

static int plain(const ui::Event &e) { return e.kind; }

extern "C" int run(int n)
{
	int counter = 0, pressed = 0;
	ui::Inspector inspector{n, &counter};
	ui::Button button("fine");
	auto lambda = [&pressed, n](const ui::Event &e) { pressed += n; return e.x + pressed; };
	int first = button.on(plain), second = button.on(lambda);
	button.on(std::bind(&ui::Inspector::look, &inspector, std::placeholders::_1, 3), true);
	button.on(inspector);
	int r = button.fire({ui::Event::Move, 4, 6}) + button.fire({ui::Event::Press, 7, 8});
	auto doubled = std::bind(plain, std::placeholders::_1);
	std::reference_wrapper<int> wrapped = counter;
	wrapped.get() += 100;
	__asm__ volatile("" :: "r"(&doubled), "r"(&r) : "memory");
	ui::Event last{ui::Event::Release, -1, 2};
	int (*pointer)(const ui::Event &) = plain;
	int (ui::Inspector::*member)(const ui::Event &, int) = &ui::Inspector::look;
	int ui::Inspector::*data = &ui::Inspector::seen;
	r += doubled(last) + pointer(last) + (inspector.*member)(last, 2) + inspector.*data;
	HERE; // STOP print counter; print pressed; print inspector; print inspector.seen; print *inspector.counter; print lambda; print first; print second; print r; print last; print last.kind; print last.x; print pointer; print *pointer; print data; print button.label; print button.next; print ui::Event::Press; print (ui::Event::Kind)10; whatis lambda; whatis inspector; whatis pointer; whatis *pointer; whatis data; whatis last; whatis r + last.x; whatis wrapped; ptype inspector; ptype last; ptype pointer; print plain; print &plain; whatis plain; ptype plain; print sizeof(button); print sizeof(lambda); print sizeof(ui::Slot); print sizeof(pointer); print pointer == plain; print inspector.*data; print &last.y; print *&last.y; set var last.kind = ui::Event::Press; print last; print last.kind = ui::Event::Move; print plain(last); print r > 0 && !first; print first << 4; print ~second; print r / 3.0; print/o r
	return r + counter;
}
