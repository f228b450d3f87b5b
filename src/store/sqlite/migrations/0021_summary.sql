-- What of a conversation was summed up: endings of its epoch up to one. making: up to which a summary is being made.
-- stale: it covers what was taken back. made: how many were begun on the day.
CREATE TABLE summary (
    conversation INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    making INTEGER,
    stale INTEGER NOT NULL,
    day INTEGER NOT NULL,
    made INTEGER NOT NULL
) STRICT;
