#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{collections::BTreeMap, string::String, vec::Vec};
pub struct Entry { key: u32, value: String, older: Option<usize>, newer: Option<usize> }
pub struct Lru { entries: Vec<Entry>, index: BTreeMap<u32, usize>, oldest: Option<usize>, newest: Option<usize>, limit: usize, hits: (u32, u32) }
impl Lru {
    fn new(limit: usize) -> Lru {
        Lru { entries: Vec::new(), index: BTreeMap::new(), oldest: None, newest: None, limit, hits: (0, 0) }
    }
    fn unlink(&mut self, at: usize) {
        let (older, newer) = (self.entries[at].older, self.entries[at].newer);
        match older { Some(k) => self.entries[k].newer = newer, None => self.oldest = newer }
        match newer { Some(k) => self.entries[k].older = older, None => self.newest = older }
    }
    fn link(&mut self, at: usize) {
        self.entries[at].older = self.newest;
        self.entries[at].newer = None;
        if let Some(k) = self.newest { self.entries[k].newer = Some(at); } else { self.oldest = Some(at); }
        self.newest = Some(at);
    }
    #[inline(never)]
    fn get(&mut self, key: u32) -> Option<&str> {
        let found = self.index.get(&key).copied();
        core::hint::black_box(&found);
        here!(); // STOP print key; print found; print self.hits; print self.hits.0; print self.oldest; print self.newest; print self.limit; print self.index; whatis found; whatis self.hits; bt 1; print self.hits.1 + 1; print key == 2 && self.limit == 2
        let Some(at) = found else { self.hits.1 += 1; return None };
        self.hits.0 += 1;
        self.unlink(at);
        self.link(at);
        Some(&self.entries[at].value)
    }
    #[inline(never)]
    fn put(&mut self, key: u32, value: &str) -> usize {
        let at = if self.entries.len() < self.limit {
            self.entries.push(Entry { key, value: String::from(value), older: None, newer: None });
            self.entries.len() - 1
        } else {
            let at = self.oldest.unwrap_or(0);
            self.unlink(at);
            let victim = &mut self.entries[at];
            self.index.remove(&victim.key);
            core::hint::black_box(&victim);
            here!(); // STOP print at; print victim; print victim.key; print victim.value; print *victim; print self.entries; print key; print value; ptype victim; whatis victim; print victim.older; print victim.newer; print victim.key + key; print self.entries.len
            victim.key = key;
            victim.value = String::from(value);
            at
        };
        self.link(at);
        self.index.insert(key, at);
        at
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut cache = Lru::new(2);
    cache.put(1, "one"); cache.put(2, "two");
    let missing = cache.get(9).is_none();
    let length = cache.get(1).map(|s| s.len());
    let slot = cache.put(3, "three");
    let order: Vec<u32> = { let mut list = Vec::new(); let mut at = cache.oldest; while let Some(k) = at { list.push(cache.entries[k].key); at = cache.entries[k].newer; } list };
    core::hint::black_box((&cache, &missing, &length, &slot, &order));
    here!(); // STOP print cache; print missing; print length; print slot; print order; print cache.index; print cache.entries; print cache.hits; ptype cache; whatis cache.index; whatis order; whatis length; print cache.oldest; print slot == 1; print cache.limit * 3; print/x cache.limit; ptype lru::Entry; print sizeof(cache); print &cache.limit; print cache.nosuch
    n + slot as i32 + order.len() as i32 + length.unwrap_or(0) as i32 + missing as i32
}
