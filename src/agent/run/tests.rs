use chrono::TimeDelta;
use proptest::prelude::*;
use selkie_channel_core::{AccountId, ConversationId, PersonId};
use serde_json::json;

use super::*;
use crate::Newer;
use selkie_domain::approval::ApprovalState;
use selkie_domain::ids::{OutboundId, TaskId};
use selkie_domain::own_form::OwnForm;
use selkie_domain::question::{self, Person, QuestionResult, QuestionState};
use selkie_domain::span::Span;
use selkie_domain::transcript::Answer;
use selkie_store::{QuestionRow, SeenTask};
use selkie_tools::CallQuestion;

fn start() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn hello() -> Vec<UserMessage> {
    vec![UserMessage {
        inbox: None,
        at: start(),
        local: String::new(),
        speaker: "Ada".into(),
        text: "hello".into(),
        quote: None,
        forwarded: false,
        origin: String::new(),
        talk: false,
        relayed: false,
        agent: None,
        spoken: Vec::new(),
        files: vec![],
        pictures: vec![],
    }]
}

fn begin() -> Run {
    Run::begin(Settings::default(), hello(), Vec::new(), start())
}

fn reply(text: &str, calls: &[(&str, serde_json::Value)]) -> Reply {
    let calls = calls.iter().map(|(name, arguments)| Call {
        id: "provider-id".into(),
        name: (*name).into(),
        arguments: arguments.clone(),
    });
    let usage = Usage { calls: 1, input: 10, output: 5, ..Usage::default() };
    Reply {
        text: text.into(),
        calls: calls.collect(),
        pictures: Vec::new(),
        usage,
        own: None,
        stopped: None,
        by: "t".into(),
    }
}

fn ask(run: &mut Run) -> AskModel {
    match run.next(start()) {
        Next::AskModel(ask) => ask,
        other => panic!("{other:?}"),
    }
}

fn end(run: &mut Run) -> DriveOutcome {
    match run.next(start()) {
        Next::Done(ending) => *ending,
        other => panic!("{other:?}"),
    }
}

/// Does what the drive does with the open calls: judges, and answers `text` for those that are made.
fn make_calls(run: &mut Run, text: &str) -> Vec<Answer> {
    let calls = run.open_calls().expect("open calls").to_vec();
    let answers: Vec<_> = calls
        .iter()
        .map(|c| {
            let made = Answer::words(&c.id, text);
            run.judge(c).unwrap_or(made)
        })
        .collect();
    run.answered(&calls, answers.clone());
    answers
}

/// Calls of this tool stand alone.
fn alone(name: &'static str) -> impl Fn(&Call) -> Standing {
    move |call| if call.name == name { Standing::Alone } else { Standing::Beside }
}

#[test]
fn a_plain_answer_is_one_step() {
    let mut run = begin();
    assert_eq!(
        ask(&mut run),
        AskModel { may_call: true, history: true, fittings: 0, step: 1, may_end: false }
    );
    run.replied(reply("hi", &[]));
    let ending = end(&mut run);
    assert_eq!((ending.end, ending.text.as_str()), (End::Done, "hi"));
    assert_eq!(ending.append.len(), 2);
    assert_eq!(ending.usage.tokens(), 15);
}

#[test]
fn an_empty_answer_ends_a_run_that_has_done_something() {
    let noted = ("todo_update", json!({}));
    for (words, worked, expected) in [
        ("Noted.", true, "Noted."),
        ("", true, ""),
        (
            "Noted.",
            false,
            "Noted.\n\n(My last step did not work, and I ended without saying more.)",
        ),
        ("", false, "(My last step did not work, and I ended without saying more.)"),
    ] {
        let mut run = begin();
        assert!(!ask(&mut run).may_end);
        run.replied(reply("Let me see.", &[("todo_read", json!({}))]));
        make_calls(&mut run, "a list");
        assert!(ask(&mut run).may_end);
        run.replied(reply(words, &[noted.clone(), ("think", json!({}))]));
        run.separate(alone("think"));
        let calls = run.open_calls().unwrap().to_vec();
        make_calls(&mut run, "ok");
        let calls_after = run.open_calls().unwrap().to_vec();
        assert_ne!(calls, calls_after);
        let failed = Answer { is_error: !worked, ..Answer::words(&calls_after[0].id, "") };
        run.answered(&calls_after, vec![failed]);
        assert!(ask(&mut run).may_end);
        run.replied(reply(" \n", &[]));
        let ending = end(&mut run);
        assert_eq!((ending.end, ending.text.as_str()), (End::Done, expected));
    }
}

