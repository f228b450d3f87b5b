-- Says whose file this is ("SELK"), to other programs and at the next start.
PRAGMA application_id = 1397050443;
