//! The ledger's tables and their columns, as both engines have them: what a copy of a whole life goes through.

/// One table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The columns that are written, in their order, as statements list them; those that the database derives from others
    /// are not among them.
    pub columns: &'static str,
    /// Its key, by which rows are read in order.
    pub key: &'static str,
    /// The database gives the ids of its rows: after a copy it goes on behind the highest.
    pub numbered: bool,
    /// It is made of files that stand beside the database, and made again where it is empty: no copy has it.
    pub derived: bool,
}

/// Every table. A row comes after those that it refers to.
pub const TABLES: &[Table] = &[
    table("meta", "id, checked_at, blanked, sealed, zones, met, restored", "id"),
    table("cursor", "account, value, at", "account"),
    numbered(
        "conversation",
        "id, account, key, place, title, epoch, closed, todos, plan, last_at, cut, short, model, effort, parent, \
         agent, skills",
    ),
    table("place_alias", "account, old, new", "account, old"),
    table("conversation_alias", "account, old, conversation", "account, old"),
    table("workspace", "account, place, path", "account, place"),
    numbered("lane", "id, name, ready_at, oldest"),
    numbered("whereabouts", "id, place"),
    numbered(
        "task",
        "id, account, cause, conversation, lane, ord, state, claim, instance, attempts, epoch, \
         start_at, album, stop, facts, header, parked, parent, why, finish, calls, input, cached, \
         output, micro_usd, created_at, started_at, ended_at, whereabouts, awaited",
    ),
    table("task_words", "task, person, name, at, text, note, fixed, agent", "task"),
    numbered("model", "id, name"),
    table("transcript", "task, seq, v, item, used", "task, seq"),
    table("copied", "conversation, task", "conversation, task"),
    table("own_form", "task, step, origin, form", "task, step"),
    numbered(
        "inbox",
        "id, account, key, conversation, ord, message, inbound, disposition, task, question, done_at, \
         stored_at, album, quotes, spoken",
    ),
    numbered(
        "outbound",
        "id, conversation, task, call, inbox, answer, body, expires_at, created_at, said",
    ),
    numbered(
        "question",
        "id, account, key, conversation, task, outbound, state, person, person_name, ask, picked, \
         given, inbox, expires_at, created_at, settled_at",
    ),
    numbered(
        "approval",
        "id, key, code, task, requester, requester_name, request, hash, state, why, decided_by, \
         expires_at, lapses_at, created_at, settled_at, muted, muted_until",
    ),
    table(
        "approval_asked",
        "approval, account, person, person_name, conversation, outbound, refused",
        "approval, account, person",
    ),
    table(
        "part",
        "id, outbound, conversation, account, state, open, repeated, told, attempts, instance, \
         not_before, receipt, reason, updated_at",
        "id",
    ),
    table("part_also", "message, part", "message, part"),
    table("rendered", "part, text", "part"),
    table("hold", "key, account, task, button, token, open", "key, account"),
    table("status_message", "task, message", "task"),
    table("streamed_message", "task, message, part", "task"),
    numbered(
        "schedule",
        "id, version, key, conversation, person, state, why, next_at, fired, task, schedule, \
         created_at, counts_from, last_at, last_local",
    ),
    table("timezone", "account, who, zone", "account, who"),
    table(
        "met",
        "account, place, person, name, username, is_bot, direct, at, fresh, brought, brought_at, \
         brought_name",
        "account, place, person",
    ),
    table(
        "occurrence",
        "schedule, at, until, times, task, outbound, why, fired_at, settled, again_at",
        "schedule, at",
    ),
    table("post", "outbound, conversation, asked, schedule, at, told, created_at", "outbound"),
    table("penalty", "account, scope, until", "account, scope"),
    table("notice", "key, outbound", "key"),
    table("spent", "since, who, what, amount", "since, who, what"),
    derived(numbered("memory_subject", "id, name")),
    table(
        "forgetting",
        "conversation, task, inbox, outbound, tasks_done, inbox_done, outbound_done, at",
        "conversation",
    ),
    table("summary", "conversation, epoch, upto, making, stale, day, made", "conversation"),
    table("pairing", "id, code, tries, until, person", "id"),
    table("pairing_request", "person, name, code, tries, until, approved", "person"),
    table("paired", "person, trust, at", "person"),
    derived(table("memory_file", "path, subject, look", "path")),
    derived(numbered(
        "memory_piece",
        "id, path, first, last, section, text, trust, level, words, digest",
    )),
    derived(numbered("memory_vector", "id, subject, path, digest, model, vector")),
];

const fn table(name: &'static str, columns: &'static str, key: &'static str) -> Table {
    Table { name, columns, key, numbered: false, derived: false }
}

const fn numbered(name: &'static str, columns: &'static str) -> Table {
    Table { name, columns, key: "id", numbered: true, derived: false }
}

const fn derived(table: Table) -> Table {
    Table { derived: true, ..table }
}