#[test]
fn pictures_are_an_answer_and_outlive_a_death() {
    let mut run = begin();
    ask(&mut run);
    run.drew(vec!["one.png".into()]);
    run.replied(reply("", &[("think", json!({}))]));
    make_calls(&mut run, "ok");
    let unstored = run.take_unstored();
    let items = run.items().to_vec();
    let mut run = Run::resume(Settings::default(), &unstored.header, items).expect("a header");
    ask(&mut run);
    run.drew(vec!["one.png".into(), "two.png".into()]);
    run.replied(reply("", &[]));
    let ending = end(&mut run);
    assert_eq!((ending.end, ending.text.as_str()), (End::Done, ""));
    assert_eq!(ending.pictures, ["one.png", "two.png"]);
    let noted = |item: &Item| matches!(item, Item::Noted { text } if text.contains("[picture: file_cache_dir/pictures/one.png]"));
    assert_eq!(run.items().iter().filter(|item| noted(item)).count(), 2);

    let mut run = begin();
    ask(&mut run);
    run.drew((0..99).map(|n| format!("{n}.png")).collect());
    run.replied(reply("many", &[]));
    assert_eq!(end(&mut run).pictures.len(), 12);
    let mut run = begin();
    ask(&mut run);
    run.drew(vec!["one.png".into()]);
    run.replied(reply("", &[("think", json!({}))]));
    run.stop();
    assert!(end(&mut run).pictures.is_empty(), "nothing goes out after a stop");
    let mut run = begin();
    ask(&mut run);
    run.drew(vec!["one.png".into()]);
    run.replied(reply("", &[("think", json!({}))]));
    run.fail("a limit".into(), "I stopped before I was done".into());
    assert_eq!(end(&mut run).pictures, ["one.png"], "it is paid for");
}

#[test]
fn a_run_may_end_empty_until_somebody_speaks() {
    let mut run = begin();
    assert!(!ask(&mut run).may_end, "nothing has happened");
    run.replied(reply("", &[("gone", json!({}))]));
    let calls = run.open_calls().unwrap().to_vec();
    run.answered(&calls, vec![Answer::error(&calls[0].id, "interrupted, outcome unknown")]);
    assert!(ask(&mut run).may_end, "it may have happened");
    run.replied(reply("", &[("think", json!({}))]));
    make_calls(&mut run, "ok");
    assert!(ask(&mut run).may_end);
    let seen = SeenTask { task: TaskId(2), rows: Vec::new() };
    run.newer(vec![Newer { source: Source::Task(seen), heard: hello() }]);
    assert!(!ask(&mut run).may_end, "somebody has spoken since");
}

#[test]
fn a_last_step_without_words_is_a_limit() {
    let mut run =
        Run::begin(Settings { max_steps: 2, ..Settings::default() }, hello(), Vec::new(), start());
    ask(&mut run);
    run.replied(reply("", &[("think", json!({}))]));
    make_calls(&mut run, "ok");
    assert!(ask(&mut run).may_end);
    run.replied(reply("", &[]));
    assert!(end(&mut run).text.starts_with("I stopped here: this took 2 steps"));
}

#[test]
fn call_ids_are_ours_and_unique_over_steps() {
    let mut run = begin();
    for step in 1..=2 {
        ask(&mut run);
        run.replied(reply("", &[("think", json!({"thought": step})), ("list_files", json!({}))]));
        let ids: Vec<_> = run.open_calls().unwrap().iter().map(|c| c.id.clone()).collect();
        assert_eq!(ids, [format!("c{step}.0"), format!("c{step}.1")]);
        make_calls(&mut run, "ok");
    }
}

#[test]
fn the_third_identical_call_gets_one_step_without_tools_and_the_next_ends_the_task() {
    let mut run = begin();
    let again = || reply("", &[("read_file", json!({"path": "a"}))]);
    for _ in 0..2 {
        assert!(ask(&mut run).may_call);
        run.replied(again());
        assert_eq!(make_calls(&mut run, "same")[0].text, "same");
    }
    ask(&mut run);
    run.replied(again());
    insta::assert_snapshot!(make_calls(&mut run, "same")[0].text, @"Not called: read_file was called 2 times with these arguments and gave the same answer each time. Use what you have.");
    assert!(!ask(&mut run).may_call);
    run.replied(again());
    let ending = end(&mut run);
    insta::assert_snapshot!(ending.text, @"I stopped here: I was going in circles, calling `read_file` again and again with the same result. Please put it differently, or tell me what I am missing.");
    assert!(matches!(ending.end, End::Failed { .. }));
}

