// A scheduler with chrono's durations and time points, and a heap of tasks.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ratio>
#include <vector>
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
typedef std::chrono::duration<int, std::ratio<1, 60>> Frames;
struct Task {
	Clock::time_point due;
	std::chrono::milliseconds every;
	unsigned priority : 4, done : 1;
	const char *name;
	friend bool operator>(const Task &a, const Task &b) { return a.due > b.due; }
};
class Scheduler {
	std::vector<Task> heap;
	Clock::duration now{0};
public:
	static const int most = 16;
	mutable unsigned looks = 0;
	void add(Task t) { heap.push_back(t); std::push_heap(heap.begin(), heap.end(), std::greater<>()); }
	int step(std::chrono::nanoseconds by);
	std::size_t size() const { looks++; return heap.size(); }
};
__attribute__((noinline)) int Scheduler::step(std::chrono::nanoseconds by)
{
	now += by;
	int ran = 0;
	while (!heap.empty() && heap.front().due.time_since_epoch() <= now && ran < 5) {
		std::pop_heap(heap.begin(), heap.end(), std::greater<>());
		Task &t = heap.back();
		t.done = 1;
		t.due += t.every;
		std::push_heap(heap.begin(), heap.end(), std::greater<>());
		ran++;
	}
	HERE; // STOP print *this; print now; print now.__r; print by; print by.__r / 1000000; print ran; print heap; print heap[0]; print heap[0].name; print heap[0].due; print heap[0].every; print heap[0].priority; print heap.size(); print this->looks; print most; print Scheduler::most; print heap[0].due.__d.__r; print &now; whatis now; whatis by; whatis heap; whatis heap[0]; whatis heap[0].due; whatis heap[0].every; whatis heap[0].priority; whatis this; whatis by.__r; ptype Task; ptype Frames; whatis Frames; whatis Clock; print sizeof(Task); print sizeof(*this); print sizeof(now); print by.__r > 1000; print by.__r * 1.5; print *heap[0].name@3; bt; finish
	return ran + (by.count() == 0);
}
extern "C" int run(int n)
{
	Scheduler s;
	Frames frames(90);
	auto half = 1500us;
	std::chrono::duration<double> seconds = half;
	auto whole = std::chrono::duration_cast<std::chrono::seconds>(frames);
	std::chrono::hours day = 24h;
	s.add({Clock::time_point(5ms), 10ms, 3, 0, "draw"});
	s.add({Clock::time_point(1ms), 7ms, 1, 0, "read"});
	int ran = s.step(n * 4ms);
	std::int64_t ticks = std::chrono::nanoseconds(half).count();
	HERE; // STOP print s; print s.heap; print s.now; print s.heap[1].name; print s.heap[1].due; print frames; print frames.__r; print half; print seconds; print seconds.__r * 2; print whole; print day; print day.__r * 60; print ran; print ticks; print/x ticks; print s.looks; print s.heap.size(); print s.size; whatis s; whatis frames; whatis half; whatis seconds; whatis whole; whatis day; whatis ticks; whatis frames.__r; whatis s.heap[0].due; ptype s; print sizeof(frames); print sizeof(seconds); print &frames; print *&half; print frames.__r == 90; print s.heap[0].priority + s.heap[1].priority; print s.heap[0].done; print -ticks; print ticks / 7; print ticks % 7; print (int)seconds.__r; set var frames.__r = 5; print frames; set var s.heap[0].priority = 9; print s.heap[0].priority; print s.heap[1].due.__d.__r += 1; print s.looks = 3; info line Scheduler::step; print Scheduler::step; ptype Scheduler
	return ran + int(whole.count()) + s.size() + int(ticks) + frames.count();
}
