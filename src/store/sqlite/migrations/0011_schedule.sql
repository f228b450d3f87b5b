-- What is done later, or again. version: counts its changes, by which whoever read it changes it. key: what made it.
-- task: the one of its last time.
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
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX schedule_due ON schedule (next_at) WHERE state = 'active' AND next_at IS NOT NULL;
CREATE INDEX schedule_over ON schedule (created_at) WHERE state IN ('ended', 'removed');
CREATE INDEX schedule_person ON schedule (person);
CREATE INDEX schedule_conversation ON schedule (conversation);

-- One time of a schedule, or (until, times) several that were missed. why: why it was not carried out; null when it was,
-- by a task or by words that were said.
CREATE TABLE occurrence (
    schedule INTEGER,
    at INTEGER,
    until INTEGER,
    times INTEGER NOT NULL,
    task INTEGER,
    outbound INTEGER,
    why TEXT,
    fired_at INTEGER NOT NULL,
    PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX occurrence_task ON occurrence (task) WHERE task IS NOT NULL;
CREATE INDEX occurrence_fired ON occurrence (fired_at);

-- What the model is told beside words, and words that are said as they are.
ALTER TABLE task_words ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE task_words ADD COLUMN fixed INTEGER NOT NULL DEFAULT 0;
