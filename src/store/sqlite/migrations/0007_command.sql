-- A list of three words in an index's condition is a table that every row of the inbox makes anew.
DROP INDEX inbox_command;
CREATE INDEX inbox_command ON inbox (id)
WHERE done_at IS NULL AND (disposition = 'command' OR disposition = 'tap' OR disposition = 'answer');
