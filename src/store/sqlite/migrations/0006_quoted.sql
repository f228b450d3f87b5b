-- A quote of one of our messages brings its id alone.
CREATE INDEX part_message ON part (receipt ->> '$.message', conversation) WHERE receipt IS NOT NULL;
