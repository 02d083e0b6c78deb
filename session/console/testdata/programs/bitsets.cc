#define HERE __asm__ volatile("nop" ::: "memory")
#include <bitset>
#include <cstdint>
#include <string_view>
#include <utility>
enum Flags : uint16_t { None = 0, Read = 1, Write = 2, Exec = 4, All = 7 };
enum class Level : long { Low = -1, Mid, High = 100 };
enum Plain { First, Second, Tenth = 10 };
struct Packet { uint8_t version : 4, length : 4; uint16_t port; union { uint32_t word; uint8_t part[4]; struct { uint16_t a, b; }; }; bool last : 1; Level level; Flags flags; } __attribute__((packed));
template <typename E> struct Range { E from, to; constexpr bool has(E e) const { return e >= from && e <= to; } };
constexpr Range<Level> all{Level::Low, Level::High};
static const Range<Plain> some{First, Second};
__attribute__((noinline)) int decode(const unsigned char *data, Packet &p, Flags f, Level l, Plain plain)
{
	p.version = data[0] & 15;
	p.length = data[0] >> 4;
	p.word = 0x01020304;
	HERE; // STOP print p; print p.version; print p.length; print p.word; print p.part; print p.a; print p.last; print p.level; print p.flags; print f; print f | Read; print f & Write; print (Flags)5; print (Flags)9; print l; print (Level)50; print (Level)0; print Level::High; print plain; print (Plain)1; print (Plain)7; print Tenth; print data; print *data@3; print/x *data@3; print/x p; print/t p.version; print/d f; print/x l; whatis p.version; whatis f; whatis l; whatis plain; ptype f; ptype l; ptype plain; ptype p; ptype Packet; print sizeof(p); print sizeof(Level); print f == Read; print l == Level::High; print plain == Tenth; print p.version + 1; print p.last == true; print &p.word; print p.version = 5; print p.version; print p.last = true; print p.last; print plain + 1; print data[1] - data[0]
	return p.version + p.length;
}
extern "C" int run(int n)
{
	unsigned char data[] = {0x54, 0xff, 0};
	Packet p{};
	p.flags = Flags(Read | Exec);
	p.level = Level::Mid;
	std::bitset<12> bits(0x5a5);
	std::string_view view("a view of text", 6);
	std::pair<Level, Flags> pair{Level::High, Write};
	int r = decode(data, p, Flags(n), Level::High, Second) + bits.size();
	HERE; // STOP print p; print bits; print view; print pair; print all; print some; print data; print/x data; print p.flags; print pair.first; print pair.second; whatis pair.second; whatis all; ptype all; ptype some; whatis some; print all.from; print r; print Range<Level>::has; ptype Range<Level>; print sizeof(Range<Plain>); print p.b; print/d p.part; print First; print Level::Low
	return r;
}
