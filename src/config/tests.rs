//! Problems in words, precedence, secrets, the example file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use schemars::{JsonSchema, Schema, schema_for};
use selkie_channel_core::{
    AllowKeys, AlsoCalled, Audience, BuildContext, Channel, ChannelKit, ContactForm, Features, Ids,
    Problem as Wrong,
};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::paths::ConfigFile;

/// A channel that is none of ours, so that nothing here hangs on a platform.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Pigeon {
    bot_token: String,
    ring: Option<String>,
    base_url: Option<String>,
    allowed_chat_ids: Option<Vec<Loft>>,
    max_bytes: Option<u64>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Loft {
    Name(String),
    Number(i64),
}

fn kit() -> ChannelKit {
    fn settings() -> Schema {
        schema_for!(Pigeon)
    }
    fn features(kind: &str) -> Features {
        Features {
            channel: "pigeon".into(),
            kind: kind.into(),
            audience: Audience::Direct,
            speaking: Vec::new(),
            style: String::new(),
        }
    }
    fn build(_: Value, _: BuildContext) -> Result<Option<Channel>, Vec<Wrong>> {
        Ok(None)
    }
    ChannelKit {
        name: "pigeon",
        prefix: "pg",
        settings,
        secrets: &["bot_token", "ring"],
        also: &[AlsoCalled {
            key: "bot_token",
            written: ("dove", "token"),
            variable: "DOVE_TOKEN",
            home: ("base_url", "https://pigeon.example"),
        }],
        listens: &["listen"],
        people: Ids { such_as: "pg:1", fit: |text| text.starts_with("pg:") && text.len() > 3 },
        places: Ids { such_as: "pg:1", fit: |text| text.starts_with("pg:") && text.len() > 3 },
        contacts: ContactForm::NONE,
        allow_keys: AllowKeys::one("allowed_chat_ids"),
        kinds: &[("private", Audience::Direct)],
        features,
        speaking: &[],
        posting: None,
        manifest: None,
        setup: None,
        build,
    }
}

/// A folder with a config file, and what is read from it.
struct Desk {
    folder: TempDir,
    env: Environment,
    flags: Vec<Flag>,
}

impl Desk {
    fn with(yaml: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("config.yaml"), yaml).unwrap();
        Self { folder, env: Environment::new(), flags: Vec::new() }
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, name: &str, value: Value) -> Self {
        self.flags.push(Flag { name: name.to_owned(), value });
        self
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn read(&self) -> Result<RawConfig, Problems> {
        let sources = Sources {
            file: ConfigFile::choose(None, self.path(), &Environment::new()),
            env: self.env.clone(),
            flags: self.flags.clone(),
            here: self.path().to_owned(),
        };
        read(&sources, &[kit()])
    }

    fn settings(&self) -> Settings {
        self.read().unwrap().finish().unwrap()
    }

    fn problems(&self) -> String {
        let problems = self.read().and_then(RawConfig::finish).unwrap_err().to_string();
        problems.replace(&self.path().display().to_string(), "<folder>")
    }

    fn shown(&self, key: &str) -> String {
        let line = show::lines(&self.read().unwrap()).into_iter().find(|l| l.key == key);
        line.map_or("nothing".to_owned(), |l| format!("{} from {}", l.value, l.from))
    }
}

#[test]
fn pairing_is_by_button_or_code_or_off() {
    let of = |written: &str| Desk::with(&format!("pairing: {written}\n")).shown("pairing");
    assert!(of("ask").starts_with("\"ask\"") || of("ask").starts_with("ask"), "{}", of("ask"));
    assert_snapshot!(Desk::with("pairing: maybe\n").problems(), @"config.yaml:1: pairing takes button, ask or off, not maybe");
}

