#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{string::String, vec::Vec};
#[derive(Clone, Copy, PartialEq)] pub enum Kind { Basic, Gold }
pub struct Account { owner: String, cents: i64, kind: Kind, history: Vec<i64> }
pub enum Failure { Short(i64), Closed }
impl Account {
    #[inline(never)] fn withdraw(&mut self, cents: i64) -> Result<i64, Failure> {
        here!(); // STOP print self; print *self; print self.cents; print self.owner; print self.kind; print self.history; print cents; print cents > self.cents; bt; ptype self; whatis self; print self.cents - cents; print &self.cents; up; info locals
        if cents > self.cents { return Err(Failure::Short(cents - self.cents)); }
        self.cents -= cents; self.history.push(-cents); Ok(self.cents)
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut a = Account { owner: String::from("ann"), cents: 100, kind: Kind::Basic, history: Vec::new() };
    let mut b = Account { owner: String::from("bob"), cents: n as i64, kind: Kind::Gold, history: Vec::new() };
    let good = a.withdraw(30); let bad = b.withdraw(50);
    core::hint::black_box((&a, &b, &good, &bad));
    here!(); // STOP print a; print b; print good; print bad; print a.history; print b.kind; print a.cents + b.cents; ptype a; ptype good; ptype bank::Failure; whatis good; print a.owner; print bank::Kind::Gold; print &a.cents; print a.kind == bank::Kind::Basic; print/x a.cents; print sizeof(a)
    (a.cents + b.cents) as i32 + a.history.len() as i32 + matches!(bad, Err(Failure::Closed)) as i32 + good.is_ok() as i32
}
