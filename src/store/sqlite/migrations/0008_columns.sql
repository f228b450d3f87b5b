-- What is asked for stands in columns of its own, never in a text or in how near two rows stand.
ALTER TABLE task RENAME COLUMN boot TO instance;
ALTER TABLE part RENAME COLUMN boot TO instance;

ALTER TABLE inbox ADD COLUMN album TEXT;
ALTER TABLE inbox ADD COLUMN quotes TEXT;
-- Only what may still be asked for: an album that is arriving, quotes of what may be taken back.
UPDATE inbox SET album = inbound ->> '$.album'
WHERE id > (SELECT MAX(id) FROM inbox) - 200 AND json_valid(inbound);
UPDATE inbox SET quotes = inbound ->> '$.quote.message'
WHERE id > (SELECT MAX(id) FROM inbox) - 20000 AND json_valid(inbound) AND inbound ->> '$.quote.message' IS NOT NULL;
CREATE INDEX inbox_quotes ON inbox (quotes, conversation) WHERE quotes IS NOT NULL;
CREATE INDEX inbox_album ON inbox (conversation, album) WHERE album IS NOT NULL;

DROP INDEX part_message;
ALTER TABLE part ADD COLUMN message TEXT GENERATED ALWAYS AS (receipt ->> '$.message') VIRTUAL;
CREATE INDEX part_message ON part (message, conversation) WHERE message IS NOT NULL;
CREATE TABLE part_also (message TEXT, part INTEGER, PRIMARY KEY (message, part)) STRICT, WITHOUT ROWID;
CREATE INDEX part_also_of ON part_also (part);
INSERT INTO part_also (message, part)
SELECT DISTINCT a.value, p.id FROM part p, json_each(p.receipt, '$.also') a
WHERE p.id > (SELECT MAX(id) FROM part) - 20480000 AND p.receipt ->> '$.also' IS NOT NULL;

ALTER TABLE meta ADD COLUMN sealed TEXT;
