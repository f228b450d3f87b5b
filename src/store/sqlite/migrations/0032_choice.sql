-- Which profile answers in a conversation and how hard it thinks, where its owner has said so.
ALTER TABLE conversation ADD COLUMN model TEXT;
ALTER TABLE conversation ADD COLUMN effort TEXT;
