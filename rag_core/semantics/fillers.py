"""Words that say nothing in a question about figures. Data only.

A word that could change the answer must not stand here: "new", "not", "average", "open" or "should" are looked for in
the model, and where it does not know them the question is not answered.
"""

from __future__ import annotations

# Function words that may also stand inside a synonym without changing it ("customers did we lose").
SKIPPED = frozenset([
    "a", "an", "the", "our", "we", "us", "did", "do", "does", "have", "has", "had", "is", "are", "was", "were",
    "been", "be", "to", "it", "they", "their", "that", "which", "who",
])  # fmt: skip

# Between two nouns these say that the one has the other: "services had incidents" is not "service incidents".
PARTING = frozenset(["have", "has", "had"])

# Single words that carry no meaning of their own.
EMPTY_WORDS = frozenset([
    "a", "an", "the", "our", "we", "us", "i", "me", "my", "you", "your", "it", "its", "they", "their", "them",
    "there", "here", "this", "that", "these", "those", "is", "are", "was", "were", "be", "been", "being", "am",
    "do", "does", "did", "done", "have", "has", "had", "let", "s", "show", "give", "list", "tell", "display",
    "provide", "return", "print", "report", "present", "find", "get", "got", "pull", "see", "look", "please",
    "kindly", "hi", "hello", "hey", "so", "then", "also", "just", "exactly", "actually", "simply", "happen",
    "happened", "occur", "occurred", "recorded", "record", "booked", "book", "made", "make", "generated",
    "generate", "generating", "earned", "earn", "received", "receive", "saw", "seen", "registered", "register",
    "logged", "posted", "placed", "come", "came", "coming", "amounted", "amount", "stand", "stood", "account",
    "accounted", "contribute", "contributed", "take", "taken", "took", "place", "figure", "number", "value",
    "level", "data", "result", "statistic", "stat", "overview", "summary", "table", "chart", "graph", "question",
    "answer", "business", "altogether", "what", "how", "much", "many", "ok", "okay", "thanks", "thank",
    "corresponding", "respective", "respectively", "particular", "specific", "relevant", "expressed", "measured",
    "calculated", "compute", "computed", "calculate",
])  # fmt: skip

# Verbs that are spelt right, whatever known word they are one letter from: "sent" is no slip for "spent". What the
# model does not know of these is named as not understood.
SPELT_RIGHT = frozenset([
    "bring", "call", "called", "carry", "carried", "caught", "check", "checked", "deliver", "delivered", "draw",
    "drawn", "drew", "drive", "driven", "drove", "fail", "failed", "feel", "felt", "fixed", "flew", "forget",
    "forgot", "goes", "gone", "handle", "hear", "heard", "held", "help", "helped", "hold", "join", "joined", "keep",
    "kept", "knew", "know", "lead", "lend", "lent", "meant", "meet", "need", "needed", "passed", "picked", "push",
    "pushed", "raise", "reach", "reached", "read", "save", "saved", "seek", "seem", "send", "sending", "sent",
    "serve", "served", "speak", "spoke", "stay", "stayed", "stop", "stopped", "talk", "think", "threw", "throw",
    "told", "tried", "turn", "turned", "wait", "waited", "want", "wanted", "watch", "went", "wish", "wore", "write",
    "wrote", "written",
])  # fmt: skip

# Phrases without meaning of their own.
IGNORED_PHRASES: tuple[str, ...] = (
    "break down", "breaking down", "how high", "how low", "how well", "how was", "how far",
    "amount of", "total amount of", "figure for", "value of", "level of", "volume of", "what is",
    "what was", "what were", "show me", "give me", "tell me", "let me know", "i want to see",
    "i would like to see", "do we have", "did we have", "have we had", "were there", "are there", "was there",
    "is there", "took place", "take place", "in figures", "in numbers", "look like", "looked like", "come to",
    "came to", "add up to", "amount to", "stand at", "turn out", "in terms of", "when it comes to", "at all",
    "of ours", "in our company", "in the company", "in our business", "the company", "our company", "can you",
    "could you", "would you", "can i see", "can i have", "could i see", "we would like to know",
    "i would like to know", "i want to know", "want to know", "do you know", "can you tell me",
    "could you tell me", "can you give me", "could you give me", "may i see", "will you", "what about", "i need",
    "we need", "as a whole", "taken together",
    "on record", "all told", "as a number", "all of", "the figures for", "the number for",
    "on the whole", "in all",
)  # fmt: skip
