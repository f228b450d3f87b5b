//! Posts made of any words.

use crate::thread::{self, ThreadNumbering};
use crate::weigh;

#[test]
fn fuzz_threads() {
    selkie_fuzz::text("x_thread", |text| {
        let posts = thread::posts(text, ThreadNumbering::On);
        assert!(posts.iter().all(|post| weigh::weight(post) <= 280));
    });
}
