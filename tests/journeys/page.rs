//! The demo's page in a real browser: what a person sees and does there.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::support::browser::{ALT, Answer, Browser, ENTER, ESCAPE, UP};

/// Walks through the page of a running demo with the offline stand-in: talk, shape, group, compare,
/// phone.
#[expect(dead_code, reason = "the journey test calls it as soon as the demo command is there")]
fn journey(browser: &Browser, url: &str) -> Answer<()> {
    browser.resize(1280, 800)?;
    browser.goto(url)?;
    browser.wait_until("document.documentElement.dataset.ready")?;
    browser.wait_until("document.querySelector('.pulse.up')")?;
    talk_in_private(browser)?;
    foreign_text_stays_text(browser)?;
    reply_by_keyboard(browser)?;
    send_a_file(browser)?;
    ask_in_the_group(browser)?;
    compare(browser)?;
    fits_a_phone(browser)?;
    assert_eq!(browser.complaints()?, Vec::<String>::new());
    Ok(())
}

fn talk_in_private(browser: &Browser) -> Answer<()> {
    browser.type_keys("#text", &format!("note: buy milk{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .bot')")?;
    browser.wait_until("document.querySelector('.pill.done')")?;
    assert_eq!(browser.text(".mine .text")?, "note: buy milk");
    assert_eq!(browser.text(".setting span")?, "telegram:private");
    assert_eq!(browser.text(".steps .call b")?, "todo_write");
    assert_eq!(browser.text(".chat[aria-current] .chat-title")?, browser.text("#talk-title")?);
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
    Ok(())
}

fn ask_in_the_group(browser: &Browser) -> Answer<()> {
    browser.press(&format!("{ALT}2"))?;
    browser.wait_until("document.querySelector('#talk-sub').textContent.includes('group')")?;
    browser.type_keys("#text", &format!("what can you do here?{ENTER}"))?;
    browser.wait_until("document.querySelector('#log .bot')")?;
    browser
        .wait_until("document.querySelector('.setting span')?.textContent == 'telegram:group'")?;
    browser.wait_until("document.querySelector('.hidden-tools li > span')?.textContent")
}

fn compare(browser: &Browser) -> Answer<()> {
    browser.click("#compare-open")?;
    browser.click("#compare-form .primary")?;
    browser.wait_until("document.querySelectorAll('.cmp-heads .pill.done').length == 3")?;
    browser.wait_until("document.querySelectorAll('.cmp-heads blockquote').length == 3")?;
    assert_ne!(browser.eval("document.querySelectorAll('.cmp .differs').length")?, 0);
    browser.click("#compare-close")
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

/// Serves the three files and nothing else: a playground that has gone. Ends with the test.
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
                Some("/") => {
                    (200, "text/html", include_str!("../../channels/playground/page/index.html"))
                }
                Some("/app.js") => {
                    (200, "text/javascript", include_str!("../../channels/playground/page/app.js"))
                }
                Some("/style.css") => {
                    (200, "text/css", include_str!("../../channels/playground/page/style.css"))
                }
                _ => (503, "text/plain", ""),
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
