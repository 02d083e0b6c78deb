// A spreadsheet's cells: unions with constructors, anonymous members, local classes, moved objects.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <new>
#include <utility>
namespace sheet {
class Text {
	char data[14] = {};
	unsigned short length = 0;
public:
	static int copies, moves;
	Text(const char *s) { for (; s[length]; length++) data[length] = s[length]; }
	Text(const Text &o) : Text(o.data) { copies++; }
	Text(Text &&o) noexcept : Text(o.data) { o.data[0] = o.length = 0, moves++; }
	~Text() { length = 0; }
	unsigned size() const { return length; }
};
int Text::copies, Text::moves;
class Cell {
public:
	enum Tag : unsigned char { Empty, Whole, Real, String, Span };
	struct Range { short from, to; Range(short f, short t) : from(f), to(t) {} };
	Cell() : tag(Empty) {}
	Cell(long n) : tag(Whole) { whole = n; }
	Cell(double d) : tag(Real) { real = d; }
	Cell(Text t) : tag(String) { new (&words) Text(std::move(t)); }
	Cell(Range r) : tag(Span) { span = r; }
	Cell(Cell &&o) noexcept;
	~Cell() { if (tag == String) words.~Text(); }
	Tag kind() const { return tag; }
	friend double value(const Cell &c);
private:
	Tag tag;
	union { long whole; double real; Text words; Range span; char raw[16] = {}; };
};
__attribute__((noinline)) Cell::Cell(Cell &&o) noexcept : tag(o.tag)
{
	switch (tag) {
	case String: new (&words) Text(std::move(o.words)); break;
	case Span: new (&span) Range(o.span); break;
	default: whole = o.whole; break;
	}
	unsigned size = tag == String ? words.size() : 0;
	HERE; // STOP print tag; print tag == String; print o.tag; print Span; print (Tag)2; print (Tag)7; print size; print words; print words.length; print words.data; print *words.data@3; print o.words.data; print o.words.length; print &whole; print &this->words == (Text *)&whole; print this->tag; print Text::moves; print Text::copies; print sizeof(*this); print sizeof(Tag); print sizeof(Range); whatis tag; whatis words; whatis words.data; whatis o; whatis this; whatis size; whatis span; whatis real; whatis span.from + 1; ptype tag; ptype Range; ptype Text; ptype words; print/d tag; print/x tag; bt; up; down
}
double value(const Cell &c)
{
	struct Weight { double factor; int times; double of(double d) const { return factor * d * times; } };
	enum Rule { Plain, Half = 50, Twice };
	Rule rule = c.tag == Cell::Real ? Half : Plain;
	Weight w{rule == Half ? 0.5 : 1, 2};
	double d = w.of(c.tag == Cell::Whole ? c.whole : c.tag == Cell::Real ? c.real : c.tag == Cell::Span ? c.span.to - c.span.from : 0);
	HERE; // STOP print c.tag; print c.whole; print rule; print Half; print Twice; print (Rule)51; print w; print w.factor; print w.factor * 3; print w.times; print d; print d / 3; print c.tag == Cell::Whole; print Cell::Real; print Cell::String; print (Cell::Tag)4; print &c.tag; print &w.times; print sizeof(Weight); print sizeof(rule); whatis c; whatis c.tag; whatis rule; whatis w; whatis w.factor; whatis d; whatis c.whole; ptype Weight; ptype w; ptype Rule; ptype rule; ptype c; print/x rule; print/d rule; print (int)d; print -d; print d > 1 && rule; print/c c.tag; bt; info locals; finish
	return d;
}
}
union Register { unsigned long all; struct { unsigned low, high; } half; unsigned char bytes[8]; float real; Register(unsigned long n = 0) : all(n) {} unsigned sum() const { return half.low + half.high; } };
extern "C" int run(int n)
{
	using sheet::Cell;
	Cell cells[] = {Cell(long(n)), Cell(2.5), Cell(Cell::Range(3, 10))};
	sheet::Text text("moved text"), taken = std::move(text), copied = taken;
	Cell named(std::move(taken)), moved(std::move(named));
	Register reg(0x3f80000000000005), *to = &reg;
	double sum = value(cells[0]) + value(cells[2]) + value(moved);
	union { int number; char letters[4]; } local = {0x41424344};
	__asm__ volatile("" :: "r"(&local) : "memory");
	HERE; // STOP print reg; print reg.half; print reg.half.high; print reg.bytes; print reg.bytes[0]; print to->all; print *to; print to->real; print sum; print local; print local.letters; print local.number; print cells[0].tag; print cells[0].whole; print cells[1].real; print cells[2].span; print cells[2].span.to * 2; print moved.tag; print moved.words; print moved.words.length; print named.tag; print text; print text.data; print copied.length; print *copied.data@5; print sheet::Text::moves; print sheet::Text::copies; print sheet::Cell::Span; print (sheet::Cell::Tag)1; whatis reg; whatis reg.half; whatis reg.bytes; whatis local; whatis cells; whatis cells[1].real; whatis moved.words; whatis text; ptype reg; ptype local; ptype Register; ptype sheet::Cell; ptype sheet::Text; ptype cells; print sizeof(reg); print sizeof(cells); print sizeof(local); print &reg.half.high; print &cells[1].real; set var reg.half.low = 0xff; print reg.bytes[0]; print/x reg; print reg.bytes[1] = 1; print/x reg.all; print local.letters[3] = 'z'; print/x local.number; print/c local.letters; print to == &reg; print cells[2].span.from + cells[0].whole; print/f reg.half.high; print/t local.letters[0]; print reg.nosuch; print sheet::Cell::Formula
	return int(sum) + reg.sum() % 7 + text.size() + copied.size() + local.letters[0];
}
