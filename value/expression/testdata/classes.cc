// The classes and functions that the expressions of classes.txt use. The test stops at the
// line with the word STOP.

struct base {
	int number;
	static int count;
	virtual ~base() {}
	virtual int get() { return number; }
};

struct derived : base {
	double ratio;
	enum mode { off, on } state;
	static short shared;
	char twice(int n) { return n + n; }
	static long total(long a, long b) { return a + b; }
	long work(int &reference, const base &other, int &&temporary);
};

int base::count = 3;
short derived::shared = 9;

namespace shapes {
int corners = 4;
namespace inner {
int corners = 5;
}
enum class color : char { red = 1, green };
color favourite = color::green;
struct point {
	int x, y;
} origin = {7, 8};
}

// Overloaded functions with results of different sizes: sizeof shows which one is selected.
char pick(int) { return 1; }
short pick(double) { return 2; }
int pick(const char *) { return 4; }
double pick(int, int) { return 8; }
long pick(base *, int) { return 8; }
char take(void *) { return 1; }
short take(base &) { return 2; }

int plain = 6;
int &alias = plain;
int *pointer = &plain;
int &&moved = 12;
float single = 1.5f;
bool flag = true;
char16_t narrow = u'x';
int (*callback)(int, int);

long derived::work(int &reference, const base &other, int &&temporary)
{
	int local = 11;
	int number = 99; // hides the member
	long sum = reference + other.number + temporary + local + ratio;
	return sum; // STOP
}

int main()
{
	derived d, e;
	d.number = 41, d.ratio = 2.5, d.state = derived::on;
	e.number = 42, e.ratio = 3.5, e.state = derived::off;
	int n = 10;
	return d.work(n, e, 13) + d.twice(1) + derived::total(1, 2) + pick(1) + pick(1.0) + pick("") + pick(1, 2) + pick(&d, 1) + take(&d) + take(d) + shapes::inner::corners;
}
