//! What reading the files of people costs: `cargo bench --bench people`.

use divan::black_box;
use selkie::people::contacts::{Contacts, Shelf};
use selkie::people::todo::{List, Todos};

fn main() {
    divan::main();
}

/// A todo file of 5,000 entries.
#[divan::bench]
fn read_5000_todos(bencher: divan::Bencher<'_, '_>) {
    let entry = |n: usize| {
        format!(
            "- [ ] [Created](2026-03-04 08:15), [ChatID](chat:{n}) | Ask [Mei](person:{n}) for the invoice {n}\n"
        )
    };
    let text: String = (0..5_000).map(entry).collect();
    bencher.bench(|| Todos::read(List::Open, black_box(&text)).entries().count());
}

/// A contact file as full as it gets.
#[divan::bench]
fn read_150_contacts(bencher: divan::Bencher<'_, '_>) {
    let contact = |n: usize| {
        format!(
            "## Mei {n}\n\n```yaml\ncontact_id: \"person:{n}\"\nnickname: \"Mei {n}\"\nkind: \"human\"\n```\n\n"
        )
    };
    let text: String = (0..150).map(contact).collect();
    bencher.bench(|| Contacts::read(Shelf::Active, black_box(&text)).all().count());
}
