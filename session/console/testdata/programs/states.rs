#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
#[derive(Clone, Copy, PartialEq)] pub enum State { Idle, Running { speed: u16, since: u32 }, Broken(i8), Done }
pub enum Event { Start(u16), Tick, Fail(i8), Stop }
pub struct Machine { state: State, log: [u16; 4], used: usize }
impl Machine { #[inline(never)] fn on(&mut self, e: Event) -> State {
    let before = self.state;
    self.state = match (before, e) { (State::Idle, Event::Start(s)) => State::Running { speed: s, since: 0 }, (State::Running { speed, since }, Event::Tick) => State::Running { speed, since: since + 1 }, (State::Running { .. }, Event::Fail(c)) => State::Broken(c), (_, Event::Stop) => State::Done, (s, _) => s };
    self.log[self.used % 4] = self.used as u16 + matches!(before, State::Done) as u16; self.used += 1;
    core::hint::black_box((&before, &self.state));
    here!(); // STOP print before; print self.state; print self.used; print self; whatis before; whatis self; ptype before; ptype self; bt 1; print self.used + 1; print self.used == 2
    self.state } }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut m = Machine { state: State::Idle, log: [9; 4], used: 0 };
    m.on(Event::Start(n as u16)); m.on(Event::Tick); m.on(Event::Fail(-2)); let last = m.on(Event::Stop);
    let pair: Result<(u8, State), Option<i8>> = Err(Some(-1)); let deep = Some(Some(Some(n))); let flag: Option<bool> = None; let order = core::cmp::Ordering::Less; let tuple: (State, u8) = (State::Broken(3), 4);
    core::hint::black_box((&m, &last, &pair, &deep, &flag, &order, &tuple));
    here!(); // STOP print m.state; print m.used; print last; print pair; print deep; print flag; print order; print tuple; print tuple.0; print tuple.1; print tuple.2; print pair.0; print deep.0; print (deep.0).0; print flag.0; print (tuple.0).0; print m.nosuch; print m.state.speed; whatis $rip; ptype last; ptype pair; ptype deep; ptype flag; ptype order; ptype states::Event; ptype states::State; whatis pair; whatis deep; whatis order; whatis m.log; print n * n
    m.used as i32 + tuple.1 as i32
}
