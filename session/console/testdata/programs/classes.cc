#define HERE __asm__ volatile("nop" ::: "memory")
class Shape {
public:
	explicit Shape(int id) : id_(id) { count++; }
	virtual ~Shape() {}
	virtual double area() const = 0;
	int id() const { return id_; }
	static int count;
protected:
	int id_;
private:
	char tag_ = 's';
};
int Shape::count;
class Circle : public Shape {
	double radius;
public:
	Circle(int id, double r) : Shape(id), radius(r) {}
	double area() const override;
	void grow(double by) { radius += by; }
	friend double twice(const Circle &c) { return 2 * c.radius; }
};
double Circle::area() const
{
	HERE; // STOP whatis $rip; print *this; print this; print this->radius; print radius; print id_; print this->id_; print tag_; print count; print Shape::count; print *this; ptype this; whatis this; whatis *this; ptype Circle; ptype Shape; ptype class Shape; whatis Shape; print sizeof(Circle); print sizeof(*this); print &this->radius; print &radius; bt; up; info locals; print this
	return 3 * radius * radius;
}
struct Square final : Shape {
	int side = 4, *where = &side;
	Square() : Shape(9) {}
	double area() const override { return side * side; }
	struct Corner { int x, y; } corner{1, 2};
	enum Kind { Small, Large = 4 } kind = Large;
	typedef unsigned length;
	length edge = 3;
	union { int whole; char part[4]; } mixed{65};
	struct { short a, b; } inner{5, 6};
	static constexpr int limit = 12;
	int operator+(int n) const { return side + n; }
	operator bool() const { return side > 0; }
	int &at(int) { return side; }
	int at(int) const { return side; }
	bool flag : 1, wide : 3;
};
__attribute__((noinline)) double total(Shape *const *list, int n, const Shape &first)
{
	double sum = 0;
	for (int i = 0; i < n; i++) {
		HERE; // STOP print *list[0]; print list[0]; print *list[1]; print list; print first; print &first; print first.id_; print list[1]->id_; print *(Square *)list[1]; print ((Square *)list[1])->side; print *(Circle *)list[0]; print (Circle *)list[0]; ptype first; whatis first; ptype list; whatis list[0]; whatis *list[0]; ptype Square; ptype Square::Corner; ptype Square::Kind; print Square::Large; print Square::limit; whatis Square::limit; print ((Square *)list[1])->corner; print ((Square *)list[1])->kind; print ((Square *)list[1])->mixed; print ((Square *)list[1])->inner; whatis ((Square *)list[1])->edge; ptype ((Square *)list[1])->edge; print sizeof(Square); print list[0]->count; print Shape::count + 1; print &Shape::count; print list[0] == &first; print sum; print *list@2; print /x *(Square *)list[1]; print first.tag_; print total; ptype total; whatis total; print &total; print list[0]->_vptr; print *this; print nosuch; print first.nosuch; print Square::nosuch; print (Square::Kind)4; print (Square::Kind)3; print (Square::Kind)0; print &((Square *)list[1])->corner; whatis Square::Corner; whatis ((Square *)list[1])->kind; whatis ((Square *)list[1])->mixed; ptype ((Square *)list[1])->mixed; print *((Square *)list[1])->where; print (long)list[0] == (long)&first; info symbol total; info line total; list total; list Circle::area
		sum += list[i]->area();
	}
	return sum;
}
extern "C" int run(int n)
{
	Circle c(1, n);
	Square s;
	s.flag = true;
	s.wide = false;
	Shape *list[] = {&c, &s};
	double sum = total(list, 2, c);
	c.grow(sum);
	HERE; // STOP print c; print s; print list; print *list[0]; print c.radius; print c.Shape::id_; print s.side; print s.corner.x; print s.kind; print s.mixed.part; print s.flag; print s.wide; ptype c; ptype s; whatis c; whatis s; ptype s.corner; print &c; print &s.corner; print s.where; print *s.where; print c.count; print *&c; print/x s.corner; print s.limit
	return sum + twice(c) + (s + 1) + s.at(0);
}
