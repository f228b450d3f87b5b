-- Which agent of the config answers in a conversation, where its owner has said so.
ALTER TABLE conversation ADD COLUMN agent TEXT;
