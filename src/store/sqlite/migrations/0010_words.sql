-- What a task is to read that came as no message, and whose words it is. text: null when it is older than it is kept.
CREATE TABLE task_words (
    task INTEGER PRIMARY KEY,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT
) STRICT;
CREATE INDEX task_words_kept ON task_words (task) WHERE text IS NOT NULL;
