-- Has the server tell how it understands each statement, in notices of this transaction only.
SELECT
    set_config('debug_pretty_print', 'off', TRUE) AS pretty_print,
    set_config('client_min_messages', 'log', TRUE) AS least_message,
    set_config('debug_print_parse', 'on', TRUE) AS print_parse
