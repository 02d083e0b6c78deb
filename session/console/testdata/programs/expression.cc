// Matrices of a fixed size with expression templates, iterators and all the operators.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <cstddef>
namespace math {
template <typename L, typename R, char Op> struct Expr {
	const L &left;
	const R &right;
	double operator()(std::size_t i, std::size_t j) const { return Op == '+' ? left(i, j) + right(i, j) : left(i, j) - right(i, j); }
};
template <std::size_t Rows, std::size_t Columns = Rows> class Matrix {
	double cells[Rows][Columns] = {};
public:
	static constexpr std::size_t size = Rows * Columns;
	Matrix() = default;
	template <typename L, typename R, char Op> Matrix(const Expr<L, R, Op> &e) { assign(e); }
	template <typename E> void assign(const E &e);
	double &operator()(std::size_t i, std::size_t j) { return cells[i][j]; }
	double operator()(std::size_t i, std::size_t j) const { return cells[i][j]; }
	double (&operator[](std::size_t i))[Columns] { return cells[i]; }
	Matrix &operator+=(double d) { for (auto &row : cells) for (double &cell : row) cell += d; return *this; }
	operator bool() const { return cells[0][0] != 0; }
	double trace() const { double t = 0; for (std::size_t i = 0; i < Rows; i++) t += cells[i][i]; return t; }
	class Iterator {
		Matrix *m; std::size_t at;
	public:
		Iterator(Matrix *m, std::size_t at) : m(m), at(at) {}
		double &operator*() const { return m->cells[at / Columns][at % Columns]; }
		Iterator &operator++() { ++at; return *this; }
		bool operator!=(const Iterator &o) const { return at != o.at; }
	};
	Iterator begin() { return {this, 0}; }
	Iterator end() { return {this, size}; }
};
template <typename L, typename R> Expr<L, R, '+'> operator+(const L &l, const R &r) { return {l, r}; }
template <typename L, typename R> Expr<L, R, '-'> operator-(const L &l, const R &r) { return {l, r}; }

template <std::size_t Rows, std::size_t Columns> template <typename E> __attribute__((noinline)) void Matrix<Rows, Columns>::assign(const E &e)
{
	for (std::size_t i = 0; i < Rows; i++)
		for (std::size_t j = 0; j < Columns; j++)
			cells[i][j] = e(i, j);
	HERE; // STOP print *this; print cells; print cells[0]; print cells[1][1]; print *cells; print &cells[1]; print &cells; print e; print e.left; print size; print this->cells[0][1] * 2; print Rows; print Columns; print sizeof(*this); print sizeof(e); print sizeof cells; whatis cells; whatis cells[0]; whatis cells[0][0]; whatis &cells; whatis e; whatis *this; whatis this; ptype cells; ptype e; whatis e.left; print cells[0]@2; print *cells[0]@3; print cells[0][0] == 1; print cells[0][0] / 3; print (int)cells[1][0]; bt 1; info args; x/2fg cells; finish
}
}
using M2 = math::Matrix<2>;

__attribute__((noinline)) double sum(M2 &m, const math::Matrix<2, 3> *wide, double (&row)[2])
{
	double s = 0;
	for (double cell : m)
		s += cell;
	auto it = m.begin();
	++it;
	s += *it + row[0] + (*wide)(1, 2);
	HERE; // STOP print m; print &m; print *wide; print wide->cells; print row; print row[1]; print s; print it; print it.at; print it.m == &m; print *it.m; print m.cells[1]; print wide->cells[1][2]; print m.size; print M2::size; print math::Matrix<2, 3>::size; print &row; print *row@2; print m.cells == row; print m.trace(); print m.trace; print m(0, 0); print (*wide)(1, 2); print m[0]; whatis m; whatis wide; whatis *wide; whatis row; whatis it; whatis s; whatis &row; whatis row[0]; whatis m.cells[0]; ptype m; ptype row; ptype it; ptype M2; whatis M2; print sizeof(m); print sizeof(*wide); print sizeof(row); print sizeof(M2::Iterator); print *&m == m; print m && wide; set var m.cells[0][0] = 99.5; print m; print row[1] = -1; print m.cells; print s > 1 ? s : 0; bt; finish
	return s;
}

extern "C" int run(int n)
{
	M2 a, b;
	math::Matrix<2, 3> wide;
	a[0][0] = 1, a[0][1] = 2, a[1][1] = n;
	b += 0.5;
	wide(1, 2) = 7.25;
	M2 c = a + b - a;
	double s = sum(a, &wide, b[1]);
	HERE; // STOP print a; print b; print c; print wide; print s; print a.cells[0]; print c.cells[1][0]; print a.cells[0][0] + c.cells[0][0]; print *a.cells@1; print a + b; print a.cells + 1; print &a; print sizeof(a); whatis a; whatis c.cells; whatis wide; ptype wide; print/x a; print/f n; print a.trace(); print b(0, 1); print M2::size + 1; print math::Matrix<2>::size; print (long)s; print s == 106.25; print (float)s / 3; print -s; print !s; whatis -s; whatis s + n; whatis s > n; info symbol sum; info line sum; print sum; whatis sum; ptype sum; list sum; print (M2 *)&b; print *(M2 *)&b; print ((M2 &)b).cells[0]; print reinterpret_cast<M2 *>(&b)->cells; print static_cast<int>(s)
	return int(s + c.trace()) + bool(c);
}
