//! The demo's page in a real browser, as somebody meets it for the first time: on a phone, on a small and on a large screen,
//! with the keyboard, and read aloud.

use serde_json::json;

use crate::support::browser::{ALT, Answer, Browser, ENTER, RIGHT};
use crate::support::demo::Demo;

/// Returns every visible text whose contrast with what is behind it is below 4.5:1.
const PALE: &str = include_str!("pale.js");
/// The widths: a phone, a small laptop, a desk.
const WIDTHS: [u32; 3] = [390, 1024, 1440];
/// The most places that the Tab key stops at before and behind a conversation's messages.
const MAX_STOPS: i64 = 40;

#[test]
fn a_newcomer_finds_their_way_at_every_width() {
    let (demo, browser) = (Demo::start(), Browser::start().unwrap());
    watch(&browser, demo.url()).unwrap();
    let (status, said) = demo.interrupt();
    assert!(status.success(), "{status}: {said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
}

fn watch(browser: &Browser, url: &str) -> Answer<()> {
    browser.prefer("light")?;
    browser.resize(1440, 900)?;
    browser.goto(url)?;
    browser.wait_until("document.querySelector('.pulse.up')")?;
    an_empty_page_speaks_of_what_is_there(browser)?;
    what_was_noted_is_counted(browser)?;
    a_chip_leads_to_an_approval(browser)?;
    chips_and_titles_have_room(browser)?;
    rows_of_buttons_are_one_stop(browser)?;
    answers_beside_each_other_are_as_in_their_chats(browser)?;
    what_is_told_goes_with_its_cause(browser)?;
    everything_has_a_name(browser)
}

/// Nothing that sets the stage stands in a chat, and no text names a column that a phone does not have.
fn an_empty_page_speaks_of_what_is_there(browser: &Browser) -> Answer<()> {
    browser.press(&format!("{ALT}2"))?;
    browser.wait_until("document.querySelector('#talk-title').textContent == 'Tea room'")?;
    browser.wait_until("!document.querySelector('#scroll').hasAttribute('aria-busy')")?;
    assert_eq!(browser.eval("document.querySelector('#log').children.length")?, 0);
    let list = browser.text("#chats")?;
    assert!(!list.contains("/workspace") && !list.contains("selkie-demo"), "{list}");
    assert!(browser.text("#log-empty")?.contains("column beside"));
    browser.resize(390, 800)?;
    let text = browser.text("#log-empty")?;
    assert!(!text.contains("column") && text.contains("“Steps & tools” shows"), "{text}");
    browser.resize(1440, 900)?;
    browser.press(&format!("{ALT}1"))?;
    browser.wait_until("document.querySelector('#talk-title').textContent == 'selkie · Ada'")
}

/// The chat's own list and the todo file are two things, and both count.
fn what_was_noted_is_counted(browser: &Browser) -> Answer<()> {
    browser.type_keys("#text", &format!("note: buy milk{ENTER}"))?;
    let todos = "document.querySelector('#known-todos b').textContent";
    browser.wait_until(&format!("{todos} == '1'"))?;
    browser.click("#known-todos")?;
    browser.wait_until("document.querySelector('#known-list li')?.textContent == 'buy milk'")?;
    let heads = "[...document.querySelectorAll('#known-list .known-sub')].map(head => head.firstChild.data)";
    assert_eq!(browser.eval(heads)?, json!(["List of this chat", "Todo file"]));
    browser.click("#known-todos")
}

/// One press, and the owner is asked: in a sentence, with the words, and the whole call folded behind it.
fn a_chip_leads_to_an_approval(browser: &Browser) -> Answer<()> {
    for (chat, sentence, words) in [
        (
            "2",
            "Grace Hopper (Telegram group) wants selkie to create plan.txt (1 line):",
            "tea at four",
        ),
        (
            "1",
            "Ada Lovelace (Telegram private chat) wants selkie to post this in public, now:",
            "tea is ready",
        ),
    ] {
        browser.press(&format!("{ALT}{chat}"))?;
        browser.wait_until(&format!("document.querySelector('.chat[aria-current]').getAttribute('aria-keyshortcuts') == 'Alt+{chat}'"))?;
        browser.click("#tries .asks")?;
        let card =
            |css: &str| format!("document.querySelector('.task-head .waits {css}')?.textContent");
        browser.wait_until(&format!("{} == {}", card("p"), json!(sentence)))?;
        browser.wait_until(&format!("{} == {}", card("blockquote"), json!(words)))?;
        assert_eq!(browser.eval("document.querySelector('.waits details').open")?, false);
        assert_eq!(browser.eval(PALE)?, json!([]));
    }
    // The owner reads a sentence, too.
    browser.wait_until("[...document.querySelectorAll('.msg.asks .text')].some(t => t.textContent.startsWith('May I create plan.txt (1 line)? Grace Hopper'))")
}

fn chips_and_titles_have_room(browser: &Browser) -> Answer<()> {
    for width in WIDTHS {
        browser.resize(width, 800)?;
        let rows = "new Set([...document.querySelectorAll('#tries button')].map(chip => chip.offsetTop)).size";
        let rows = browser.eval(rows)?.as_i64().unwrap_or(99);
        assert!(rows <= if width > 1120 { 3 } else { 1 }, "{rows} rows of chips at {width} px");
        let wide = "document.documentElement.scrollWidth - innerWidth";
        assert_eq!(browser.eval(wide)?, 0, "{width} px");
        if width == 390 {
            browser.click(".tabs [data-pane=chats]")?;
        }
        // Beside a mark that somebody is asked there.
        browser.wait_until("document.querySelector('#chats .dot')")?;
        let least = "Math.min(...[...document.querySelectorAll('.chat-title')].map(title => title.clientWidth))";
        let least = browser.eval(least)?.as_f64().unwrap_or_default();
        assert!(least > 120.0, "a title has {least} px at {width} px");
        if width == 390 {
            browser.click(".tabs [data-pane=talk]")?;
        }
    }
    Ok(())
}

fn rows_of_buttons_are_one_stop(browser: &Browser) -> Answer<()> {
    let stops = |css: &str| {
        let all = "button, a[href], input, select, textarea, summary, [tabindex]";
        format!(
            "[...document.querySelectorAll('{css}')].flatMap(e => [...e.querySelectorAll('{all}')])
                .filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility()).length"
        )
    };
    let count = |css: &str| browser.eval(&stops(css)).map(|n| n.as_i64().unwrap_or(-1));
    assert_eq!(count("#tries")?, 1);
    assert_eq!(count("#shape [role=toolbar]")?, 1);
    let chips = browser.eval("document.querySelectorAll('.chip').length")?;
    assert!(chips.as_i64() > Some(20), "{chips}");
    let all = count("body")?;
    assert!(all <= MAX_STOPS, "{all} stops");
    browser.eval("document.querySelector('#tries button').focus()")?;
    browser.press(RIGHT)?;
    assert_eq!(browser.text("#tries :focus")?, "tell me my list");
    assert_eq!(count("#tries")?, 1, "the stop has moved along");
    Ok(())
}

