//! The demo's page in a real browser: a person watches tomorrow's schedule being carried out today.

use serde_json::json;

use crate::support::browser::{Answer, Browser, ENTER};
use crate::support::demo::Demo;

/// Returns every visible text whose contrast with what is behind it is below 4.5:1.
const PALE: &str = include_str!("pale.js");
/// Returns every control without a name, and every id that is there twice.
const NAMELESS: &str = include_str!("nameless.js");
/// Where pictures are written, when they are asked for at compile time.
const PICTURE: Option<&str> = option_env!("SELKIE_SCREENSHOT");

#[test]
fn a_person_watches_tomorrow_today() {
    let demo = Demo::start_with(&[("TZ", "Europe/Berlin")]);
    let browser = Browser::start().unwrap();
    watch(&browser, demo.url()).unwrap();
    let (status, said) = demo.interrupt();
    assert!(status.success(), "{status}: {said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
}

fn watch(browser: &Browser, url: &str) -> Answer<()> {
    browser.resize(1280, 800)?;
    browser.prefer("light")?;
    browser.goto(url)?;
    browser.wait_until("document.querySelector('.pulse.up')")?;
    let log = |text: &str| format!("document.querySelector('#log').textContent.includes('{text}')");
    browser.type_keys("#text", &format!("note: buy milk{ENTER}"))?;
    browser.wait_until(&log("Noted"))?;
    browser.click("#later-open")?;
    browser
        .wait_until("document.querySelector('#later-list').textContent.includes('Nothing is')")?;
    browser.click("#later-close")?;
    browser.type_keys("#text", &format!("every day at 08:00 tell me my list{ENTER}"))?;
    browser.wait_until(&log("Schedule 1 in"))?;
    browser.click("#later-open")?;
    browser.wait_until("document.querySelectorAll('.schedule .next li').length == 5")?;
    let first = "document.querySelector('.schedule .next li').textContent";
    assert!(browser.eval(first)?.as_str().is_some_and(|at| at.ends_with("08:00 Europe/Berlin")));
    assert_eq!(browser.text(".schedule .pill")?, "active");
    let hour = "document.querySelector('#clock-now').textContent.includes('(Europe/Berlin)')";
    browser.wait_until(hour)?;

    browser.click("#clock-next")?;
    browser.wait_until("document.querySelector('.schedule .history .pill.ran')")?;
    browser.wait_until("document.querySelector('.history small')?.textContent == 'delivered'")?;
    let ahead = "document.querySelector('#clock-ahead:not([hidden])')?.textContent";
    browser.wait_until(&format!("{ahead}?.endsWith('08:00')"))?;
    browser.wait_until(&log("1. buy milk"))?;
    // Two days more are two times more.
    browser.eval("document.querySelector('#clock-to').value = ''")?;
    browser.type_keys("#clock-to", &format!("+2d{ENTER}"))?;
    browser.wait_until("document.querySelectorAll('.history .pill.ran').length == 3")?;
    browser.wait_until("document.querySelector('#clock-stop').hidden")?;
    browser.eval("document.querySelector('#clock-to').value = 'soon'")?;
    browser.click("#clock-move")?;
    browser.wait_until("document.querySelector('#toast').textContent.includes('takes +1d')")?;
    // Nobody reads what is behind a dialog.
    let front = "(t => { const r = t.getBoundingClientRect(); \
        return t.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })(document.querySelector('#toast'))";
    assert_eq!(browser.eval(front)?, true, "the complaint is in front");
    beside_an_asked_one(browser)?;
    for scheme in ["dark", "light"] {
        browser.prefer(scheme)?;
        assert_eq!(browser.eval(PALE)?, json!([]), "{scheme}");
        assert_eq!(browser.eval(NAMELESS)?, json!([]));
    }
    let dir = tempfile::tempdir().unwrap();
    let file = PICTURE.map_or_else(|| dir.path().join("demo.png"), Into::into);
    browser
        .eval("document.querySelector('#toast').hidden = true, document.activeElement.blur()")?;
    browser.screenshot(&file.with_file_name("schedules.png"))?;
    browser.resize(390, 800)?;
    let wide = "document.querySelector('#later').scrollWidth > innerWidth";
    assert_eq!(browser.eval(wide)?, false, "it fits a phone");
    assert_eq!(browser.eval(PALE)?, json!([]));
    browser.screenshot(&file.with_file_name("schedules-phone.png"))?;
    // The chat it speaks in is one press away.
    browser.click(".schedule .link")?;
    browser.wait_until("!document.querySelector('#later').open")?;
    browser.resize(1280, 800)?;
    let days =
        browser.eval("[...document.querySelectorAll('#log .day')].map(day => day.textContent)")?;
    // Before eight in the morning the first time is on the day on which it was asked for.
    assert!(matches!(days.as_array().map(Vec::len), Some(3 | 4)), "a line for each day: {days}");
    assert_eq!(browser.eval(PALE)?, json!([]));
    browser.screenshot(&file.with_file_name("days.png"))?;
    // A browser notes each answer that refuses something.
    let mut complaints = browser.complaints()?;
    complaints.retain(|line| !line.contains("/api/clock"));
    assert_eq!(complaints, Vec::<String>::new());
    Ok(())
}

/// What a task may do at its time, when nobody is there, differs from what it may when somebody asks.
fn beside_an_asked_one(browser: &Browser) -> Answer<()> {
    browser.click(".schedule > .tool")?;
    browser.wait_until("document.querySelectorAll('.beside .setting').length == 2")?;
    let settings = "[...document.querySelectorAll('.beside .setting')].map(s => s.dataset.setting)";
    let kinds = ["asked", "scheduled"];
    let kinds = kinds.map(|kind| format!("telegram:private · owner · {kind} · normal"));
    assert_eq!(browser.eval(settings)?, json!(kinds));
    let differs = "[...document.querySelectorAll('.beside .differs')].map(row => row.textContent)";
    let differs = browser.eval(differs)?.to_string();
    assert!(differs.contains("ask_user") && differs.contains("nobody is there"), "{differs}");
    Ok(())
}

#[test]
fn a_post_shows_how_it_stands_and_its_address() {
    let demo = Demo::start_with(&[("TZ", "Europe/Berlin")]);
    let browser = Browser::start().unwrap();
    watch_a_post(&browser, demo.url()).unwrap();
    let (status, said) = demo.interrupt();
    assert!(status.success(), "{status}: {said}");
}

fn watch_a_post(browser: &Browser, url: &str) -> Answer<()> {
    browser.resize(1280, 800)?;
    browser.prefer("light")?;
    browser.goto(url)?;
    browser.wait_until("document.querySelector('.pulse.up')")?;
    browser.type_keys("#text", &format!("tweet daily at 08:00: Good morning!{ENTER}"))?;
    let scheduled = "document.querySelector('#log').textContent.includes('Schedule 1 posts to')";
    let approve = "[...document.querySelectorAll('#log button')].find(b => b.textContent.trim() == 'Approve')";
    browser.wait_until(&format!("{scheduled} || {approve}"))?;
    browser.click("#later-open")?;
    browser.wait_until("document.querySelector('#later-posts .pill.draft')")?;
    browser.click("#later-close")?;
    browser.eval(&format!("{approve}?.click()"))?;
    browser.wait_until(scheduled)?;
    browser.click("#later-open")?;
    browser.wait_until("document.querySelectorAll('.schedule .next li').length == 5")?;
    // The same words on the next day: X takes them again.
    for time in 1..=2 {
        browser.click("#clock-next")?;
        let posted = "document.querySelectorAll('.history .pill.posted').length";
        browser.wait_until(&format!("{posted} == {time}"))?;
        browser.wait_until("document.querySelector('#clock-stop').hidden")?;
    }
    let link = "document.querySelector('.history a')?.href";
    assert!(browser.eval(link)?.as_str().is_some_and(|url| url.starts_with("https://x.com/")));
    browser.wait_until("document.querySelectorAll('#later-posts .pill.posted').length == 2")?;
    for scheme in ["dark", "light"] {
        browser.prefer(scheme)?;
        assert_eq!(browser.eval(PALE)?, json!([]), "{scheme}");
        assert_eq!(browser.eval(NAMELESS)?, json!([]));
    }
    let dir = tempfile::tempdir().unwrap();
    let file = PICTURE.map_or_else(|| dir.path().join("demo.png"), Into::into);
    browser.screenshot(&file.with_file_name("posts.png"))
}
