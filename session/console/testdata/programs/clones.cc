// Instruments of an orchestra: a virtual base, covariant returns, pure virtual functions and factories.
#define HERE __asm__ volatile("nop" ::: "memory")
namespace music {
enum Family : unsigned char { Strings = 1, Brass, Keys = 8 };
struct Item { int serial; static int made; Item() : serial(++made) {} virtual ~Item() {} virtual Item *clone() const = 0; virtual const Item &self() const { return *this; } };
int Item::made;
struct Tuned : virtual Item { short pitch = 440; Tuned *clone() const override = 0; virtual int note(int step) const { return pitch + step; } };
struct Priced : virtual Item { float price; Priced(float p = 1.5f) : price(p) {} Priced *clone() const override = 0; };
struct Violin : Tuned, Priced {
	char strings[4] = {'g', 'd', 'a', 'e'};
	Family family = Strings;
	Violin(float p) : Priced(p) {}
	Violin *clone() const override;
	const Violin &self() const override { return *this; }
	int note(int step) const override;
};
struct Piano final : Tuned { unsigned keys : 7, pedals : 2; const Item *inside; Piano(const Item *i) : keys(88), pedals(3), inside(i) {} Piano *clone() const override { return nullptr; } };

__attribute__((noinline)) Violin *Violin::clone() const
{
	static int clones = 10;
	Violin *made = new Violin(*this);
	made->price *= 2;
	clones++;
	HERE; // STOP print *this; print made; print *made; print made->price; print made->serial; print serial; print pitch; print clones; print strings; print strings[1]; print family; print family == Strings; print Brass; print (Family)8; print (Family)3; print/d family; print Item::made; print Tuned::pitch; print this->Priced::price; print (Tuned *)made == made; print sizeof(*this); print sizeof(Family); whatis made; whatis *this; whatis family; whatis this; ptype family; ptype Item; ptype Tuned; ptype Priced; whatis strings; print &pitch; print/c strings[0] + 1; bt; up; info locals; down; finish
	return made;
}

__attribute__((noinline)) int Violin::note(int step) const
{
	const Violin &me = self();
	int base = Tuned::note(step) + me.strings[0];
	HERE; // STOP print me; print base; print step; print me.pitch; print &me == this; print me.strings[3]; print base % 7; print step + strings[0]; print pitch * 2.5; whatis me; whatis base; whatis pitch * 2.5; whatis step + price; ptype me; print/x base; print/t step; print *this; print Strings | Brass; print Keys; print Item::made > 1; bt 1; info args
	return base;
}
}

extern "C" int run(int n)
{
	music::Violin first(9.25f);
	music::Tuned *tuned = first.clone();
	const music::Priced *priced = &first;
	music::Item *items[] = {tuned, &first, nullptr};
	music::Piano piano(items[1]);
	int note = tuned->note(n);
	HERE; // STOP print first; print tuned; print *tuned; print tuned->pitch; print priced; print *priced; print priced->price; print items; print *items[0]; print items[1]->serial; print items[2]; print piano; print piano.keys; print piano.pedals + 1; print piano.inside; print piano.serial; print note; print music::Item::made; print music::Strings; print music::Keys; print (music::Family)2; print *(music::Violin *)&first; print first.price; print first.serial; whatis first; whatis tuned; whatis *tuned; whatis priced; whatis items; whatis items[0]; whatis piano.keys; ptype first; ptype piano; ptype tuned; ptype music::Family; print sizeof(first); print sizeof(piano); print sizeof items / sizeof items[0]; print items[0] == tuned; print tuned == 0; print !items[2]; print &first.price; print &items[1]; set var first.pitch = -1; print first.pitch; set var piano.keys = 5; print piano.keys; print first.family = music::Keys; print first; print/x piano.keys; print note ? 1.5 : 2; print -note; print tuned->nosuch; print music::Viola
	return note + piano.keys + first.serial + music::Item::made;
}
