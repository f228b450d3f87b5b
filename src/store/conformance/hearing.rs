//! Laws of intake: dedupe, albums, edits, context, moves, closing, commands.

use super::interrupting::stop_by;
use super::*;
use crate::read::Counts;
use crate::{CommandEffect, Whose, ZoneOf};

laws![
    a_name_of_any_length_is_known_again,
    twice_is_once,
    a_batch_may_claim_what_it_brings,
    an_album_is_one_task,
    an_album_that_means_the_bot_once_is_whole,
    an_edit_changes_only_what_waits,
    context_goes_to_the_next_claim,
    strangers_make_no_conversation,
    a_moved_place_keeps_everything,
    a_move_after_the_first_message_merges,
    a_closed_conversation_is_refused_and_reopens,
    a_place_works_where_its_owner_says,
    a_zone_is_a_persons_or_a_places_and_moves_with_it,
    a_command_is_carried_out_once,
    a_stop_ends_what_was_begun,
    a_reset_raises_the_epoch,
    a_notice_is_said_once,
    what_is_fresh_in_a_mixed_batch_is_told,
    moved_places_are_listed_with_where_they_are_now,
];

async fn twice_is_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let batch = vec![task(message(1, 10)), arrival(message(1, 11), Disposition::Context)];
    let first = ledger.accept(batch.clone(), Some(cursor("12")), no_fuse()).await.unwrap();
    assert_eq!((first.fresh.len(), first.known), (2, 0));
    assert_eq!(first.ready, [lane(1)]);
    drop(ledger);
    let ledger = bed.open();
    let again = ledger.accept(batch, Some(cursor("13")), no_fuse()).await.unwrap();
    assert_eq!((again.fresh.len(), again.known), (0, 2));
    assert!(again.ready.is_empty() && again.claimed.is_empty());
    let (stored, moved) = ledger.cursor(&account()).await.unwrap().unwrap();
    assert_eq!((stored, moved), (cursor("13"), at(0)));
    assert!(ledger.cursor(&AccountId::new("tg:9")).await.unwrap().is_none());
    let counts = ledger.counts().await.unwrap();
    assert_eq!((counts.inbox, counts.waiting), (2, 1));
}

async fn a_batch_may_claim_what_it_brings(bed: &dyn Fixture) {
    let ledger = bed.open();
    let batch = [(1, 1), (1, 2), (2, 1), (3, 1)].map(|(n, o)| task(message(n, o))).to_vec();
    let accepted = ledger.accept(batch, None, fuse(2)).await.unwrap();
    let claimed: Vec<_> = accepted.claimed.iter().map(|c| c.heard[0].1.key.as_str()).collect();
    assert_eq!(claimed, ["tg:8:-1:1", "tg:8:-2:1"]);
    assert_eq!(accepted.ready, [lane(3)], "lane 1 is busy and its second task waits");
    let late = push(ledger.as_ref(), task(message(2, 2)), fuse(5)).await;
    assert!(late.claimed.is_empty() && late.ready.is_empty(), "the lane is busy");
}

async fn an_album_is_one_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let picture = |order, second| {
        let mut inbound = message(1, order);
        inbound.album = Some("g".to_owned());
        let mut arrival = task(inbound);
        if let Disposition::Task(new) = &mut arrival.disposition {
            new.not_before = Some(at(second));
        }
        arrival
    };
    let first = push(ledger.as_ref(), picture(2, 1), fuse(1)).await;
    assert!(first.claimed.is_empty() && first.ready.is_empty(), "it gathers");
    assert_eq!(first.wake_at, Some(at(1)));
    push(ledger.as_ref(), picture(1, 2), no_fuse()).await;
    assert_eq!(ledger.next_wake(at(0)).await.unwrap(), Some(at(2)), "pushed on");
    assert!(ledger.claim(&lane(1), &instance("a"), at(1)).await.unwrap().is_none());
    let claimed = ledger.claim(&lane(1), &instance("a"), at(2)).await.unwrap().unwrap();
    let orders: Vec<_> = claimed.heard.iter().map(|(_, i)| i.order).collect();
    assert_eq!(orders, [1, 2], "in the platform's order");
    push(ledger.as_ref(), picture(3, 3), no_fuse()).await;
    assert_eq!(ledger.counts().await.unwrap().waiting, 1, "a late picture is a task of its own");
}

