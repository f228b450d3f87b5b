-- The message that shows an answer while it is written; null when a crash may have come between its sending and its id.
CREATE TABLE streamed_message (task INTEGER PRIMARY KEY, message TEXT) STRICT;
