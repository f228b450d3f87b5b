-- part: the call that sends it, in JSON, while its message is not known: whoever takes the task up looks for what it
-- has left.
ALTER TABLE streamed_message ADD COLUMN part TEXT;
