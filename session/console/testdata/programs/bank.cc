// Money and accounts: pImpl, nested and local classes, statics, friends, references to members.
#define HERE __asm__ volatile("nop" ::: "memory")
namespace bank {
namespace detail { struct Ledger; }
class Account {
public:
	struct Money { long cents; constexpr Money(long c = 0) : cents(c) {} long whole() const { return cents / 100; } };
	enum Status { Open, Frozen, Closed } status = Open;
	struct Entry { Money amount; const char *note; struct Date { short year; unsigned char month, day; } when; };
	explicit Account(int number);
	~Account();
	Account &pay(const Money &m, const char *note, Entry::Date when);
	Money balance() const;
	static Account *first;
	static int opened;
	friend int audit(const Account &a);
private:
	detail::Ledger *ledger;
	const int number;
};
Account *Account::first;
int Account::opened = 0;
namespace detail {
struct Ledger { Account::Entry entries[4]; int count; Account::Money total; Ledger *self; };
static Ledger ledgers[2];
}
Account::Account(int n) : ledger(&detail::ledgers[opened++]), number(n) { ledger->self = ledger; if (!first) first = this; }
Account::~Account() { ledger->count = 0; }
Account::Money Account::balance() const { return ledger->total; }
__attribute__((noinline)) Account &Account::pay(const Money &m, const char *note, Entry::Date when)
{
	Entry &e = ledger->entries[ledger->count++];
	e = {m, note, when};
	ledger->total.cents += m.cents;
	auto &total = ledger->total;
	HERE; // STOP print *this; print m; print m.cents; print note; print when; print when.month; print e; print e.when; print e.amount.cents; print &e == ledger->entries; print *ledger; print ledger->entries; print ledger->entries[0].when.year; print ledger->self == ledger; print ledger->count; print total; print total.cents + m.cents; print number; print status; print status == Open; print Account::Frozen; print Frozen; print (Status)2; print (Account::Status)1; print first; print *first; print first == this; print opened; print Account::opened; print this->number * 2; print detail::ledgers[1].count; print sizeof(*this); print sizeof(Entry); print sizeof(Entry::Date); print sizeof(Account::Money); whatis m; whatis e; whatis when; whatis when.year; whatis ledger; whatis *ledger; whatis ledger->entries; whatis total; whatis number; whatis status; whatis this; ptype this; ptype e; ptype when; ptype Account::Money; ptype Entry; ptype Account::Entry::Date; ptype ledger; ptype status; whatis Account::Status; print &when.month; print/x when; print *note@3; print &e.when.day; bt; up; down; finish
	return *this;
}
__attribute__((noinline)) int audit(const Account &a)
{
	struct Finding { const Account *who; long amount; bool large() const { return amount > 1000; } } worst = {&a, 0};
	for (int i = 0; i < a.ledger->count; i++) {
		class Step { public: int at; long value; } step{i, a.ledger->entries[i].amount.cents};
		if (step.value > worst.amount)
			worst.amount = step.value;
	}
	HERE; // STOP print a; print a.number; print worst; print worst.who; print *worst.who; print worst.who == &a; print worst.amount; print a.ledger->total; print *a.ledger; print a.status; print a.balance(); print worst.large(); print a.ledger->entries[1]; print *a.ledger->entries@2; print a.opened; whatis worst; whatis worst.who; whatis a; whatis a.number; whatis &a; ptype worst; ptype Finding; print sizeof(worst); print sizeof(Finding); print Account::first; print first; print detail::ledgers; print &detail::ledgers[0] == a.ledger; print bank::detail::ledgers[0].count; bt; finish
	return worst.large() + a.number;
}
}
using bank::Account;
using Entry = Account::Entry;
namespace b = bank;
extern "C" int run(int n)
{
	Account mine(100 + n), other(7);
	mine.pay(2500, "salary", {2024, 2, 29}).pay({-130}, "tea", {2024, 3, 1});
	other.status = b::Account::Frozen;
	Entry last = {Account::Money(5), "none", {1999, 12, 31}};
	Account &same = mine;
	Account::Money total = mine.balance();
	int r = audit(mine) + audit(other);
	HERE; // STOP print mine; print other; print other.status; print last; print same; print &same == &mine; print same.number; print r; print bank::Account::opened; print mine.ledger->entries[0]; print mine.ledger->entries[1].note; print/x last; print/d last.when.month; whatis mine; whatis last; whatis last.when; whatis same; whatis total; ptype mine; ptype last; ptype Entry; whatis Entry; ptype total; ptype bank::Account; ptype bank::detail::Ledger; print sizeof(mine); print sizeof(Entry); print sizeof(bank::detail::Ledger); print mine.balance; print mine.balance(); print bank::detail::nosuch; print nosuch::x; set var other.status = bank::Account::Closed; print other.status; print &last.when; print *&last.when; print Account::Frozen; print other.status == Account::Closed; print (Account::Status)1; print Account::opened; print *Account::first; print b::Account::opened; print b::detail::ledgers[1].count; print sizeof(Account); print sizeof(b::Account::Money); whatis Account; ptype Account; ptype Account::Entry; ptype b::Account::Entry::Date; print (Account *)&mine; print *(Account *)&mine; print *(b::Account::Money *)&last; whatis Account::Status; print b::audit; print Account::nosuch; print b::nosuch
	return r + other.status + int(total.whole()) + last.when.day;
}
