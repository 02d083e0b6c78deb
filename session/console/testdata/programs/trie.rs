#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, vec::Vec};
pub struct Node { children: Vec<Option<Box<Node>>>, count: u16, is_end: bool }
impl Node { fn new() -> Node { Node { children: (0..4).map(|_| None).collect(), count: 0, is_end: false } } }
pub struct Trie { root: Node, words: usize }
const BASE: u8 = b'a';
static ALPHABET: &[u8; 4] = b"abcd";
impl Trie {
    #[inline(never)]
    fn insert(&mut self, word: &[u8]) -> bool {
        let mut node = &mut self.root;
        for (depth, letter) in word.iter().enumerate() {
            node.count += 1;
            core::hint::black_box((&depth, &letter));
            here!(); // STOP print depth; print letter; print *letter; print node.count; print word; print word[0]; whatis letter; whatis word; print node.is_end; print/c word[1]; bt 1; print trie::ALPHABET; print *letter == 97
            node = node.children[(letter - BASE) as usize].get_or_insert_with(|| Box::new(Node::new()));
        }
        let added = !node.is_end;
        node.is_end = true;
        if added { self.words += 1; }
        added
    }
    #[inline(never)]
    fn collect(node: &Node, path: &mut Vec<u8>, out: &mut Vec<Vec<u8>>) {
        if node.is_end { out.push(path.clone()); }
        for (k, child) in node.children.iter().enumerate() {
            if let Some(child) = child {
                path.push(ALPHABET[k]);
                if path.len() == 3 {
                    here!(); // STOP print k; print child; print child.is_end; print *path; print path.len; print out.len; print node.count; whatis child; whatis path; whatis out; bt; print child.count + 1; up; print k; print path; print k == 1
                    core::hint::black_box(());
                }
                Self::collect(child, path, out);
                path.pop();
            }
        }
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut trie = Trie { root: Node::new(), words: 0 };
    let words: [&[u8]; 4] = [b"ab", b"abc", b"dad", b"ab"];
    let mut added = [false; 4];
    for (k, word) in words.into_iter().enumerate() { added[k] = trie.insert(word); }
    let mut out = Vec::new();
    Trie::collect(&trie.root, &mut Vec::with_capacity(8), &mut out);
    let longest = out.iter().max_by_key(|w| w.len()).map(|w| w.len());
    let child = trie.root.children[0].as_ref();
    core::hint::black_box((&trie, &words, &added, &out, &longest, &child));
    here!(); // STOP print words; print words[1]; print added; print added[3]; print out; print longest; print trie.words; print trie.root.count; print trie.root.is_end; whatis trie; ptype trie; ptype trie::Node; whatis words; whatis out; whatis child; print trie::ALPHABET; print *trie::ALPHABET; whatis trie::ALPHABET; print trie.root.children[1]; print sizeof(trie); print &trie.words; print trie.words + 1 == 4; print added[0] && !added[3]
    n + out.len() as i32 + longest.unwrap_or(0) as i32 + trie.words as i32
}
