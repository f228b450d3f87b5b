//! The demo's page in a real browser: what each conversation knows stands beside its steps, and in no other one.

use serde_json::json;

use crate::support::browser::{ALT, Answer, Browser, ENTER};
use crate::support::demo::Demo;

/// Returns every visible text whose contrast with what is behind it is below 4.5:1.
const PALE: &str = include_str!("pale.js");
/// Returns every control without a name, and every id that is there twice.
const NAMELESS: &str = include_str!("nameless.js");
/// Where pictures are written, when they are asked for at compile time.
const PICTURE: Option<&str> = option_env!("SELKIE_SCREENSHOT");

#[test]
fn a_person_sees_what_each_chat_knows() {
    let (demo, browser) = (Demo::start(), Browser::start().unwrap());
    watch(&browser, demo.url()).unwrap();
    let (status, said) = demo.interrupt();
    assert!(status.success(), "{status}: {said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
}

fn watch(browser: &Browser, url: &str) -> Answer<()> {
    browser.resize(1400, 900)?;
    browser.prefer("light")?;
    browser.goto(url)?;
    browser.wait_until("document.querySelector('.pulse.up')")?;
    nothing_is_known_yet(browser)?;
    somebody_writes_in_the_group(browser)?;
    an_owner_sees_all_but_what_others_remember(browser)?;
    somebody_else_sees_their_own(browser)?;
    can_be_seen_by_all(browser)?;
    a_line_is_taken_out(browser)?;
    fits_a_phone(browser)?;
    assert_eq!(browser.complaints()?, Vec::<String>::new());
    Ok(())
}

fn opened(browser: &Browser, alt: &str, title: &str) -> Answer<()> {
    browser.press(&format!("{ALT}{alt}"))?;
    browser.wait_until(&format!("document.querySelector('#talk-title').textContent == '{title}'"))
}

/// Says something and waits until the task of it is done.
fn say(browser: &Browser, text: &str) -> Answer<()> {
    browser.type_keys("#text", &format!("{text}{ENTER}"))?;
    let asked = format!("document.querySelector('.asked')?.textContent.endsWith({})", json!(text));
    browser.wait_until(&asked)?;
    browser.wait_until("document.querySelector('.task-head .pill.done')")
}

/// Waits until so many rows are told of, and the open list holds these words.
fn shows(browser: &Browser, list: &str, count: &str, words: &[&str]) -> Answer<()> {
    browser.wait_until(&format!(
        "document.querySelector('#known-{list}[aria-expanded=true] b').textContent == '{count}'"
    ))?;
    words.iter().try_for_each(|words| {
        let words = json!(words);
        browser.wait_until(&format!(
            "document.querySelector('#known-list').textContent.includes({words})"
        ))
    })
}

fn lacks(browser: &Browser, words: &[&str]) -> Answer<()> {
    let text = browser.eval("document.querySelector('#known-list').textContent")?.to_string();
    words.iter().for_each(|words| assert!(!text.contains(words), "{words} in {text}"));
    Ok(())
}

/// Each list says what to do where it is empty; they are reached by the keyboard.
fn nothing_is_known_yet(browser: &Browser) -> Answer<()> {
    browser.eval("document.querySelector('#known-memory').focus()")?;
    browser.press(ENTER)?;
    shows(browser, "memory", "0", &["selkie has heard nothing here yet"])?;
    say(browser, "note: buy milk")?;
    shows(browser, "memory", "0", &["Nothing is remembered here. Say: remember that I like tea"])?;
    browser.click("#known-todos")?;
    shows(
        browser,
        "todos",
        "1",
        &[
            "buy milk",
            "What people want done in this chat, with its time and its people: nothing yet. Say: todo: bring milk",
        ],
    )?;
    browser.click("#known-contacts")?;
    shows(browser, "contacts", "1", &["Ada", "tg:4711"])?;
    browser.click("#known-contacts")?;
    browser.wait_until("document.querySelector('#known-list').hidden")
}

/// A group knows who writes there, and what it was told there. Whatever they write is text.
fn somebody_writes_in_the_group(browser: &Browser) -> Answer<()> {
    opened(browser, "2", "Tea room")?;
    browser.click("#as-who option:nth-child(3)")?;
    say(browser, "remember that rum <img src=x onerror=alert(1)> is at noon")?;
    browser.click("#known-contacts")?;
    // The demo itself has said something there as Ada.
    shows(browser, "contacts", "2", &["Ada", "Linus", "Only people who have written here"])?;
    lacks(browser, &["Grace"])?;
    browser.click("#as-who option:nth-child(2)")?;
    say(browser, "todo: 2099-12-24 18:00 Light the candles")?;
    shows(browser, "contacts", "3", &["Ada", "Linus", "Grace"])?;
    browser.click("#known-memory")?;
    shows(
        browser,
        "memory",
        "1",
        &["rum <img src=x onerror=alert(1)> is at noon", "Linus (allowed)"],
    )?;
    assert_eq!(browser.eval("document.querySelectorAll('#known-list img').length")?, 0);
    Ok(())
}

fn an_owner_sees_all_but_what_others_remember(browser: &Browser) -> Answer<()> {
    opened(browser, "1", "selkie · Ada")?;
    say(browser, "remember that I like tea")?;
    // The list that was open in the other chat is open here, too.
    shows(browser, "memory", "1", &["I like tea", "Ada Lovelace (owner)", "/memory forget N"])?;
    lacks(browser, &["rum"])?;
    browser.click("#known-contacts")?;
    shows(browser, "contacts", "3", &["Ada", "Grace", "Linus", "everybody whom selkie knows"])?;
    say(browser, "remind Linus to bring milk")?;
    browser.click("#known-todos")?;
    shows(
        browser,
        "todos",
        "3",
        &["buy milk", "Remind Linus to bring milk", "Light the candles", "2099-12-24 18:00"],
    )?;
    let people = "[...document.querySelectorAll('#known-list .who-is')].map(who => [who.textContent, who.title])";
    assert_eq!(browser.eval(people)?, json!([["Linus", "tg:4713"]]));
    // What comes due stands first, with the way to its chat.
    assert_eq!(browser.text("#known-list li:first-child .link")?, "Tea room");
    browser.click("#known-list li:first-child .link")?;
    browser.wait_until("document.querySelector('#talk-title').textContent == 'Tea room'")?;
    shows(browser, "todos", "1", &["Light the candles", "The rest of TODO.md stays hidden here"])?;
    lacks(browser, &["milk"])
}

/// Grace in private: allowed, and no owner.
fn somebody_else_sees_their_own(browser: &Browser) -> Answer<()> {
    opened(browser, "4", "selkie · Grace")?;
    say(browser, "remember that I like rope")?;
    shows(browser, "todos", "0", &["What people want done in this chat"])?;
    browser.click("#known-contacts")?;
    shows(browser, "contacts", "1", &["Grace"])?;
    lacks(browser, &["Ada", "Linus"])?;
    browser.click("#known-memory")?;
    shows(browser, "memory", "1", &["I like rope", "Grace Hopper (allowed)"])?;
    lacks(browser, &["tea", "rum"])?;
    opened(browser, "1", "selkie · Ada")?;
    shows(browser, "memory", "1", &["I like tea"])?;
    lacks(browser, &["rope"])
}

fn can_be_seen_by_all(browser: &Browser) -> Answer<()> {
    let dir = tempfile::tempdir().unwrap();
    let file = PICTURE.map_or_else(|| dir.path().join("demo.png"), Into::into);
    for list in ["contacts", "todos", "memory"] {
        let open = format!("document.querySelector('#known-{list}[aria-expanded=true]')");
        if browser.eval(&format!("!{open}"))? == true {
            browser.click(&format!("#known-{list}"))?;
            browser.wait_until(&open)?;
        }
        for scheme in ["dark", "light"] {
            browser.prefer(scheme)?;
            assert_eq!(browser.eval(PALE)?, json!([]), "{list}, {scheme}");
            assert_eq!(browser.eval(NAMELESS)?, json!([]));
            browser.screenshot(&file.with_file_name(format!("known-{list}-{scheme}.png")))?;
        }
    }
    Ok(())
}

/// The page writes the command, and its list follows.
fn a_line_is_taken_out(browser: &Browser) -> Answer<()> {
    browser.click("#known-list li .link")?;
    browser.wait_until("document.querySelector('#text').value == '/memory forget 1'")?;
    browser.type_keys("#text", ENTER)?;
    shows(browser, "memory", "0", &["Nothing is remembered here"])?;
    browser.click("#known-todos")?;
    say(browser, "finished: bring milk")?;
    shows(browser, "todos", "2", &["Done (1)", "Remind Linus to bring milk"])
}

/// However much is known, the list keeps its height, and nothing is wider than the screen.
fn fits_a_phone(browser: &Browser) -> Answer<()> {
    say(browser, "remind Grace to come")?;
    for what in ["mast", "sail", "rudder", "keel", "anchor", "compass", "lantern"] {
        say(browser, &format!("todo: {}", format!("{what}-without-an-end-").repeat(8)))?;
    }
    shows(browser, "todos", "10", &["lantern-without-an-end"])?;
    for width in [400, 1400] {
        browser.resize(width, 700)?;
        if width == 400 {
            browser.click(".tabs [data-pane=shape]")?;
        }
        let wide = "document.documentElement.scrollWidth - innerWidth";
        assert_eq!(browser.eval(wide)?, 0, "{width} px wide");
        let list = "document.querySelector('#known-list')";
        assert_eq!(browser.eval(&format!("{list}.scrollWidth > {list}.clientWidth"))?, false);
        assert_eq!(browser.eval(&format!("{list}.clientHeight <= innerHeight / 2"))?, true);
        assert_eq!(browser.eval(&format!("{list}.scrollHeight > {list}.clientHeight"))?, true);
        assert_eq!(browser.eval(PALE)?, json!([]), "{width} px wide");
        let dir = tempfile::tempdir().unwrap();
        let file = PICTURE.map_or_else(|| dir.path().join("demo.png"), Into::into);
        browser.screenshot(&file.with_file_name(format!("known-{width}.png")))?;
    }
    Ok(())
}
