// A syntax tree with double dispatch: visitors, dynamic casts by hand, and templates of visitors.
#define HERE __asm__ volatile("nop" ::: "memory")
namespace tree {
class Number; class Binary; class Name;
struct Visitor { int depth = 0; virtual void visit(const Number &) = 0; virtual void visit(const Binary &) = 0; virtual void visit(const Name &) {} };
class Node { protected: mutable unsigned visits = 0; const Node *parent = nullptr; public: virtual void accept(Visitor &v) const = 0; virtual ~Node() = default; friend class Binary; };
class Number : public Node { public: const double value; explicit Number(double v) : value(v) {} void accept(Visitor &v) const override { ++visits; v.visit(*this); } };
class Name : public Node { public: const char (&text)[4]; Name(const char (&t)[4]) : text(t) {} void accept(Visitor &v) const override { v.visit(*this); } };
class Binary : public Node {
public:
	enum class Op : char { Add = '+', Times = '*', Minus = '-' };
	Op op;
	Node *sides[2];
	Binary(Op o, Node *l, Node *r) : op(o), sides{l, r} { l->parent = r->parent = this; }
	void accept(Visitor &v) const override { ++visits; v.visit(*this); }
};
class Evaluator : public Visitor {
	double stack[8] = {}; int top = 0;
public:
	double result() const { return stack[0]; }
	void visit(const Number &n) override { stack[top++] = n.value; }
	void visit(const Name &n) override;
	__attribute__((noinline)) void visit(const Binary &b) override
	{
		depth++;
		b.sides[0]->accept(*this);
		b.sides[1]->accept(*this);
		double right = stack[--top], &left = stack[top - 1];
		switch (b.op) {
		case Binary::Op::Add: left += right; break;
		case Binary::Op::Times: left *= right; break;
		case Binary::Op::Minus: left -= right; break;
		}
		depth--;
		HERE; // STOP print b; print b.op; print b.op == Binary::Op::Add; print Binary::Op::Minus; print (Binary::Op)42; print (Binary::Op)1; print b.sides; print b.sides[0]; print *b.sides[1]; print right; print left; print &left == stack; print depth; print top; print *stack@2; print stack[0] / 4; print this->depth; print (Name *)b.sides[1]; print b.visits; print b.parent; print sizeof(b); print sizeof(Binary::Op); whatis b; whatis b.op; whatis b.sides; whatis *b.sides[0]; whatis left; whatis right * top; whatis this; ptype b.op; ptype Visitor; ptype Node; ptype Number; ptype b.sides; print/c b.op; print/d b.op; print (int)b.op; print left > right; print -left; bt; up; down
	}
};
void Evaluator::visit(const Name &n)
{
	stack[top++] = n.text[0] == 'x' ? depth : -1;
	HERE; // STOP print n; print n.text; print n.text[0]; print *n.text@2; print n.text[1] == 'y'; print top; print depth; print stack[top - 1]; print n.visits; print n.parent == 0; print *n.parent; print &n; print &n.text; whatis n; whatis n.text; whatis n.text[0]; whatis &n.text; whatis stack; whatis stack[0] + depth; ptype n; print sizeof(n); print sizeof(n.text); print/x n.text; print/d n.text[0]; print *this; bt 2; info args; finish
}
}
using tree::Binary;
static double evaluate(const tree::Node &n) { tree::Evaluator e; n.accept(e); return e.result(); }

extern "C" int run(int n)
{
	static const char name[4] = "xyz";
	tree::Number two(2), three(n + 0.5), five(5);
	tree::Name x(name);
	Binary product(Binary::Op::Times, &three, &x), difference(Binary::Op::Minus, &product, &five);
	Binary sum{Binary::Op::Add, &two, &difference};
	tree::Node *nodes[] = {&two, &x, &sum};
	double value = evaluate(sum) + evaluate(x);
	auto &[left, right] = sum.sides;
	HERE; // STOP print two; print two.value; print three; print x; print x.text; print product; print sum; print sum.op; print sum.sides; print *sum.sides[0]; print nodes; print *nodes[2]; print nodes[1] == &x; print value; print left; print *left; print right; print name; print product.op; print tree::Binary::Op::Times; print (tree::Binary::Op)'-'; print value * 2 > 7; print (int)value % 5; print two.value + three.value; print &sum.op; print *nodes@2; whatis two; whatis two.value; whatis x; whatis sum.op; whatis nodes; whatis *nodes; whatis left; whatis name; whatis value; ptype sum; ptype x; ptype tree::Node; ptype tree::Evaluator; print sizeof(sum); print sizeof(tree::Visitor); print two.visits; print sum.visits + 1; set var sum.op = tree::Binary::Op::Minus; print sum; set var two.visits = 9; print two; print evaluate; whatis evaluate; print *(tree::Binary *)nodes[2]; print ((tree::Binary *)nodes[2])->op; print/x two.visits; print/f value; print value == value; print !value; print tree::Unary; print two.nosuch
	return int(value) + int(sum.op) + name[1] + (left == nodes[0]) + (right != nullptr);
}