#[test]
fn after_a_good_answer_without_tools_the_task_is_done() {
    let mut run = begin();
    for _ in 0..3 {
        ask(&mut run);
        run.replied(reply("", &[("read_file", json!({"path": "a"}))]));
        make_calls(&mut run, "same");
    }
    assert!(!ask(&mut run).may_call);
    run.replied(reply("it says: same", &[]));
    assert_eq!(end(&mut run).end, End::Done);
}

#[test]
fn the_last_step_has_no_tools() {
    let settings = Settings { max_steps: 2, ..Settings::default() };
    let mut run = Run::begin(settings, hello(), Vec::new(), start());
    assert!(ask(&mut run).may_call);
    run.replied(reply("", &[("think", json!({"thought": 1}))]));
    make_calls(&mut run, "ok");
    assert!(!ask(&mut run).may_call);
    run.replied(reply("", &[("think", json!({"thought": 2}))]));
    insta::assert_snapshot!(end(&mut run).text, @"I stopped here: this took 2 steps, the most one task may take.");
}

#[test]
fn agents_leave_their_task_its_last_step() {
    let settings = Settings { max_steps: 3, ..Settings::default() };
    let mut run = Run::begin(settings, hello(), Vec::new(), start());
    ask(&mut run);
    run.replied(reply("", &[("think", json!({"thought": 1}))]));
    make_calls(&mut run, "ok");
    run.family_used(Usage { calls: 9, ..Usage::default() });
    assert!(!ask(&mut run).may_call, "the last one");
    run.replied(reply("nine have looked", &[]));
    assert_eq!(end(&mut run).text, "nine have looked");
}

#[test]
fn time_is_over_when_it_is_over() {
    let mut run = begin();
    let Next::Done(ending) = run.next(start() + TimeDelta::minutes(31)) else { panic!() };
    insta::assert_snapshot!(ending.text, @"I stopped here: 30m had passed, the longest one task may take.");
}

#[test]
fn two_equal_refusals_set_the_conversation_aside_and_say_so() {
    let mut run = begin();
    let refusal = ModelError::Rejected { why: "messages.3: bad".into() };
    ask(&mut run);
    run.refused(&refusal, true);
    assert!(ask(&mut run).history);
    run.refused(&refusal, true);
    assert!(!ask(&mut run).history);
    run.replied(reply("hi", &[]));
    let ending = end(&mut run);
    assert!(ending.set_aside);
    assert!(ending.text.contains("set it aside") && ending.text.ends_with("hi"));
}

#[test]
fn what_a_provider_has_of_its_own_is_set_aside_before_the_conversation_is() {
    let mut run = begin();
    ask(&mut run);
    let own = OwnForm { origin: "o".into(), json: "{}".into() };
    run.replied(Reply { own: Some(own.clone()), ..reply("", &[("think", json!({"thought": 1}))]) });
    make_calls(&mut run, "ok");
    let refusal = ModelError::Rejected { why: "messages.3: bad".into() };
    run.refused(&refusal, true);
    assert_eq!(run.own_forms().len(), 1);
    run.refused(&refusal, true);
    assert!(ask(&mut run).history && run.own_forms().is_empty());
    // A death brings back nothing of it, and what comes later is kept.
    let unstored = run.take_unstored();
    let items = run.items().to_vec();
    let mut again = Run::resume(Settings::default(), &unstored.header, items).expect("a header");
    again.take_up([("c1".to_owned(), own.clone()), ("c2".to_owned(), own)].into());
    assert_eq!(again.own_forms().keys().collect::<Vec<_>>(), ["c2"]);
    run.refused(&refusal, true);
    assert!(!ask(&mut run).history);
}

#[test]
fn a_conversation_that_is_not_to_blame_is_kept() {
    let mut run = begin();
    let refusal = ModelError::Rejected { why: "unsupported parameter".into() };
    for has_history in [true, true, false, false] {
        ask(&mut run);
        run.refused(&refusal, has_history);
    }
    let ending = end(&mut run);
    assert!(matches!(ending.end, End::Failed { .. }) && !ending.set_aside);
    assert!(!ending.text.contains("set it aside"), "{}", ending.text);
}

