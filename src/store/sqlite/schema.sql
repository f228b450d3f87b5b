-- The tables of a new store: what the migrations come to, at once (a test compares the two). Times are
-- milliseconds since 1970, UTC; JSON texts carry their own version.
--
-- A plain message writes each index it touches to the log as a page of its own, once per transaction.
-- So an index covers only rows that are rare or short-lived, and none that only a console reads. Rows of
-- inbox, task, outbound and part are never deleted at the newest end: their ids need no AUTOINCREMENT.

-- Says whose file this is ("SELK"), to other programs and at the next start.
PRAGMA application_id = 1397050443;

-- blanked: the last row of the inbox whose words went with their age: its key stays for a while. sealed: why this
-- life must not go on here. zones: the version of the zone data by which the next times of schedules were set.
-- restored: where this life was restored from, while nobody has said that it may go on.
CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at INTEGER NOT NULL, blanked INTEGER NOT NULL DEFAULT 0, sealed TEXT, zones TEXT, met INTEGER NOT NULL DEFAULT 0, restored TEXT) STRICT;
INSERT INTO meta (id, checked_at) VALUES (1, 0);

CREATE TABLE cursor (account TEXT PRIMARY KEY, value TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- cut: the first ending of its epoch that is still read as history. short: tasks that ended before this one are shown
-- with their long answers cut. model, effort, agent: which profile and which agent
-- answer here and how hard the model thinks, where an owner has said so. skills: names of those in force, in their order.
CREATE TABLE conversation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    place TEXT NOT NULL,
    title TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    closed TEXT,
    todos TEXT,
    plan INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER,
    cut INTEGER NOT NULL DEFAULT 0,
    short INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    effort TEXT,
    parent INTEGER,
    agent TEXT,
    skills TEXT
) STRICT;
CREATE UNIQUE INDEX conversation_key ON conversation (account, key);
CREATE INDEX conversation_place ON conversation (account, place);
CREATE INDEX conversation_parent ON conversation (parent) WHERE parent IS NOT NULL;

-- A place that goes on under another key, and the conversations that were renamed with it.
CREATE TABLE place_alias (account TEXT, old TEXT, new TEXT NOT NULL, PRIMARY KEY (account, old)) STRICT, WITHOUT ROWID;
CREATE TABLE conversation_alias (account TEXT, old TEXT, conversation INTEGER NOT NULL, PRIMARY KEY (account, old)) STRICT, WITHOUT ROWID;

-- The folder that a place works in, where its owner has set one.
CREATE TABLE workspace (account TEXT, place TEXT, path TEXT NOT NULL, PRIMARY KEY (account, place)) STRICT, WITHOUT ROWID;

-- ready_at: from when its first task may start; null when none waits. oldest: that task, the age by
-- which free lanes are served. Whether one runs is what task_running says.
CREATE TABLE lane (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    ready_at INTEGER,
    oldest INTEGER
) STRICT;
CREATE INDEX lane_ready ON lane (oldest) WHERE ready_at IS NOT NULL;

