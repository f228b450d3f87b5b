-- Approval of one call. state: see ApprovalState. requester: empty when nobody asked just now.
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
    settled_at INTEGER
) STRICT;
CREATE UNIQUE INDEX approval_key ON approval (key);
CREATE INDEX approval_task ON approval (task);
CREATE INDEX approval_code ON approval (code);
CREATE INDEX approval_open ON approval (id) WHERE state = 'open';
CREATE INDEX approval_usable ON approval (id) WHERE state IN ('open', 'approved');
CREATE INDEX approval_requester ON approval (requester, created_at);

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