async fn an_album_that_means_the_bot_once_is_whole(bed: &dyn Fixture) {
    let ledger = bed.open();
    let of = |album: &str, n, order| {
        let mut inbound = message(n, order);
        inbound.album = Some(album.to_owned());
        inbound
    };
    let silent = |inbound| arrival(inbound, Disposition::Context);
    let dropped = |inbound| arrival(inbound, Disposition::Ignored("untriggered"));
    let batch = vec![
        silent(of("g", 1, 1)),
        task(of("g", 1, 2)),
        silent(of("g", 1, 3)),
        dropped(of("g", 1, 4)),
        silent(of("other", 1, 5)),
        silent(message(1, 6)),
        silent(of("g", 2, 7)),
    ];
    ledger.accept(batch, None, no_fuse()).await.unwrap();
    let claimed = ledger.claim(&lane(1), &instance("a"), at(9)).await.unwrap().unwrap();
    let orders: Vec<_> = claimed.heard.iter().map(|(_, i)| i.order).collect();
    assert_eq!(orders, [1, 2, 3, 4], "all of the album, of this conversation");
    let talk: Vec<_> = claimed.context.iter().map(|i| i.order).collect();
    assert_eq!(talk, [5, 6], "talk stays talk");
}

async fn an_edit_changes_only_what_waits(bed: &dyn Fixture) {
    let ledger = bed.open();
    push(ledger.as_ref(), task(message(1, 1)), fuse(1)).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    push(ledger.as_ref(), arrival(message(1, 3), Disposition::Context), no_fuse()).await;
    for order in [1, 2, 3] {
        let mut edit = message(1, order);
        edit.key.push_str(":edit");
        edit.what = What::Edit;
        edit.text = "changed".to_owned();
        push(ledger.as_ref(), arrival(edit, Disposition::Edit), no_fuse()).await;
    }
    let text = |key: &'static str| {
        let ledger = Arc::clone(&ledger);
        async move { ledger.trace(key).await.unwrap().remove(0).event().unwrap().inbound.text.clone() }
    };
    assert_eq!(text("tg:8:-1:1").await, "text 1", "it runs: only kept");
    assert_eq!(text("tg:8:-1:2").await, "changed");
    assert_eq!(text("tg:8:-1:3").await, "changed");
}

async fn context_goes_to_the_next_claim(bed: &dyn Fixture) {
    let ledger = bed.open();
    for order in 1..=33 {
        push(ledger.as_ref(), arrival(message(1, order), Disposition::Context), no_fuse()).await;
    }
    push(ledger.as_ref(), arrival(message(2, 1), Disposition::Context), no_fuse()).await;
    let first = started(ledger.as_ref(), 1, 40).await;
    let orders: Vec<_> = first.context.iter().map(|i| i.order).collect();
    assert_eq!(orders, (4..=33).collect::<Vec<_>>(), "the newest thirty, oldest first");
    finished(ledger.as_ref(), &first.claim, finish("yes", vec![])).await;
    let second = started(ledger.as_ref(), 1, 41).await;
    assert!(second.context.is_empty(), "told once");
}

async fn strangers_make_no_conversation(bed: &dyn Fixture) {
    let ledger = bed.open();
    let dispositions = [Disposition::Ignored("not_allowed"), Disposition::Unparsed];
    for (order, disposition) in (1..).zip(dispositions) {
        push(ledger.as_ref(), arrival(message(1, order), disposition), no_fuse()).await;
    }
    assert!(ledger.conversations(9).await.unwrap().is_empty());
    let chain = ledger.trace("tg:8:-1:2").await.unwrap();
    assert_eq!((chain.len(), chain[0].event().unwrap().disposition.as_str()), (1, "unparsed"));
    assert_eq!(
        ledger.trace("1").await.unwrap()[0].event().unwrap().disposition,
        "ignored: not_allowed"
    );
    assert_eq!(ledger.counts().await.unwrap().inbox, 2);
}