#[test]
fn a_key_stays_on_its_line() {
    let told = Desk::with("\"a\\nconfig ok\": 1\n").problems();
    assert!(told.starts_with("config.yaml:1: a⟨U+000A⟩config ok is not a key"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn every_problem_is_told_at_once_with_its_line() {
    let desk = Desk::with(
        "owners: [4711]\n\
         while_busy: quue\n\
         worker:\n  max_concurrency: 0\n  max: 3\n\
         outbox:\n  unclear_after: soon\n\
         pigeon:\n  base_url: 7\n  allowed_chat_id: [1]\n\
         loging:\n  level: info\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:1: owners[0] takes a string, not 4711: write "pg:4711"
    config.yaml:2: while_busy takes queue, steer or interrupt, not quue
    config.yaml:4: worker.max_concurrency takes 1 or more, not 0
    config.yaml:5: worker.max is not a key (takes max_concurrency)
    config.yaml:7: outbox.unclear_after takes a length of time (500ms, 30s, 10m, 2h or 7d), not "soon"
    config.yaml:8: pigeon.bot_token is missing: write it, name a file in bot_token_file, or set SELKIE__PIGEON__BOT_TOKEN
    config.yaml:9: pigeon.base_url takes a string, not 7
    config.yaml:10: pigeon.allowed_chat_id is not a key (did you mean allowed_chat_ids? takes bot_token, ring, base_url, allowed_chat_ids, max_bytes, bot_token_file, ring_file)
    config.yaml:11: loging is not a key (did you mean logging?)
    "#);
}

#[test]
fn keys_of_other_programs_lead_to_ours() {
    let desk = Desk::with("system_prompt: be kind\nlog_level: debug\nmcpServers: {}\nmood: fine\n");
    assert_snapshot!(desk.problems(), @"
    config.yaml:1: system_prompt is not a key: who the bot is stands in persona/IDENTITY.md and persona/SOUL.md in the state folder
    config.yaml:2: log_level is not a key: write logging.level
    config.yaml:3: mcpServers is not a key: write mcp.servers; `selkie mcp import FILE` prints another program's servers that way
    config.yaml:4: mood is not a key (selkie config example shows every key)
    ");
}

#[test]
fn contradictions_are_told_when_the_shape_is_right() {
    let desk = Desk::with(
        "owners: ['4711', 'pg:1']\n\
         groups:\n  tg:-100:\n    allow: [exec, bsh, contacts_send]\n\
         console:\n  allow_origin: http://127.0.0.1:1\n\
         debug:\n  crash_at: after_clam\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:1: owners[0] takes the id of a person (pg:1), not "4711" (did you mean "pg:4711"?): /id in a chat shows it
    config.yaml:3: groups.tg:-100 takes the id of a conversation (pg:1), not "tg:-100": /id in a chat shows it
    config.yaml:4: groups.tg:-100.allow[1] takes names of tools and classes (read, note, reply, write, exec, network, message, agent or public), not "bsh" (did you mean bash?)
    config.yaml:6: console.allow_origin is set and console.listen is not: nothing would listen. Set both or neither
    config.yaml:8: debug.crash_at takes <point> or <point>:<nth>, not "after_clam" (did you mean after_claim? points: before_accept, after_accept, after_gate, after_judged, before_command, after_command, after_claim, after_model, after_calls_stored, after_tool, after_said, after_results, after_park, after_spawn, before_answer, after_answer, before_finish, after_finish, after_sending, after_deliver, after_receipt)
    "#);
    assert_snapshot!(Desk::with("console: {listen: 0.0.0.0:80}").problems(), @r#"config.yaml:1: console.listen takes a loopback address (127.0.0.1:7780), not 0.0.0.0:80: the console has no sign-in"#);
}

#[test]
fn a_place_names_a_profile_and_a_level() {
    let desk = Desk::with(
        "llm:\n  profiles: {quick: {provider: offline}}\n  efforts: {main: hard, smal: low}\n\
         places:\n  'pg:1': {model: quik, effort: hihg}\n  'pg:2': {bots: true}\n\
         groups:\n  'pg:2': {modle: quick}\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:3: llm.efforts.main takes none, minimal, low, medium, high, xhigh or max, not hard
    config.yaml:3: llm.efforts.smal is not a key (did you mean small? takes main, small, decision, heartbeat)
    config.yaml:5: places.pg:1.effort takes none, minimal, low, medium, high, xhigh or max, not hihg
    config.yaml:5: places.pg:1.model "quik" is not a model profile of the config (takes quick). Did you mean quick?
    config.yaml:8: groups.pg:2 is in places, too: keep that one
    config.yaml:8: groups.pg:2.modle is not a key (did you mean model? takes allow, group_trigger_mode, bots, model, effort, agent, voice)
    "#);
    let right = "llm: {profiles: {quick: {provider: offline}}}\n\
         places: {'pg:1': {effort: low}, 'pg:2': {model: quick, effort: high}}\n\
         groups: {'pg:3': {bots: true}}\n";
    let places = Desk::with(right).settings().of_places();
    assert_eq!(places.keys().collect::<Vec<_>>(), ["pg:1", "pg:2", "pg:3"]);
}

#[test]
fn an_agent_is_named_once_and_names_what_there_is() {
    let desk = Desk::with(
        "llm: {profiles: {quick: {provider: offline}}}\n\
         agents:\n  reader: {model: quik, tools: [file_read, network, reed]}\n\
         \x20 twice: {}\n  twice: {}\n  off: {}\n  My_Agent: {about: \"one\\ntwo\"}\n\
         \x20 coder: {persona: ../x.md, workspace: srv, memory: 'a b', tool: [bash]}\n  mute: {persona: ' '}\n\
         \x20 thinker: {effort: hihg}\n\
         places: {'pg:1': {agent: raeder}}\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:3: agents.reader.model "quik" is not a model profile of the config (takes quick). Did you mean quick?
    config.yaml:3: agents.reader.tools[2] takes names of tools and classes (read, note, reply, write, exec, network, message, agent or public), not "reed" (did you mean read?)
    config.yaml:5: agents.twice is already there: keep one of the two
    config.yaml:6: agents.off is a word of /agent: call the agent something other than off
    config.yaml:7: agents.My_Agent takes a name of 1 to 32 small letters, digits and hyphens
    config.yaml:7: agents.My_Agent.about takes one line of at most 200 characters
    config.yaml:8: agents.coder.memory takes own, or a name of 1 to 32 small letters, digits and hyphens, not "a b"
    config.yaml:8: agents.coder.persona takes words, or persona/NAME.md in the state folder, not "../x.md"
    config.yaml:8: agents.coder.tool is not a key (did you mean tools? takes about, persona, model, effort, tools, workspace, memory)
    config.yaml:8: agents.coder.workspace takes a whole path, such as /srv/project, not "srv"
    config.yaml:9: agents.mute.persona takes words, or persona/NAME.md in the state folder: write some, or take the key out
    config.yaml:10: agents.thinker.effort takes none, minimal, low, medium, high, xhigh or max, not hihg
    config.yaml:11: places.pg:1.agent takes the name of an agent (coder, mute, reader or thinker), not "raeder" (did you mean reader?)
    "#);
    let none = Desk::with("places: {'pg:1': {agent: reader}}\n");
    assert_snapshot!(none.problems(), @r#"config.yaml:1: places.pg:1.agent is "reader", and the config has no agents: add it to `agents`"#);
    let right = "llm: {profiles: {quick: {provider: offline}}}\n\
         agents:\n  reader: {about: reads, persona: Read., model: quick, effort: low, tools: [], memory: own}\n\
         \x20 coder-2: {workspace: ~/code, persona: persona/coder.md}\n\
         places: {'pg:1': {agent: coder-2}}\n";
    let agents = Desk::with(right).env("HOME", "/home/me").settings().agents;
    assert_eq!(agents["coder-2"].workspace.as_deref(), Some("/home/me/code".as_ref()));
    assert_eq!(agents["reader"].tools.as_deref(), Some([].as_slice()));
}

#[test]
fn a_certificate_is_told_of_within_a_year() {
    assert_snapshot!(Desk::with("alerts:\n  certificate: 400d\n").problems(), @"config.yaml:2: alerts.certificate takes at most 365d, not 400d");
    let settings = Desk::with("alerts: {certificate: 0s}").settings();
    assert!(settings.alerts.certificate.0.is_zero(), "not told");
}

#[test]
fn an_empty_word_of_a_list_is_refused() {
    let desk = Desk::with(
        "tools:\n  bash:\n    deny_tokens: [shutdown, '']\n    approval_patterns: [' ']\n  grep:\n    deny_paths: ['']\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:3: tools.bash.deny_tokens[1] takes a word that no command may contain (shutdown), not ""
    config.yaml:4: tools.bash.approval_patterns[0] takes a pattern of commands that ask first (git push *), not " "
    config.yaml:6: tools.grep.deny_paths[0] takes a path (~/.ssh), not ""
    "#);
}

#[test]
fn an_id_is_shown_as_it_is_written() {
    assert_snapshot!(Desk::with("owners: 4711\n").problems(), @r#"config.yaml:1: owners takes an array of strings, not 4711: write ["pg:4711"]"#);
    assert_snapshot!(Desk::with("owners: pg:1\n").problems(), @r#"config.yaml:1: owners takes an array of strings, not "pg:1": write ["pg:1"]"#);
    assert_snapshot!(Desk::with("owners: ''\n").problems(), @r#"config.yaml:1: owners takes an array of strings, not "": write [] for none, or take the key out"#);
    assert_snapshot!(Desk::with("schedules: ''\n").problems(), @r#"config.yaml:1: schedules takes an array of objects, not "": write [] for none, or take the key out"#);
    assert_snapshot!(Desk::with("schedules: x\n").problems(), @r#"config.yaml:1: schedules takes an array of objects, not "x""#);
    assert_snapshot!(Desk::with("logging: {level: ''}\n").problems(), @r#"config.yaml:1: logging.level takes error, warn, info, debug or trace, not """#);
    assert_snapshot!(Desk::with("owners: true\n").problems(), @"config.yaml:1: owners takes an array of strings, not true");
    for written in ["*", "[*]", "[ *, 1 ]", "\n  - *"] {
        let desk = Desk::with(&format!("pigeon:\n  bot_token: t\n  allowed_chat_ids: {written}\n"));
        let said = desk.problems();
        assert!(
            said.ends_with(r#"a `*` without quotes is a sign of YAML's own: write ["*"]"#),
            "{said}"
        );
    }
}

#[test]
fn a_row_of_the_policy_that_can_come_to_nothing_is_refused() {
    let desk = Desk::with(
        "approvals:\n  timeout: 0s\n  unattended_timeout: 1ms\n  policy:\n\
         \x20   - {place: pigeon:groups, deny: [exec]}\n\
         \x20   - {place: privat, deny: [exec]}\n\
         \x20   - {}\n\
         \x20   - {place: cli}\n\
         \x20   - {allow: [exec, bash], deny: [write, bash]}\n\
         \x20   - {allow: [exec], ask: [exec]}\n\
         \x20   - {place: pigeon:private, trust: owner, allow: [exec], deny: [bash]}\n\
         \x20   - {place: pigeon, trust: everybody, trigger: now, deny: [exec]}\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:2: approvals.timeout takes 1s or more, not 0s
    config.yaml:3: approvals.unattended_timeout takes 1s or more, not 1ms
    config.yaml:5: approvals.policy[0].place takes cli, private, group, pigeon or pigeon:private, not "pigeon:groups"
    config.yaml:6: approvals.policy[1].place takes cli, private, group, pigeon or pigeon:private, not "privat"
    config.yaml:7: approvals.policy[2] says nothing: write allow, ask or deny, or take the row out
    config.yaml:8: approvals.policy[3] says nothing: write allow, ask or deny, or take the row out
    config.yaml:9: approvals.policy[4] names bash in allow and in deny: keep one of the two
    config.yaml:10: approvals.policy[5] names exec in allow and in ask: keep one of the two
    config.yaml:12: approvals.policy[7].trigger takes asked, scheduled, heartbeat, relayed or webhook, not "now"
    config.yaml:12: approvals.policy[7].trust takes owner, allowed or stranger, not "everybody"
    "#);
}

#[test]
fn a_schedule_that_cannot_be_is_told_with_its_line_and_key() {
    let desk = Desk::with(
        "owners: ['pg:1']\npigeon: {bot_token: t}\n\
         schedules:\n\
         \x20 - id: morning\n    cron: 0 0 31 2 *\n    timezone: Europe/Berln\n    prompt: my list\n    model: cheep\n    to: 4711\n\
         \x20 - {id: morning, every: 1h, cron: '@daily', say: x, to: '4711'}\n\
         \x20 - {every: 5s, remind: x, lateness: soon, histroy: 3}\n\
         \x20 - {id: fine, at: 2030-12-24 18:00, say: hello, to: 'pg:1'}\n\
         llm: {profiles: {cheap: {provider: offline}}}\n",
    );
    assert_snapshot!(desk.problems(), @r#"
    config.yaml:5: schedules[0].cron "0 0 31 2 *" never happens: no such day is in the calendar
    config.yaml:6: schedules[0].timezone "Europe/Berln" is not a time zone (takes a name like Europe/Berlin, Asia/Tokyo or UTC). Did you mean Europe/Berlin, America/North_Dakota/Beulah or Asia/Beirut?
    config.yaml:8: schedules[0].model "cheep" is not a model profile of the config (takes cheap). Did you mean cheap?
    config.yaml:9: schedules[0].to takes a string, not 4711
    config.yaml:10: schedules[1] takes one of cron, every and at, which says when
    config.yaml:10: schedules[1].id takes a unique name: "morning" is already another schedule's
    config.yaml:10: schedules[1].to takes the id of a conversation (pg:1), not "4711" (did you mean "pg:4711"?): /id in a chat shows it
    config.yaml:11: schedules[2].every "every 5s" is not taken: an interval is one minute to one year
    config.yaml:11: schedules[2].histroy is not a key (did you mean history? takes id, title, cron, every, at, timezone, prompt, say, remind, to, model, effort, until, times, active, jitter, misfire, lateness, history, budget_calls, budget_usd)
    config.yaml:11: schedules[2].id is missing: it takes a unique name, such as morning-list
    config.yaml:11: schedules[2].lateness takes a length of time (500ms, 30s, 10m, 2h or 7d), not "soon"
    "#);
    let nobody = Desk::with("schedules: [{id: a, every: 1h, say: x}]");
    assert_snapshot!(nobody.problems(), @r#"
    config.yaml:1: schedules are the first owner's, and `owners` is empty: write your id there
    "#);
}

#[test]
fn a_value_that_its_type_refuses_blames_nobody_else() {
    let yaml = "owners: ['pg:1']\npigeon: {bot_token: t}\n\
         timezone: Europe/Berln\n\
         heartbeat: {active: 8-22, every: 5s}\n\
         approvals: {policy: [{place: cli, allow: [exec]}]}\n\
         groups: {'pg:-1': {allow: [exec]}}\n\
         schedules: [{id: a, cron: '@daily', say: x, lateness: 1h}, {id: b, every: 1h, say: y, active: 8-22}]\n";
    assert_snapshot!(Desk::with(yaml).problems(), @r#"
    config.yaml:3: timezone is not accepted: "Europe/Berln" is not a time zone (takes a name like Europe/Berlin, Asia/Tokyo or UTC). Did you mean Europe/Berlin, America/North_Dakota/Beulah or Asia/Beirut?
    config.yaml:4: heartbeat.active is not accepted: "8-22" are no active hours (takes 08:00-22:00, or 22:00-06:00 past midnight; leave them out for all day)
    config.yaml:4: heartbeat.every is not accepted: 5s is not taken: one minute to one year is
    config.yaml:7: schedules[1].active "8-22" are no active hours (takes 08:00-22:00, or 22:00-06:00 past midnight; leave them out for all day)
    "#);
    let right = yaml.replace("Berln", "Berlin").replace("8-22", "08:00-22:00").replace("5s", "1h");
    let desk = Desk::with(&right).env("SELKIE__TIMEZONE", "Berlin");
    assert_snapshot!(desk.problems(), @r#"SELKIE__TIMEZONE: timezone is not accepted: "Berlin" is not a time zone (takes a name like Europe/Berlin, Asia/Tokyo or UTC). Did you mean Europe/Berlin, America/Belem or America/Belize?"#);
    Desk::with(&right).settings();
}

#[test]
fn what_is_to_be_said_unasked_names_who_can_be_reached() {
    let told = |yaml: &str| Desk::with(yaml).problems();
    let here = "owners: ['pg:1']\npigeon: {bot_token: t}\n";
    let silent = "schedules:\n  - {id: a, every: 1h, say: x, to: 'pg:7', times: 0}\n\
         heartbeat: {enabled: true, to: 'pg:7'}\n";
    assert_snapshot!(told(&format!("owners: ['pg:1']\n{silent}")), @r#"
    config.yaml:3: schedules[0].times takes 1 or more, not 0
    config.yaml:3: schedules[0].to is "pg:7", and pigeon has no section here: write one, or name a conversation of a channel that has
    config.yaml:4: heartbeat.to is "pg:7", and pigeon has no section here: write one, or name a conversation of a channel that has
    "#);
    assert_snapshot!(told(&format!("{here}heartbeat: {{enabled: true, to: '4711'}}\n")), @r#"config.yaml:3: heartbeat.to takes the id of a conversation (pg:1), not "4711" (did you mean "pg:4711"?): /id in a chat shows it"#);
    assert_snapshot!(told(&format!("{here}heartbeat: {{to: me}}\n")), @r#"config.yaml:3: heartbeat.to takes the id of a conversation (pg:1), not "me" (did you mean "pg:me"?): /id in a chat shows it"#);
    assert_snapshot!(told("heartbeat: {enabled: true}\n"), @"config.yaml:1: heartbeat.enabled is the first owner's, and `owners` is empty: write your id there");
    // What is switched off may name what is switched off, and without a channel nothing is to be said.
    Desk::with("heartbeat: {to: 'pg:7'}\n").settings();
    Desk::with("owners: ['pg:1']\nheartbeat: {enabled: true}\n").settings();
    Desk::with(&format!("{here}heartbeat: {{enabled: true}}\n")).settings();
}

#[test]
fn broken_yaml_is_told_in_the_parsers_words() {
    assert_snapshot!(Desk::with("worker:\n  a: [1\nb: 2\n").problems(), @r#"config.yaml:3: the YAML cannot be read: illegal placement of ':' indicator at line 3, column 2: a bracket before it is not closed"#);
    assert_snapshot!(Desk::with("worker: {}\nowners: []\nworker: {}\n").problems(), @"config.yaml:3: worker is already there: keep one of the two");
    assert_snapshot!(Desk::with("worker:\n\tmax_concurrency: 1\n").problems(), @"config.yaml:2: is indented with a tab: YAML takes spaces alone");
    assert_snapshot!(Desk::with("worker:\n    max_concurrency: 1\n  \tmax_attempts: 1\n").problems(), @"config.yaml:3: is indented with a tab: YAML takes spaces alone");
    assert_snapshot!(Desk::with("owners:\n- \"tg:1\ndebounce: 1s\n").problems(), @"config.yaml:3: the YAML cannot be read: invalid indentation in multiline quoted scalar at line 3, column 1: a quote before it is not closed");
    assert_snapshot!(Desk::with("llm:\n  routes: {main: [a],\n    main: [b]}\n").problems(), @"config.yaml:3: llm.routes.main is already there: keep one of the two");
    assert_snapshot!(Desk::with("owners: []\nworker: {max_concurency: 3}\nowners: []\nllm: 7\n").problems(), @r"
    config.yaml:2: worker.max_concurency is not a key (did you mean max_concurrency? takes max_concurrency)
    config.yaml:3: owners is already there: keep one of the two
    config.yaml:4: llm takes an object, not 7
    ");
    assert_snapshot!(Desk::with("- a\n- b\n").problems(), @r#"config.yaml: the file takes keys with values (`worker: …`); see config.example.yaml"#);
    assert_snapshot!(Desk::with("a: 1\n---\nb: 2\n").problems(), @r#"config.yaml:2: begins a second document: keep one, and take the `---` between them out"#);
}

#[test]
fn a_value_of_the_environment_is_named_by_its_variable() {
    let desk = Desk::with("worker:\n  max_concurrency: 3\n")
        .env("SELKIE__WORKER__MAX_CONCURRENCY", "many")
        .env("SELKIE__LLM__MODLE", "x")
        .env("SELKIE__NOPE.A[", "x");
    assert_snapshot!(desk.problems(), @r#"
    SELKIE__LLM__MODLE: llm.modle is not a key (did you mean model? takes profiles, provider, endpoint, api, api_key, model, headers, context, sees_images, effort, routes, efforts, prices, api_key_file)
    SELKIE__NOPE.A[: nope.a[ is not a key (selkie config example shows every key)
    SELKIE__WORKER__MAX_CONCURRENCY: worker.max_concurrency takes a whole number, not "many"
    "#);
}

#[test]
fn a_missing_token_says_where_it_may_come_from() {
    assert_snapshot!(Desk::with("# mine\npigeon:\n").problems(), @r#"config.yaml:2: pigeon.bot_token is missing: write it, name a file in bot_token_file, or set SELKIE__PIGEON__BOT_TOKEN"#);
    let desk = Desk::with("").env("SELKIE__PIGEON__BASE_URL", "http://x");
    assert_snapshot!(desk.problems(), @r#"SELKIE__PIGEON__BASE_URL: pigeon.bot_token is missing: write it, name a file in bot_token_file, or set SELKIE__PIGEON__BOT_TOKEN"#);
}

#[test]
fn flags_beat_the_environment_and_it_beats_the_file() {
    let desk =
        Desk::with("file_state_dir: a\nworker: {max_concurrency: 2}\nrecord_untriggered: false\n")
            .env("SELKIE__FILE_STATE_DIR", "b")
            .env("SELKIE__WORKER__MAX_CONCURRENCY", "5")
            .env("SELKIE__RECORD_UNTRIGGERED", "")
            .flag("--state", json!({"file_state_dir": "c"}));
    let settings = desk.settings();
    assert_eq!(settings.file_state_dir.unwrap(), Path::new("c"));
    assert_eq!(settings.worker.max_concurrency.get(), 5);
    assert!(!settings.record_untriggered, "an empty variable counts as not set");
    assert_eq!(desk.shown("file_state_dir"), "\"c\" from --state");
    assert_eq!(desk.shown("worker.max_concurrency"), "5 from SELKIE__WORKER__MAX_CONCURRENCY");
    assert_eq!(desk.shown("record_untriggered"), "false from config.yaml:3");
    assert_eq!(desk.shown("outbox.unclear_after"), "\"30s\" from default");
}

#[test]
fn text_stays_text_and_lists_are_lists() {
    let desk = Desk::with("")
        .env("SELKIE__PIGEON__BOT_TOKEN", "007")
        .env("SELKIE__PIGEON__ALLOWED_CHAT_IDS", "pg:1, -100")
        .env("SELKIE__PIGEON__MAX_BYTES", "12")
        .env("SELKIE__OWNERS", "[\"pg:1\"]");
    let reading = desk.read().unwrap();
    assert_eq!(
        reading.section("pigeon").unwrap(),
        &json!({"bot_token": "007", "allowed_chat_ids": ["pg:1", "-100"], "max_bytes": 12})
    );
    assert_eq!(reading.finish().unwrap().owners, ["pg:1"]);
}

#[test]
fn a_key_without_a_value_counts_as_not_there() {
    let settings = Desk::with("worker:\nlogging:\n  level:\n").settings();
    assert_eq!(settings.worker.max_concurrency.get(), 16);
}

#[test]
fn secrets_come_from_files_and_credentials_and_are_never_shown() {
    let desk = Desk::with("pigeon:\n  bot_token_file: token\n");
    fs::write(desk.path().join("token"), "  1:from-file\n").unwrap();
    assert_eq!(desk.read().unwrap().section("pigeon").unwrap()["bot_token"], "1:from-file");
    assert_eq!(desk.shown("pigeon.bot_token"), "\"[set]\" from config.yaml:2");
    assert_eq!(desk.read().unwrap().secrets(), ["1:from-file"]);

    fs::create_dir(desk.path().join("credentials")).unwrap();
    fs::write(desk.path().join("credentials/pigeon.bot_token"), "1:from-systemd\n").unwrap();
    fs::write(desk.path().join("credentials/other"), "x").unwrap();
    fs::write(desk.path().join("credentials/llm.api_key"), "\n").unwrap();
    let credentials = desk.path().join("credentials").display().to_string();
    let desk = desk.env("CREDENTIALS_DIRECTORY", &credentials);
    assert_eq!(desk.shown("pigeon.bot_token"), "\"[set]\" from credential pigeon.bot_token");
    assert_eq!(desk.read().unwrap().section("pigeon").unwrap()["bot_token"], "1:from-systemd");
    assert_eq!(desk.read().unwrap().secrets(), ["1:from-systemd"], "an empty one is none");
    let desk = desk.env("SELKIE__PIGEON__BOT_TOKEN", "1:from-env");
    assert_eq!(desk.shown("pigeon.bot_token"), "\"[set]\" from SELKIE__PIGEON__BOT_TOKEN");
}

#[test]
fn what_is_secret_in_a_url_or_mistyped_is_not_shown() {
    let desk = Desk::with(
        "llm:\n  provider: openai\n  endpoint: https://me:hunter22@h.example/v1?key=abcdefgh\n  api_kee: sk-1\n\
         pigeon:\n  bot_tokn: 1:x\npigoen:\n  bot_token: 1:y\n",
    );
    let shown = desk.shown("llm.endpoint");
    assert_eq!(shown, "\"https://[set]@h.example/v1?key=[set]\" from config.yaml:3");
    let lines = show::lines(&desk.read().unwrap());
    let text: String = lines.iter().map(|l| format!("{} {}\n", l.key, l.value)).collect();
    for secret in ["hunter22", "abcdefgh", "sk-1", "1:x", "1:y"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains("pigeon.bot_tokn \"[not shown: no such key]\""), "{text}");
    assert_eq!(desk.read().unwrap().secrets(), ["hunter22", "abcdefgh"]);
}

#[test]
fn a_secret_file_that_is_not_there_or_doubled_is_a_problem() {
    assert_snapshot!(Desk::with("pigeon:\n  bot_token_file: none\n").problems(), @r#"config.yaml:2: pigeon.bot_token_file names <folder>/none, which cannot be read: No such file or directory (os error 2)"#);
    assert_snapshot!(Desk::with("pigeon:\n  bot_token: a\n  bot_token_file: b\n").problems(), @r#"config.yaml:3: pigeon.bot_token_file and bot_token are both set: keep one of them"#);
    assert_snapshot!(Desk::with("pigeon:\n  bot_token: [1, 2]\n").problems(), @r#"config.yaml:2: pigeon.bot_token takes a string, not what stands there"#);
}

#[test]
fn customary_variables_rank_below_everything() {
    let desk = Desk::with("").env("OPENAI_API_KEY", "sk-o").env("ANTHROPIC_API_KEY", "sk-a");
    assert_eq!(desk.shown("llm.provider"), "\"openai\" from OPENAI_API_KEY");
    assert_eq!(desk.shown("llm.api_key"), "\"[set]\" from OPENAI_API_KEY");
    let desk = Desk::with("").env("ANTHROPIC_API_KEY", "sk-a");
    assert_eq!(desk.shown("llm.provider"), "\"anthropic\" from ANTHROPIC_API_KEY");

    let yaml = "llm:\n  profiles:\n    a: {provider: anthropic}\n    b: {provider: openai, endpoint: 'http://x'}\n    c: {provider: openai, api_key: mine}\n";
    let desk = Desk::with(yaml).env("OPENAI_API_KEY", "sk-o").env("ANTHROPIC_API_KEY", "sk-a");
    assert_eq!(desk.shown("llm.profiles.a.api_key"), "\"[set]\" from ANTHROPIC_API_KEY");
    assert_eq!(desk.shown("llm.profiles.b.api_key"), "null from default", "not to another server");
    assert_eq!(desk.shown("llm.profiles.c.api_key"), "\"[set]\" from config.yaml:5");
    assert_eq!(desk.shown("llm.provider"), "null from default");
}

#[test]
fn a_key_goes_where_its_own_variable_says_and_nowhere_else() {
    let keys = |desk: Desk| {
        let desk = desk.env("OPENAI_API_KEY", "sk-o").env("GROQ_API_KEY", "gsk");
        desk.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    };
    let desk = keys(Desk::with(""));
    assert_eq!(desk.shown("llm.endpoint"), "\"http://127.0.0.1:9/v1\" from OPENAI_BASE_URL");
    assert_eq!(desk.shown("llm.api_key"), "\"[set]\" from OPENAI_API_KEY");

    let yaml = "llm:\n  profiles:\n    a: {model: m}\n    b: {endpoint: 'https://api.openai.com/v1'}\n    \
                c: {endpoint: 'http://127.0.0.1:9/v1'}\n    d: {api_key: mine}\n    \
                e: {headers: {Authorization: mine}}\n    f: {provider: groq, model: m}\n    \
                g: {provider: groq, model: m, endpoint: 'http://x/v1'}\n";
    let desk = keys(Desk::with(yaml));
    let shown = |name: &str, key: &str| desk.shown(&format!("llm.profiles.{name}.{key}"));
    assert_eq!(shown("a", "endpoint"), "\"http://127.0.0.1:9/v1\" from OPENAI_BASE_URL");
    for (name, key) in [
        ("a", "\"[set]\" from OPENAI_API_KEY"),
        ("b", "null from default"),
        ("c", "\"[set]\" from OPENAI_API_KEY"),
        ("d", "\"[set]\" from config.yaml:6"),
        ("e", "null from default"),
        ("f", "\"[set]\" from GROQ_API_KEY"),
        ("g", "null from default"),
    ] {
        assert_eq!(shown(name, "api_key"), key, "{name}");
    }
    for name in ["d", "e"] {
        let home = "\"https://api.openai.com/v1\" from default";
        assert_eq!(
            shown(name, "endpoint"),
            home,
            "a key of config's own is sent where config says"
        );
    }
    let alone = Desk::with("").env("GROQ_API_KEY", "gsk");
    assert_eq!(alone.shown("llm.provider"), "\"offline\" from default");
}

#[test]
fn a_command_logs_defects_alone_unless_more_is_asked_for() {
    let level = |yaml: &str| Desk::with(yaml).settings().logging.quieter().level;
    assert_eq!(level(""), settings::Level::Error);
    assert_eq!(level("logging: {level: warn}\n"), settings::Level::Error);
    assert_eq!(level("logging: {level: debug}\n"), settings::Level::Debug);
}

#[test]
fn another_programs_words_for_a_channels_key_are_taken() {
    let desk = Desk::with("dove:\n  token: 1:old\n");
    assert_eq!(desk.shown("pigeon.bot_token"), "\"[set]\" from config.yaml:2");
    assert_eq!(desk.read().unwrap().section("pigeon").unwrap()["bot_token"], "1:old");
    assert_eq!(desk.read().unwrap().secrets(), ["1:old"]);
    let desk = desk.env("SELKIE__DOVE__TOKEN", "1:env");
    assert_eq!(desk.shown("pigeon.bot_token"), "\"[set]\" from SELKIE__DOVE__TOKEN");
    let desk = Desk::with("dove: {token_file: token}\n");
    fs::write(desk.path().join("token"), "1:file\n").unwrap();
    assert_eq!(desk.read().unwrap().section("pigeon").unwrap()["bot_token"], "1:file");
    desk.settings();
    let desk = Desk::with("").env("DOVE_TOKEN", " 1:var ");
    assert_eq!(desk.shown("pigeon.bot_token"), "\"[set]\" from DOVE_TOKEN");
    assert_eq!(desk.read().unwrap().section("pigeon").unwrap()["bot_token"], "1:var");
}

#[test]
fn another_programs_variable_reaches_its_own_server_and_yields_to_another_login() {
    let token = |yaml: &str| Desk::with(yaml).env("DOVE_TOKEN", "1:var").shown("pigeon.bot_token");
    assert_eq!(token("pigeon: {base_url: 'http://x'}\n"), "null from default");
    assert_eq!(token("pigeon: {ring: r}\n"), "null from default");
    let home = token("pigeon: {base_url: 'https://pigeon.example/'}\n");
    assert_eq!(home, "\"[set]\" from DOVE_TOKEN");
}

#[test]
fn two_spellings_of_one_key_agree_or_are_a_problem() {
    let both = Desk::with("pigeon: {bot_token: a}\ndove: {token: a}\n").env("DOVE_TOKEN", "a");
    both.settings();
    assert_eq!(both.shown("pigeon.bot_token"), "\"[set]\" from config.yaml:1");
    let desk = Desk::with("pigeon: {bot_token: a}\ndove:\n  token: b\n  feathers: 2\n");
    assert_snapshot!(desk.env("DOVE_TOKEN", "c").problems(), @"
    DOVE_TOKEN and pigeon.bot_token are the same setting with different values: keep one of them
    config.yaml:3: dove.token and pigeon.bot_token are the same setting with different values: keep one of them
    config.yaml:4: dove.feathers is not taken: of dove only token is read, as pigeon.bot_token
    ");
    assert_snapshot!(Desk::with("dove: {token: a}\n").env("DOVE_TOKEN", "b").problems(), @"DOVE_TOKEN and dove.token are the same setting with different values: keep one of them");
}

#[test]
fn a_named_file_must_be_there_and_no_file_is_fine() {
    let folder = TempDir::new().unwrap();
    let mut sources = Sources {
        file: ConfigFile::choose(Some("nowhere.yaml".into()), folder.path(), &Environment::new()),
        env: Environment::new(),
        flags: Vec::new(),
        here: folder.path().to_owned(),
    };
    let Err(problems) = read(&sources, &[]) else { panic!("a missing file was read") };
    assert_snapshot!(problems, @r#"nowhere.yaml: the config file cannot be read: No such file or directory (os error 2)"#);
    sources.file = ConfigFile::None;
    assert!(read(&sources, &[]).unwrap().finish().is_ok());
}

#[test]
fn the_folders_are_shown_as_they_take_effect() {
    let desk = Desk::with("").env("HOME", "/h").env("CACHE_DIRECTORY", "/c:/d");
    assert_eq!(desk.shown("file_state_dir"), "\"/h/.local/state/selkie\" from default");
    assert_eq!(desk.shown("file_cache_dir"), "\"/c\" from CACHE_DIRECTORY");
    let desk = Desk::with("file_state_dir: ~/s\n").env("HOME", "/h").env("CACHE_DIRECTORY", "/c");
    assert_eq!(desk.shown("file_state_dir"), "\"/h/s\" from config.yaml:1");
    assert_eq!(desk.shown("file_cache_dir"), "\"/h/s/cache\" from default");
}

/// Takes the `# ` off every line that is a key or an item; `##` are words.
fn uncommented(example: &str) -> String {
    let lines = example.lines().filter(|l| !l.trim_start().starts_with("##"));
    lines.map(|l| l.replacen("# ", "", usize::from(l.trim_start().starts_with("# ")))).fold(
        String::new(),
        |mut all, line| {
            all.push_str(&line);
            all.push('\n');
            all
        },
    )
}

#[test]
fn the_example_loads_as_it_is_and_says_nothing_but_defaults() {
    let desk = Desk::with(EXAMPLE);
    let reading = desk.read().unwrap();
    assert!(show::lines(&reading).iter().all(|l| l.from == "default"));
    reading.finish().unwrap();
}

#[test]
fn an_explanation_of_the_example_has_two_signs_alone() {
    let is_key = |line: &&str| line.starts_with('#') && !line.starts_with("##");
    let wrong = EXAMPLE.lines().filter(is_key).find(|line| line[1..].trim().starts_with('#'));
    assert_eq!(wrong, None, "a line with one # is a key");
}

#[test]
fn the_example_holds_every_key_of_ours_and_nothing_else() {
    let value = yaml::parse("example", &uncommented(EXAMPLE)).unwrap().value;
    let mut own = value.clone();
    let settings = whole_schema(&[]);
    let known: BTreeSet<&String> = settings["properties"].as_object().unwrap().keys().collect();
    own.as_object_mut().unwrap().retain(|k, _| known.contains(k));
    assert_eq!(check(&settings, &own), []);
    let missing: Vec<String> = keys(&settings)
        .into_iter()
        // `api_key_file` is another spelling of `api_key`, told once at the top of the example.
        .filter(|path| !path.last().is_some_and(|key| key.ends_with("_file")))
        .filter(|path| !holds(&own, path))
        .map(|path| path.join("."))
        .collect();
    assert!(missing.is_empty(), "not in config.example.yaml: {missing:?}");
}

/// Lists every key of a schema; `*` is any name.
fn keys(root: &Value) -> Vec<Vec<String>> {
    fn below(root: &Value, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
        let Some(at) = schema::find(root, path) else { return };
        let properties = root.pointer(&format!("{at}/properties")).and_then(Value::as_object);
        let named = properties.into_iter().flat_map(|p| p.keys().cloned());
        let any = root.pointer(&format!("{at}/additionalProperties")).is_some_and(Value::is_object);
        for key in named.chain(any.then(|| "*".to_owned())) {
            path.push(key);
            out.push(path.clone());
            below(root, path, out);
            path.pop();
        }
    }
    let mut out = Vec::new();
    below(root, &mut Vec::new(), &mut out);
    out
}

fn holds(value: &Value, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let Some(map) = value.as_object() else { return false };
    map.iter().filter(|(k, _)| first == "*" || *k == first).any(|(_, inner)| holds(inner, rest))
}
