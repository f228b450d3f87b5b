//! Who somebody is to us, and what becomes of what they do. Pure: rules without I/O.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::{
    Address, AddressReason, AllowList, Audience, ConversationId, Inbound, PersonId, PlaceId, What,
};

use crate::delivery::account::Account;
use crate::intake::settings::{PlaceSettings, TriggerMode, WhileBusy};
use crate::intake::wait::{Wait, WaitRules};
use crate::work::provenance::{level, summoned};
use crate::work::rights::{self, Rights};
use selkie_domain::approval::Verdict;
use selkie_domain::builtin::Builtin;
use selkie_domain::cause::Cause;
use selkie_domain::clock::SharedClock;
use selkie_domain::facts::{Facts, Trust, Where};
use selkie_domain::live::Live;
use selkie_domain::span::Span;
use selkie_store::{Arrival, Disposition, NewTask};

/// What config says about what becomes of messages.
pub struct Rules {
    pub(crate) rights: Arc<Rights>,
    pub(crate) clock: SharedClock,
    pub(crate) settings: Live<RuleSettings>,
}

/// The same for all places.
#[derive(Clone, Copy, Debug)]
pub struct RuleSettings {
    /// Keep untriggered group talk.
    pub record_untriggered: bool,
    /// How long a speaker's messages gather.
    pub debounce: Span,
    /// How soon behind each other a speaker's messages are one request.
    pub join_within: Span,
    /// What a message does to a task that runs.
    pub while_busy: WhileBusy,
    /// When the bot speaks unasked where a group does not say otherwise.
    pub mode: TriggerMode,
}

impl Rules {
    /// Reads the rules of an account as they are now.
    pub fn of<T>(&self, account: &Account, read: impl FnOnce(&Policy<'_>) -> T) -> T {
        let RuleSettings { record_untriggered, debounce, join_within, while_busy, mode } =
            *self.settings.now();
        let places = self.rights.places.now();
        account.with_allowed(|allow| {
            read(&Policy {
                owners: &self.rights.owners,
                allow,
                places: &places,
                record_untriggered,
                debounce,
                join_within,
                while_busy,
                mode,
                address: &*account.channel.address,
                now: self.clock.now(),
            })
        })
    }

    /// When the bot speaks unasked in a place.
    pub fn trigger_mode(&self, conversation: &ConversationId, place: &PlaceId) -> TriggerMode {
        let here = self.rights.here(conversation, place).group_trigger_mode;
        here.unwrap_or(self.settings.now().mode)
    }
}

/// The rules of one account at one moment.
pub struct Policy<'a> {
    /// Always allowed.
    pub owners: &'a [PersonId],
    /// Whom the channel listens to.
    pub allow: &'a AllowList,
    /// What holds in single places.
    pub places: &'a BTreeMap<String, PlaceSettings>,
    /// Keep untriggered group talk.
    pub record_untriggered: bool,
    /// How long a speaker's messages gather.
    pub debounce: Span,
    /// How soon behind each other a speaker's messages are one request.
    pub join_within: Span,
    /// What a message does to a task that runs.
    pub while_busy: WhileBusy,
    /// When the bot speaks unasked where a group does not say otherwise.
    pub mode: TriggerMode,
    /// Explains conversations.
    pub address: &'a dyn Address,
    /// Now.
    pub now: DateTime<Utc>,
}