/// Tells that place 1 goes on as place `to`.
async fn moves(ledger: &dyn Ledger, to: i64) {
    let mut news = message(1, 90);
    news.key = format!("moved:{to}");
    push(ledger, arrival(news, Disposition::Moved(place(to))), no_fuse()).await;
}

async fn a_moved_place_keeps_everything(bed: &dyn Fixture) {
    let ledger = bed.open();
    let topic = |order| {
        let mut inbound = message(1, order);
        inbound.conversation = ConversationId::new(account(), "tg:-1:7");
        inbound
    };
    let done = started(ledger.as_ref(), 1, 1).await;
    finished(ledger.as_ref(), &done.claim, finish("before", vec![])).await;
    ledger.set_todos(&conversation(1), "[1]".to_owned()).await.unwrap();
    works_in(ledger.as_ref(), 1, Some("/w")).await;
    push(ledger.as_ref(), task(topic(2)), no_fuse()).await;
    push(ledger.as_ref(), task(message(1, 3)), no_fuse()).await;
    moves(ledger.as_ref(), 5).await;
    moves(ledger.as_ref(), 5).await;

    assert_eq!(ledger.todos(&conversation(5)).await.unwrap().as_deref(), Some("[1]"));
    assert_eq!(ledger.todos(&conversation(1)).await.unwrap().as_deref(), Some("[1]"));
    let moved_topic = Lane(format!("{}|tg:-5:7", account()));
    let ready = ledger.ready(at(0), 9).await.unwrap();
    assert_eq!(ready, [moved_topic.clone(), lane(5)]);
    let claimed = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
    assert_eq!((claimed.conversation, claimed.place), (conversation(5), place(5)));
    assert_eq!(claimed.workspace.as_deref(), Some("/w"));
    assert_eq!(claimed.history, [vec![said("before")]], "the old lane's name still leads there");
    let claimed = ledger.claim(&moved_topic, &instance("a"), at(0)).await.unwrap().unwrap();
    assert_eq!(claimed.place, place(5));

    // A straggler of the old place, and a new topic of it, arrive at the new one.
    let late = push(ledger.as_ref(), task(message(1, 4)), no_fuse()).await;
    assert!(late.ready.is_empty(), "its lane is the busy one");
    let mut fresh = message(1, 5);
    fresh.conversation = ConversationId::new(account(), "tg:-1:8");
    let accepted = push(ledger.as_ref(), task(fresh), no_fuse()).await;
    assert_eq!(accepted.ready, [Lane(format!("{}|tg:-5:8", account()))]);
    // It moves once more, and back: no circle, and every name still leads there.
    for to in [6, 1] {
        moves(ledger.as_ref(), to).await;
    }
    let rows = ledger.conversations(9).await.unwrap();
    assert_eq!(rows.iter().filter(|c| c.id.key().starts_with("tg:-1")).count(), 3, "{rows:?}");
    for n in [1, 5, 6] {
        assert_eq!(ledger.todos(&conversation(n)).await.unwrap().as_deref(), Some("[1]"));
    }
}

