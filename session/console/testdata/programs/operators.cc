#define HERE __asm__ volatile("nop" ::: "memory")
struct Ratio {
	long num, den;
	constexpr Ratio(long n = 0, long d = 1) : num(n), den(d) {}
	Ratio operator+(const Ratio &o) const { return {num * o.den + o.num * den, den * o.den}; }
	Ratio operator-() const { return {-num, den}; }
	bool operator<(const Ratio &o) const { return num * o.den < o.num * den; }
	Ratio &operator+=(const Ratio &o) { return *this = *this + o; }
	explicit operator double() const { return double(num) / den; }
	long operator[](int i) const { return i ? den : num; }
	long operator()(long a, long b) { return a * num + b * den; }
	Ratio *operator->() { return this; }
	friend Ratio operator*(const Ratio &a, long b) { return {a.num * b, a.den}; }
	static Ratio half() { return {1, 2}; }
	void *operator new(unsigned long n);
};
void *Ratio::operator new(unsigned long n) { static char space[64]; return space; }
constexpr Ratio third(1, 3);
const Ratio table[] = {{1, 2}, {2, 3}, 4};
Ratio &largest(Ratio &a, Ratio &b)
{
	Ratio &found = a < b ? b : a;
	HERE; // STOP print a; print b; print found; print &found; print a.num; print a.num * b.den < b.num * a.den; print *&a; whatis a; whatis found; print a < b; print a + b; print -a; print a[0]; print a(1, 2); print a->num; print (&a)->num; print static_cast<int>(1); ptype Ratio; ptype found; print &a == &found; bt; finish
	return found;
}
extern "C" int run(int n)
{
	Ratio a(1, n), b = Ratio::half(), *made = new Ratio(7, 8);
	a += b;
	Ratio &big = largest(a, b);
	double d = double(big);
	HERE; // STOP print a; print b; print *made; print big; print big.num; print d; print third; print table; print table[1]; print table[1].den; print &table[2]; print made->den; whatis big; whatis made; whatis third; whatis table; ptype big; print third.num + 1; print (double)a.num / a.den; print a + b; print a == b; print !a; print a += b; print a = b; print a; print sizeof(big); print *made@1; print Ratio::half; ptype made; print a * 2
	return d * 10;
}