impl Policy<'_> {
    /// Says who the speaker is here; `None` for somebody the bot does not listen to.
    pub fn principal(&self, inbound: &Inbound) -> Option<Trust> {
        self.of(&inbound.speaker.id, &inbound.place)
    }

    /// Says who a person is in a place.
    pub fn of(&self, speaker: &PersonId, place: &PlaceId) -> Option<Trust> {
        rights::trust(self.owners, self.allow, speaker, place)
    }

    fn here(&self, inbound: &Inbound) -> PlaceSettings {
        PlaceSettings::of(self.places, &inbound.conversation, &inbound.place)
    }

    /// Makes the task of a message.
    pub fn task(&self, inbound: &Inbound, trust: Trust) -> NewTask {
        let account = inbound.conversation.account().clone();
        let cause = Cause::Message { account, key: inbound.key.clone() };
        let new = NewTask::new(cause, self.facts(inbound, trust));
        if inbound.command.is_some() {
            return new;
        }
        let rules = WaitRules {
            debounce: self.debounce,
            join_within: self.join_within,
            longest: self.address.longest_text(),
        };
        let Wait { span, gathers } = rules.wait(inbound);
        NewTask { not_before: span.map(|span| self.now + span), gathers, ..new }
    }

    /// Makes the task of a message that means the bot: it may interrupt what runs.
    fn asked(&self, inbound: &Inbound, trust: Trust) -> NewTask {
        let interrupts = self.while_busy == WhileBusy::Interrupt;
        NewTask { interrupts, ..self.task(inbound, trust) }
    }

    /// Takes the facts of a message.
    pub fn facts(&self, inbound: &Inbound, trust: Trust) -> Facts {
        let place = Where::Channel(self.address.features(&inbound.conversation));
        Facts {
            taint: level(inbound),
            message: inbound.message.clone(),
            opened: self.here(inbound).allow,
            summoned: if trust == Trust::Owner { summoned(inbound) } else { Vec::new() },
            ..Facts::of(place, Some(inbound.speaker.id.clone()), trust, self.now)
        }
    }
}

/// Says what an event is stored as.
pub fn arrival(inbound: Inbound, policy: &Policy<'_>) -> Arrival {
    let disposition = dispose(&inbound, policy);
    let belongs = belongs(&inbound, &disposition, policy);
    Arrival { belongs, ..Arrival::new(inbound, disposition) }
}

/// What a line of a group that speaks to nobody is where its speaker's request is not answered yet.
fn belongs(inbound: &Inbound, disposition: &Disposition, policy: &Policy<'_>) -> Option<NewTask> {
    let is_line = matches!(
        disposition,
        Disposition::Context | Disposition::Gate | Disposition::Ignored(UNTRIGGERED)
    );
    let is_own = is_line && is_open_line(inbound) && !policy.join_within.0.is_zero();
    let trust = is_own.then(|| policy.principal(inbound)).flatten()?;
    Some(policy.task(inbound, trust))
}

/// Decides what becomes of an event.
pub fn dispose(inbound: &Inbound, policy: &Policy<'_>) -> Disposition {
    match &inbound.what {
        What::Unparsed { .. } => Disposition::Unparsed,
        What::Other { .. } => Disposition::Ignored("asks_nothing"),
        What::Tap { .. } => Disposition::Tap,
        What::Moved { to } => Disposition::Moved(to.clone()),
        What::Closed { reason } => Disposition::Closed(reason.clone()),
        What::Opened => Disposition::Opened,
        // Whoever it was: nobody's words are kept against their will.
        What::Unsent => Disposition::Unsent,
        What::Message | What::Edit => spoken(inbound, policy),
    }
}

/// Whether somebody the bot does not listen to meant the bot: worth one hint.
pub fn is_unlisted(inbound: &Inbound, disposition: &Disposition) -> bool {
    matches!(disposition, Disposition::Ignored(NOT_ALLOWED))
        && inbound.what == What::Message
        && is_meant(inbound)
}

const NOT_ALLOWED: &str = "not_allowed";
const UNTRIGGERED: &str = "untriggered";

fn spoken(inbound: &Inbound, policy: &Policy<'_>) -> Disposition {
    if inbound.speaker.is_bot && !policy.here(inbound).bots {
        return Disposition::Ignored("bot");
    }
    let Some(trust) = policy.principal(inbound) else {
        // Whoever has a code is let in by it.
        return if pairs(inbound, policy) {
            Disposition::Command
        } else {
            Disposition::Ignored(NOT_ALLOWED)
        };
    };
    if inbound.what == What::Edit {
        return edited(inbound, policy, trust);
    }
    if !is_meant(inbound) {
        return match policy.record_untriggered {
            _ if is_for_the_gate(inbound, policy) => Disposition::Gate,
            true => Disposition::Context,
            false => Disposition::Ignored(UNTRIGGERED),
        };
    }
    meant(inbound, policy, trust)
}

