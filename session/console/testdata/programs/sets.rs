#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{collections::{BTreeMap, BTreeSet, VecDeque}, string::String, vec, vec::Vec};
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day { month: u8, day: u8 }
pub struct Graph { edges: BTreeMap<u8, BTreeSet<u8>>, names: BTreeMap<u8, &'static str> }
impl Graph {
    #[inline(never)]
    fn distances(&self, from: u8) -> BTreeMap<u8, u32> {
        let mut found = BTreeMap::new();
        let mut queue = VecDeque::from([(from, 0u32)]);
        while let Some((node, distance)) = queue.pop_front() {
            if found.contains_key(&node) { continue; }
            found.insert(node, distance);
            if let Some(next) = self.edges.get(&node) {
                for n in next { queue.push_back((*n, distance + 1)); }
            }
            core::hint::black_box((&node, &distance, &queue));
            here!(); // STOP print node; print distance; print queue; print found; print self; print self.names; print self.edges; whatis queue; whatis found; whatis self; print distance + 1; bt 1; print node == 1; ptype self; print queue.len
            core::hint::black_box(());
        }
        found
    }
}
#[inline(never)]
fn agenda(days: &BTreeMap<Day, Vec<String>>) -> usize {
    let mut total = 0;
    for (day, items) in days.range(Day { month: 2, day: 0 }..) {
        total += items.len();
        core::hint::black_box((&day, &items, &total));
        here!(); // STOP print day; print *day; print items; print *items; print day.month; print total; print days; whatis day; whatis items; whatis days; print total == 1; bt 1; print items.len; print day.day + day.month
        core::hint::black_box(());
    }
    total
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut graph = Graph { edges: BTreeMap::new(), names: BTreeMap::from([(1, "one"), (2, "two")]) };
    for (a, b) in [(1, 2), (1, 3), (2, 4), (3, 4), (4, 1)] { graph.edges.entry(a).or_insert_with(BTreeSet::new).insert(b); }
    let distances = graph.distances(1);
    let mut days = BTreeMap::new();
    days.insert(Day { month: 3, day: 1 }, vec![String::from("pay")]); days.insert(Day { month: 1, day: 9 }, vec![]); days.insert(Day { month: 3, day: n as u8 }, vec![String::from("a"), String::from("b")]);
    let total = agenda(&days);
    let big: BTreeSet<i32> = (0..40).map(|k| k * k % 41).collect(); let left: BTreeSet<u8> = [1, 2, 3].into(); let right: BTreeSet<u8> = [2, 3, 4].into(); let both: Vec<u8> = left.intersection(&right).copied().collect();
    let none: BTreeMap<i32, i32> = BTreeMap::new(); let nothing: BTreeSet<char> = BTreeSet::new(); let mut ring: VecDeque<i32> = VecDeque::with_capacity(4); for k in 0..6 { if ring.len() == 4 { ring.pop_front(); } ring.push_back(k); } let first = days.keys().next(); let last = big.last();
    core::hint::black_box((&graph, &distances, &days, &big, &left, &right, &both, &none, &nothing, &ring)); core::hint::black_box((&first, &last, &total));
    here!(); // STOP print graph; print distances; print days; print big; print left; print right; print both; print none; print nothing; print ring; print first; print last; print total; whatis graph; whatis distances; whatis days; whatis big; whatis ring; whatis nothing; ptype sets::Day; ptype graph; whatis first; whatis last; print ring.len; print both[1]; print sizeof(days); print total + 1
    n + distances.len() as i32 + total as i32 + big.len() as i32 + ring.len() as i32
}
