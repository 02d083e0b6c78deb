// Static polymorphism: CRTP mixins, a counter of objects, and units as types.
#define HERE __asm__ volatile("nop" ::: "memory")
template <typename Derived> struct Counted {
	static int made;
	int serial = ++made;
	const Derived &self() const { return static_cast<const Derived &>(*this); }
};
template <typename Derived> int Counted<Derived>::made = 0;

template <typename T> struct Ordered {
	friend bool operator<(const T &a, const T &b) { return a.key() < b.key(); }
	friend bool operator==(const T &a, const T &b) { return !(a < b) && !(b < a); }
};

template <int Metres, int Seconds, typename Rep = double> struct Unit {
	Rep amount;
	enum { metres = Metres, seconds = Seconds };
	template <int M, int S> constexpr Unit<Metres + M, Seconds + S, Rep> operator*(Unit<M, S, Rep> o) const { return {amount * o.amount}; }
};
using Length = Unit<1, 0>;
using Speed = Unit<1, -1, double>;
constexpr Length operator""_m(long double d) { return {double(d)}; }
constexpr Length operator""_km(unsigned long long d) { return {d * 1000.0}; }

struct Runner : Counted<Runner>, Ordered<Runner> {
	Length done;
	Speed pace;
	explicit Runner(double d, double p) : done{d}, pace{p} {}
	double key() const { return done.amount; }
};
struct Judge : Counted<Judge> { char grade = 'a'; };

template <typename T> __attribute__((noinline)) const T &best(const T *all, int n)
{
	const T *found = all;
	for (int i = 1; i < n; i++)
		if (*found < all[i])
			found = all + i;
	HERE; // STOP print *found; print found - all; print all[0]; print *all@2; print found->done; print found->done.amount; print found->pace; print found->serial; print found->made; print Counted<Runner>::made; print Counted<Judge>::made; print n; print found->serial + 1; print all == found; print &found->pace; print *&found->done; print found->done.amount / 3; print (int)found->done.amount; whatis found; whatis *found; whatis found->done; whatis found->pace; whatis found->done.amount; whatis all[1]; ptype found; ptype Length; ptype Speed; whatis Length; whatis Speed; ptype Counted<Runner>; print sizeof(*found); print sizeof(Length); print (Counted<Runner> *)found; print *(Counted<Runner> *)found; print Length::metres; print (Unit<1, 0, double> *)0; print found->metres; bt; up; down; finish
	return *found;
}

template <int M, int S> __attribute__((noinline)) double plain(Unit<M, S> u, const char *unit)
{
	constexpr int dimension = M * 10 + S;
	double r = u.amount + dimension;
	HERE; // STOP print u; print u.amount; print unit; print *unit; print r; print M; print S; print dimension; print u.metres; print u.seconds; print M + S; whatis u; whatis M; whatis unit; whatis dimension; ptype u; print sizeof(u); bt; print u.amount * 2; print r - u.amount; print/x u; finish
	return r;
}

extern "C" int run(int n)
{
	Runner field[3] = {Runner(100.5, 3), Runner(n * 100, 2.5), Runner(42, 9)};
	Judge judge;
	const Runner &winner = best(field, 3);
	auto area = 2.5_m * 1_km;
	double r = plain(area, "square") + plain(winner.pace, "speed");
	HERE; // STOP print field; print field[1]; print field[0].done.amount; print judge; print judge.grade; print judge.made; print winner; print winner.done; print &winner == &field[1]; print area; print r; print Runner::made; print Judge::made; print Counted<Runner>::made + Counted<Judge>::made; print field[2].serial; print field[0].self; whatis field; whatis field[0]; whatis judge; whatis winner; whatis area; ptype area; ptype winner; ptype Runner; ptype Judge; ptype field; print sizeof(field); print sizeof(Runner); print sizeof(Judge); print *field@2; print &field[1].done; print field[1].done.amount == 300; print/x field[0].serial; print best<Runner>; whatis best<Runner>; print plain<2, 0>; info line best<Runner>; set var field[0].done.amount = 1; print field[0]; print (double)area.amount; print winner.key; print winner.key(); print field[0] == field[1]; print field[0] < winner
	return int(r) + judge.serial + winner.serial;
}