/// In a group an edit may add the bot's name to what was said among others.
fn edited(inbound: &Inbound, policy: &Policy<'_>, trust: Trust) -> Disposition {
    let named = matches!(inbound.addressed, AddressReason::Mention | AddressReason::Command);
    if inbound.audience == Audience::Direct || !named {
        return Disposition::Edit;
    }
    match meant(inbound, policy, trust) {
        Disposition::Task(task) => Disposition::MeantNow(task),
        _ => Disposition::Edit,
    }
}

fn meant(inbound: &Inbound, policy: &Policy<'_>, trust: Trust) -> Disposition {
    match &inbound.command {
        Some(command) => match Builtin::parse(&command.name) {
            Some(Builtin::Ask) if !command.args.trim().is_empty() => task(inbound, policy, trust),
            Some(_) => Disposition::Command,
            None if inbound.audience == Audience::Direct => match Builtin::meant(&command.name) {
                Some(_) => Disposition::Command,
                None => task(inbound, policy, trust),
            },
            // Nobody else can be meant: the person reads which commands there are.
            None if names_us(inbound) || policy.address.owns_commands() => Disposition::Command,
            None => Disposition::Ignored("unknown_command"),
        },
        None if decides(inbound, trust) => Disposition::Command,
        None => task(inbound, policy, trust),
    }
}

fn pairs(inbound: &Inbound, policy: &Policy<'_>) -> bool {
    let command = inbound.command.as_ref().and_then(|command| Builtin::parse(&command.name));
    command == Some(Builtin::Pair)
        && inbound.audience == Audience::Direct
        && inbound.what == What::Message
        && policy.address.is_person(&inbound.speaker.id)
}

fn names_us(inbound: &Inbound) -> bool {
    inbound.addressed == AddressReason::Mention
}

/// Whether an owner's own words in private can mean nothing but a request for approval.
fn decides(inbound: &Inbound, trust: Trust) -> bool {
    trust == Trust::Owner
        && inbound.audience == Audience::Direct
        && !inbound.forwarded
        && inbound.aside.is_nothing()
        && inbound.attachments.is_empty()
        && inbound.what == What::Message
        && Verdict::is_all(&inbound.text)
}

fn is_meant(inbound: &Inbound) -> bool {
    inbound.audience == Audience::Direct || inbound.addressed != AddressReason::No
}

/// Whether the gate may find that a line which names nobody means the bot.
fn is_for_the_gate(inbound: &Inbound, policy: &Policy<'_>) -> bool {
    let mode = policy.here(inbound).group_trigger_mode.unwrap_or(policy.mode);
    mode != TriggerMode::Strict && is_open_line(inbound)
}

/// Whether a line that names nobody may be for the bot: an answer to another person, a command for another bot and what
/// bots say among themselves never are.
fn is_open_line(inbound: &Inbound) -> bool {
    let answers_another = inbound.quote.as_ref().is_some_and(|quote| !quote.ours);
    !answers_another && !inbound.speaker.is_bot && !inbound.text.starts_with('/')
}

