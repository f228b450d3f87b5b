//! The demo's page in a real browser: what a person sees and does there.

use std::io::{Read, Write};
use std::net::TcpListener;

use selkie_playground::Turn;
use serde_json::json;

use crate::support::browser::{ALT, Answer, Browser, ENTER, ESCAPE, UP};
use crate::support::demo::Demo;
use crate::support::world::World;

/// Returns every visible text whose contrast with what is behind it is below 4.5:1.
const PALE: &str = include_str!("pale.js");
/// Returns every control without a name, and every id that is there twice.
const NAMELESS: &str = include_str!("nameless.js");
/// Where the README's picture is written, when it is asked for at compile time.
const PICTURE: Option<&str> = option_env!("SELKIE_SCREENSHOT");

#[test]
fn a_person_uses_the_demo() {
    let (demo, browser) = (Demo::start(), Browser::start().unwrap());
    journey(&browser, demo.url()).unwrap();
    let (status, said) = demo.interrupt();
    assert!(said.contains("Its tools are real"), "{said}");
    assert!(status.success(), "{status}: {said}");
    assert!(said.contains("stop    Ctrl-C"), "{said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
    browser.wait_until("!document.querySelector('#banner').hidden").unwrap();
    assert_eq!(browser.text("#pulse").unwrap(), "playground offline");
}

#[test]
fn a_task_stands_there_with_its_agents() {
    let (demo, browser) = (Demo::start(), Browser::start().unwrap());
    with_agents(&browser, demo.url()).unwrap();
}

fn with_agents(browser: &Browser, url: &str) -> Answer<()> {
    open(browser, url)?;
    let text = "write a.txt: tea, then write b.txt: soup";
    browser.type_keys("#text", &format!("{text}{ENTER}"))?;
    browser.wait_until("document.querySelector('#log').textContent.includes('Written: b.txt')")?;
    let text = "find out what is in a.txt and b.txt at once, then compare";
    browser.type_keys("#text", &format!("{text}{ENTER}"))?;
    browser.wait_until("document.querySelector('#log').textContent.includes('They differ')")?;
    browser.wait_until("document.querySelectorAll('.steps .agent .pill.done').length === 2")?;
    let names = "[...document.querySelectorAll('.agent > h4')].map(e => e.textContent)";
    assert_eq!(browser.eval(names)?, json!(["agent a-txt", "agent b-txt"]));
    let calls = "[...document.querySelectorAll('.agent .call b')].map(e => e.textContent)";
    assert_eq!(browser.eval(calls)?, json!(["read_file", "read_file"]));
    assert_eq!(browser.complaints()?, Vec::<String>::new());
    Ok(())
}

#[test]
fn the_picture_of_the_readme_can_be_taken() {
    let (demo, browser) = (Demo::start(), Browser::start().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let file = PICTURE.map_or_else(|| dir.path().join("demo.png"), Into::into);
    picture(&browser, demo.url(), &file).unwrap();
    let beside = file.with_file_name("compare.png");
    picture_of_comparing(&browser, &beside).unwrap();
    for file in [file, beside] {
        let bytes = std::fs::metadata(&file).unwrap().len();
        assert!((20_000..250_000).contains(&bytes), "{bytes} bytes");
    }
}

#[test]
fn one_line_in_the_terminal_shows_what_a_person_would_see() {
    let places = [
        "telegram:private",
        "telegram:group",
        "telegram:topic",
        "telegram:grace",
        "slack:dm",
        "slack:channel",
        "line:user",
        "line:group",
    ];
    for place in places {
        let text = "note: buy milk, then tell me my list";
        let (code, out, errors) = Demo::run(&["demo", "--say", text, "--in", place]);
        assert_eq!((code, &*errors), (0, ""), "{place}");
        assert_eq!(out, "Noted: buy milk (1).\nThis chat's list:\n\n1. buy milk\n", "{place}");
    }
    for place in ["telegram:private", "slack:channel", "line:group"] {
        let asks = "ask me: tea or coffee?";
        let (code, out, errors) = Demo::run(&["demo", "--say", asks, "--in", place]);
        assert_eq!(code, 0, "{errors}");
        assert!(out.starts_with("tea or coffee?") && out.ends_with("[tea] [coffee]\n"), "{out}");
    }
    for place in ["telegram:group", "slack:channel", "line:group"] {
        let (code, out, _) = Demo::run(&["demo", "--say", "hi", "--in", place, "--unnamed"]);
        let silence = "nothing was sent: the message was not for the bot\n";
        assert_eq!((code, out.as_str()), (0, silence), "{place}");
    }
    let line = ["demo", "--say", "remember that I like tea", "--say", "/reset", "--say"];
    let (code, out, errors) = Demo::run(&[&line[..], &["what do you know about me?"]].concat());
    assert_eq!(code, 0, "{errors}");
    let [remembered, reset, known] =
        ["Remembered (", "A fresh start", "I like tea"].map(|says| out.find(says));
    assert!(remembered.is_some() && remembered < reset && reset < known, "{out}");
    let (code, out, _) = Demo::run(&["demo", "--say", "how are you?"]);
    assert!(code == 0 && out.contains("start the demo with OPENAI_API_KEY"), "{out}");
    let (code, _, errors) = Demo::run(&["demo", "--say", "hi", "--in", "telegram:moon"]);
    assert_eq!(code, 2);
    assert!(errors.contains("slack:channel, line:user or line:group"), "{errors}");
    for place in ["telegram:group", "slack:channel", "line:group"] {
        let (code, out, errors) = Demo::run(&["demo", "--say", "/status", "--in", place]);
        assert_eq!((code, &*errors), (0, ""), "{place}");
        assert!(out.contains("Nothing is running"), "{place}: {out}");
    }
}

/// In Slack the app's own command is answered to its person alone.
#[test]
fn slacks_command_is_played_in_the_terminal() {
    for (place, line, says) in [
        ("slack:channel", "/selkie status", "(only you see this) Nothing is running"),
        ("slack:channel", "/selkie", "/selkie status"),
        ("slack:dm", "/selkie id", "`slack:"),
        ("slack:channel", "/selkie ask what can you do here?", "stand-in"),
    ] {
        let (code, out, errors) = Demo::run(&["demo", "--say", line, "--in", place]);
        assert_eq!((code, &*errors), (0, ""), "{line}: {out}");
        assert!(out.contains(says), "{line}: {out}");
    }
}

#[test]
fn a_story_in_the_terminal_shows_how_a_call_is_approved_once() {
    let (code, out, errors) = Demo::run(&["demo", "--story", "approval"]);
    assert_eq!((code, &*errors), (0, ""), "{out}");
    let lines = [
        "Grace: add to plan.txt: tea at four",
        "selkie: ⏳ I asked an owner for approval (changing files); I go on when they answer.",
        "May I create plan.txt (1 line)? Grace Hopper (tg:4712) asked for it in telegram:group “Tea room”:",
        "[Approve] [Deny]",
        "Ada presses Approve and reads: ✔ Approved by Ada Lovelace",
        "selkie: Added to plan.txt.",
        "Ada presses Approve once more and reads: Already decided: ✔ Approved by Ada Lovelace",
        "plan.txt holds: tea at four\n",
    ];
    let mut rest = &*out;
    for line in lines {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line:?} does not follow in:\n{out}"));
        rest = &rest[at + line.len()..];
    }
    assert_eq!(rest, "", "nothing twice: {out}");
}

#[test]
fn one_line_is_said_by_whom_it_names() {
    let line = ["demo", "--say", "what can you do here?", "--in", "telegram:topic"];
    let (code, out, errors) = Demo::run(&[&line[..], &["--as", "Linus"]].concat());
    assert_eq!(code, 0, "{errors}");
    assert!(!out.contains("`read_file`"), "a stranger's tools: {out}");
    for line in [["telegram:private", "--as", "grace"].as_slice(), &["telegram:grace"]] {
        let line = [&["demo", "--say", "remember that I like rope", "--in"], line].concat();
        let (code, out, errors) = Demo::run(&line);
        assert_eq!((code, &*errors), (0, ""), "in her own chat: {out}");
        assert!(out.contains("memory/tg.4712/MEMORY.md"), "{out}");
    }
    let (code, _, errors) = Demo::run(&["demo", "--say", "hi", "--as", "Linus"]);
    assert_eq!(code, 2);
    assert!(errors.contains("this private chat: it is Ada's"), "{errors}");
    let (code, _, errors) = Demo::run(&["demo", "--say", "hi", "--as", "Zoe"]);
    assert_eq!(code, 2);
    assert!(errors.contains("--as takes Ada, Grace or Linus, not \"Zoe\""), "{errors}");
    let (code, _, errors) = Demo::run(&["demo", "--story", "approval", "--say", "hi"]);
    assert_eq!(code, 2, "{errors}");
}

#[test]
fn what_a_demo_would_ignore_is_refused_by_name() {
    for (line, named) in [
        (&["demo", "--say", " "][..], "--say is empty"),
        (&["demo", "--in", "slack:dm"], "--say"),
        (&["demo", "--port", "9", "--say", "hi"], "--port"),
        (&["ask", " ", "--offline"], "TEXT is empty"),
    ] {
        let (code, out, errors) = Demo::run(line);
        assert_eq!((code, &*out), (2, ""), "{line:?}: {errors}");
        assert!(errors.contains(named), "{line:?}: {errors}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_whose_task_fails_fails_and_says_so_once() {
    let world = World::start().await;
    world.playground.model().script(vec![Turn::refuse(401, "no such key")]);
    let endpoint = world.playground.model_endpoint();
    let config = world.home.folder().join("demo.yaml");
    let llm =
        json!({ "llm": { "provider": "openai", "endpoint": endpoint, "api_key": "k-12345" } });
    std::fs::write(&config, llm.to_string()).expect("a config");
    let config = config.display().to_string();
    let run = move || Demo::run(&["demo", "--config", &config, "--say", "hi"]);
    let (code, out, errors) = tokio::task::spawn_blocking(run).await.expect("a thread");
    assert_eq!(code, 1, "{out}{errors}");
    assert!(errors.contains("Its tools are real") && !errors.contains("llm.api_key"), "{errors}");
    assert_eq!(out.matches("check llm.api_key").count(), 1, "{out}");
}

#[test]
fn a_demo_that_goes_on_with_an_earlier_ones_state_answers() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().to_str().unwrap();
    for place in ["telegram:private", "telegram:topic", "slack:dm", "line:user"] {
        for text in ["the first", "the second", "the third"] {
            let line = ["demo", "--state", state, "--say", text, "--in", place];
            let (code, out, errors) = Demo::run(&line);
            assert_eq!((code, &*errors), (0, ""), "{place}: {text}");
            assert!(out.contains(text), "{place}: {out}");
        }
    }
}

fn open(browser: &Browser, url: &str) -> Answer<()> {
    browser.resize(1280, 800)?;
    browser.prefer("light")?;
    browser.goto(url)?;
    browser.wait_until("document.documentElement.dataset.ready")?;
    browser.wait_until("document.querySelector('.pulse.up')")
}

/// A private chat with a note, a list and a reaction, the group's news in the list, a full shape.
fn picture(browser: &Browser, url: &str, file: &std::path::Path) -> Answer<()> {
    open(browser, url)?;
    browser.press(&format!("{ALT}2"))?;
    browser.wait_until("document.querySelector('#talk-title').textContent == 'Tea room'")?;
    answered(browser, "note: biscuits for Friday", 1)?;
    browser.press(&format!("{ALT}1"))?;
    browser.wait_until("document.querySelector('#talk-title').textContent == 'selkie · Ada'")?;
    answered(browser, "note: buy milk", 1)?;
    browser.click("#tries button:nth-child(3)")?;
    browser.wait_until("document.querySelector('.reactions')")?;
    browser.wait_until("document.querySelectorAll('#log .bot').length >= 2")?;
    answered(browser, "note: rope for the boat, then tell me my list", 3)?;
    browser.wait_until("document.querySelectorAll('.steps .call').length >= 2")?;
    // The mouse goes where it shows nothing.
    browser.click("#talk-title")?;
    browser.eval("document.activeElement.blur()")?;
    browser.screenshot(file)
}

/// The same question on three platforms, side by side.
fn picture_of_comparing(browser: &Browser, file: &std::path::Path) -> Answer<()> {
    browser.click("#compare-open")?;
    browser.click("#compare-form .primary")?;
    browser.wait_until("document.querySelectorAll('.cmp-heads blockquote').length == 4")?;
    browser.wait_until("document.querySelectorAll('.cmp-heads .pill.done').length == 4")?;
    browser.eval("document.activeElement.blur()")?;
    browser.screenshot(file)
}

/// Writes, and waits for so many messages of the bot and the end of the task.
fn answered(browser: &Browser, text: &str, bot: usize) -> Answer<()> {
    browser.type_keys("#text", &format!("{text}{ENTER}"))?;
    browser.wait_until(&format!("document.querySelectorAll('#log .bot').length >= {bot}"))?;
    let mark = serde_json::json!(text);
    browser.wait_until(&format!("document.querySelector('.asked').textContent == {mark}"))?;
    browser.wait_until("document.querySelector('.task-head .pill.done')")
}

/// Walks through the page of a running demo with the offline stand-in: talk, shape, group, compare,
/// phone.
fn journey(browser: &Browser, url: &str) -> Answer<()> {
    open(browser, url)?;
    assert_eq!(browser.text("#model")?, "built-in stand-in");
    talk_in_private(browser)?;
    foreign_text_stays_text(browser)?;
    reply_by_keyboard(browser)?;
    send_a_file(browser)?;
    react(browser)?;
    ask_in_the_group(browser)?;
    ask_for_approval(browser)?;
    speak_as_a_stranger(browser)?;
    can_be_read_by_all(browser)?;
    talk_on_other_platforms(browser)?;
    compare_beside_an_open_question(browser)?;
    goes_on_after_the_back_button(browser)?;
    compare(browser)?;
    is_the_same_after_a_reload(browser, url)?;
    fits_a_phone(browser)?;
    assert_eq!(browser.complaints()?, Vec::<String>::new());
    Ok(())
}

fn talk_in_private(browser: &Browser) -> Answer<()> {
    browser.type_keys("#text", &format!("note: buy milk{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .bot')")?;
    browser.wait_until("document.querySelector('.pill.done')")?;
    assert_eq!(browser.text(".mine .text")?, "note: buy milk");
    let setting = browser.eval("document.querySelector('.setting').dataset.setting")?;
    assert_eq!(setting, "telegram:private · owner · asked · normal");
    says_it_in_plain_words(browser)?;
    let calls =
        browser.eval("[...document.querySelectorAll('.steps .call b')].map(e => e.textContent)")?;
    assert_eq!(calls, serde_json::json!(["todo_read", "todo_write"]));
    assert_eq!(browser.text("#shape .part h3")?, "Steps", "what it did stands above what it may");
    assert_eq!(browser.text(".chat[aria-current] .chat-title")?, browser.text("#talk-title")?);
    Ok(())
}

/// What the daemon calls by short names is told in words, and the short name explains itself.
fn says_it_in_plain_words(browser: &Browser) -> Answer<()> {
    let words = |css: &str| {
        browser.eval(&format!("[...document.querySelectorAll('{css}')].map(e => e.textContent)"))
    };
    let classes = [
        "read",
        "take notes",
        "answer",
        "write files",
        "run programs",
        "use the web",
        "write to others",
        "hand over",
        "post in public",
    ];
    assert_eq!(words(".there dt")?, serde_json::json!(classes));
    assert_eq!(
        words(".setting span")?,
        serde_json::json!(["Telegram private chat", "the owner asks"])
    );
    let bare =
        "[...document.querySelectorAll('.there dt, .setting span, .term, .pill, #talk-sub span')]
        .filter(e => e.checkVisibility() && !e.title).map(e => e.outerHTML)";
    assert_eq!(browser.eval(bare)?, serde_json::json!([]), "a term without its tooltip");
    Ok(())
}

fn foreign_text_stays_text(browser: &Browser) -> Answer<()> {
    browser.type_keys("#text", &format!("<img src=x onerror=alert(1)>{ENTER}"))?;
    browser.wait_until("document.querySelector('#log').textContent.includes('<img src=x')")?;
    assert_eq!(browser.eval("document.querySelectorAll('#log .text img').length")?, 0);
    Ok(())
}

fn reply_by_keyboard(browser: &Browser) -> Answer<()> {
    browser.type_keys("#text", UP)?;
    browser.wait_until("document.activeElement.matches('.msg:last-child')")?;
    browser.press("r")?;
    browser.wait_until("!document.querySelector('#reply-to').hidden")?;
    browser.wait_until("document.activeElement.id == 'text'")?;
    browser.press(ESCAPE)?;
    browser.wait_until("document.querySelector('#reply-to').hidden")?;
    browser.type_keys("#text", "/st")?;
    browser.wait_until("document.querySelectorAll('#hints li').length == 3")?;
    browser.press(ENTER)?;
    assert_eq!(browser.eval("document.querySelector('#text').value")?, "/status");
    browser.eval("document.querySelector('#text').value = ''").map(drop)
}

fn send_a_file(browser: &Browser) -> Answer<()> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("tide <b>.txt");
    std::fs::write(&file, "high water 06:12").map_err(|e| e.to_string())?;
    browser.type_keys("#file", &file.display().to_string())?;
    browser.wait_until("document.querySelector('.pend')")?;
    browser.click("#send")?;
    browser.wait_until("document.querySelector('.mine .file-name')")?;
    assert_eq!(browser.text(".mine .file-name")?, "tide <b>.txt");
    browser
        .wait_until("document.querySelector('#log').textContent.includes('I have your file')")?;
    // By the name it has in the chat, as the answer offers it.
    browser.type_keys("#text", &format!("read \"tide <b>.txt\"{ENTER}"))?;
    browser.wait_until("document.querySelector('#log').textContent.includes('high water 06:12')")
}

/// By keyboard and by mouse, on Telegram and on Slack; a second press takes it back. LINE has none.
fn react(browser: &Browser) -> Answer<()> {
    browser.type_keys("#text", UP)?;
    browser.wait_until("document.activeElement.matches('.msg.bot:last-child')")?;
    browser.press("+")?;
    browser.wait_until("document.activeElement.matches('.palette button')")?;
    assert_eq!(browser.eval(PALE)?, serde_json::json!([]));
    assert_eq!(browser.eval(NAMELESS)?, serde_json::json!([]));
    browser.press(ESCAPE)?;
    browser.wait_until("document.activeElement.matches('.msg.bot:last-child')")?;
    browser.press("+")?;
    browser.press(ENTER)?;
    let mine = "document.querySelector('.msg.bot:last-child .reactions [aria-pressed=true]')";
    browser.wait_until(&format!("{mine}?.title == 'Ada'"))?;
    assert_eq!(browser.eval(&format!("{mine}.textContent"))?, "👍");
    browser.click(".msg.bot:last-child .reactions button")?;
    browser.wait_until("!document.querySelector('.msg.bot:last-child .reactions')")?;
    browser.press(&format!("{ALT}6"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('channel')")?;
    browser.click("#mention")?;
    browser.type_keys("#text", &format!("tea at four{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .mine')")?;
    browser.type_keys("#text", UP)?;
    browser.wait_until("document.activeElement.matches('.msg.mine')")?;
    browser.click(".msg.mine .react")?;
    browser.click(".palette button:nth-child(6)")?;
    // As the page has it: what just rises is not to be seen yet.
    let mine = mine.replace(".bot:last-child", ".mine");
    browser.wait_until(&format!("{mine}?.textContent == '🍵'"))?;
    browser.click("#mention")?;
    browser.press(&format!("{ALT}7"))?;
    browser
        .wait_until("document.querySelector('#talk-sub').textContent.includes('LINE private')")?;
    browser.type_keys("#text", &format!("note: tea{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .bot')")?;
    assert_eq!(browser.eval("document.querySelectorAll('.react').length")?, 0);
    browser.press(&format!("{ALT}1"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('private')")
}

fn ask_in_the_group(browser: &Browser) -> Answer<()> {
    browser.press(&format!("{ALT}2"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('group')")?;
    browser.type_keys("#text", &format!("what can you do here?{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .bot')")?;
    browser.wait_until(
        "document.querySelector('.setting')?.dataset.setting.startsWith('telegram:group ')",
    )
}

/// Grace asks for what needs the owner's approval. The page shows it in the chat that waits and in the list; the owner
/// allows it; it is done once, and an old button changes nothing.
fn ask_for_approval(browser: &Browser) -> Answer<()> {
    browser.click("#as-who option:nth-child(2)")?;
    browser.type_keys("#text", &format!("add to plan.txt: tea at four{ENTER}"))?;
    browser.wait_until("document.querySelector('.task-head .waits p')?.textContent == 'Grace Hopper (Telegram group) wants selkie to create plan.txt (1 line):'")?;
    browser.wait_until("document.querySelector('.call .approval-is.open')")?;
    browser.wait_until(
        "document.querySelector('#approval').textContent.includes('The owner has been asked for approval')",
    )?;
    browser.wait_until(
        "document.querySelector('#chats li:first-child .dot')?.textContent == 'approval?'",
    )?;
    assert_eq!(browser.eval(PALE)?, serde_json::json!([]));
    assert_eq!(browser.eval(NAMELESS)?, serde_json::json!([]));
    browser.wait_until(
        "document.querySelector('#log').textContent.includes('I asked an owner for approval')",
    )?;
    browser.click("#approval button")?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('private')")?;
    browser.wait_until("document.querySelector('.msg.asks .keyboard')")?;
    assert_eq!(browser.eval(PALE)?, serde_json::json!([]));
    let button = "fetch('/api/chats/telegram:private/messages').then(r => r.json())
        .then(all => all.findLast(m => m.keyboard)).then(m => ({ message_id: m.id, data: m.keyboard[0][0].callback_data }))";
    let button = browser.eval(button)?;
    browser.click(".msg.asks .keyboard button")?;
    let toast = |text: &str| format!("document.querySelector('#toast').textContent == '{text}'");
    browser.wait_until(&toast("✔ Approved by Ada Lovelace"))?;
    browser.wait_until("!document.querySelector('.msg.asks, .keyboard, #chats .dot[title]')")?;
    // From a screen that still shows the button.
    browser.eval(&format!(
        "fetch('/api/chats/telegram:private/press', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }},
            body: JSON.stringify({button}) }}).then(r => r.status)"
    ))?;
    browser.wait_until(&toast("Already decided: ✔ Approved by Ada Lovelace"))?;
    browser.press(&format!("{ALT}2"))?;
    browser.wait_until("document.querySelector('.approval-is.consumed')")?;
    browser.wait_until("document.querySelector('.task-head .pill.done')")?;
    let made = "[...document.querySelectorAll('#log .bot .text')].filter(t => t.textContent == 'Added to plan.txt.').length";
    // The task has ended a moment before the chat shows what it said.
    browser.wait_until(&format!("{made} == 1"))?;
    assert_eq!(browser.eval("document.querySelector('#approval').hidden")?, true);
    browser.click("#as-who option:nth-child(1)")
}

/// In the forum nobody but the owner is known: a shape with less in it, and the reason beside.
fn speak_as_a_stranger(browser: &Browser) -> Answer<()> {
    browser.press(&format!("{ALT}3"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('topic')")?;
    browser.click("#as-who option:nth-child(3)")?;
    browser.type_keys("#text", &format!("write a.txt: high tide{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .bot')")?;
    let answer = browser.text("#log .bot .text")?;
    assert!(answer.contains("hidden for strangers"), "{answer}");
    browser
        .wait_until("document.querySelector('.hidden-tools').textContent.includes('write_file')")?;
    browser.wait_until("document.querySelector('.call.bad')")
}

fn can_be_read_by_all(browser: &Browser) -> Answer<()> {
    for scheme in ["dark", "light"] {
        browser.prefer(scheme)?;
        for chat in ["3", "1"] {
            browser.press(&format!("{ALT}{chat}"))?;
            browser.wait_until(&format!("document.querySelector('.chat[aria-current]').getAttribute('aria-keyshortcuts') == 'Alt+{chat}'"))?;
            browser.wait_until("document.querySelector('#log .bot')")?;
            assert_eq!(browser.eval(PALE)?, serde_json::json!([]), "{scheme}");
            assert_eq!(browser.eval(NAMELESS)?, serde_json::json!([]));
        }
    }
    Ok(())
}

/// The shape of the last task is read from the ledger, not remembered by the page.
fn is_the_same_after_a_reload(browser: &Browser, url: &str) -> Answer<()> {
    let shape = "[...document.querySelectorAll('#shape :is(.asked, .setting, .chip, .steps h4)')]
        .map(e => e.textContent)";
    browser.wait_until("document.querySelector('.asked').textContent.includes('low tide')")?;
    browser.wait_until("document.querySelector('.task-head .pill.done')")?;
    let before = browser.eval(shape)?;
    open(browser, url)?;
    browser.wait_until("document.querySelector('.task-head .pill.done')")?;
    assert_eq!(browser.eval(shape)?, before);
    Ok(())
}

fn compare(browser: &Browser) -> Answer<()> {
    browser.click("#compare-open")?;
    let chosen = "document.querySelectorAll('#compare-who [aria-pressed=true]').length";
    assert_eq!(browser.eval(chosen)?, 4, "a private chat, two groups and a channel");
    browser.eval("document.querySelector('#compare-text').value = ''")?;
    browser.type_keys("#compare-text", "note: low tide at noon")?;
    browser.click("#compare-form .primary")?;
    let answers = "[...document.querySelectorAll('.cmp-heads blockquote')]";
    let answered = format!("{answers}.filter(q => q.textContent.includes('low tide')).length == 4");
    browser.wait_until(&answered)?;
    browser.wait_until("document.querySelectorAll('.cmp-heads .pill.done').length == 4")?;
    let askers = "[...document.querySelectorAll('.cmp-heads small')].map(s => s.textContent)";
    assert_eq!(browser.eval(askers)?, serde_json::json!(vec!["Ada asks"; 4]));
    let settings = "[...document.querySelectorAll('.cmp-heads .setting')]";
    let settings =
        browser.eval(&format!("{settings}.map(s => s.dataset.setting.split(' ')[0])"))?;
    let wanted = ["telegram:private", "telegram:group", "slack:channel", "line:group"];
    assert_eq!(settings, serde_json::json!(wanted));
    // Each column of the table is a shape of its own: what is there and why not differs.
    let column = "n => [...document.querySelectorAll(`.cmp tbody td:nth-child(${n})`)]
        .map(cell => cell.textContent).join('|')";
    let shapes = browser.eval(&format!("new Set([2, 3, 4, 5].map({column})).size"))?;
    assert_eq!(shapes, 4, "four shapes");
    assert_ne!(browser.eval("document.querySelectorAll('.cmp .differs').length")?, 0);
    // X can be looked at beside the others, and is not asked.
    browser.click("#compare-who :nth-child(9)")?;
    browser.wait_until(
        "document.querySelector('.cmp-heads').textContent.includes('does not listen')",
    )?;
    can_be_seen_by_all(browser)?;
    browser.click("#compare-who :nth-child(9)")?;
    browser.click("#compare-close")
}

/// Where a question is open nothing is asked to compare: it would be taken for the answer.
fn compare_beside_an_open_question(browser: &Browser) -> Answer<()> {
    browser.press(&format!("{ALT}1"))?;
    browser.type_keys("#text", &format!("ask me: tea or coffee?{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .keyboard')")?;
    browser.click("#compare-open")?;
    browser.eval("document.querySelector('#compare-text').value = ''")?;
    browser.type_keys("#compare-text", "tea")?;
    browser.click("#compare-form .primary")?;
    browser.wait_until("document.querySelectorAll('.cmp-heads .busy').length == 1")?;
    let answered = "document.querySelectorAll('.cmp-heads article:not(:has(.busy)) blockquote')";
    browser.wait_until(&format!("{answered}.length == 3"))?;
    let others = "[...document.querySelectorAll('.cmp-heads article > :not(.busy)')]";
    browser.wait_until(&format!("!{others}.some(e => e.textContent.includes('waiting'))"))?;
    let first = "document.querySelector('.cmp-heads small').textContent";
    assert_eq!(browser.eval(first)?, serde_json::json!("the newest task"));
    browser.click("#compare-close")?;
    browser.wait_until("document.querySelector('#log .keyboard')")?;
    browser.type_keys("#text", &format!("tea{ENTER}"))?;
    browser.wait_until("document.querySelector('.task-head .pill.done')")
}

/// A page that the browser keeps for its back button has no stream, and has one again when it is back.
fn goes_on_after_the_back_button(browser: &Browser) -> Answer<()> {
    let event =
        |name| format!("dispatchEvent(new PageTransitionEvent('{name}', {{persisted: true}}))");
    browser.eval(&event("pagehide"))?;
    browser.eval(&event("pageshow"))?;
    let before = "document.querySelectorAll('#log .bot').length";
    let count = browser.eval(before)?;
    browser.type_keys("#text", &format!("note: back again{ENTER}"))?;
    browser.wait_until(&format!("{before} > {count}"))
}

/// The dialog is readable in light and dark, and every control of it has a name.
fn can_be_seen_by_all(browser: &Browser) -> Answer<()> {
    for scheme in ["dark", "light"] {
        browser.prefer(scheme)?;
        assert_eq!(browser.eval(PALE)?, serde_json::json!([]), "{scheme}");
        assert_eq!(browser.eval(NAMELESS)?, serde_json::json!([]));
    }
    Ok(())
}

/// Slack and LINE are chats like the others: a mention is answered, what names nobody is not.
fn talk_on_other_platforms(browser: &Browser) -> Answer<()> {
    for (chat, setting) in [("6", "slack:channel"), ("8", "line:group")] {
        browser.press(&format!("{ALT}{chat}"))?;
        browser.wait_until(&format!("decodeURIComponent(location.hash) == '#{setting}'"))?;
        browser.click("#mention")?;
        browser.type_keys("#text", &format!("only among us{ENTER}"))?;
        browser.wait_until("[...document.querySelectorAll('#log .mine .text')].some(t => t.textContent == 'only among us')")?;
        browser.click("#mention")?;
        browser.type_keys("#text", &format!("note: oars for {setting}{ENTER}"))?;
        browser.wait_until("document.querySelector('#log .bot')")?;
        let answers = browser.eval("[...document.querySelectorAll('#log .bot')].length")?;
        assert_eq!(answers, 1, "{setting}: one question was meant for the bot");
        let timeless = "[...document.querySelectorAll('#log time')].filter(t => !/^\\d\\d:\\d\\d$/.test(t.textContent)).length";
        assert_eq!(browser.eval(timeless)?, 0, "{setting}: every message has its time");
        browser.wait_until(&format!(
            "document.querySelector('.setting')?.dataset.setting.startsWith('{setting} ')"
        ))?;
    }
    // On X the account's owner posts by hand, and nothing is answered.
    browser.press(&format!("{ALT}9"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('timeline')")?;
    browser.type_keys("#text", &format!("by hand{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .mine .text')?.textContent == 'by hand'")?;
    browser.press(&format!("{ALT}1"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('private')")
}

fn fits_a_phone(browser: &Browser) -> Answer<()> {
    browser.resize(360, 640)?;
    for pane in ["chats", "talk", "shape"] {
        browser.click(&format!(".tabs [data-pane={pane}]"))?;
        let too_wide = browser.eval("document.documentElement.scrollWidth - innerWidth")?;
        assert_eq!(too_wide, 0, "{pane} scrolls sideways");
        assert_eq!(
            browser.eval(&format!("document.querySelector('#pane-{pane}').checkVisibility()"))?,
            true
        );
    }
    Ok(())
}

/// The page itself.
const INDEX: &str = include_str!("../../channels/playground/page/index.html");

fn page_file(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/channels/playground/page");
    std::fs::read_to_string(format!("{folder}/{}", name.trim_start_matches('/'))).unwrap()
}

/// Serves the page's files and nothing else: a playground that has gone. Ends with the test.
fn files_alone() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            let line = String::from_utf8_lossy(&request[..read]).into_owned();
            let (status, mime, body) = match line.split(' ').nth(1) {
                Some("/") => (200, "text/html", INDEX.to_owned()),
                Some(path) if path.ends_with(".js") => (200, "text/javascript", page_file(path)),
                Some("/style.css") => (200, "text/css", page_file("style.css")),
                _ => (503, "text/plain", String::new()),
            };
            let length = body.len();
            // A browser that hangs up early asks again.
            drop(write!(
                stream,
                "HTTP/1.1 {status} -\r\ncontent-type: {mime}; charset=utf-8\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{body}"
            ));
        }
    });
    url
}

/// Nobody writes meanwhile: the page asks by itself.
#[test]
fn while_the_database_is_away_the_page_says_so() {
    let server = selkie_test_postgres::Server::start("");
    let url = server.database();
    let demo = Demo::start_with(&[("SELKIE__STORE__URL", url.as_str())]);
    let browser = Browser::start().unwrap();
    open(&browser, demo.url()).unwrap();
    for stops in [selkie_test_postgres::Server::stop, selkie_test_postgres::Server::crash] {
        stops(&server);
        browser.wait_until("document.querySelector('.pulse.stuck')").unwrap();
        assert_eq!(browser.text("#pulse").unwrap(), "no database");
        assert!(browser.text("#banner").unwrap().contains("cannot use its database"));
        server.start_again("");
        browser.wait_until("document.querySelector('.pulse.up')").unwrap();
        assert_eq!(browser.eval("document.querySelector('#banner').hidden").unwrap(), json!(true));
    }
}

#[test]
fn without_its_playground_the_page_says_so_and_stays_in_shape() {
    let browser = Browser::start().unwrap();
    browser.prefer("dark").unwrap();
    browser.resize(360, 640).unwrap();
    browser.goto(&files_alone()).unwrap();
    browser.wait_until("!document.querySelector('#banner').hidden").unwrap();
    assert!(browser.text("#banner").unwrap().contains("start it again"));
    assert_eq!(browser.text("#pulse").unwrap(), "playground offline");
    assert_eq!(browser.eval("document.documentElement.scrollWidth - innerWidth").unwrap(), 0);
    let refused = browser.wait_until("document.querySelector('.no-such-thing'").unwrap_err();
    assert!(refused.contains("javascript error"), "{refused}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("page.png");
    browser.screenshot(&file).unwrap();
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
}