async fn a_move_after_the_first_message_merges(bed: &dyn Fixture) {
    let ledger = bed.open();
    let old = started(ledger.as_ref(), 1, 1).await;
    let young_done = started(ledger.as_ref(), 5, 2).await;
    finished(ledger.as_ref(), &young_done.claim, finish("young", vec![])).await;
    let young = started(ledger.as_ref(), 5, 3).await;
    moves(ledger.as_ref(), 5).await;
    let lost = ledger.commit(&young.claim, finish("twice", vec![])).await.unwrap();
    assert!(
        matches!(lost, CommitResult::Lost),
        "one lane runs one task: the younger claim is lost"
    );
    finished(ledger.as_ref(), &old.claim, finish("old", vec![])).await;
    let next = ledger.claim(&lane(5), &instance("a"), at(0)).await.unwrap().unwrap();
    assert_eq!(next.claim.task, young.claim.task);
    assert_eq!(next.history, [vec![said("young")], vec![said("old")]]);
    assert_eq!(next.conversation_row, old.conversation_row);
    assert_eq!(ledger.conversations(9).await.unwrap().len(), 1);
}

async fn a_closed_conversation_is_refused_and_reopens(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    let queued = finished(ledger.as_ref(), &first.claim, finish("yes", vec![draft(1, 1)])).await;
    let part = queued[0].parts[0].id;
    let closed = arrival(message(1, 2), Disposition::Closed("kicked".to_owned()));
    push(ledger.as_ref(), closed, no_fuse()).await;
    assert!(!ledger.sending(part, &instance("a")).await.unwrap());
    let rows = ledger.conversations(9).await.unwrap();
    assert_eq!(rows[0].closed.as_deref(), Some("kicked"));
    let silent = ledger.say_once("n", draft(1, 1)).await.unwrap().unwrap();
    assert!(silent.parts.is_empty(), "refused at once");
    let second = started(ledger.as_ref(), 1, 3).await;
    assert_eq!(ledger.conversations(9).await.unwrap()[0].closed, None);
    assert_eq!(second.undelivered, ["hello 0"], "the notice is no answer");
    let queued = finished(ledger.as_ref(), &second.claim, finish("yes", vec![draft(1, 1)])).await;
    assert!(ledger.sending(queued[0].parts[0].id, &instance("a")).await.unwrap());
}

/// Stores a command row of conversation `n`.
pub(super) async fn command(
    ledger: &dyn Ledger,
    n: i64,
    order: i64,
) -> selkie_domain::ids::InboxId {
    let accepted = push(ledger, arrival(message(n, order), Disposition::Command), no_fuse()).await;
    assert_eq!(accepted.commands.len(), 1);
    accepted.commands[0].0
}

/// Sets the folder of place `n` by a command.
async fn works_in(ledger: &dyn Ledger, n: i64, path: Option<&str>) {
    let order = 100 + path.map_or(0, |p| p.len() as i64);
    let row = command(ledger, n, order).await;
    let effect = CommandEffect::Workspace(path.map(str::to_owned), Some(draft(n, 1)));
    assert_eq!(ledger.command(row, effect).await.unwrap().unwrap().queued.unwrap().parts.len(), 1);
}

async fn a_place_works_where_its_owner_says(bed: &dyn Fixture) {
    let ledger = bed.open();
    works_in(ledger.as_ref(), 1, Some("/a")).await;
    works_in(ledger.as_ref(), 1, Some("/bb")).await;
    assert_eq!(ledger.workspace(&conversation(1)).await.unwrap().set.as_deref(), Some("/bb"));
    assert_eq!(ledger.workspace(&conversation(2)).await.unwrap().set, None);
    let row = command(ledger.as_ref(), 1, 1).await;
    ledger.command(row, CommandEffect::Reset(draft(1, 1))).await.unwrap();
    let claimed = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(claimed.workspace.as_deref(), Some("/bb"), "a reset leaves it");
    works_in(ledger.as_ref(), 1, None).await;
    assert_eq!(ledger.workspace(&conversation(1)).await.unwrap().set, None);
}

