// Permissions: enum class flags with operators, constexpr tables, bit tricks and strong types.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <cstdint>
#include <type_traits>
enum class Right : std::uint8_t { None, Read = 1, Write = 2, Run = 4, All = 7 };
enum Level { Guest = -1, Member, Admin = 10 };
enum class Signed : long { Low = -5000000000, High = 5000000000 };
constexpr Right operator|(Right a, Right b) { return Right(std::uint8_t(a) | std::uint8_t(b)); }
constexpr Right operator&(Right a, Right b) { return Right(std::uint8_t(a) & std::uint8_t(b)); }
constexpr bool any(Right r) { return r != Right::None; }

template <typename Tag, typename T> class Strong { T value; public: constexpr explicit Strong(T v) : value(v) {} constexpr T get() const { return value; } template <typename G, typename U> friend struct Reader; };
struct UserTag; struct GroupTag;
typedef Strong<UserTag, unsigned> User;
typedef Strong<GroupTag, short> Group;

struct Entry {
	enum Kind : char { File = 'f', Directory = 'd', Link = 'l' } kind;
	Right owner, group, other;
	User user;
	Group members;
	static constexpr Right defaults[3] = {Right::All, Right::Read | Right::Run, Right::Read};
	static constexpr int limit = 42;
	static const int old_limit = 41;
	static const char *const label;
};
const char *const Entry::label = "entry";
constexpr Right Entry::defaults[3];
constexpr std::uint64_t mask(int n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
static constexpr std::uint64_t masks[] = {mask(1), mask(33), mask(64)};
inline namespace policy { constexpr double threshold = 0.75; const Level start = Member; }

__attribute__((noinline)) bool allowed(const Entry &e, Right wanted, Level level)
{
	Right have = level == Admin ? Right::All : level == Guest ? e.other : e.group;
	bool ok = (have & wanted) == wanted;
	HERE; // STOP print e; print e.kind; print e.owner; print e.group; print wanted; print have; print level; print ok; print e.user; print e.members; print e.user.value; print e.kind == Entry::File; print Entry::Link; print Entry::Kind::Directory; print (Entry::Kind)100; print (Entry::Kind)120; print Right::Read; print (Right)3; print (Right)6; print (Right)8; print (Right)0; print (int)Right::All; print/x have; print/d e.kind; print Guest; print Level::Admin; print (Level)-1; print (Level)5; print level + 1; print level == Guest; print Right::Read == wanted; print Entry::limit; print Entry::old_limit; print Entry::label; print Entry::defaults; print e.limit; print e.defaults[1]; print threshold; print policy::threshold; print start; print masks; print/x masks; print masks[1]; print Signed::Low; print (long)Signed::High; print (Signed)-5000000000; whatis e; whatis wanted; whatis e.kind; whatis e.user; whatis level; whatis level + 1; whatis Entry::limit; whatis Entry::defaults; whatis Right::Read; whatis Guest; whatis masks; whatis threshold; ptype e; ptype Right; ptype Level; ptype Entry::Kind; ptype User; ptype Signed; whatis User; whatis Group; ptype e.kind; print sizeof(e); print sizeof(Right); print sizeof(Level); print sizeof(Signed); print sizeof(User); print &e.group; bt; up; down; finish
	return ok;
}

extern "C" int run(int n)
{
	Entry e{Entry::Directory, Right::All, Right(n), Right::None, User(1000), Group(-2)}, list[2] = {e, {Entry::Link, Entry::defaults[0], Entry::defaults[1], Entry::defaults[2], User(0), Group(7)}};
	std::underlying_type_t<Right> raw = std::uint8_t(e.group);
	int r = allowed(e, Right::Write, Member) + 2 * allowed(list[1], Right::Run | Right::Read, Guest) + 4 * allowed(e, Right::Read, Admin);
	Signed s = r > 3 ? Signed::High : Signed::Low;
	auto lambda = [&e, r](Right x) { return any(e.group & x) + r; };
	HERE; // STOP print e; print list; print list[1].kind; print list[1].other; print raw; print/d raw; print/x raw; print r; print s; print (long)s; print s == Signed::High; print lambda; print e.user; print e.members.value; print list[0].user.value + list[1].user.value; print e.owner == Right::All; print e.owner > Right::Read; print Right::None; print *list@1; print &list[1].owner; whatis raw; whatis s; whatis list; whatis list[0].owner; whatis lambda; whatis e.members; ptype s; ptype list; ptype Entry; ptype Strong<UserTag, unsigned int>; set var e.owner = Right::Write; print e.owner; set var e.kind = Entry::File; print e.kind; set var s = Signed::Low; print s; print e.group = (Right)5; print raw = 65; print/c e.kind; print/d list[0].kind; print any; print allowed; whatis allowed; ptype allowed; print sizeof(list) / sizeof(list[0]); print (Right)raw; print list[0].kind + 1; print -list[0].kind; print list[1].limit; print r ? e.owner : Right::None
	return r + lambda(Right::Read) + raw + int(s != Signed::Low);
}
