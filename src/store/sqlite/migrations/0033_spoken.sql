-- What was understood of the voice of a message, by the place of its file among the message's files.
ALTER TABLE inbox ADD COLUMN spoken TEXT;