async fn a_zone_is_a_persons_or_a_places_and_moves_with_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    let set = async |order: i64, whose: Whose, zone: &str| {
        let row = command(ledger.as_ref(), 1, order).await;
        let zone = ZoneOf { whose, zone: zone.to_owned() };
        ledger.command(row, CommandEffect::Zone(zone, Some(draft(1, 1)))).await.unwrap().unwrap();
    };
    let person = || Whose::Person(PersonId::new("tg:1"));
    set(1, person(), "Asia/Tokyo").await;
    set(2, Whose::Place(place(1)), "Europe/Berlin").await;
    set(3, person(), "UTC").await;
    let mut zones = ledger.zones().await.unwrap();
    zones.sort_by(|a, b| a.zone.cmp(&b.zone));
    let all: Vec<_> = zones.iter().map(|set| (set.whose.clone(), set.zone.as_str())).collect();
    assert_eq!(all, [(Whose::Place(place(1)), "Europe/Berlin"), (person(), "UTC")]);
    let news = arrival(message(1, 4), Disposition::Moved(place(5)));
    push(ledger.as_ref(), news, no_fuse()).await;
    set(5, person(), "").await;
    let left = ledger.zones().await.unwrap();
    assert_eq!(left, [ZoneOf { whose: Whose::Place(place(5)), zone: "Europe/Berlin".to_owned() }]);
}

async fn a_command_is_carried_out_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let row = command(ledger.as_ref(), 1, 1).await;
    let second = command(ledger.as_ref(), 1, 2).await;
    drop(ledger);
    let ledger = bed.open();
    let open = ledger.open_commands().await.unwrap();
    assert_eq!(open.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [row, second]);
    let say = || CommandEffect::Say(Some(draft(1, 2)));
    let done = ledger.command(row, say()).await.unwrap().unwrap();
    let parts = done.queued.unwrap().parts;
    assert_eq!(parts.len(), 2);
    assert!(parts[0].answer && parts[0].id < parts[1].id);
    assert!(ledger.command(row, say()).await.unwrap().is_none());
    assert_eq!(ledger.open_commands().await.unwrap().len(), 1);
    assert_eq!(ledger.due(&account(), &instance("a")).await.unwrap(), parts);
}

async fn a_stop_ends_what_was_begun(bed: &dyn Fixture) {
    let ledger = bed.open();
    let idle = command(ledger.as_ref(), 1, 1).await;
    let done = ledger.command(idle, stop_by(None)).await.unwrap().unwrap();
    assert_eq!(done.queued.unwrap().parts.len(), 2, "nothing to stop");

    let long = started(ledger.as_ref(), 1, 2).await;
    let queued = finished(ledger.as_ref(), &long.claim, finish("long", vec![draft(1, 3)])).await;
    assert!(ledger.sending(queued[0].parts[0].id, &instance("a")).await.unwrap());
    let running = started(ledger.as_ref(), 1, 3).await;
    push(ledger.as_ref(), task(message(1, 4)), no_fuse()).await;
    let row = command(ledger.as_ref(), 1, 5).await;
    let done = ledger.command(row, stop_by(None)).await.unwrap().unwrap();
    assert_eq!(done.stopping, [running.claim.task]);
    assert_eq!(done.queued.unwrap().parts.len(), 1);
    assert!(!ledger.sending(queued[0].parts[1].id, &instance("a")).await.unwrap(), "withdrawn");
    let step = Advance::Step {
        append: vec![],
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: false,
    };
    let told = ledger.commit(&running.claim, step).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: true, .. }));
    assert_eq!(ledger.counts().await.unwrap().waiting, 1, "what waits is not dropped");
}

