-- What was taken back: by its message, and where its files have still to go.
CREATE INDEX inbox_unsend ON inbox (message, done_at) WHERE disposition = 'unsend';
CREATE INDEX inbox_unsend_open ON inbox (id) WHERE done_at IS NULL AND disposition = 'unsend';
-- stop: 1 it is to end, 2 what it writes may hold what was taken back.
UPDATE task SET stop = 3 WHERE stop = 2;