/// Compare shows what stands in the chats, not the marks that the model wrote.
fn answers_beside_each_other_are_as_in_their_chats(browser: &Browser) -> Answer<()> {
    browser.click("#compare-open")?;
    browser.eval("[...document.querySelectorAll('#compare-who button')].forEach((who, i) => {
        if ((who.ariaPressed == 'true') != [4, 5].includes(i)) document.querySelectorAll('#compare-who button')[i].click(); })")?;
    let asked = "**bold** and `code`";
    browser.eval("document.querySelector('#compare-text').value = ''")?;
    browser.type_keys("#compare-text", &format!("note: {asked}{ENTER}"))?;
    let quotes = "[...document.querySelectorAll('.cmp-heads blockquote')]";
    browser.wait_until(&format!(
        "{quotes}.filter(q => q.textContent.includes('bold and')).length == 2"
    ))?;
    let raw = format!(
        "{quotes}.map(q => q.textContent).filter(text => text.includes('**') || text.includes('`'))"
    );
    assert_eq!(browser.eval(&raw)?, json!([]));
    assert_eq!(
        browser.eval("document.querySelectorAll('#compare-who [tabindex=\"0\"]').length")?,
        1
    );
    browser.click("#compare-close")
}

fn what_is_told_goes_with_its_cause(browser: &Browser) -> Answer<()> {
    browser.click("#later-open")?;
    browser.eval("document.querySelector('#clock-to').value = ''")?;
    browser.type_keys("#clock-to", &format!("soon{ENTER}"))?;
    let told = "!document.querySelector('#toast').hidden";
    browser.wait_until(told)?;
    browser.eval("document.querySelector('#clock-to').value = ''")?;
    browser.type_keys("#clock-to", &format!("+1m{ENTER}"))?;
    assert_eq!(browser.eval(told)?, false, "the time is one now");
    browser.wait_until("document.querySelector('#clock-stop').hidden")?;
    browser.click("#later-close")
}

fn everything_has_a_name(browser: &Browser) -> Answer<()> {
    for width in WIDTHS {
        browser.resize(width, 800)?;
        // The time of a clock that is ahead may follow.
        let label = browser.label("#later-open")?;
        assert!(label.starts_with("Schedules"), "{label:?} at {width} px");
        assert_eq!(browser.label("#compare-open")?, "Compare", "{width} px");
        for pane in ["chats", "shape", "talk"] {
            if width == 390 {
                browser.click(&format!(".tabs [data-pane={pane}]"))?;
            }
            assert_eq!(browser.nameless()?, Vec::<String>::new(), "{pane} at {width} px");
        }
        for dialog in ["later", "compare"] {
            browser.click(&format!("#{dialog}-open"))?;
            assert_eq!(browser.nameless()?, Vec::<String>::new(), "{dialog} at {width} px");
            browser.click(&format!("#{dialog}-close"))?;
        }
    }
    Ok(())
}
