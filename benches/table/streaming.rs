//! Answers while they are written: how much later than the model wrote it a word is there, at the terminal and in a chat.
//! The model writes when it is told to, so what it takes itself is known, and taken off.

use std::io::Read as _;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use selkie_playground::telegram::BotMessage;
use selkie_playground::telegram::FIRST_PERSON;
use selkie_playground::{Behaviour, Options, Pace, Playground, Turn};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::subject::{Kind, Subject};

/// How often the terminal asks.
const ASKED: usize = 30;
/// How long the model thinks about it, so that its own time is something.
const THINKS: Duration = Duration::from_millis(100);
/// How many answers are written into a chat, and how long their pieces and the pauses between them are.
const WRITTEN: usize = 10;
const PIECES: usize = 24;
const MORE_PIECES: usize = 3;
const PAUSE: Duration = Duration::from_millis(130);
/// What takes longer is lost.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Stands at the end of every answer.
const LAST: &str = "farewell";

/// How late words are.
pub struct Late {
    /// The first token at the terminal, from the start of `selkie ask`; what the model took itself is taken off.
    pub terminal: Vec<Duration>,
    /// Of these: from the model's writing it until it was read.
    pub read: Vec<Duration>,
    /// The first words in a chat, after the model wrote its first.
    pub chat: Vec<Duration>,
    /// The last word in a chat, after the model wrote it, of an answer that is shown while it is written.
    pub streamed: Vec<Duration>,
    /// The same of one that is shown whole.
    pub whole: Vec<Duration>,
}

/// Measures it, with the pace that Telegram keeps.
pub async fn measure(folder: &Path) -> Late {
    let (mut terminal, mut read) = (Vec::new(), Vec::new());
    let (mut chat, mut streamed, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for kind in [Kind::Streaming, Kind::Whole] {
        let options =
            Options { pace: Pace::Held, behaviour: Behaviour::Echo, ..Options::default() };
        let playground = Playground::start(options).await.expect("a playground on a free port");
        let (subject, _) = Subject::start(kind, &playground, folder).await;
        if let Kind::Streaming = kind {
            for _ in 0..ASKED {
                let first = first_token(&playground, subject.ask("when is the tide?")).await;
                terminal.push(first.over);
                read.push(first.read);
            }
        }
        let mut said = playground.telegram().watch();
        for number in 0..WRITTEN {
            let written = write(&playground, &mut said, number).await;
            eprintln!("{kind:?}: {written:?}");
            match kind {
                Kind::Whole => whole.push(written.last),
                _ => {
                    chat.push(written.first);
                    streamed.push(written.last);
                }
            }
        }
        subject.stop();
        playground.stop().await;
    }
    let mut late = Late { terminal, read, chat, streamed, whole };
    let all =
        [&mut late.terminal, &mut late.read, &mut late.chat, &mut late.streamed, &mut late.whole];
    all.into_iter().for_each(|times| times.sort());
    late
}

struct First {
    over: Duration,
    read: Duration,
}

/// Asks once and waits for the first token.
async fn first_token(playground: &Playground, mut ask: Command) -> First {
    let model = playground.model();
    model.script(vec![Turn::paced(["", "The", " water."])]);
    let calls = model.calls();
    let start = Instant::now();
    let mut child = ask
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("selkie ask starts");
    let out = child.stdout.take().expect("its output");
    let reading = tokio::task::spawn_blocking(move || read_first(out));
    tokio::time::timeout(TIMEOUT, model.wait_for_calls(calls + 1)).await.expect("a request");
    let asked = Instant::now();
    tokio::time::sleep(THINKS).await;
    let wrote = Instant::now();
    model.write_on(1);
    let (shown, rest) =
        tokio::time::timeout(TIMEOUT, reading).await.expect("a token").expect("the reader");
    model.write_on(2);
    let ended = tokio::task::spawn_blocking(move || {
        drop(rest);
        child.wait()
    });
    drop(ended.await);
    First { over: shown - start - (wrote - asked), read: shown - wrote }
}

/// When the first bytes came; what comes behind them is for the caller to let go.
fn read_first(mut out: ChildStdout) -> (Instant, ChildStdout) {
    let mut piece = [0; 64];
    let read = out.read(&mut piece).expect("a token");
    assert!(read > 0, "selkie ask ended without a word");
    (Instant::now(), out)
}

/// How late the first and the last words of an answer were there.
#[derive(Debug)]
struct Written {
    first: Duration,
    last: Duration,
}

/// Lets the model write an answer into a chat of its own.
async fn write(
    playground: &Playground,
    said: &mut UnboundedReceiver<BotMessage>,
    number: usize,
) -> Written {
    // Of several lengths, so that the end comes at any point of what lies between two edits.
    let count = PIECES + number * MORE_PIECES;
    let words: Vec<String> = (0..count).map(|word| format!("word{word} ")).collect();
    let pieces = std::iter::once("").chain(words.iter().map(String::as_str)).chain([LAST]);
    let model = playground.model();
    model.script(vec![Turn::paced(pieces)]);
    let calls = model.calls();
    let chat = FIRST_PERSON + i64::try_from(number).expect("a few chats");
    playground.telegram().add_person(chat, &format!("Reader {number}"));
    playground.telegram().say(chat, chat, "tell me all");
    tokio::time::timeout(TIMEOUT, model.wait_for_calls(calls + 1)).await.expect("a request");
    let writing = async {
        let began = Instant::now();
        for _ in 0..count {
            model.write_on(1);
            tokio::time::sleep(PAUSE).await;
        }
        let ended = Instant::now();
        // Its last word, and its end.
        model.write_on(2);
        (began, ended)
    };
    let reading = async {
        let mut first = None;
        loop {
            let said = tokio::time::timeout(TIMEOUT, said.recv()).await.expect("the last word");
            let said = said.expect("the playground lives");
            if said.chat != chat || !said.text.contains("word0") {
                continue;
            }
            let first = *first.get_or_insert(said.at);
            if said.text.ends_with(LAST) {
                return (first, said.at);
            }
        }
    };
    let ((began, ended), (first, last)) = tokio::join!(writing, reading);
    Written {
        first: first.saturating_duration_since(began),
        last: last.saturating_duration_since(ended),
    }
}