#[test]
fn a_refusal_that_stays_ends_the_task() {
    let mut run = begin();
    let refusal = ModelError::Rejected { why: "no such thing".into() };
    for _ in 0..2 {
        ask(&mut run);
        run.refused(&refusal, false);
    }
    let ending = end(&mut run);
    assert!(matches!(ending.end, End::Failed { .. }) && !ending.set_aside);
}

#[test]
fn only_who_may_know_reads_a_providers_words() {
    let unusable = || ModelError::Unusable {
        why: "org-1: check llm.profiles.main.api_key".into(),
        reason: selkie_llm::Reason::Key,
    };
    let said = |frank| {
        let mut run = begin();
        run.be_frank(frank);
        ask(&mut run);
        run.refused(&unusable(), false);
        let ending = end(&mut run);
        assert_eq!(ending.end, End::Failed { why: messages::no_answer(&unusable()) });
        ending.text
    };
    assert_eq!(said(false), "The model is not available right now. Please try again later.");
    assert!(said(true).contains("org-1: check llm.profiles.main.api_key"));
}

#[test]
fn what_is_too_long_is_fitted_and_then_given_up() {
    let mut run = begin();
    let long = ModelError::TooLong { why: "max 10".into() };
    for fittings in 0..=MAX_FITTINGS {
        assert_eq!(ask(&mut run).fittings, fittings);
        run.refused(&long, true);
    }
    assert!(matches!(end(&mut run).end, End::Failed { .. }));
}

#[test]
fn a_stopped_run_ends_with_its_calls_open_and_nothing_to_say() {
    let mut run = begin();
    ask(&mut run);
    run.replied(reply("", &[("think", json!({"thought": 1}))]));
    run.stop();
    let ending = end(&mut run);
    assert_eq!((ending.end, ending.text.as_str()), (End::Stopped, ""));
}

#[test]
fn a_header_of_version_one_still_resumes() {
    let header = r#"{"v":1,"since":"1970-01-01T00:00:00Z","steps":1,"usage":{"calls":1,"input":10,"cached":0,"output":5,"micro_usd":0},"circles":{"seen":{},"warned":false}}"#;
    let mut run =
        Run::resume(Settings::default(), header, vec![Item::Noted { text: "x".into() }]).unwrap();
    assert_eq!(ask(&mut run).step, 2);
    assert!(
        Run::resume(Settings::default(), &header.replace("\"v\":1", "\"v\":9"), vec![]).is_err()
    );
}

/// A model that does anything at all.
fn any_reply() -> impl Strategy<Value = Reply> {
    let call = (prop::sample::select(vec!["a", "b"]), 0..2u8);
    prop::collection::vec(call, 0..3).prop_map(|calls| {
        let calls: Vec<_> = calls.iter().map(|(name, n)| (*name, json!({"n": n}))).collect();
        reply(if calls.is_empty() { "done" } else { "" }, &calls)
    })
}

/// An answered question.
fn question(key: &str) -> QuestionRow {
    QuestionRow {
        key: key.to_owned(),
        conversation: ConversationId::new(AccountId::new("tg:8"), "tg:1"),
        task: TaskId(1),
        person: Person { id: PersonId::new("tg:1"), name: "Ada".to_owned() },
        ask: question::Ask {
            v: question::Ask::VERSION,
            markdown: "Go on?".to_owned(),
            choices: vec![],
            many: false,
            free_text: true,
            placeholder: String::new(),
            within: Span::seconds(60),
        },
        state: QuestionState::Answered,
        picked: vec![],
        given: Some(QuestionResult::Words { text: "yes".to_owned() }),
        outbound: OutboundId(1),
        message: None,
        expires_at: start(),
    }
}

fn asks(kept: &str) -> CallQuestion {
    CallQuestion { ask: question("").ask, kept: (!kept.is_empty()).then(|| kept.into()) }
}

#[test]
fn calls_that_stand_alone_wait_for_those_before_and_hold_those_after() {
    let mut run = begin();
    ask(&mut run);
    let call = |name| (name, json!({}));
    let all = ["list_files", "think", "think", "glob", "grep"].map(call);
    run.replied(reply("well", &all));
    run.separate(alone("think"));
    let mut groups = Vec::new();
    while let Some(calls) = run.open_calls() {
        groups.push(calls.iter().map(|c| c.id.clone()).collect::<Vec<_>>().join(" "));
        make_calls(&mut run, "done");
    }
    assert_eq!(groups, ["c1.0", "c1.1", "c1.2", "c1.3 c1.4"]);
    let said =
        run.items().iter().filter(|i| matches!(i, Item::Asked { text, .. } if text == "well"));
    assert_eq!(said.count(), 1, "its words are said once");
}

