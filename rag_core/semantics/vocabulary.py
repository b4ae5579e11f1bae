"""Words of questions that say how to calculate, group, rank and compare, and words that say nothing. Data only.

A word that could change the answer must not stand among the words without meaning: "new", "not", "only for", "average" or
"open" are looked for in the model, and where it does not know them the question is not answered.
"""

from __future__ import annotations

# Function words that may stand inside a synonym without changing it ("customers did we lose").
SKIPPED = frozenset(
    [
        "a",
        "an",
        "the",
        "our",
        "we",
        "us",
        "did",
        "do",
        "does",
        "have",
        "has",
        "had",
        "is",
        "are",
        "was",
        "were",
        "been",
        "be",
        "to",
        "it",
        "they",
        "their",
        "that",
        "which",
        "who",
    ]
)

# Single words that carry no meaning of their own in a question about figures.
EMPTY_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "our",
        "we",
        "us",
        "i",
        "me",
        "my",
        "you",
        "your",
        "it",
        "its",
        "they",
        "their",
        "them",
        "there",
        "here",
        "this",
        "that",
        "these",
        "those",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "do",
        "does",
        "did",
        "done",
        "have",
        "has",
        "had",
        "will",
        "would",
        "can",
        "could",
        "should",
        "shall",
        "may",
        "might",
        "must",
        "let",
        "s",
        "show",
        "give",
        "list",
        "tell",
        "display",
        "provide",
        "return",
        "print",
        "report",
        "present",
        "find",
        "get",
        "got",
        "pull",
        "need",
        "want",
        "like",
        "see",
        "look",
        "know",
        "say",
        "please",
        "kindly",
        "hi",
        "hello",
        "hey",
        "so",
        "then",
        "also",
        "just",
        "exactly",
        "actually",
        "simply",
        "happen",
        "happened",
        "occur",
        "occurred",
        "recorded",
        "record",
        "booked",
        "book",
        "made",
        "make",
        "generated",
        "generate",
        "generating",
        "earned",
        "earn",
        "received",
        "receive",
        "saw",
        "seen",
        "registered",
        "register",
        "logged",
        "posted",
        "placed",
        "come",
        "came",
        "coming",
        "amounted",
        "amount",
        "stand",
        "stood",
        "account",
        "accounted",
        "contribute",
        "contributed",
        "take",
        "taken",
        "took",
        "place",
        "figure",
        "number",
        "value",
        "level",
        "data",
        "result",
        "statistic",
        "stat",
        "overview",
        "summary",
        "table",
        "chart",
        "graph",
        "question",
        "answer",
        "business",
        "altogether",
        "what",
        "how",
        "much",
        "many",
        "ok",
        "okay",
        "thanks",
        "thank",
        "corresponding",
        "respective",
        "respectively",
        "particular",
        "specific",
        "relevant",
        "expressed",
        "measured",
        "calculated",
        "compute",
        "computed",
        "calculate",
    ]
)

IGNORED_PHRASES: tuple[str, ...] = (
    "how large", "how high", "how low", "how big", "how well", "how was", "how far",
    "amount of", "total amount of", "figure for",
    "value of", "level of", "size of", "volume of", "what is", "what was", "what were", "show me", "give me",
    "tell me", "let me know", "i want to see", "i would like to see", "do we have", "did we have", "have we had",
    "were there", "are there", "was there", "is there", "took place", "take place", "in figures", "in numbers",
    "look like", "looked like", "come to", "came to", "add up to", "amount to", "stand at", "turn out", "in terms of",
    "when it comes to", "at all", "of ours", "in our company", "in the company", "in our business", "the company",
    "our company", "can you", "could you", "would you", "can i see", "can i have", "could i see", "we would like to know", "i would like to know", "i want to know", "want to know", "do you know", "can you tell me", "could you tell me", "can you give me", "could you give me", "may i see", "will you", "how did", "how does", "how do", "how has", "how have", "what about",
    "i need", "we need", "as a whole", "taken together", "on record", "all told", "as a number", "all of",
    "the figures for", "the number for", "size up", "on the whole", "in all",
)  # fmt: skip

# Phrases that mean the sum over several values, not one row each.
TOTAL_PHRASES = ("total", "combined", "together", "in total", "overall", "altogether", "in sum", "taken together",
                 "company wide", "company-wide", "sum of", "total of", "grand total", "as a total", "summed up",
                 "in aggregate", "across the company", "across the business", "for the whole company", "all in all")  # fmt: skip

