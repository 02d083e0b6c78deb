// Intrusive lists and iterators: tags, iterator classes, ranges, references to arrays and adaptors.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <cstddef>
#include <iterator>
template <typename Tag> struct Hook { Hook *next = this, *previous = this; void insert(Hook *at) { next = at; previous = at->previous; previous->next = at->previous = this; } bool linked() const { return next != this; } };
struct ByAge; struct ByName;
struct Person : Hook<ByAge>, Hook<ByName> { const char *name; int age; Person(const char *n, int a) : name(n), age(a) {} };
template <typename T, typename Tag> class List {
	Hook<Tag> head;
	std::size_t count = 0;
public:
	template <bool Const> class Cursor {
		Hook<Tag> *at;
	public:
		using value_type = T; using difference_type = std::ptrdiff_t; using iterator_category = std::forward_iterator_tag;
		typedef T *pointer; typedef T &reference;
		explicit Cursor(Hook<Tag> *h = nullptr) : at(h) {}
		T &operator*() const { return *static_cast<T *>(at); }
		T *operator->() const { return static_cast<T *>(at); }
		Cursor &operator++() { at = at->next; return *this; }
		Cursor operator++(int) { Cursor old = *this; ++*this; return old; }
		bool operator==(const Cursor &o) const { return at == o.at; }
		bool operator!=(const Cursor &o) const { return at != o.at; }
	};
	using iterator = Cursor<false>; using const_iterator = Cursor<true>;
	iterator begin() { return iterator(head.next); }
	iterator end() { return iterator(&head); }
	template <typename Less> __attribute__((noinline)) iterator insert(T &t, Less less);
	std::size_t size() const { return count; }
};
template <typename T, typename Tag> template <typename Less> typename List<T, Tag>::iterator List<T, Tag>::insert(T &t, Less less)
{
	iterator where = begin(), stop = end();
	int steps = 0;
	while (where != stop && less(*where, t))
		++where, ++steps;
	Hook<Tag> &hook = t;
	hook.insert(where == stop ? &head : static_cast<Hook<Tag> *>(&*where));
	count++;
	HERE; // STOP print t; print t.name; print t.age; print steps; print hook; print &hook; print hook.next == &head; print count; print this->count; print where; print where.at; print stop.at == &head; print *hook.previous; print hook.previous->next == &hook; print head; print sizeof(*this); print sizeof(T); print sizeof(where); whatis t; whatis hook; whatis &hook; whatis where; whatis count; whatis this; whatis *this; whatis head; whatis T; whatis Tag; ptype T; ptype hook; print (T *)&hook; print ((T *)&hook)->name; print *(T *)&t; print t.age > 30; print &t.age; bt 1; up; down
	return where;
}
template <typename T, std::size_t N> struct Span { T (&array)[N]; T *begin() const { return array; } T *end() const { return array + N; } static constexpr std::size_t extent = N; };
template <typename T, std::size_t N> Span(T (&)[N]) -> Span<T, N>;
template <typename T, std::size_t N, std::size_t M> __attribute__((noinline)) T total(T (&rows)[N][M], const T (&weights)[M], T (*last)[M])
{
	T sum{};
	for (auto &row : rows)
		for (std::size_t i = 0; i < M; i++)
			sum += row[i] * weights[i];
	auto &middle = rows[N / 2];
	T *flat = &rows[0][0], *last_cell = flat + N * M - 1;
	HERE; // STOP print rows; print rows[1]; print rows[1][2]; print *rows; print **rows; print weights; print weights[1]; print last; print *last; print (*last)[0]; print last[-1]; print middle; print middle[0]; print &middle; print *middle@2; print flat; print *flat@6; print last_cell - flat; print *last_cell; print sum; print N; print M; print N * M; print sizeof(rows); print sizeof(rows[0]); print sizeof(weights); print sizeof(*last); print sizeof(middle); whatis rows; whatis rows[0]; whatis &rows; whatis *rows; whatis weights; whatis last; whatis *last; whatis middle; whatis flat; whatis T; whatis N; whatis rows[0][0] * 1.0f; ptype rows; ptype last; ptype weights; print &rows[1]; print &rows[1][1] - flat; print rows[1] == middle; print last == &rows[N - 1]; print (*last)[1] * 2; print sum / 4; x/3hd rows; print/x rows; print/d weights; bt; finish
	return sum;
}
extern "C" int run(int n)
{
	Person ann("ann", 41), bob("bob", 29), cid("cid", 30 + n);
	List<Person, ByAge> ages;
	List<Person, ByName> names;
	int oldest = 0;
	for (Person *p : {&ann, &bob, &cid})
		ages.insert(*p, [](const Person &a, const Person &b) { return a.age < b.age; }), names.insert(*p, [&](const Person &a, const Person &b) { return a.name[0] < b.name[0]; });
	for (Person &p : ages)
		oldest = p.age;
	short table[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, weights[4] = {1, 0, -1, 2};
	short sum = total(table, weights, &table[2]);
	Span span{weights};
	List<Person, ByName>::iterator first = names.begin(), second = std::next(first);
	const auto &[array] = span;
	HERE; // STOP print ann; print ann.name; print bob.age; print ages; print names; print names.count; print oldest; print table; print table[1]; print *table[2]@2; print weights; print sum; print span; print span.array; print span.array[2]; print span.extent; print first; print second; print first.at; print (Person *)first.at; print ((Person *)second.at)->name; print *(Person *)second.at; print (Hook<ByName> *)&ann; print ((Hook<ByName> &)ann).next; print (Hook<ByAge> *)&ann == ages.head.next; print *(Hook<ByAge> *)&bob; print array; print sizeof(ann); print sizeof(ages); print sizeof(span); whatis ann; whatis ages; whatis first; whatis span; whatis span.array; whatis array; whatis table; whatis table[0]; whatis sum; whatis first.at; whatis *first.at; whatis oldest; ptype ann; ptype first; ptype span; ptype ages; ptype Hook<ByAge>; ptype table; print &table[1][2]; print &ann.age; print *&bob; set var table[1][1] = 100; print table[1]; print weights[0] = -5; print span.array[0]; print/x table[0]; print/c weights; print ann.age - bob.age; print ann.age == 41 && !sum; print ann.next; print Span<short, 4>::extent; print ann.nosuch
	return oldest + sum + names.size() + second->age + table[1][1];
}
