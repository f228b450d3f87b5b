//! Real speech, read by a real recognizer: `espeak-ng` says it, `opusenc` records it, each emulated platform brings it, and
//! pocketsphinx writes it down. `tests/run --speech` installs these and runs it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use selkie_playground::line_platform::{self, Draft, MediaKind};
use selkie_playground::slack;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, PRIVATE};
use serde_json::json;

use crate::support::line::{self, Line};
use crate::support::world::World;

/// What the recognizer gets right of this voice.
const WORDS: [&str; 2] = ["good morning", "hello my friend"];

/// The server; it ends with its standard input.
struct Recognizer {
    _child: Child,
    endpoint: String,
}

impl Recognizer {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch, not the daemon's")]
    fn start() -> Self {
        let python = std::env::var("SELKIE_SPEECH_PYTHON").expect("tests/run --speech sets it");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/pocketsphinx_server.py");
        let mut child = Command::new(python)
            .args(["-B", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python");
        let mut port = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut port).expect("its port");
        Self { _child: child, endpoint: format!("http://127.0.0.1:{}/v1", port.trim()) }
    }
}

/// Says it and records it: OGG with Opus.
fn recorded(words: &str) -> Vec<u8> {
    let said = Command::new("espeak-ng")
        .args(["-v", "en-us", "-s", "130", "--stdout", words])
        .output()
        .expect("espeak-ng");
    let mut recorder = Command::new("opusenc")
        .args(["--quiet", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("opusenc");
    let mut input = recorder.stdin.take().expect("its input");
    input.write_all(&said.stdout).expect("a recording");
    drop(input);
    recorder.wait_with_output().expect("a recording").stdout
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs espeak-ng, opusenc and pocketsphinx: tests/run --speech"]
async fn real_speech_is_understood_on_every_channel() {
    let recognizer = Recognizer::start();
    // The recognizer gets less right of a recording that was converted.
    for (format, heard) in [("original", &WORDS[..]), ("wav", &WORDS[..1])] {
        let mut world = World::start().await;
        let section =
            json!({ "endpoint": recognizer.endpoint, "model": "pocketsphinx", "format": format });
        world.home.set("transcription", section);
        world.add_slack();
        line::add(&mut world, json!({}));
        let slack = format!("slack:{}:{}", slack::TEAM, slack::ADA);
        let owners = json!([format!("tg:{ADA}"), slack, format!("line:{}", line_platform::ADA)]);
        world.home.set("owners", owners);
        let daemon = world.daemon();
        let line = Line { world, daemon };
        line.listening().await;
        for words in heard {
            let said = recorded(words);
            let draft = FileDraft::new(FileKind::Voice, "v.ogg", said.clone());
            let message = line.world.telegram().upload(PRIVATE, ADA, draft);
            let answer = line.world.answer(ADA, message).await;
            assert!(answer.ends_with(&format!("(voice, 0:01) {words}")), "{format}: {answer}");
            if format == "wav" {
                // Only Telegram's form can be converted.
                continue;
            }
            let slack = line.world.slack();
            let message = slack.clip(slack::DM, slack::ADA, slack::ADA, said.clone());
            let answer = slack.wait_for_answer(slack::DM, &message);
            let answer = line.world.within("an answer", answer).await.text;
            assert!(answer.ends_with(&format!("(voice, 0:14) {words}")), "{answer}");
            let me = line_platform::ADA;
            let draft = Draft::new(MediaKind::Audio, "", said);
            let message = line.platform().upload(me, me, draft);
            let answer = line.answer(me, &message).await.text;
            assert!(answer.ends_with(&format!("(voice, 0:14) {words}")), "{answer}");
        }
    }
}
