-- The last row of the inbox whose words went with their age: its key stays for a while.
ALTER TABLE meta ADD COLUMN blanked INTEGER NOT NULL DEFAULT 0;
