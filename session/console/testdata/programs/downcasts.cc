// Casts of references to classes, with and without virtual bases, and bool as a type.
#define HERE __asm__ volatile("nop" ::: "memory")
struct Part { int size = 4; virtual int kind() const { return 1; } };
struct Label { const char *text = "label"; virtual ~Label() {} };
struct Item : Part, Label { long price = 70; int kind() const override { return 2; } };
struct Shared : virtual Part { int own = 5; };
__attribute__((noinline)) static int visit(Label &label, const Part &part, Part &shared)
{
	int kind = part.kind();
	HERE; // STOP print (Item &)label; print ((Item &)label).price; print *(Item *)&label; print &(Item &)label; print (Part &)(Item &)label; print (Shared &)shared; print *(Shared *)&shared; print static_cast<Item &>(label); whatis (Item &)label; whatis (bool)kind; whatis (bool)1; print (bool)kind; whatis *(bool *)&kind; print sizeof(bool); ptype bool; whatis (bool)1 + 1; bt 1
	return kind;
}
extern "C" int run(int n)
{
	Item item;
	Shared shared;
	int kind = visit(item, item, shared);
	Label &label = item;
	HERE; // STOP print (Item &)label; print label; print (Part &)item; print (Label &)item; print (Item &)item; print (Part &)shared; whatis (bool)n; print (bool)n
	return kind + n + label.text[0];
}
