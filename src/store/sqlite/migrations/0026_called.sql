-- brought_name: what the person was called when their contact was brought up to date last; null before it ever was.
ALTER TABLE met ADD COLUMN brought_name TEXT;