#[test]
fn what_a_provider_wants_back_is_kept_up_to_a_limit() {
    let form = |bytes: usize| OwnForm { origin: "o".into(), json: "x".repeat(bytes).into() };
    let mut run = begin();
    for (bytes, kept) in [(OwnForm::MAX - 10, 1), (11, 1), (10, 2)] {
        ask(&mut run);
        let think = reply("", &[("think", json!({"thought": bytes}))]);
        run.replied(Reply { own: Some(form(bytes)), ..think });
        make_calls(&mut run, "ok");
        assert_eq!(run.own_forms().len(), kept);
    }
    assert_eq!(run.own_forms().keys().collect::<Vec<_>>(), ["c1", "c3"]);
    let kept = run.take_unstored().kept;
    assert_eq!(kept.iter().map(|one| one.step.as_str()).collect::<Vec<_>>(), ["c1", "c3"]);
    assert!(run.take_unstored().kept.is_empty(), "stored once");
}

#[test]
fn questions_of_two_tasks_without_a_message_are_told_apart() {
    let key = |task: i64| {
        let mut run = begin();
        run.belongs_to(TaskId(task));
        run.key("c1.0", 0)
    };
    assert_eq!(key(1), key(1));
    assert_ne!(key(1), key(2));
}

#[test]
fn a_call_goes_on_with_its_answer_once() {
    let mut run = begin();
    ask(&mut run);
    run.replied(reply("", &[("shop__order", json!({}))]));
    let call = run.open_calls().unwrap()[0].clone();
    run.starts(std::iter::once(&call));
    run.asks(&call, asks("state"), start());
    assert!(!run.goes_on(&call), "nobody has answered yet");
    let Next::AskPerson(parked) = run.next(start()) else { panic!("it asks") };

    let mut run = Run::resume(Settings::default(), &parked.header, parked.append.clone()).unwrap();
    run.settled(&question(&parked.key), start());
    assert!(run.goes_on(&call));
    assert_eq!(run.kept(&call.id), Some(json!("state")));
    assert_eq!(run.kept("another"), None);
    run.starts(std::iter::once(&call));
    assert!(!run.goes_on(&call), "what died since has an unknown outcome");
    run.ended_in_order();
    assert!(!run.goes_on(&call), "what was stopped since, too");
}

#[test]
fn a_parked_run_goes_on_where_it_stood_and_the_wait_costs_it_no_time() {
    let mut run = begin();
    ask(&mut run);
    run.replied(reply("", &[("think", json!({})), ("list_files", json!({}))]));
    run.separate(alone("think"));
    let call = run.open_calls().unwrap()[0].clone();
    run.asks(&call, asks(""), start() + TimeDelta::minutes(1));
    let Next::AskPerson(asks) = run.next(start()) else { panic!("it asks") };
    let later = start() + TimeDelta::hours(20);
    let resume = || Run::resume(Settings::default(), &asks.header, asks.append.clone()).unwrap();

    let mut run = resume();
    run.settled(&question("another"), later);
    assert!(run.given("c1.0").is_empty(), "another question's answer");
    run.settled(&question(&asks.key), later);
    assert_eq!(run.given("c1.0").len(), 1);
    assert_eq!(run.ledger().since, start() + (later - start()) - TimeDelta::minutes(1));
    run.settled(&question(&asks.key), later);
    assert_eq!(run.given("c1.0").len(), 1, "taken once");
    make_calls(&mut run, "yes");
    assert!(run.given("c1.0").is_empty());
    assert_eq!(run.open_calls().unwrap()[0].name, "list_files");
    make_calls(&mut run, "a file");
    ask(&mut run);
}

fn approval(key: &str) -> selkie_store::ApprovalRow {
    selkie_store::ApprovalRow {
        mute: None,
        key: key.to_owned(),
        task: TaskId(1),
        conversation: ConversationId::new(AccountId::new("tg:8"), "tg:1"),
        requester: None,
        request: request(),
        state: ApprovalState::Approved,
        why: None,
        by: "Ada".to_owned(),
        asked: vec![],
        expires_at: start(),
    }
}

fn request() -> Request {
    Request {
        v: Request::VERSION,
        call: "c1.0".to_owned(),
        tool: "bash".to_owned(),
        words: "running a command".to_owned(),
        preview: "run".to_owned(),
        unseen: vec![],
        place: String::new(),
        reasons: vec![],
        of: selkie_domain::approval::Approvers::Owners,
        hash: "h".to_owned(),
    }
}

