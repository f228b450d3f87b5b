-- The ledger's tables. Times are milliseconds since 1970, UTC; JSON texts carry their own version.

CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at INTEGER NOT NULL) STRICT;
INSERT INTO meta VALUES (1, 0);

CREATE TABLE cursor (account TEXT PRIMARY KEY, value TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE conversation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    place TEXT NOT NULL,
    title TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    endings INTEGER NOT NULL DEFAULT 0,
    closed TEXT,
    todos TEXT,
    last_at INTEGER
) STRICT;
CREATE UNIQUE INDEX conversation_key ON conversation (account, key);
CREATE INDEX conversation_place ON conversation (account, place);
CREATE INDEX conversation_last ON conversation (last_at);

-- A place that goes on under another key, and the conversations that were renamed with it.
CREATE TABLE place_alias (account TEXT, old TEXT, new TEXT NOT NULL, PRIMARY KEY (account, old)) STRICT, WITHOUT ROWID;
CREATE TABLE conversation_alias (account TEXT, old TEXT, conversation INTEGER NOT NULL, PRIMARY KEY (account, old)) STRICT, WITHOUT ROWID;

-- busy: a task of it runs. ready_at: from when its first task may start; null when none waits.
-- oldest: that task, the age by which free lanes are served.
CREATE TABLE lane (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    busy INTEGER NOT NULL DEFAULT 0,
    ready_at INTEGER,
    oldest INTEGER
) STRICT;
CREATE INDEX lane_ready ON lane (oldest) WHERE busy = 0 AND ready_at IS NOT NULL;

-- start_at: from when the task may be claimed; 0 for at once, null when nothing but an event makes it
-- claimable. finish: which ending of its conversation it was.
CREATE TABLE task (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    cause TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    state TEXT NOT NULL,
    claim INTEGER NOT NULL DEFAULT 0,
    boot TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER,
    start_at INTEGER,
    album TEXT,
    stop INTEGER NOT NULL DEFAULT 0,
    facts TEXT NOT NULL,
    header TEXT,
    parked TEXT,
    child INTEGER,
    why TEXT,
    finish INTEGER,
    calls INTEGER NOT NULL DEFAULT 0,
    input INTEGER NOT NULL DEFAULT 0,
    cached INTEGER NOT NULL DEFAULT 0,
    output INTEGER NOT NULL DEFAULT 0,
    micro_usd INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX task_cause ON task (account, cause);
-- The promise itself: a lane never has two running tasks.
CREATE UNIQUE INDEX task_running ON task (lane) WHERE state = 'running';
CREATE INDEX task_order ON task (lane, ord, id) WHERE start_at IS NOT NULL;
CREATE INDEX task_start ON task (lane, start_at, id) WHERE start_at IS NOT NULL;
CREATE INDEX task_wake ON task (start_at) WHERE start_at > 0;
CREATE INDEX task_album ON task (conversation, album) WHERE album IS NOT NULL AND state = 'waiting';
CREATE INDEX task_conversation ON task (conversation, state);
CREATE INDEX task_open ON task (state) WHERE state IN ('waiting', 'running', 'parked');
CREATE INDEX task_finish ON task (conversation, epoch, finish) WHERE finish IS NOT NULL;
CREATE INDEX task_child ON task (child) WHERE child IS NOT NULL;

CREATE TABLE transcript (task INTEGER, seq INTEGER, v INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (task, seq)) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    conversation INTEGER,
    ord INTEGER NOT NULL,
    message TEXT,
    inbound TEXT NOT NULL,
    disposition TEXT NOT NULL,
    task INTEGER,
    done_at INTEGER,
    stored_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX inbox_key ON inbox (key, account);
CREATE INDEX inbox_task ON inbox (task) WHERE task IS NOT NULL;
CREATE INDEX inbox_message ON inbox (message, conversation) WHERE message IS NOT NULL;
CREATE INDEX inbox_context ON inbox (conversation) WHERE disposition = 'context' AND task IS NULL;
CREATE INDEX inbox_command ON inbox (id) WHERE disposition = 'command' AND done_at IS NULL;

-- Said by a task (by its call, when a tool said it), by a command's row, or by the daemon itself.
CREATE TABLE outbound (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL,
    task INTEGER,
    call TEXT,
    inbox INTEGER,
    answer INTEGER NOT NULL,
    body TEXT NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX outbound_call ON outbound (task, call) WHERE call IS NOT NULL;
CREATE INDEX outbound_task ON outbound (task) WHERE task IS NOT NULL;
CREATE INDEX outbound_inbox ON outbound (inbox) WHERE inbox IS NOT NULL;

-- open: the courier has still to do with it. told: null, or an answer that did not arrive (0), or the
-- task that was told so.
CREATE TABLE part (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    outbound INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    account TEXT NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL,
    repeated INTEGER NOT NULL DEFAULT 0,
    told INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    boot TEXT,
    not_before INTEGER,
    part TEXT NOT NULL,
    receipt TEXT,
    reason TEXT,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX part_outbound ON part (outbound);
CREATE INDEX part_open ON part (account, id) WHERE open = 1;
CREATE INDEX part_queued ON part (conversation) WHERE state = 'queued';
CREATE INDEX part_told ON part (conversation) WHERE told IS NOT NULL;

CREATE INDEX part_held ON part (conversation) WHERE state = 'held';

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

CREATE TABLE penalty (account TEXT, scope TEXT, until INTEGER NOT NULL, PRIMARY KEY (account, scope)) STRICT, WITHOUT ROWID;
CREATE TABLE notice (key TEXT PRIMARY KEY, outbound INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- day: days since 1970.
CREATE TABLE usage_day (
    day INTEGER PRIMARY KEY,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    output INTEGER NOT NULL,
    micro_usd INTEGER NOT NULL
) STRICT;
