#define HERE __asm__ volatile("nop" ::: "memory")
#include <cstddef>
template <typename T> struct Box {
	T value;
	T *next;
	static int count;
	typedef T element;
	explicit Box(T v) : value(v), next(&value) { count++; }
	T get() const
	{
		HERE; // STOP print *this; print value; print this->value; bt; whatis value; ptype value; whatis *this; print count
		return value;
	}
	void set(const T &v) { value = v; }
	template <typename U> U as() const { return U(value); }
};
template <typename T> int Box<T>::count = 0;
template <typename K, typename V, int N = 4> class Table {
public:
	struct Entry { K key; V value; } entries[N];
	int used = 0;
	V *find(const K &key)
	{
		for (int i = 0; i < used; i++)
			if (entries[i].key == key)
				return &entries[i].value;
		return nullptr;
	}
	void add(K k, V v) { entries[used++] = {k, v}; }
private:
	V fallback{};
};
template <typename T> T largest(const T *list, size_t n)
{
	T best = list[0];
	for (size_t i = 1; i < n; i++)
		if (list[i] > best) {
			HERE; // STOP bt; print best; whatis best; print list; print *list@n; ptype list; print i < n; up; down
			best = list[i];
		}
	return best;
}
template <int N> struct Fixed { char text[N]; static const int size = N; };
template <typename... T> struct Pack { int n = sizeof...(T); };
template <> struct Box<char> { char only; static int count; };
int Box<char>::count = 77;
namespace inner { template <typename T> struct Pair { T first, second; }; template <typename T> Pair<T> make(T a, T b) { return {a, b}; } }
using IntBox = Box<int>;
Box<int> global(40);
inner::Pair<Box<int> *> pairs{&global, nullptr};
extern "C" int run(int n)
{
	Box<int> a(n);
	Box<double> d(1.5);
	Box<char> c{'c'};
	IntBox same(5);
	Table<int, long> table;
	for (int i = 0; i < 4; i++)
		table.add(i * 10, i);
	int numbers[] = {3, 9, 4};
	Fixed<8> text{"fixed"};
	Pack<int, char *, Box<int>> pack;
	auto pair = inner::make(2.5f, 3.5f);
	long *found = table.find(20);
	int r = a.get() + d.as<int>() + largest(numbers, 3) + *found;
	HERE; // STOP print a; print d; print c; print same; print table; print table.entries[1]; print *found; print text; print pack; print pair; print global; print pairs; print *pairs.first; print Box<int>::count; print Box<double>::count; print Box<char>::count; print Box<int>::count + 1; print &Box<int>::count; ptype Box<int>; ptype Box<char>; ptype Box<double>; whatis Box<int>; whatis a; ptype a; whatis same; ptype same; ptype IntBox; whatis IntBox; ptype Table<int, long, 4>; ptype Table<int,long,4>; whatis table; whatis table.entries[0]; print sizeof(Box<int>); print sizeof(Table<int, long, 4>); print *(Box<int> *)&a; print (Box<int> *)&a; ptype Fixed<8>; print Fixed<8>::size; ptype pack; whatis pack; ptype inner::Pair<float>; whatis pair; print sizeof(inner::Pair<float>); print inner::Pair<float>::nosuch; print Box<long>::count; ptype Box<long>; ptype Box; print a.value < n; print a.value > n; print n < 4 && n > 2; print a.next; print *a.next; print &a.value; whatis a.value; ptype a.value; print 'Box<int>::count'; ptype 'Box<int>'; whatis Box<int>::element; ptype Box<int>::get; print Box<int>::get; whatis &a; ptype &a; print largest<int>; whatis largest<int>; break Box<int>::set; info line Box<int>::get; list Box<int>::get; info symbol Box<int>::get
	return r + c.only + same.value + text.text[0] + pack.n + pair.first;
}
