// A shop across namespaces: using declarations, directives and aliases, at file scope and in blocks.
#define HERE __asm__ volatile("nop" ::: "memory")
namespace goods {
struct Ware { int id; long price; enum State { New, Sold = 4 } state; static int made; };
int Ware::made = 3;
enum class Tax : char { None, Low = 7, High = 19 };
enum Size { Small, Large = 20 };
typedef Ware *Ref;
int stock = 12;
static long taxed(const Ware &w, Tax t) { return w.price * (100 + int(t)) / 100; }
namespace storage { int places = 40; struct Shelf { Ware *wares[2]; }; namespace cold { int degrees = -18; } }
template <typename T> struct Box { T inside; int weight = 2; };
}
namespace people { struct Client { const char *name; long money; }; int known = 2; namespace detail { int hidden = 9; } using detail::hidden; }
namespace fast { inline namespace v3 { int version = 33; } using namespace people; }
namespace { struct Key { int k; }; int secret = 77; }
using goods::Ware;
using goods::Tax;
using goods::stock;
using goods::taxed;
namespace store = goods::storage;
namespace ice = store::cold;
using namespace people;
namespace shop {
using goods::Box;
namespace warehouse = goods::storage;
int stock = 500;
__attribute__((noinline)) long sell(Client &c, Ware &w, Tax tax)
{
	Box<Key> box{{w.id}};
	long price = taxed(w, tax);
	c.money -= price;
	w.state = Ware::Sold;
	HERE; // STOP print c; print c.name; print c.money; print w; print w.state; print w.state == Ware::Sold; print Ware::New; print (Ware::State)4; print (Ware::State)2; print tax; print tax == Tax::High; print Tax::Low; print (Tax)7; print (Tax)8; print box; print box.inside.k; print box.weight; print price; print stock; print ::stock; print goods::stock; print shop::stock; print warehouse::places; print store::places; print ice::degrees; print secret; print known; print people::known; print Ware::made; print w.made; print sizeof(Ware); print sizeof(Tax); print sizeof(Client); print sizeof(Key); print (Ware *)&w; print *(Ware *)&w; whatis c; whatis w; whatis w.state; whatis tax; whatis box; whatis box.inside; whatis stock; whatis Ware; whatis Tax; whatis Client; ptype Ware; ptype Tax; ptype Client; ptype w; ptype box; ptype Key; ptype warehouse::Shelf; print taxed(w, tax); print price / 3; bt; up; down; finish
	return price;
}
}
__attribute__((noinline)) int block(int n)
{
	using namespace goods;
	using goods::storage::places;
	namespace local = goods::storage::cold;
	Size size = n > 2 ? Large : Small;
	Ref none = nullptr;
	{
		using fast::version;
		n += version + local::degrees + places + hidden;
		HERE; // STOP print n; print size; print Large; print (Size)20; print size == Large; print none; print places; print version; print local::degrees; print hidden; print people::hidden; print stock; print storage::places; print fast::version; print fast::known; whatis size; whatis none; whatis places; whatis Size; whatis Ref; ptype Ref; ptype Size; ptype Ware; ptype storage::Shelf; print sizeof(Ref); print Ware::made; print known + n; print fast::v3::version; bt; info locals
	}
	return n + size + (none == nullptr);
}
extern "C" int run(int n)
{
	Ware chair{1, 250}, lamp{2, 3000};
	Client eve{"eve", 10000}, *buyer = &eve;
	store::Shelf shelf{{&chair, &lamp}};
	long paid = shop::sell(eve, chair, Tax::High) + shop::sell(*buyer, lamp, Tax::None);
	int more = block(n);
	HERE; // STOP print chair; print lamp; print *buyer; print buyer->money; print shelf; print *shelf.wares[1]; print shelf.wares[0]->price; print paid; print more; print Ware::Sold; print goods::Ware::New; print Tax::None; print goods::Tax::Low; print stock; print shop::stock; print store::places; print ice::degrees; print goods::storage::cold::degrees; print known; print secret; print Ware::made; print (goods::Size)20; print sizeof(Ware); print sizeof(store::Shelf); whatis chair; whatis eve; whatis shelf; whatis shelf.wares; whatis Ware; whatis Tax; whatis paid; ptype chair; ptype shelf; ptype store::Shelf; ptype Ware::State; ptype Client; ptype goods::Ref; print taxed; whatis taxed; print (Ware *)0; print ((Ware *)buyer)->price; print &Ware::made; print &stock; print &ice::degrees; set var stock = 5; print goods::stock; print store::places += 2; print goods::storage::places; print -ice::degrees; print chair.price + lamp.price; print hidden; print Large; print version; print store::nosuch; print ice::nosuch; print nosuch::x; print &store::places; print shelf.wares[0] == &chair; print/x paid
	return more + paid % 100 + known + stock;
}
