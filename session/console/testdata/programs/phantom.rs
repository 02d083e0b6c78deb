#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, vec, vec::Vec};
use core::{marker::{PhantomData, PhantomPinned}, ops::{AddAssign, Deref, DerefMut, Drop}, pin::Pin, time::Duration};
#[derive(Clone, Copy)] pub struct Meters; #[derive(Clone, Copy)] pub struct Feet;
#[derive(Clone, Copy)] pub struct Length<U> { value: f64, unit: PhantomData<U> }
pub struct Id<T, const TAG: char>(u32, PhantomData<fn() -> T>);
pub struct Open; pub struct Closed;
pub struct Door<S> { turns: u8, state: S }
pub struct Pinned { value: u32, own: *const u32, pin: PhantomPinned }
pub struct Guard<'a, T: Copy> { log: &'a mut Vec<T>, value: T }
impl<'a, T: Copy> Drop for Guard<'a, T> {
    #[inline(never)]
    fn drop(&mut self) {
        self.log.push(self.value);
        here!(); // STOP print self; print self.value; print self.log; print *self.log; whatis self; whatis self.log; bt 1; print self.value + 1; print self.log.len
    }
}
impl<T: Copy> Deref for Guard<'_, T> { type Target = T; fn deref(&self) -> &T { &self.value } }
impl<T: Copy> DerefMut for Guard<'_, T> { fn deref_mut(&mut self) -> &mut T { &mut self.value } }
impl<U> AddAssign for Length<U> { fn add_assign(&mut self, o: Self) { self.value += o.value; } }
impl Length<Feet> {
    #[inline(never)]
    fn meters(self) -> Length<Meters> {
        let value = self.value * 0.3048;
        core::hint::black_box(&value);
        here!(); // STOP print self; print self.value; print value; print self.unit; whatis self; whatis self.unit; ptype self; bt 1; print value > 1.0; print self.value * 2.0
        Length { value, unit: PhantomData }
    }
}
impl Door<Closed> { fn open(self) -> Door<Open> { Door { turns: self.turns + 1, state: Open } } }
impl Pinned {
    fn new(value: u32) -> Pin<Box<Pinned>> {
        let mut b = Box::pin(Pinned { value, own: core::ptr::null(), pin: PhantomPinned });
        unsafe { let p = b.as_mut().get_unchecked_mut(); p.own = &p.value; }
        b
    }
    #[inline(never)]
    fn get(self: Pin<&Self>, wait: Duration) -> u32 {
        let seen = unsafe { *self.own };
        let half = wait / 2; let more = wait.checked_add(Duration::from_millis(1500)); let millis = wait.as_millis();
        core::hint::black_box((&seen, &half, &more, &millis));
        here!(); // STOP print seen; print self; print wait; print half; print more; print millis; print wait.secs; print half.secs; whatis self; whatis wait; ptype wait; whatis more; bt 1; print wait.nanos; print millis * 2
        seen + half.as_secs() as u32 + more.is_some() as u32 + millis as u32
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut log = vec![1]; { let mut guard = Guard { log: &mut log, value: n }; *guard += 1; }
    let feet = Length::<Feet> { value: 10.0, unit: PhantomData }; let mut meters = feet.meters(); meters += Length { value: 0.5, unit: PhantomData };
    let pinned = Pinned::new(n as u32); let got = pinned.as_ref().get(Duration::new(5, 250_000_000)); let door = Door { turns: 1, state: Closed }.open(); let user: Id<Feet, 'u'> = Id(7, PhantomData); let order: Id<Vec<u8>, '#'> = Id(8, PhantomData); let zero = Duration::ZERO; let marker: PhantomData<Meters> = PhantomData; let units = [Open, Open]; let timeouts = [Duration::from_secs(60), Duration::from_micros(n as u64), Duration::MAX];
    core::hint::black_box((&log, &feet, &meters, &pinned, &got, &door, &user, &order, &zero, &marker)); core::hint::black_box((&units, &timeouts));
    here!(); // STOP print log; print feet; print meters; print pinned; print got; print door; print door.turns; print user; print user.0; print order; print zero; print marker; print units; print timeouts; print timeouts[1]; whatis feet; whatis meters; whatis pinned; whatis door; whatis user; whatis order; whatis zero; ptype user; ptype door; ptype feet; whatis marker; whatis units; print sizeof(user); print sizeof(marker); print sizeof(units); print got + 1; print user.0 + order.0; ptype phantom::Pinned
    n + log.len() as i32 + got as i32 + door.turns as i32 + user.0 as i32 + order.0 as i32 + meters.value as i32
}