GROUP_PHRASES = (
    "by", "per", "in each of", "each of", "for each of", "in every one of", "in each of the", "each of the", "for each", "for every", "each", "every", "across", "across the", "broken down by", "split by",
    "split out by", "grouped by", "breakdown by", "broken out by", "separated by", "by each", "in each", "in every",
    "within each", "of each", "of every", "on each", "sorted by", "ordered by", "divided up by", "split into",
    "broken down into", "split up by", "in terms of each", "from each", "with each", "at each", "distributed over",
    "distribution by", "distribution over", "distributed across", "by the", "separately for each", "across each",
    "analysed by", "listed by", "differentiated by", "segmented by", "sliced by", "aggregated by", "distributed by",
)  # fmt: skip
PREPOSITIONS = (
    "in", "for", "of", "from", "at", "on", "with", "to", "within", "among", "during", "over", "through", "throughout",
    "inside", "about", "regarding", "concerning", "belonging to", "located in", "based in", "via", "into",
    "made by", "owned by", "run by", "between", "as for", "only for", "only in", "just for", "out of", "due to", "caused by", "because of", "only",
    "that are", "that were", "named", "called", "went to", "to our", "towards", "placed by", "raised by",
    "opened by", "placed in", "using", "placed through", "placed via", "sitting in", "seated in",
    "where", "generated by", "generated in", "generated with", "made with", "made in", "earned in", "earned with", "down to",
    "under", "against",
)  # fmt: skip
# What follows these is the part of which a share is asked.
PART_PHRASES = ("came from", "comes from", "come from", "was from", "were from", "is from", "coming from", "stem from", "stemmed from",
                "stems from", "was with", "went through", "ran through", "came through", "come through", "is with", "falls on", "fell on", "accounted for by", "was due to", "was placed by", "came in through")  # fmt: skip
AND_PHRASES = ("and", "&", "as well as", "plus", "along with", "together with", "alongside", "and also", "and the", "and in", "and for", "both", "next to", "in addition to")  # fmt: skip
OR_PHRASES = ("or", "and/or")
VERSUS_PHRASES = (
    "versus", "vs", "vs.", "compared with", "compared to", "compared against", "relative to", "in comparison to",
    "in comparison with", "in contrast to", "than", "than in", "as against", "as compared with", "as compared to",
    "measured against", "held against", "set against", "against", "compare with", "compare to", "up from",
    "down from", "compared", "set beside", "next to each other", "comparing with", "from that of", "opposed to",
    "as opposed to", "comparison with", "comparison to", "different from", "compares with", "compares to",
)  # fmt: skip
SPLIT_PHRASES = ("split between", "split among", "divide between", "divided between", "distributed between", "differ between",
                 "differed between", "difference between", "split over", "differ", "differed", "divided among", "split across",
                 "spread over", "spread across", "vary between", "varied between", "differ across", "distributed among")  # fmt: skip
