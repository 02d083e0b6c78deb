#![crate_type = "lib"]
use std::collections::{hash_map::{DefaultHasher, Entry}, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
macro_rules! here { () => { unsafe { core::arch::asm!("nop") } } }
extern "C" { fn malloc(n: usize) -> *mut u8; fn free(p: *mut u8); }
struct Heap;
unsafe impl std::alloc::GlobalAlloc for Heap {
    unsafe fn alloc(&self, l: std::alloc::Layout) -> *mut u8 { malloc(l.size()) }
    unsafe fn dealloc(&self, p: *mut u8, _: std::alloc::Layout) { free(p) }
}
#[global_allocator] static HEAP: Heap = Heap;
#[derive(Default)]
pub struct Sum(u64);
impl Hasher for Sum {
    fn finish(&self) -> u64 { self.0 }
    fn write(&mut self, bytes: &[u8]) { for b in bytes { self.0 = self.0.rotate_left(5) ^ *b as u64; } }
}
type Map<K, V> = HashMap<K, V, BuildHasherDefault<Sum>>;
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Suit { Hearts, Spades(u8) }
#[inline(never)]
fn count<'a>(words: &[&'a str]) -> Map<&'a str, u32> {
    let mut counts: Map<&str, u32> = Map::default();
    for item in words {
        let slot = counts.entry(item);
        let is_new = matches!(slot, Entry::Vacant(_));
        let n = slot.or_insert(0);
        *n += 1;
        core::hint::black_box((&n, &is_new, &item));
        here!(); // STOP print item; print *item; print n; print *n; print is_new; print words; whatis n; whatis item; print *n + 1; bt 1; print words[1]; print is_new == true
        core::hint::black_box(());
    }
    counts
}
#[inline(never)]
fn digest<T: Hash>(value: &T) -> u64 {
    let mut hasher = Sum::default();
    value.hash(&mut hasher);
    let code = hasher.finish();
    core::hint::black_box((&hasher, &code));
    here!(); // STOP print code; print hasher; print hasher.0; print value; print *value; whatis value; whatis hasher; print/x code; print hasher.0 == code; bt 1; ptype hasher
    code
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let counts = count(&["b", "a", "b"]);
    let mut suits: HashSet<Suit, BuildHasherDefault<Sum>> = HashSet::default();
    suits.insert(Suit::Spades(n as u8)); let again = suits.insert(Suit::Spades(3));
    let empty: Map<u8, u8> = Map::default(); let mut single: Map<i32, Option<char>> = Map::default(); single.insert(n, Some('k'));
    let mut nested: Map<u8, (u16, [i8; 2])> = Map::default(); nested.entry(1).or_insert((0, [1, -1])).0 += n as u16;
    let d = digest(&Suit::Spades(4)) ^ digest(&(1u8, 'a'));
    let mut library = DefaultHasher::new(); library.write_u8(1);
    let most = counts.iter().max_by_key(|(_, c)| **c).map(|(w, _)| *w); let removed = nested.remove(&9);
    core::hint::black_box((&counts, &suits, &again, &empty, &single, &nested, &d, &most, &removed));
    here!(); // STOP print again; print empty; print single; print nested; print most; print removed; print d; whatis counts; whatis suits; whatis single; print suits; ptype hashes::Suit; ptype hashes::Sum; whatis most; whatis removed; print hashes::Suit::Hearts; print sizeof(counts); print n * 2
    n + counts.len() as i32 + suits.len() as i32 + d as i32 + empty.len() as i32 + most.map_or(0, |w| w.len()) as i32
}
