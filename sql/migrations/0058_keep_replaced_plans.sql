-- What a plan took the place of, so that a person sees both side by side before the new one is approved.
ALTER TABLE nightshift.plan
ADD COLUMN answer text NOT NULL DEFAULT '',
ADD COLUMN was_approved boolean NOT NULL DEFAULT false,
ADD COLUMN replaces jsonb;