COMPARE_PHRASES = (
    "compare",
    "comparison of",
    "comparing",
    "compare the",
    "contrast",
    "put side by side",
    "side by side",
    "comparison",
)
NEGATIONS = (
    "excluding", "except", "except for", "without", "other than", "not in", "not including", "outside", "outside of",
    "but not", "apart from", "not from", "leaving out", "leave out", "not counting", "exclude", "non", "ignoring",
    "not for", "aside from", "with the exception of", "minus", "that are not", "that were not", "not by", "not through",
    "disregarding", "omitting", "with no", "lacking", "who have no", "that have no", "have no", "has no", "had no",
    "which have no", "not", "excl", "not on", "not with", "beyond",
)  # fmt: skip
SHARE_PHRASES = (
    "share of", "share", "percentage of", "percent of", "proportion of", "what share", "what share of",
    "what percentage", "what percentage of", "what percent of", "what proportion of", "contribution", "contribution to",
    "fraction of", "what fraction of", "percentage share", "percentage share of", "% of", "share in", "how much of",
    "shares of", "relative share", "percentage split of", "percentage breakdown of", "percentage split", "in percent of total",
    "as a percentage of the total", "as a share of the total", "percent of the total", "share of the total", "share of total",
    "what part of", "portion of", "what portion of", "how many percent of", "share does", "percentage of total",
    "percentage of the total", "in percent of", "as a percentage of", "as percentage of", "as a share of",
)  # fmt: skip
RUNNING_PHRASES = (
    "running total", "running total of", "running totals", "cumulative", "cumulated", "accumulated", "cumulatively",
    "running sum", "running sum of", "cumulative total", "cumulative sum", "cumulative total of", "adding up",
    "running", "cumulative sum of", "as a running total", "with a running total",
)  # fmt: skip
# Changes: -1 falling, 1 rising, 0 neither said.
CHANGE_PHRASES: dict[str, int] = {
    "change": 0, "changed": 0, "change in": 0, "changes in": 0, "difference": 0, "difference in": 0, "delta": 0,
    "move": 0, "moved": 0, "vary": 0, "percentage change": 0, "percentage change in": 0,
    "percent change": 0, "relative change": 0, "rate of change": 0, "change of": 0,
    "growth": 1, "growth in": 1, "growth of": 1, "grew": 1, "grow": 1, "grown": 1, "growth rate": 1, "growth rate of": 1,
    "increase": 1, "increase in": 1, "increased": 1, "rise": 1, "rise in": 1, "rose": 1, "risen": 1, "gain": 1,
    "gained": 1, "improve": 0, "improved": 0, "improvement": 0, "went up": 1, "go up": 1, "how many more": 1,
    "how much more": 1, "how much higher": 1, "climb": 1, "climbed": 1, "go up or down": 0, "rise or fall": 0,
    "increase or decrease": 0, "growth by": 1, "by how much": 0, "by how many percent": 0, "by what percentage": 0,
    "by how many percentage points": 0, "percentage growth": 1, "by how many points": 0, "how many percent": 0,
    "decrease": -1, "decrease in": -1, "decreased": -1, "decline": -1, "decline in": -1, "declined": -1, "drop": -1,
    "drop in": -1, "dropped": -1, "fall": -1, "fall in": -1, "fell": -1, "fallen": -1, "shrink": -1, "shrank": -1,
    "shrunk": -1, "went down": -1, "go down": -1, "how many fewer": -1, "how much less": -1, "how much lower": -1,
    "loss in": -1, "slump": -1, "slumped": -1, "worsen": 0, "worsened": 0, "dip": -1, "dipped": -1, "fewer": -1,
    "points": 0, "percentage points": 0, "in percentage points": 0, "how many points": 0,
}  # fmt: skip
TREND_PHRASES = (
    "trend", "trend of", "trend in", "trends in", "over time", "develop", "developed", "development", "development of",
    "evolve", "evolved", "evolution", "evolution of", "progress", "progressed", "progression", "history", "history of",
    "timeline", "timeline of", "course of", "time series", "time series of", "move over time", "changed over time",
    "change over time", "trajectory", "trending", "over the course of", "evolving", "developing",
)  # fmt: skip
AVERAGE_PHRASES = ("average", "mean", "avg", "on average", "average of", "mean of", "averaged")
WHICH_PHRASES = ("which", "who", "whom", "whose", "which of the", "which of our", "where", "what are the", "which one", "what kind of", "which kind of", "which type of", "what type of", "which were the", "which are the", "what were the", "name the", "in which", "for which", "from which", "of which")  # fmt: skip

DESCENDING = (
    "main", "principal",
    "highest", "most", "largest", "biggest", "greatest", "strongest", "longest", "slowest", "leading", "maximum", "peak",
    "the most", "the highest", "top", "best-selling", "best selling", "top selling", "top-selling", "number one", "highest ranking",
    "busiest", "steepest", "sharpest", "richest", "fattest", "the largest", "the biggest",
    "most often", "most frequently", "most frequent", "most common", "fastest growing", "fastest-growing",
)  # fmt: skip
ASCENDING = (
    "lowest", "fewest", "least", "smallest", "weakest", "shortest", "fastest", "bottom", "minimum", "the fewest",
    "the least", "the lowest", "quickest", "poorest", "least often",
)  # fmt: skip
BEST, WORST = ("best", "best performing", "top performing"), ("worst", "worst performing", "poorest performing")
RANK_VERBS = ("rank", "ranked", "ranking of", "ranking", "rank the", "sort", "sorted", "ranked by")
DESCENDING_NOTES = ("in descending order", "descending", "from highest to lowest", "from high to low", "highest first",
                    "largest first", "from largest to smallest", "starting with the highest", "most first", "biggest first")  # fmt: skip
ASCENDING_NOTES = ("in ascending order", "ascending", "from lowest to highest", "from low to high", "lowest first",
                   "smallest first", "from smallest to largest", "starting with the lowest")  # fmt: skip