-- start_at: from when the task may be claimed; 0 for at once, null when nothing but an event makes it
-- claimable. finish: which ending of its conversation's epoch it was. cause: empty when it is the key of the message
-- that it came with, which is unique already. header: null when it has ended, for nobody resumes it.
-- stop: 1 it is to end, 2 what it writes may hold what was taken back.
CREATE TABLE task (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    cause TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    state TEXT NOT NULL,
    claim INTEGER NOT NULL DEFAULT 0,
    instance TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER,
    start_at INTEGER,
    album TEXT,
    stop INTEGER NOT NULL DEFAULT 0,
    facts TEXT NOT NULL,
    header TEXT,
    parked TEXT,
    parent INTEGER,
    why TEXT,
    finish INTEGER,
    calls INTEGER NOT NULL DEFAULT 0,
    input INTEGER NOT NULL DEFAULT 0,
    cached INTEGER NOT NULL DEFAULT 0,
    output INTEGER NOT NULL DEFAULT 0,
    micro_usd INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    whereabouts INTEGER,
    awaited INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX task_cause ON task (account, cause) WHERE cause <> '';
-- The promise itself: a lane never has two running tasks.
CREATE UNIQUE INDEX task_running ON task (lane) WHERE state = 'running';
CREATE INDEX task_order ON task (lane, ord, id) WHERE start_at IS NOT NULL;
CREATE INDEX task_start ON task (lane, start_at, id) WHERE start_at IS NOT NULL;
CREATE INDEX task_wake ON task (start_at) WHERE start_at > 0;
CREATE INDEX task_album ON task (conversation, album) WHERE album IS NOT NULL AND state = 'waiting';
CREATE INDEX task_waiting ON task (conversation) WHERE state = 'waiting';
CREATE INDEX task_parked ON task (conversation) WHERE state = 'parked';
CREATE INDEX task_finish ON task (conversation, epoch, finish) WHERE finish IS NOT NULL;
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;

-- What a task is to read (or, fixed, to say) that came as no message, and whose words it is. text: null when it is
-- older than it is kept. note: what the model is told beside it.
CREATE TABLE task_words (
    task INTEGER PRIMARY KEY,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT,
    note TEXT NOT NULL DEFAULT '',
    fixed INTEGER NOT NULL DEFAULT 0,
    agent TEXT
) STRICT;
CREATE INDEX task_words_kept ON task_words (task) WHERE text IS NOT NULL;

-- The names of models that have answered.
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

-- used: the model's call that wrote the item; null where none did. Its model, its milliseconds, then its tokens read,
-- cached and written, its millionths of a dollar, and its tries where there were several; what the only call of a task
-- has used stands with the task alone.
CREATE TABLE transcript (task INTEGER, seq INTEGER, v INTEGER NOT NULL, item TEXT NOT NULL, used TEXT, PRIMARY KEY (task, seq)) STRICT, WITHOUT ROWID;

-- Which tasks have read what was said in another conversation: their transcripts hold it, too.
CREATE TABLE copied (conversation INTEGER NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (conversation, task)) STRICT, WITHOUT ROWID;
CREATE INDEX copied_task ON copied (task);

CREATE TABLE own_form (
    task INTEGER NOT NULL,
    step TEXT NOT NULL,
    origin TEXT NOT NULL,
    form TEXT NOT NULL,
    PRIMARY KEY (task, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    conversation INTEGER,
    ord INTEGER NOT NULL,
    message TEXT,
    inbound TEXT NOT NULL,
    disposition TEXT NOT NULL,
    task INTEGER,
    question INTEGER,
    done_at INTEGER,
    stored_at INTEGER NOT NULL,
    album TEXT,
    quotes TEXT,
    spoken TEXT
) STRICT;
CREATE UNIQUE INDEX inbox_key ON inbox (key, account);
CREATE INDEX inbox_task ON inbox (task) WHERE task IS NOT NULL;
CREATE INDEX inbox_message ON inbox (message, conversation) WHERE message IS NOT NULL;
-- Lines of groups that wait for the gate.
CREATE INDEX inbox_gate ON inbox (conversation, id) WHERE disposition = 'gate';
-- quotes: the message that it replies to. album: what it was sent together with. spoken: what was understood of its voice.
CREATE INDEX inbox_quotes ON inbox (quotes, conversation) WHERE quotes IS NOT NULL;
CREATE INDEX inbox_album ON inbox (conversation, album) WHERE album IS NOT NULL;
CREATE INDEX inbox_context ON inbox (conversation) WHERE disposition = 'context' AND task IS NULL;
-- What was taken back: by its message, and where its files have still to go.
CREATE INDEX inbox_unsend ON inbox (message, done_at) WHERE disposition = 'unsend';
CREATE INDEX inbox_unsend_open ON inbox (id) WHERE done_at IS NULL AND disposition = 'unsend';
-- A list of three words would be a table that every row makes anew.
CREATE INDEX inbox_command ON inbox (id)
WHERE done_at IS NULL AND (disposition = 'command' OR disposition = 'tap' OR disposition = 'answer');

-- state: open, answered, expired, withdrawn; approved, consumed, denied. picked: what is chosen so far,
-- where several may be. inbox: the tap or message that answered it.
CREATE TABLE question (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    task INTEGER NOT NULL,
    outbound INTEGER NOT NULL,
    state TEXT NOT NULL,
    person TEXT NOT NULL,
    person_name TEXT NOT NULL,
    ask TEXT NOT NULL,
    picked TEXT NOT NULL DEFAULT '[]',
    given TEXT,
    inbox INTEGER,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    settled_at INTEGER
) STRICT;
CREATE UNIQUE INDEX question_key ON question (key, account);
CREATE INDEX question_task ON question (task);
CREATE INDEX question_open ON question (conversation) WHERE state = 'open';
CREATE INDEX question_said ON question (outbound) WHERE state = 'open';

-- Approval of one call. state: see ApprovalState. requester: empty when nobody asked just now. muted: person or group, of whom
-- no more requests come until muted_until.
CREATE TABLE approval (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    code TEXT NOT NULL,
    task INTEGER NOT NULL,
    requester TEXT NOT NULL,
    requester_name TEXT NOT NULL,
    request TEXT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    why TEXT,
    decided_by TEXT NOT NULL DEFAULT '',
    expires_at INTEGER NOT NULL,
    lapses_at INTEGER,
    created_at INTEGER NOT NULL,
    settled_at INTEGER,
    muted TEXT,
    muted_until INTEGER
) STRICT;
CREATE UNIQUE INDEX approval_key ON approval (key);
CREATE INDEX approval_task ON approval (task);
CREATE INDEX approval_code ON approval (code);
CREATE INDEX approval_open ON approval (id) WHERE state = 'open';
CREATE INDEX approval_usable ON approval (id) WHERE state IN ('open', 'approved');
CREATE INDEX approval_requester ON approval (requester, created_at);
CREATE INDEX approval_muted ON approval (muted_until) WHERE muted_until IS NOT NULL;

-- Who was asked for it, where, and by which message.
CREATE TABLE approval_asked (
    approval INTEGER NOT NULL,
    account TEXT NOT NULL,
    person TEXT NOT NULL,
    person_name TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    outbound INTEGER NOT NULL,
    refused INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (approval, account, person)
) STRICT;
CREATE INDEX approval_asked_whom ON approval_asked (person, account);
CREATE INDEX approval_asked_said ON approval_asked (outbound);

-- Where tasks speak and what can be done there, as facts have it ("place": 0 stands for it in a task's facts).
CREATE TABLE whereabouts (id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE) STRICT;

-- Said by a task (by its call, when a tool said it), by a command's row, or by the daemon itself. said: the item of
-- its task's transcript whose words it says; its body then holds none.
CREATE TABLE outbound (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    task INTEGER,
    call TEXT,
    inbox INTEGER,
    answer INTEGER NOT NULL,
    body TEXT NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    said INTEGER
) STRICT;
CREATE UNIQUE INDEX outbound_call ON outbound (task, call) WHERE call IS NOT NULL;
CREATE INDEX outbound_task ON outbound (task) WHERE task IS NOT NULL;
CREATE INDEX outbound_inbox ON outbound (inbox) WHERE inbox IS NOT NULL;

-- id: 4096 times its outbound, and its place there. open: it has still to be sent, or to be decided. told: null, or an answer that did not arrive (0), or the
-- task that was told so.
CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    outbound INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    account TEXT NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL,
    repeated INTEGER NOT NULL DEFAULT 0,
    told INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    instance TEXT,
    not_before INTEGER,
    receipt TEXT,
    reason TEXT,
    updated_at INTEGER NOT NULL,
    message TEXT GENERATED ALWAYS AS (receipt ->> '$.message') VIRTUAL
) STRICT;
CREATE INDEX part_told ON part (conversation) WHERE told IS NOT NULL;
-- A quote of one of our messages brings its id alone.
CREATE INDEX part_message ON part (message, conversation) WHERE message IS NOT NULL;
-- Further messages that the call of a part made.
CREATE TABLE part_also (message TEXT, part INTEGER, PRIMARY KEY (message, part)) STRICT, WITHOUT ROWID;
CREATE INDEX part_also_of ON part_also (part);
-- The calls of parts that are not settled, or did not arrive and are still to be told: few rows at any time. It is
-- also the way to the open parts.
CREATE TABLE rendered (part INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

-- A button by which the answer of a task is fetched. button: the outbound that offered it first. token: the
-- right to answer that was spent on it. open: the answer has not gone out.
CREATE TABLE hold (
    key TEXT NOT NULL,
    account TEXT NOT NULL,
    task INTEGER NOT NULL,
    button INTEGER NOT NULL,
    token TEXT NOT NULL,
    open INTEGER NOT NULL,
    PRIMARY KEY (key, account)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX hold_task ON hold (task);
CREATE INDEX hold_open ON hold (button) WHERE open = 1;

-- The message that shows how far a task is; null when a crash may have come between its sending and its id.
CREATE TABLE status_message (task INTEGER PRIMARY KEY, message TEXT) STRICT;

-- The message that shows an answer while it is written; null when a crash may have come between its sending and its id.
-- part: the call that sends it, while its message is not known: whoever takes the task up looks for what it has left.
CREATE TABLE streamed_message (task INTEGER PRIMARY KEY, message TEXT, part TEXT) STRICT;

-- What is done later, or again. version: counts its changes, by which whoever read it changes it. key: what made it.
-- task: the one of its last time. What it has used in a day is counted from counts_from at the earliest; last_at,
-- last_local: its last time, and what the clocks of its zone showed then, by the zone data of that day.
CREATE TABLE schedule (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL DEFAULT 1,
    key TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL,
    person TEXT NOT NULL,
    state TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    next_at INTEGER,
    fired INTEGER NOT NULL DEFAULT 0,
    task INTEGER,
    schedule TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    counts_from INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER,
    last_local TEXT
) STRICT;
CREATE INDEX schedule_due ON schedule (next_at) WHERE state = 'active' AND next_at IS NOT NULL;
CREATE INDEX schedule_over ON schedule (created_at) WHERE state IN ('ended', 'removed');
CREATE INDEX schedule_begun ON schedule (created_at, counts_from);
CREATE INDEX schedule_person ON schedule (person);
CREATE INDEX schedule_conversation ON schedule (conversation);

-- One time of a schedule, or (until, times) several that were missed. why: why it was not carried out; null when it was,
-- by a task or by words that were said. settled: what the person of a reminder has made of it, done or again (at again_at).
CREATE TABLE occurrence (
    schedule INTEGER,
    at INTEGER,
    until INTEGER,
    times INTEGER NOT NULL,
    task INTEGER,
    outbound INTEGER,
    why TEXT,
    fired_at INTEGER NOT NULL,
    settled TEXT,
    again_at INTEGER,
    PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX occurrence_task ON occurrence (task) WHERE task IS NOT NULL;
CREATE INDEX occurrence_fired ON occurrence (fired_at);
CREATE INDEX occurrence_used ON occurrence (schedule, fired_at) WHERE task IS NOT NULL;

-- The time zone that a person (account '') or a place has set.
CREATE TABLE timezone (account TEXT, who TEXT, zone TEXT NOT NULL, PRIMARY KEY (account, who)) STRICT, WITHOUT ROWID;

-- What was said to a public conversation: who asked for it (null: nobody is told what becomes of it), for which time of
-- which schedule, and whether whoever asked was told.
CREATE TABLE post (
    outbound INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    asked INTEGER,
    schedule INTEGER,
    at INTEGER,
    told INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX post_month ON post (conversation, created_at);
CREATE INDEX post_untold ON post (outbound) WHERE told = 0;

-- Who spoke in which place, as they were last seen there: derived from the inbox, off the path of messages. at: to the
-- hour. fresh: it is still to be brought into the file of contacts; brought: the @name that was brought there last,
-- brought_name: the name, null before; brought_at: of which moment. meta.met: up to which row of the inbox all is looked through.
CREATE TABLE met (
    account TEXT,
    place TEXT,
    person TEXT,
    name TEXT NOT NULL,
    username TEXT NOT NULL,
    is_bot INTEGER NOT NULL,
    direct INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fresh INTEGER NOT NULL,
    brought TEXT NOT NULL,
    brought_at INTEGER NOT NULL,
    brought_name TEXT,
    PRIMARY KEY (account, place, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX met_at ON met (at);
CREATE INDEX met_fresh ON met (at, account, place, person) WHERE fresh = 1;

CREATE TABLE penalty (account TEXT, scope TEXT, until INTEGER NOT NULL, PRIMARY KEY (account, scope)) STRICT, WITHOUT ROWID;
CREATE TABLE notice (key TEXT PRIMARY KEY, outbound INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- What people and conversations have used in a minute or a day. By time first: old rows go as one range.
CREATE TABLE spent (
    since INTEGER,
    who TEXT,
    what TEXT,
    amount INTEGER NOT NULL,
    PRIMARY KEY (since, who, what)
) STRICT, WITHOUT ROWID;

-- Whose memory it is. The number stands before each word of its pieces: one memory's words are no other's.
CREATE TABLE memory_subject (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;

-- Which files of memory were looked at, and what they looked like then.
CREATE TABLE memory_file (path TEXT PRIMARY KEY, subject INTEGER NOT NULL, look TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX memory_file_subject ON memory_file (subject);

-- Pieces of those files: lines first to last, whose words they are, and the words by which they are found.
CREATE TABLE memory_piece (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    section TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL,
    level TEXT NOT NULL,
    words TEXT NOT NULL,
    digest TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX memory_piece_path ON memory_piece (path, digest);
CREATE VIRTUAL TABLE memory_words USING fts5(words, content='memory_piece', content_rowid='id', tokenize='ascii');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

-- What pieces mean to a model of embeddings: numbers of 32 bits, the lowest byte first, of length 1 together.
CREATE TABLE memory_vector (
    id INTEGER PRIMARY KEY,
    subject INTEGER NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_vector_piece ON memory_vector (path, digest);
CREATE INDEX memory_vector_subject ON memory_vector (subject);

-- What of a conversation was summed up: endings of its epoch up to one. making: up to which a summary is being made.
-- stale: it covers what was taken back. made: how many were begun on the day.
CREATE TABLE summary (
    conversation INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    making INTEGER,
    stale INTEGER NOT NULL,
    day INTEGER NOT NULL,
    made INTEGER NOT NULL
) STRICT;

-- Places that are being forgotten: up to which rows, how far that has got, and since when files stay.
CREATE TABLE forgetting (
    conversation INTEGER PRIMARY KEY,
    task INTEGER NOT NULL,
    inbox INTEGER NOT NULL,
    outbound INTEGER NOT NULL,
    tasks_done INTEGER NOT NULL,
    inbox_done INTEGER NOT NULL,
    outbound_done INTEGER NOT NULL,
    at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The one code that makes an owner of who sends it: how many wrong ones were tried, until when, and who used it.
CREATE TABLE pairing (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    code TEXT NOT NULL,
    tries INTEGER NOT NULL,
    until INTEGER NOT NULL,
    person TEXT
) STRICT;

-- Codes of strangers who want to be let in, one each: wrong ones that an owner tried while it was open, and whether it
-- was approved.
CREATE TABLE pairing_request (
    person TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    code TEXT NOT NULL,
    tries INTEGER NOT NULL,
    until INTEGER NOT NULL,
    approved INTEGER NOT NULL
) STRICT;

-- Who was paired, as what, and when: besides those of the config.
CREATE TABLE paired (
    person TEXT PRIMARY KEY,
    trust TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
