#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
#[repr(u8)]
#[derive(Clone, Copy, PartialEq)]
pub enum Status { Ready = 1, Waiting { until: u32 } = 4, Dead(Exit) = 9 }
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub enum Exit { Normal, Killed(i32) }
#[repr(i64)]
#[derive(Clone, Copy)]
pub enum Wide { Low = i64::MIN, Zero = 0, High = i64::MAX }
pub enum Step { Yield, Sleep(u32), Finish(i32) }
pub struct Task { id: u16, status: Status, wakeups: u8, body: Box<dyn FnMut(u32) -> Step> }
#[derive(Default)]
pub struct Scheduler { now: u32, ready: VecDeque<u16>, tasks: Vec<Task>, finished: Vec<(u16, i32)> }
mod clock {
    pub const TICK: u32 = 10;
    pub static EPOCH: u32 = 100;
    pub fn next(now: u32) -> u32 { now + TICK }
}
impl Scheduler {
    fn spawn(&mut self, body: Box<dyn FnMut(u32) -> Step>) -> u16 {
        let id = self.tasks.len() as u16;
        self.tasks.push(Task { id, status: Status::Ready, wakeups: 0, body });
        self.ready.push_back(id);
        id
    }
    #[inline(never)]
    fn turn(&mut self) -> Option<u16> {
        let id = self.ready.pop_front()?;
        let task = &mut self.tasks[id as usize];
        let before = task.status;
        task.status = match (task.body)(self.now) {
            Step::Yield => { self.ready.push_back(id); Status::Ready }
            Step::Sleep(ticks) => Status::Waiting { until: self.now + ticks * clock::TICK },
            Step::Finish(0) => Status::Dead(Exit::Normal),
            Step::Finish(code) => { self.finished.push((id, code)); Status::Dead(Exit::Killed(code)) }
        };
        task.wakeups += 1;
        core::hint::black_box((&task, &before));
        here!(); // STOP print id; print before; print task.status; print task.id; print task.wakeups; print self.now; print self.ready; print self.finished; whatis task; whatis before; ptype before; bt 1; print scheduler::clock::EPOCH; print self.now + 1; print task.status == before; print self.ready.len; print id as i32; print self.tasks.len
        Some(id)
    }
    #[inline(never)]
    fn wake(&mut self) -> usize {
        self.now = clock::next(self.now);
        let mut woken = 0;
        for task in &mut self.tasks {
            if let Status::Waiting { until } = task.status {
                if until <= self.now {
                    task.status = Status::Ready;
                    self.ready.push_back(task.id);
                    woken += 1;
                    core::hint::black_box((&until, &woken));
                    here!(); // STOP print until; print woken; print task.id; print task.status; print self.ready; whatis until; bt 1; print until <= self.now; print self.now; print until / 10
                    core::hint::black_box(());
                }
            }
        }
        woken
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut s = Scheduler::default();
    let mut left = n;
    s.spawn(Box::new(move |_| { left -= 1; if left > 1 { Step::Yield } else { Step::Finish(left) } }));
    s.spawn(Box::new(|now| if now == 0 { Step::Sleep(1) } else { Step::Finish(0) }));
    while s.finished.is_empty() { s.turn(); }
    let woken = s.wake(); let last = s.turn(); let nothing = s.turn();
    let wides = [Wide::Low, Wide::Zero, Wide::High]; let statuses = (Status::Waiting { until: 7 }, Status::Dead(Exit::Killed(-9)), Status::Ready); let exits = (Exit::Normal, Some(Exit::Killed(n)));
    core::hint::black_box((&s, &woken, &last, &nothing, &wides, &statuses, &exits));
    here!(); // STOP print woken; print last; print nothing; print wides; print wides[0]; print statuses; print statuses.0; print statuses.1; print exits; print exits.1; print s.finished; print s.finished[0]; print s.finished[0].1; print s.ready; print s.now; print s.tasks[1].status; print s.tasks[1].wakeups; whatis statuses; whatis wides; ptype statuses; ptype exits; ptype wides; ptype scheduler::Step; ptype s; whatis s; print scheduler::clock::EPOCH; print sizeof(statuses); print sizeof(s); print wides[1] as i64; print statuses.0.until; print scheduler::Wide::High; print s.tasks.len; print statuses.2 == statuses.2; print scheduler::clock::next; print s.tasks[0].id
    n + woken as i32 + last.map_or(0, |k| k as i32) + wides[1] as i32 + nothing.is_none() as i32 + clock::EPOCH as i32
}
