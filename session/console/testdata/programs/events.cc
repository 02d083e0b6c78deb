// A simulation: an event queue on std::priority_queue, comparators, handlers by index, and maps.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <array>
#include <map>
#include <queue>
#include <string>
#include <vector>
namespace sim {
using Time = unsigned long;
struct Event { Time at; int who; enum Kind : char { Arrive = 'a', Leave = 'l' } kind; unsigned order; };
struct Later { bool operator()(const Event &a, const Event &b) const { return a.at != b.at ? a.at > b.at : a.order > b.order; } };
template <class T, class Compare> struct Peek : std::priority_queue<T, std::vector<T>, Compare> { const std::vector<T> &all() const { return this->c; } };
struct Station { std::string name; std::vector<int> waiting; double busy = 0; };
class World {
	Peek<Event, Later> queue;
	std::map<int, Station> stations;
	unsigned order = 0;
public:
	Time now = 0;
	std::array<unsigned, 2> handled{};
	void add(Event e) { e.order = order++; queue.push(e); }
	Station &station(int n) { return stations[n]; }
	__attribute__((noinline)) bool step();
};
bool World::step()
{
	if (queue.empty())
		return false;
	const Event e = queue.top();
	queue.pop();
	now = e.at;
	Station &s = station(e.who % 2);
	handled[e.kind == Event::Leave]++;
	if (e.kind == Event::Arrive) {
		s.waiting.push_back(e.who);
		add({now + 10, e.who, Event::Leave, 0});
	} else {
		s.waiting.pop_back();
	}
	s.busy += 0.25;
	HERE; // STOP print e; print e.kind; print e.kind == Event::Arrive; print (Event::Kind)108; print (Event::Kind)1; print Event::Leave; print e.at; print now; print this->now + 1; print s; print s.name; print s.waiting; print s.busy; print s.busy * 4; print &s.busy; print handled; print order; print stations; print sizeof(Event); print sizeof(Time); whatis e; whatis e.kind; whatis e.at; whatis s; whatis s.busy; whatis now; whatis order + now; whatis Time; ptype e; ptype Event; ptype Time; ptype Later; print/d e.kind; print/c e.who; print (int)e.kind; print *&e; print e.who % 2; print e.at > now || e.who; bt; up; info locals; down; finish
	return true;
}
__attribute__((noinline)) unsigned drain(World &w, const std::vector<Event> &plan, unsigned limit)
{
	unsigned steps = 0;
	std::pair<Time, unsigned> last{0, 0};
	for (auto &e : plan)
		w.add(e);
	while (steps < limit && w.step())
		++steps;
	last = {w.now, steps};
	HERE; // STOP print plan; print plan[0]; print plan[1].kind; print w.now; print w.handled; print w.order; print w.stations; print limit; print steps; print last; print &w.now; print steps == limit; print plan[0].at < plan[1].at; print (char)(plan[0].kind - 32); whatis plan; whatis plan[0]; whatis w; whatis last; whatis last.first; whatis limit; whatis w.handled; ptype plan[0]; print sizeof(last); print/x last; print/x steps; info args; bt 1; finish
	return steps;
}
}
extern "C" int run(int n)
{
	sim::World world;
	world.station(0).name = "north";
	world.station(1).name = "a station with a long name";
	std::vector<sim::Event> plan{{30, 1, sim::Event::Arrive}, {5, 2, sim::Event::Arrive}, {12, n, sim::Event::Arrive}};
	unsigned steps = drain(world, plan, 4);
	std::priority_queue<int> largest;
	std::queue<short> line;
	for (int k : {3, 9, 4})
		largest.push(k), line.push(k);
	line.pop();
	sim::Event *first = plan.data(), copy = plan.back();
	__asm__ volatile("" :: "r"(&copy) : "memory");
	HERE; // STOP print world.now; print world.handled; print world.handled[1]; print world.stations; print plan; print first; print *first; print first[1].at; print first->kind; print copy; print copy.who == n; print largest; print line; print steps; print sim::Event::Arrive; print (sim::Event::Kind)97; print *first@2; print first + 1; print &first[2] - first; print (sim::Event *)&copy; whatis world; whatis first; whatis *first; whatis copy.order; whatis largest; whatis line; whatis steps; ptype copy; ptype sim::Event; ptype sim::Station; ptype sim::Later; print sizeof(copy); print sizeof(world.handled); print world.handled[0] + world.handled[1]; print &copy.kind; set var copy.at = 77; print copy; print copy.kind = sim::Event::Leave; print copy.at - 80; print -copy.who; print copy.at * 1.5; print/x copy.at; print/o steps; print !steps; print sim::Event::Pause; print world.queue.size; print first->nosuch
	return steps + copy.at + copy.kind + largest.top() + line.front();
}