fn task(inbound: &Inbound, policy: &Policy<'_>, trust: Trust) -> Disposition {
    Disposition::Task(policy.asked(inbound, trust))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;
    use selkie_channel_core::{
        Aside, Attachment, AttachmentKind, Command, ConversationId, MessageRef, Quote,
    };

    use super::*;
    use crate::flow::testing::{self, TestAddress};
    use crate::intake::wait::{ALBUM, CUT_MARGIN};
    use selkie_domain::taint::Taint;
    use selkie_store::NextPiece;

    fn policy<'a>(
        owners: &'a [PersonId],
        allow: &'a AllowList,
        places: &'a BTreeMap<String, PlaceSettings>,
    ) -> Policy<'a> {
        let now = DateTime::UNIX_EPOCH;
        Policy {
            owners,
            allow,
            places,
            record_untriggered: true,
            debounce: Span::seconds(0),
            join_within: Span::seconds(0),
            while_busy: WhileBusy::Queue,
            mode: TriggerMode::Strict,
            address: &TestAddress,
            now,
        }
    }

    fn word(disposition: &Disposition) -> String {
        match disposition {
            Disposition::Task(t) => format!("task as {}", t.facts.trust.name()),
            Disposition::Ignored(why) => format!("ignored: {why}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    struct OwnCommands;

    impl Address for OwnCommands {
        fn parse(&self, text: &str) -> Option<ConversationId> {
            TestAddress.parse(text)
        }

        fn features(&self, conversation: &ConversationId) -> selkie_channel_core::Features {
            TestAddress.features(conversation)
        }

        fn owns_commands(&self) -> bool {
            true
        }
    }

    fn decide(inbound: &Inbound, allow: &AllowList) -> String {
        let owners = [PersonId::new("tg:1")];
        word(&dispose(inbound, &policy(&owners, allow, &BTreeMap::new())))
    }

    fn group(speaker: &str, text: &str) -> Inbound {
        let mut inbound = testing::message(speaker, text);
        let account = inbound.conversation.account().clone();
        inbound.conversation = ConversationId::new(account.clone(), "tg:-100:7");
        inbound.place = PlaceId::new(account, "tg:-100");
        inbound.audience = Audience::Group;
        inbound.addressed = AddressReason::No;
        inbound
    }

    #[test]
    fn an_empty_list_means_nobody_but_the_owner() {
        let nobody = AllowList::default();
        assert_eq!(decide(&testing::message("tg:1", "hi"), &nobody), "task as owner");
        assert_eq!(decide(&testing::message("tg:2", "hi"), &nobody), "ignored: not_allowed");
        assert_eq!(
            decide(&testing::message("tg:2", "hi"), &AllowList::everyone()),
            "task as stranger"
        );
        let listed = AllowList::of(["tg:2".to_owned()]);
        assert_eq!(decide(&testing::message("tg:2", "hi"), &listed), "task as allowed");
    }

    #[test]
    fn a_pairing_code_is_read_from_anybody_in_private_alone() {
        let nobody = AllowList::default();
        let command = Some(Command { name: "pair".to_owned(), args: "ab3defgh".to_owned() });
        let said =
            |inbound: Inbound| decide(&Inbound { command: command.clone(), ..inbound }, &nobody);
        assert_eq!(said(testing::message("tg:5", "/pair ab3defgh")), "command");
        assert_eq!(said(group("tg:5", "/pair ab3defgh")), "ignored: not_allowed");
        let mut bot = testing::message("tg:5", "/pair ab3defgh");
        bot.speaker.is_bot = true;
        assert_eq!(said(bot), "ignored: bot");
    }

    #[test]
    fn words_that_only_decide_are_the_owners_command_in_private() {
        let nobody = AllowList::default();
        let said = |text: &str| decide(&testing::message("tg:1", text), &nobody);
        for text in ["approve", "Deny", "approve abcdef", "deny 12345", "approve 3fa9cl"] {
            assert_eq!(said(text), "command", "{text}");
        }
        for text in ["approve it", "approve abcdef now", "deny everything", "yes", "approves"] {
            assert_eq!(said(text), "task as owner", "{text}");
        }
        let forwarded = Inbound { forwarded: true, ..testing::message("tg:1", "approve abcdef") };
        assert_eq!(decide(&forwarded, &nobody), "task as owner");
        for aside in [Aside::Words, Aside::Code] {
            let said = Inbound { aside, ..testing::message("tg:1", "approve abcdef") };
            assert_eq!(decide(&said, &nobody), "task as owner", "{aside:?}");
        }
        let listed = AllowList::of(["tg:2".to_owned()]);
        assert_eq!(decide(&testing::message("tg:2", "approve abcdef"), &listed), "task as allowed");
    }

    #[test]
    fn a_group_is_answered_when_it_means_the_bot() {
        let listed = AllowList::of(["tg:-100".to_owned()]);
        let mut said = group("tg:5", "good morning");
        assert_eq!(decide(&said, &listed), "context");
        said.addressed = AddressReason::Mention;
        assert_eq!(decide(&said, &listed), "task as allowed");
        assert_eq!(decide(&said, &AllowList::default()), "ignored: not_allowed");
        said.speaker.is_bot = true;
        assert_eq!(decide(&said, &listed), "ignored: bot");
        let mut owner = group("tg:1", "selkie, hi");
        owner.addressed = AddressReason::Mention;
        assert_eq!(decide(&owner, &AllowList::default()), "task as owner");
    }

    #[test]
    fn only_talk_that_may_mean_the_bot_waits_for_the_gate() {
        let listed = AllowList::of(["tg:-100".to_owned()]);
        let smart = |group_trigger_mode, bots| {
            let group = PlaceSettings { group_trigger_mode, bots, ..PlaceSettings::default() };
            BTreeMap::from([("tg:-100".to_owned(), group)])
        };
        let decide = |inbound: &Inbound, groups: &BTreeMap<String, PlaceSettings>, mode| {
            word(&dispose(inbound, &Policy { mode, ..policy(&[], &listed, groups) }))
        };
        let (here, everywhere) = (smart(Some(TriggerMode::Smart), true), smart(None, false));
        let said = group("tg:5", "who knows?");
        assert_eq!(decide(&said, &here, TriggerMode::Strict), "gate");
        assert_eq!(decide(&said, &everywhere, TriggerMode::Talkative), "gate");
        assert_eq!(decide(&said, &everywhere, TriggerMode::Strict), "context");
        assert_eq!(decide(&group("tg:5", "/ask@other hi"), &here, TriggerMode::Strict), "context");
        let quote = |ours| {
            let message = MessageRef::new("1");
            Some(Quote {
                message,
                speaker: String::new(),
                text: String::new(),
                ours,
                attachments: Vec::new(),
            })
        };
        let answers = Inbound { quote: quote(false), ..said.clone() };
        assert_eq!(decide(&answers, &here, TriggerMode::Strict), "context", "to somebody else");
        let mut bot = said.clone();
        bot.speaker.is_bot = true;
        assert_eq!(decide(&bot, &here, TriggerMode::Strict), "context", "among bots");
        assert_eq!(decide(&bot, &everywhere, TriggerMode::Talkative), "ignored: bot");
        bot.addressed = AddressReason::Mention;
        assert_eq!(decide(&bot, &here, TriggerMode::Strict), "task as allowed");
        let meant = Inbound { addressed: AddressReason::Mention, ..said };
        assert_eq!(decide(&meant, &here, TriggerMode::Strict), "task as allowed", "at once");
    }

    #[test]
    fn an_edit_that_adds_the_name_may_start_a_task() {
        let listed = AllowList::of(["tg:-100".to_owned(), "tg:5".to_owned()]);
        let mut said = group("tg:5", "selkie, tea?");
        said.what = What::Edit;
        assert_eq!(decide(&said, &listed), "edit");
        said.addressed = AddressReason::Mention;
        assert!(decide(&said, &listed).starts_with("meantnow"), "{}", decide(&said, &listed));
        said.command = Some(Command { name: "reset".to_owned(), args: String::new() });
        assert_eq!(decide(&said, &listed), "edit", "a command is not carried out by an edit");
        let mut direct = testing::message("tg:5", "tea?");
        (direct.what, direct.addressed) = (What::Edit, AddressReason::Mention);
        assert_eq!(decide(&direct, &listed), "edit");
    }

    #[test]
    fn commands_are_known_by_name() {
        let listed = AllowList::of(["tg:2".to_owned(), "tg:-100".to_owned()]);
        let mut said = testing::message("tg:2", "x");
        let mut command = |name: &str, args: &str| {
            said.command = Some(Command { name: name.to_owned(), args: args.to_owned() });
            decide(&said, &listed)
        };
        assert_eq!(command("reset", ""), "command");
        assert_eq!(command("ask", ""), "command");
        assert_eq!(command("ask", "what now"), "task as allowed");
        assert_eq!(command("dance", ""), "task as allowed");
        assert_eq!(command("remindme", "in 5m tea"), "command", "it is told what was meant");
        let mut said = group("tg:2", "");
        said.addressed = AddressReason::Command;
        said.command = Some(Command { name: "dance".to_owned(), args: String::new() });
        assert_eq!(decide(&said, &listed), "ignored: unknown_command");
        let named = Inbound { addressed: AddressReason::Mention, ..said.clone() };
        assert_eq!(decide(&named, &listed), "command", "/dance@our_bot is for nobody else");
        let groups = BTreeMap::new();
        let ours = Policy { address: &OwnCommands, ..policy(&[], &listed, &groups) };
        assert_eq!(word(&dispose(&said, &ours)), "command", "it can be meant for nobody else");
    }

    #[test]
    fn words_of_others_are_untrusted_and_the_bots_own_are_not() {
        let everyone = AllowList::everyone();
        let groups = BTreeMap::new();
        let policy = policy(&[], &everyone, &groups);
        let mut said = testing::message("tg:2", "hi");
        let untrusted = |m: &Inbound| policy.facts(m, Trust::Allowed).taint == Taint::Raw;
        assert!(!untrusted(&said));
        said.quote = Some(Quote {
            message: MessageRef::new("1"),
            speaker: "bot".to_owned(),
            text: "hello".to_owned(),
            ours: true,
            attachments: Vec::new(),
        });
        assert!(!untrusted(&said));
        said.quote = said.quote.map(|q| Quote { ours: false, ..q });
        assert!(untrusted(&said));
        let own = said.quote.take();
        said.attachments = vec![Attachment {
            handle: "h".to_owned(),
            kind: AttachmentKind::Photo,
            name: String::new(),
            mime: None,
            size: None,
            duration: None,
        }];
        assert!(untrusted(&said));
        said.attachments[0].kind = AttachmentKind::Voice;
        assert_eq!(policy.facts(&said, Trust::Allowed).taint, Taint::Derived, "said aloud");
        said.forwarded = true;
        assert!(untrusted(&said), "by somebody else");
        said.forwarded = false;
        let attachments = std::mem::take(&mut said.attachments);
        said.quote = own.map(|quote| Quote { ours: true, attachments, ..quote });
        assert!(untrusted(&said), "a file that the bot has sent");
    }

    #[test]
    fn messages_gather_and_interrupt_where_config_says_so_and_commands_wait_for_nobody() {
        let owners = [PersonId::new("tg:1")];
        let (allow, groups) = (AllowList::default(), BTreeMap::new());
        let debounce = Span::seconds(3);
        let today = Policy {
            debounce,
            while_busy: WhileBusy::Interrupt,
            ..policy(&owners, &allow, &groups)
        };
        let mut said = testing::message("tg:1", "look");
        let made = |said: &Inbound| match dispose(said, &today) {
            Disposition::Task(task) => task,
            other => panic!("no task: {other:?}"),
        };
        let task = made(&said);
        let gathers = task.gathers.expect("it gathers");
        assert_eq!((&*gathers.word, gathers.next), ("say:tg:1", NextPiece::Expected));
        assert_eq!(task.not_before, Some(today.now + TimeDelta::seconds(3)));
        assert!(task.interrupts);
        said.command = Some(Command { name: "ask".to_owned(), args: "what".to_owned() });
        let task = made(&said);
        assert!(task.gathers.is_none(), "a command stands by itself");
        assert_eq!((task.not_before, task.interrupts), (None, true));
        let unasked = today.task(&said, Trust::Owner);
        assert!(!unasked.interrupts, "what passed the gate interrupts nobody");
    }

    #[test]
    fn only_an_owners_typed_words_name_a_tool() {
        let everyone = AllowList::everyone();
        let groups = BTreeMap::new();
        let policy = policy(&[], &everyone, &groups);
        let said = testing::message("tg:1", "use $bash, then ($x) a$b $5 $PATH $web_fetch! $bash");
        let names = |m: &Inbound, trust| policy.facts(m, trust).summoned;
        assert_eq!(names(&said, Trust::Owner), ["bash", "web_fetch"]);
        let other = testing::message("tg:1", "$exec and $file_read, then $bash");
        assert_eq!(
            names(&other, Trust::Owner),
            ["exec", "file_read", "bash"],
            "as they were typed"
        );
        assert!(names(&said, Trust::Allowed).is_empty());
        let forwarded = Inbound { forwarded: true, ..said.clone() };
        assert!(names(&forwarded, Trust::Owner).is_empty());
        let quote = Quote {
            message: MessageRef::new("1"),
            speaker: String::new(),
            text: "$bash".to_owned(),
            ours: true,
            attachments: Vec::new(),
        };
        let quotes = Inbound { quote: Some(quote), text: "do it".to_owned(), ..said };
        assert!(names(&quotes, Trust::Owner).is_empty());
    }

    #[test]
    fn only_what_asks_for_nothing_or_was_cut_waits_for_the_next_piece() {
        let owners = [PersonId::new("tg:1")];
        let (allow, groups) = (AllowList::default(), BTreeMap::new());
        let join_within = Span::seconds(2);
        let today = Policy { join_within, ..policy(&owners, &allow, &groups) };
        let made = |said: &Inbound| {
            let task = today.task(said, Trust::Owner);
            let gathers = task.gathers.expect("it gathers");
            (task.not_before.map(|at| at - today.now), gathers.next)
        };
        let long = Some(TimeDelta::seconds(2));
        let said = testing::message("tg:1", "look");
        assert_eq!(made(&said), (None, NextPiece::Unknown));
        assert_eq!(made(&Inbound { forwarded: true, ..said.clone() }), (long, NextPiece::Words));
        let most = TestAddress.longest_text().expect("the test's platform cuts texts");
        let of = |length: usize| testing::message("tg:1", &"x".repeat(length));
        assert_eq!(made(&of(most)), (long, NextPiece::Expected));
        assert_eq!(made(&of(most - most / CUT_MARGIN - 1)), (None, NextPiece::Unknown));
    }

    #[test]
    fn a_line_belongs_to_its_speakers_request_unless_it_speaks_to_somebody_else() {
        let owners = [PersonId::new("tg:1")];
        let (allow, groups) = (AllowList::of(["tg:-100".to_owned()]), BTreeMap::new());
        let join_within = Span::seconds(2);
        let today = Policy { join_within, ..policy(&owners, &allow, &groups) };
        let belongs = |said: &Inbound| arrival(said.clone(), &today).belongs.is_some();
        let said = group("tg:1", "this one");
        assert!(belongs(&said) && belongs(&Inbound { forwarded: true, ..said.clone() }));
        assert!(!belongs(&testing::message("tg:1", "this one")), "it is a request itself");
        assert!(!belongs(&Inbound { text: "/dance".to_owned(), ..said.clone() }));
        let quote = Quote {
            message: MessageRef::new("7"),
            speaker: "Grace".to_owned(),
            text: "tea?".to_owned(),
            ours: false,
            attachments: Vec::new(),
        };
        assert!(!belongs(&Inbound { quote: Some(quote), ..said }), "it answers somebody");
    }

    #[test]
    fn an_album_waits_for_its_pictures() {
        let mut said = testing::message("tg:1", "look");
        said.album = Some("a1".to_owned());
        let owners = [PersonId::new("tg:1")];
        let (allow, groups) = (AllowList::default(), BTreeMap::new());
        let Disposition::Task(task) = dispose(&said, &policy(&owners, &allow, &groups)) else {
            panic!("no task")
        };
        assert_eq!(task.not_before, Some(DateTime::UNIX_EPOCH + ALBUM));
    }

    proptest! {
        #[test]
        fn names_of_tools_are_names(text in "(\\$|[a-z_0-9A-Z]| |\\PC){0,40}") {
            for name in summoned(&testing::message("tg:1", &text)) {
                let written = format!("${name}");
                prop_assert!(text.contains(&written));
                prop_assert!(name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')));
            }
        }

        #[test]
        fn nobody_unlisted_ever_starts_anything(
            speaker in 2u32..50, text in ".{0,20}", grouped: bool, meant: bool, edit: bool,
            command in prop::option::of("(start|help|id|reset|stop|status|tools|ask|other)")
        ) {
            let speaker = format!("tg:{speaker}");
            let mut said =
                if grouped { group(&speaker, &text) } else { testing::message(&speaker, &text) };
            if meant { said.addressed = AddressReason::Mention; }
            if edit { said.what = What::Edit; }
            said.command = command.map(|name| Command { name, args: text.clone() });
            let listed = AllowList::of(["tg:-999".to_owned(), "tg:77".to_owned()]);
            prop_assert_eq!(decide(&said, &listed), "ignored: not_allowed");
        }
    }
}
