-- Lean rows: what never changes stands once for all rows, what is said stands once after it is settled.

-- Where tasks speak and what can be done there, as facts have it ("place": 0 stands for it in a task's facts).
CREATE TABLE whereabouts (id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE) STRICT;
INSERT OR IGNORE INTO whereabouts (place) SELECT facts -> '$.place' FROM task
WHERE CASE WHEN json_valid(facts) THEN json_type(facts, '$.place') = 'object' END;
ALTER TABLE task ADD COLUMN whereabouts INTEGER;
UPDATE task SET whereabouts = (SELECT id FROM whereabouts w WHERE w.place = facts -> '$.place'),
    facts = json_set(facts, '$.place', 0)
WHERE CASE WHEN json_valid(facts) THEN json_type(facts, '$.place') = 'object' END;

-- Nobody resumes a task that has ended. An empty cause is the key of the message it came with, which is unique already.
UPDATE task SET header = NULL WHERE finish IS NOT NULL;
DROP INDEX task_cause;
UPDATE task SET cause = '' WHERE EXISTS (SELECT 1 FROM inbox i WHERE i.task = task.id AND i.disposition = 'task'
    AND i.account = task.account AND (task.cause = i.key OR task.cause = i.account || '|' || i.key));
CREATE UNIQUE INDEX task_cause ON task (account, cause) WHERE cause <> '';

-- said: the item of its task's transcript whose words it says; its body then holds none.
ALTER TABLE outbound ADD COLUMN said INTEGER;

-- The calls of parts that are not settled, or did not arrive and are still to be told: few rows at any time. It is
-- also the way to the open parts.
CREATE TABLE rendered (part INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
INSERT INTO rendered SELECT id, part FROM part WHERE open = 1 OR told IS NOT NULL;
DROP INDEX part_open;
ALTER TABLE part DROP COLUMN part;
UPDATE part SET boot = NULL WHERE open = 0;