async fn a_reset_raises_the_epoch(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    finished(ledger.as_ref(), &first.claim, finish("old", vec![])).await;
    ledger.set_todos(&conversation(1), "[]".to_owned()).await.unwrap();
    for skill in ["pdf", "docx", "pdf"] {
        ledger.add_skill(&conversation(1), skill).await.unwrap();
    }
    assert_eq!(ledger.skills(&conversation(1)).await.unwrap(), ["docx", "pdf"]);
    let running = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(running.history.len(), 1);
    let row = command(ledger.as_ref(), 1, 3).await;
    let done = ledger.command(row, CommandEffect::Reset(draft(1, 1))).await.unwrap().unwrap();
    assert_eq!(done.stopping, [running.claim.task]);
    assert_eq!(ledger.todos(&conversation(1)).await.unwrap(), None);
    assert!(ledger.skills(&conversation(1)).await.unwrap().is_empty());
    finished(ledger.as_ref(), &running.claim, finish("late", vec![])).await;
    let new = started(ledger.as_ref(), 1, 4).await;
    assert!(new.history.is_empty(), "the old task wrote under its own epoch: {:?}", new.history);
    assert_eq!(ledger.conversations(1).await.unwrap()[0].epoch, 1);
}

async fn a_notice_is_said_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let queued = ledger.say_once("hint:1", draft(9, 1)).await.unwrap().unwrap();
    assert!(!queued.parts[0].answer, "nobody asked");
    drop(ledger);
    let ledger = bed.open();
    assert!(ledger.say_once("hint:1", draft(9, 1)).await.unwrap().is_none());
    assert!(ledger.say_once("hint:2", draft(9, 1)).await.unwrap().is_some());
    let Counts { queued, .. } = ledger.counts().await.unwrap();
    assert_eq!(queued, 2);
    let mut answer = message(9, 1);
    answer.place = place(3);
    let claimed = push(ledger.as_ref(), task(answer), fuse(1)).await.claimed.remove(0);
    assert_eq!(claimed.place, place(3), "where the bot only spoke the place was a guess");
}

async fn what_is_fresh_in_a_mixed_batch_is_told(bed: &dyn Fixture) {
    let ledger = bed.open();
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    let twice = arrival(message(1, 3), Disposition::Context);
    let batch = vec![task(message(1, 2)), twice.clone(), twice, task(message(2, 1))];
    let accepted = ledger.accept(batch, None, no_fuse()).await.unwrap();
    let indexes: Vec<_> = accepted.fresh.iter().map(|f| f.index).collect();
    assert_eq!((indexes, accepted.known), (vec![1, 3], 2));
    for (fresh, key) in accepted.fresh.iter().zip(["tg:8:-1:3", "tg:8:-2:1"]) {
        assert_eq!(ledger.trace(key).await.unwrap()[0].event().unwrap().inbox, fresh.row);
    }
}

async fn moved_places_are_listed_with_where_they_are_now(bed: &dyn Fixture) {
    let ledger = bed.open();
    assert!(ledger.moved_places().await.unwrap().is_empty());
    moves(ledger.as_ref(), 5).await;
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.moved_places().await.unwrap(), [(place(1), place(5))]);
    moves(ledger.as_ref(), 6).await;
    assert_eq!(ledger.moved_places().await.unwrap(), [(place(1), place(6)), (place(5), place(6))]);
    moves(ledger.as_ref(), 1).await;
    assert_eq!(ledger.moved_places().await.unwrap(), [(place(5), place(1)), (place(6), place(1))]);
}

/// No index takes such a name, and no text a zero: neither may keep its account from being heard for ever.
async fn a_name_of_any_length_is_known_again(bed: &dyn Fixture) {
    let ledger = bed.open();
    let mut long = message(1, 1);
    let noise = (0..1200_u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7).to_string());
    long.key = format!("{}\0", noise.collect::<String>());
    long.message = Some(MessageRef::new(long.key.clone()));
    long.text = "a\0b".to_owned();
    let first = push(ledger.as_ref(), task(long.clone()), no_fuse()).await;
    assert_eq!((first.fresh.len(), first.known), (1, 0));
    let again = push(ledger.as_ref(), task(long.clone()), no_fuse()).await;
    assert_eq!((again.fresh.len(), again.known), (0, 1));
    long.key.push('x');
    long.message = None;
    assert_eq!(push(ledger.as_ref(), task(long), no_fuse()).await.fresh.len(), 1);
    assert!(ledger.claim(&lane(1), &instance("a"), at(1)).await.unwrap().is_some());
}
