// Methods that end with tail calls: of a base, of a member, of a template, of another class, and of themselves.
#define HERE __asm__ volatile("nop" ::: "memory")
#define KEPT __attribute__((noinline, noipa))
namespace relay {
struct Message { int id; double weight; const char *text; };
enum class Route { Near, Far = 7 };
static int delivered;
struct Sink {
	int count = 0;
	long total = 0;
	KEPT int take(const Message &m, int hops);
};
KEPT int Sink::take(const Message &m, int hops)
{
	int worth = m.id * hops;
	count++;
	total += worth;
	HERE; // STOP bt; bt 2; info args; up; info args; info locals; print m; print m.id; print *this; print this; print hops; list; up; info args; print route; frame; up; down; down; down; print *this; print worth; frame 1; frame 2; frame 0; finish
	return count + worth;
}
struct Base { int passed = 0; Sink sink; KEPT int forward(const Message &m, int hops); };
KEPT int Base::forward(const Message &m, int hops)
{
	passed += hops;
	return sink.take(m, hops * 2);
}
struct Hub : Base {
	int seen = 0;
	KEPT int pass(const Message &m, Route route);
};
KEPT int Hub::pass(const Message &m, Route route)
{
	seen++;
	return forward(m, static_cast<int>(route));
}
template <typename T> struct Cell {
	T value;
	KEPT T drain(T by);
	KEPT T halve(T by) { value -= by; return drain(by / 2); }
	KEPT T fill(T by) { value += by; return halve(by + 1); }
};
template <typename T> KEPT T Cell<T>::drain(T by)
{
	T rest = value - by;
	value = rest;
	HERE;
	delivered += int(rest); // STOP bt; up; info args; print *this; print value; print by; whatis by; up; info args; whatis this; frame; frame 0; print rest
	return rest;
}
struct Node {
	Node *next; int weight;
	KEPT int depth(int so_far) const;
};
KEPT int Node::depth(int so_far) const
{
	if (!next) {
		HERE; // STOP bt; info args; print *this; up; info args; down; step; bt
		return so_far + weight;
	}
	return next->depth(so_far + weight);
}
KEPT static int close(int a, int b)
{
	delivered += a;
	HERE; // STOP bt; up; info args; frame 1; frame 0; next; bt
	return a - b;
}
struct Guard { int held; int apply(int by) const { return close(held, by + 1); } };
KEPT static int guarded(int n)
{
	Guard g = {n * 3};
	return g.apply(n);
}
}
using namespace relay;
KEPT static int work(int n)
{
	Message m = {n, 2.5, "hello"};
	Hub hub;
	int first = hub.pass(m, n > 2 ? Route::Far : Route::Near);
	Cell<long> longs = {40};
	Cell<short> shorts = {9};
	long second = longs.fill(n);
	short third = shorts.fill(2);
	Node c = {nullptr, 4}, b = {&c, 2}, a = {&b, 1};
	int fourth = a.depth(n);
	int fifth = guarded(n);
	HERE; // STOP print hub; print first; print second; print third; print fourth; print fifth; print longs; print shorts; print delivered; print m
	return first + int(second) + third + fourth + fifth;
}
KEPT static int again(int n) { return work(n) + delivered; }
extern "C" int run(int n) { return again(n) - delivered; }
