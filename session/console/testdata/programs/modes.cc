// A state machine: states as objects, transitions as pointers to members, nested and friend classes.
#define HERE __asm__ volatile("nop" ::: "memory")
class Door {
public:
	enum Input { Push, Pull, Lock, Unlock, Inputs };
	class State;
	struct Counter { unsigned long long total; unsigned char per[Inputs]; };
private:
	class Opened; class Closed; class Locked;
	friend class State;
	const State *state;
	Counter counter{};
	const int code;
	bool alarm : 1;
	signed int tries : 3;
public:
	explicit Door(int code);
	bool handle(Input in, int key = 0);
	void ring() { alarm = true; }
	const State *current() const { return state; }
};
class Door::State {
protected:
	const char *const label;
	typedef const State *(State::*Handler)(Door &, int) const;
	const State *stay(Door &, int) const { return this; }
	const State *ring(Door &d, int key) const { d.tries--; d.ring(); return key < 0 ? nullptr : this; }
public:
	constexpr State(const char *l) : label(l) {}
	virtual const State *next(Door &d, Input in, int key) const = 0;
	static const State *opened, *closed, *locked;
};
class Door::Opened : public State { using State::State; const State *next(Door &, Input in, int) const override { return in == Push || in == Pull ? closed : this; } };
class Door::Closed : public State { using State::State; const State *next(Door &, Input in, int) const override { return in == Lock ? locked : in == Pull ? opened : this; } };
class Door::Locked : public State {
public:
	int strength;
	Locked(const char *l, int s) : State(l), strength(s) {}
	const State *next(Door &d, Input in, int key) const override;
};
__attribute__((noinline)) const Door::State *Door::Locked::next(Door &d, Input in, int key) const
{
	static const Handler handlers[] = {&Locked::stay, &Locked::ring};
	bool right = in == Unlock && key == d.code;
	const State *to = right ? closed : (this->*handlers[in == Unlock])(d, key);
	HERE; // STOP print *this; print label; print strength; print d; print d.alarm; print d.tries; print d.counter; print d.counter.per; print d.counter.per[1]; print d.code; print d.state == this; print in; print in == Unlock; print Lock; print (Input)2; print (Door::Input)3; print (Input)9; print key; print right; print to; print to == this; print *to; print this->label[0]; print *label@6; print sizeof(Door); print sizeof(d.counter); whatis d; whatis in; whatis d.alarm; whatis d.tries; whatis d.counter.per; whatis to; whatis *to; whatis label; whatis this; ptype in; ptype d; ptype this; ptype Counter; ptype Door::State; print -d.tries; print d.tries + 10; print/x d.counter; print/d in; print d.code ^ key; bt; up; down
	return to;
}
static const Door::State *const *table[2] = {&Door::State::opened, &Door::State::locked};
Door::Door(int c) : state(State::closed), code(c), alarm(false), tries(3)
{
	static const Opened wide("opened");
	static const Closed shut("closed");
	static const Locked strong("locked", c);
	State::opened = &wide, state = State::closed = &shut, State::locked = &strong;
}
__attribute__((noinline)) bool Door::handle(Input in, int key)
{
	const State *before = state;
	state = state->next(*this, in, key);
	counter.total++, counter.per[in] += 2;
	bool changed = state != before;
	HERE; // STOP print *this; print in; print key; print before; print *before; print state; print changed; print counter; print counter.total; print counter.per[in]; print &counter; print &counter.per[2]; print tries; print alarm; print alarm || changed; print code; whatis counter; whatis counter.per; whatis before; whatis in; print Inputs; print Door::Pull; print *&counter; print counter.per[0] + 256; print (unsigned char)(counter.per[in] + 255); print/c counter.per; print/x counter.per; print in + 1; whatis in + 1; bt; info args; up; down; finish
	return changed;
}
const Door::State *Door::State::opened, *Door::State::closed, *Door::State::locked;
extern "C" int run(int n)
{
	static struct : Door::State { using State::State; const State *next(Door &, Door::Input, int) const override { return locked; } } closing("closing");
	Door door(n * 11), *to = &door;
	Door::State::opened = &closing;
	int changes = door.handle(Door::Lock) + door.handle(Door::Unlock, 30) + to->handle(Door::Unlock, n * 11);
	HERE; // STOP print door; print *to; print to->code; print to->counter.total; print changes; print table; print *table[0]; print *table[1] == &closing; print Door::State::opened; print *Door::State::locked; print Door::Lock; print (Door::Input)0; print door.tries; print door.alarm; whatis door; whatis to; whatis table; whatis *table; whatis changes; ptype door; ptype to; ptype Door::Input; ptype Door::Counter; print sizeof(door); print &door.code; print to == &door; set var door.alarm = 1; print door.alarm; set var door.tries = -2; print door.tries; print door.tries = 9; print door.counter.per[1] = 7; print door.counter; print/x door.counter.per; print door.nosuch; print Door::Slam; print changes * 3 - 1; print door.code / 2.0; print (long)door.counter.total; print sizeof(Door::Counter); print sizeof(Door::State)
	return changes + n;
}
