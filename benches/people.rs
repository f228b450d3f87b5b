//! What reading the files of people costs: `cargo bench --bench people`.

use chrono::DateTime;
use divan::black_box;
use selkie::people::contacts::{Contacts, MAX_ACTIVE, Shelf};
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

/// A file of active contacts as full as it gets, and one of inactive ones.
#[divan::bench(args = [150, 10_000])]
fn read_contacts(bencher: divan::Bencher<'_, '_>, many: usize) {
    let text = contacts(many);
    bencher.bench(|| Contacts::read(Shelf::Active, black_box(&text)).all().count());
}

/// Somebody brought 10,000 contacts along: those for whom there is no room leave.
#[divan::bench]
fn make_room_of_10000_contacts(bencher: divan::Bencher<'_, '_>) {
    let text = contacts(10_000);
    bencher.bench(|| {
        let mut all = Contacts::read(Shelf::Active, black_box(&text));
        let over = all.overflow(MAX_ACTIVE);
        all.take(&over.iter().map(String::as_str).collect(), DateTime::UNIX_EPOCH)
    });
}

fn contacts(many: usize) -> String {
    let contact = |n: usize| {
        format!(
            "## Mei {n}\n\n```yaml\ncontact_id: \"person:{n}\"\nnickname: \"Mei {n}\"\nkind: \"human\"\n```\n\n"
        )
    };
    (0..many).map(contact).collect()
}
