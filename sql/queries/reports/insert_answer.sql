INSERT INTO reports.fact_answer (
    run_date, batch, question_id, version, run_id, state, status, strategy, query_type, question, answer,
    headline_number, headline_text, headline_unit, row_count, explanation, reason, supported, relevance,
    citation_accuracy, citations, model_calls, prompt_tokens, completion_tokens, cost_usd, milliseconds, plan_id,
    answered_at, fingerprint, review, reviewed_by, reviewed_at, review_note
)
VALUES (
    %(run_date)s, %(batch)s, %(question_id)s, %(version)s, %(run_id)s, %(state)s, %(status)s, %(strategy)s,
    %(query_type)s, %(question)s, %(answer)s, %(headline_number)s, %(headline_text)s, %(headline_unit)s,
    %(row_count)s, %(explanation)s, %(reason)s, %(supported)s, %(relevance)s, %(citation_accuracy)s, %(citations)s,
    %(model_calls)s, %(prompt_tokens)s, %(completion_tokens)s, %(cost_usd)s, %(milliseconds)s, %(plan_id)s,
    %(answered_at)s, %(fingerprint)s, %(review)s, %(reviewed_by)s, %(reviewed_at)s, %(review_note)s
);
