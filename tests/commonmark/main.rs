//! The cases of CommonMark and of GFM's tables, strike and tasks, through each channel: what a person sees of what the
//! platform gets, as text and marks, is what the case's HTML says, but for the exceptions in `exceptions.txt`.

mod cases;
mod channels;
mod expected;
mod seen;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cases::Case;
use crate::channels::Platform;

/// More exceptions are a channel that does not read Markdown.
const MAX_EXCEPTIONS: usize = 40;

/// Why a case is shown otherwise, by its channel and its name.
fn exceptions() -> BTreeMap<(String, String), String> {
    let lines = include_str!("exceptions.txt").lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| {
        let mut fields = line.splitn(3, ' ');
        let platform = fields.next()?.to_owned();
        let case = fields.next()?.to_owned();
        Some(((platform, case), fields.next()?.trim().to_owned()))
    });
    fields.collect()
}

#[test]
fn every_case_is_shown_as_its_html_says() {
    let cases = cases::all();
    assert!(cases.len() > 650, "only {} cases", cases.len());
    let reasons = exceptions();
    assert!(reasons.values().all(|reason| reason.len() > 10), "an exception has no reason");
    let mut trouble = String::new();
    for platform in channels::all() {
        let mut exceptions = 0;
        for case in &cases {
            let wanted = expected::read(case, &platform);
            let shown = platform.show(case);
            let key = (platform.name.to_owned(), case.name.clone());
            match (wanted == shown, reasons.contains_key(&key)) {
                (true, false) => {}
                (false, true) => exceptions += 1,
                (true, true) => {
                    let _ = writeln!(trouble, "{} {} is no exception", platform.name, case.name);
                }
                (false, false) => different(&mut trouble, &platform, case, &wanted, &shown),
            }
        }
        println!("{}: {} cases, {exceptions} exceptions", platform.name, cases.len());
        assert!(exceptions <= MAX_EXCEPTIONS, "{}: {exceptions} exceptions", platform.name);
    }
    assert!(trouble.is_empty(), "{trouble}");
}

fn different(to: &mut String, platform: &Platform, case: &Case, wanted: &str, shown: &str) {
    let Case { name, markdown, html } = case;
    let _ = writeln!(
        to,
        "{} {name} {markdown:?}\n  html   {html:?}\n  wanted {wanted:?}\n  shown  {shown:?}",
        platform.name
    );
}