COMPARISONS: dict[str, str] = {
    "more than": ">", "over": ">", "above": ">", "exceeding": ">", "greater than": ">", "higher than": ">", ">": ">",
    "larger than": ">", "exceeded": ">", "exceed": ">", "exceeds": ">", "at least": ">=", "no less than": ">=", ">=": ">=",
    "minimum of": ">=", "or more": ">=", "not less than": ">=", "no fewer than": ">=",
    "less than": "<", "fewer than": "<", "below": "<", "under": "<", "lower than": "<", "<": "<", "smaller than": "<",
    "at most": "<=", "no more than": "<=", "up to": "<=", "<=": "<=", "maximum of": "<=", "not more than": "<=",
}  # fmt: skip

GRAINS: dict[str, str] = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
                          "calendar month": "month", "calendar quarter": "quarter", "calendar year": "year", "calendar week": "week"}  # fmt: skip
GRAIN_ADJECTIVES: dict[str, str] = {
    "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year", "annual": "year",
    "annually": "year", "month by month": "month", "quarter by quarter": "quarter", "week by week": "week",
    "day by day": "day", "year by year": "year", "by month": "month", "by quarter": "quarter", "by year": "year",
    "by week": "week", "by day": "day", "per month": "month", "per quarter": "quarter", "per year": "year",
    "a month": "month", "a year": "year", "a quarter": "quarter", "a week": "week", "a day": "day", "per week": "week", "per day": "day",
    "each month": "month", "each quarter": "quarter", "each year": "year", "each week": "week", "every month": "month",
    "every quarter": "quarter", "every week": "week", "every year": "year", "on a monthly basis": "month", "each day": "day",
    "on a quarterly basis": "quarter", "on a yearly basis": "year", "on a weekly basis": "week", "on a daily basis": "day",
    "month to month": "month", "from month to month": "month", "from quarter to quarter": "quarter",
    "from year to year": "year", "from week to week": "week", "for each month": "month", "for each quarter": "quarter",
    "for each year": "year", "for every month": "month", "in each month": "month", "in each quarter": "quarter",
    "in each year": "year", "for every quarter": "quarter", "for each week": "week", "in every month": "month",
    "in every quarter": "quarter", "in each of the months": "month", "by calendar month": "month",
    "by calendar quarter": "quarter", "by calendar year": "year", "individual month": "month", "individual quarter": "quarter",
}  # fmt: skip

COUNT_UNIT, TIME_UNIT, AMOUNT_UNIT = "count", "time", "amount"
CURRENCIES = frozenset({"EUR", "USD", "GBP", "CHF", "SEK", "NOK", "DKK"})
UNIT_PHRASES: dict[str, str] = {
    "in eur": "EUR", "eur": "EUR", "in euro": "EUR", "in euros": "EUR", "euro": "EUR", "euros": "EUR",
    "in percent": "%", "in %": "%", "%": "%", "percent": "%", "as a percentage": "%", "as percentage": "%",
    "as percent": "%", "percentage": "%", "in minutes": "minutes", "minutes": "minutes", "in hours": "hours",
    "hours": "hours", "how many minutes": "minutes", "how many hours": "hours", "what percentage": "%",
    "in persons": "employees", "as a ratio": "%", "as a rate": "%", "amount in eur": "EUR", "amount in euros": "EUR",
    "how many": "count", "how much": "amount", "how much of": "amount", "how often": "count", "number of": "count", "how long": "time", "how fast": "time",
    "how quickly": "time", "in percent of": "%", "as a percentage of": "%", "percent of": "%", "as a share of": "%",
    "how slowly": "time", "total number of": "count", "count of": "count", "total count of": "count", "as percentage of": "%",
    "what percentage of": "%", "what percent": "%", "what percent of": "%", "what share of": "%", "percentage of": "%",
    "what share": "%", "share of": "%",
}  # fmt: skip

# Values that are also everyday words: they are read as values only beside the name of their dimension.
WEAK_VALUES = frozenset(
    [
        "other",
        "none",
        "all",
        "new",
        "total",
        "any",
        "some",
        "unknown",
        "yes",
        "no",
        "true",
        "false",
        "account",
        "reading",
        "direct",
        "service",
        "price",
    ]
)

# Words for which nobody may take "number", "value" and the like away.
MULTIPLIERS = {
    "thousand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "m": 1_000_000,
    "mio": 1_000_000,
    "billion": 1_000_000_000,
}