#[test]
fn a_run_waits_for_approval_and_its_start_is_not_forgotten() {
    let mut run = begin();
    ask(&mut run);
    run.replied(reply("", &[("bash", json!({})), ("glob", json!({}))]));
    run.separate(alone("bash"));
    let call = run.open_calls().unwrap()[0].clone();
    run.seeks(&call, request(), start() + TimeDelta::minutes(1));
    let Next::SeekApproval(seeks) = run.next(start()) else { panic!("it seeks approval") };
    let later = start() + TimeDelta::hours(2);
    let resume =
        |header: &str| Run::resume(Settings::default(), header, seeks.append.clone()).unwrap();

    let mut run = resume(&seeks.header);
    run.approval_settled(&approval("another"), later);
    assert_eq!(run.ledger().since, start(), "another's wait");
    run.approval_settled(&approval(&seeks.key), later);
    assert_eq!(run.ledger().since, start() + TimeDelta::hours(2) - TimeDelta::minutes(1));
    assert_eq!(run.approval_key(&call), Some(seeks.key.as_str()));
    assert!(!run.has_started(&call));
    run.starts(std::iter::once(&call));
    run.ended_in_order();
    let stored = run.take_unstored().header;
    assert!(resume(&stored).has_started(&call), "its approval is used up: it is not begun again");
    run.refuses("bash", ApprovalState::Lapsed);
    assert!(!run.is_refused("bash"), "it may be asked for once more");
    run.refuses("bash", ApprovalState::Denied);
    make_calls(&mut run, "refused");
    assert!(run.approval_key(&call).is_none() && run.is_refused("bash"));
    assert_eq!(run.open_calls().unwrap()[0].name, "glob", "what stood behind it comes now");
}

proptest! {
    /// Whatever the model does and wherever the process dies: the run ends, every call of the transcript
    /// is answered before the next is asked, nothing is stored twice, and usage adds up.
    #[test]
    fn every_run_ends_with_every_call_answered(
        replies in prop::collection::vec(any_reply(), 1..80),
        crashes in prop::collection::vec(any::<bool>(), 80),
    ) {
        let mut run = begin();
        let (mut stored, mut usage, mut asked) = (Vec::new(), Usage::default(), 0u64);
        let mut replies = replies.into_iter().cycle();
        let mut keys = std::collections::BTreeSet::new();
        let ending = loop {
            match run.next(start()) {
                Next::Done(ending) => break ending,
                Next::AskModel(_) => {
                    asked += 1;
                    run.replied(replies.next().unwrap());
                    run.separate(alone("think"));
                }
                // A tool that stands alone asks a person first, and is called again with the answer.
                Next::CallTools { calls, .. }
                    if calls[0].name == "think" && run.given(&calls[0].id).is_empty() =>
                {
                    assert_eq!(calls.len(), 1);
                    run.asks(&calls[0], asks(""), start());
                }
                Next::CallTools { .. } => {
                    make_calls(&mut run, "same");
                }
                Next::SeekApproval(_) | Next::AwaitChildren(_) => panic!("nothing here needs that"),
                Next::AskPerson(asks) => {
                    assert!(keys.insert(asks.key.clone()), "every question has its own key");
                    stored.extend(asks.append);
                    usage.add(asks.usage);
                    run = Run::resume(Settings::default(), &asks.header, stored.clone()).unwrap();
                    run.settled(&question(&asks.key), start());
                }
            }
            let step = run.take_unstored();
            stored.extend(step.append);
            usage.add(step.usage);
            if crashes[(asked as usize) % crashes.len()] && run.ended.is_none() {
                run = Run::resume(Settings::default(), &step.header, stored.clone()).unwrap();
            }
        };
        stored.extend(ending.append);
        usage.add(ending.usage);
        prop_assert_eq!(usage.tokens(), 15 * asked);
        prop_assert!(asked <= u64::from(Settings::default().max_steps));
        for (n, item) in stored.iter().enumerate() {
            let Item::Asked { calls, .. } = item else { continue };
            let Some(Item::Answered { answers }) = stored.get(n + 1) else {
                panic!("no answers after {item:?}");
            };
            let asked: Vec<_> = calls.iter().map(|c| &c.id).collect();
            let answered: Vec<_> = answers.iter().map(|a| &a.call).collect();
            prop_assert_eq!(asked, answered);
        }
    }
}
