// Lengths and colours: user-defined literals, conversions, strong enumerations and constexpr data.
#define HERE __asm__ volatile("nop" ::: "memory")
namespace si {
struct Metres {
	long double value;
	constexpr explicit Metres(long double v = 0) : value(v) {}
	constexpr Metres operator+(Metres o) const { return Metres(value + o.value); }
	constexpr bool operator<(const Metres &o) const { return value < o.value; }
	constexpr operator int() const { return int(value); }
};
inline namespace literals {
constexpr Metres operator""_m(long double v) { return Metres(v); }
constexpr Metres operator""_km(unsigned long long v) { return Metres(v * 1000.0L); }
constexpr unsigned operator""_rgb(const char *text) { unsigned n = 0; for (text += 2; *text; text++) n = n * 16 + (*text <= '9' ? *text - '0' : (*text | 32) - 'a' + 10); return n; }
template <char... C> constexpr int operator""_bits() { return ((C == '1' ? 1 : 0) + ...); }
constexpr unsigned long operator""_len(const char *, unsigned long n) { return n; }
}
constexpr Metres marathon = 42_km + 195.0_m;
}
enum class Access : unsigned short { None = 0, Read = 1, Write = 2, Run = 4, All = 7 };
constexpr Access operator|(Access a, Access b) { return Access(unsigned(a) | unsigned(b)); }
constexpr bool has(Access a, Access b) { return (unsigned(a) & unsigned(b)) != 0; }
enum class Level : signed char { Low = -1, Middle, High = 100 };
enum Wide : unsigned long { Small = 1, Huge = 0x100000000 };
struct Colour { union { unsigned all; struct { unsigned char b, g, r, a; }; }; constexpr Colour(unsigned n) : all(n) {} };

__attribute__((noinline)) int measure(si::Metres a, const si::Metres &b, Access access, Level level, Wide wide)
{
	bool shorter = a < b;
	si::Metres sum = a + b;
	HERE; // STOP print a; print a.value; print b; print &b; print b.value * 2; print sum; print sum.value; print (int)sum.value; print (float)a.value; print shorter; print access; print access == Access::Read; print Access::All; print (Access)3; print (Access)4; print (Access)8; print/x access; print/d access; print level; print (Level)-1; print (Level)7; print Level::High; print wide; print Huge; print (Wide)1; print (Wide)2; print wide > Small; print Small + 1; whatis a; whatis b; whatis sum.value; whatis a.value + 1; whatis a.value * 2.0f; whatis access; whatis level; whatis wide; whatis Small + 1; ptype access; ptype level; ptype wide; ptype a; print sizeof(a); print sizeof(access); print sizeof(level); print sizeof(Wide); print a.value > 3; print a.value / 3; print -a.value; print !a.value; bt; up; info locals; down; finish
	return int(sum) + shorter;
}

extern "C" int run(int n)
{
	using namespace si::literals;
	constexpr si::Metres half = 0.5_m;
	si::Metres walk = 3_km, all[2] = {half, walk};
	Colour red = 0xff8001_rgb, colours[] = {0x10_rgb, 0xffffff_rgb};
	Access access = Access::Read | Access::Run, every = Access::All;
	int bits = 10110_bits;
	unsigned long length = "text"_len;
	Level level = n > 2 ? Level::Low : Level::High;
	int r = measure(walk, si::marathon, access, level, Huge);
	HERE; // STOP print half; print half.value; print walk; print all; print all[1].value; print red; print red.r; print red.all; print/x red; print/x red.all; print colours; print colours[1].g; print access; print every; print bits; print length; print level; print r; print si::marathon; print si::marathon.value; print 0x10; print 'a'; print has(access, Access::Write); print 1.5e3; print 10.0L / 3; print (unsigned char)300; print 0b101; print 017; whatis half; whatis walk; whatis red; whatis red.g; whatis all; whatis bits; whatis length; whatis access; whatis si::marathon; whatis 10.0L; whatis 1.0f + 1; whatis 1u + 1; whatis 'a' + 1; ptype red; ptype Colour; ptype Level; print sizeof(red); print sizeof(all); print &red.g; print &all[1]; print *all@1; set var red.all = 0x01020304; print red; print/x red.a; print red.b = 255; print/x red.all; set var access = Access::None; print access; print level = Level::Middle; print (int)level; print every == access; print Access::Read; print (unsigned)every & 5; print length * bits - r; print r ^ 5; print length << 2; print 7 / 2.0
	return r + bits + red.g + int(length) + has(access, Access::Run) + int(every);
}
