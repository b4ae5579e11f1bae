"""The kinds of input that broke other systems, from conversion to the database: the tests that make each of them here.

Those of search stand in `tests/integration/retrieval/test_case_list.py`.
"""

from __future__ import annotations

import pytest

from tests.named_tests import require_tests

CONVERT = "unit.ingestion.test_convert"
REAL = "integration.ingestion.test_convert_real_files"
MADE = "integration.ingestion"
PIPELINE = "integration.ingestion.test_pipeline"
CHUNK = "unit.ingestion.test_chunk"
FRONT = "unit.ingestion.test_frontmatter"
KINDS = {
    "frontmatter, and rules in the body": (
        f"{CONVERT}:test_frontmatter_becomes_metadata_and_rules_stay_out_of_it",
        f"{FRONT}:test_metadata_and_body_are_parted",
    ),
    "YAML as a source": (
        f"{CONVERT}:test_yaml_configuration_is_kept_verbatim_with_key_paths",
        f"{CONVERT}:test_yaml_prose_becomes_readable_sections",
    ),
    "files without bytes": (
        f"{CONVERT}:test_a_file_without_bytes_is_empty",
        f"{PIPELINE}:test_bad_files_end_in_their_state_and_the_rest_goes_on",
    ),
    "scans": (f"{REAL}:test_a_scanned_pdf_has_no_text", f"{REAL}:test_a_scan_with_a_stamp_on_each_page_is_no_success"),
    "locked files": (
        f"{REAL}:test_a_locked_pdf_is_told_apart_from_a_broken_one",
        f"{REAL}:test_the_locked_pdf_opens_with_its_password_and_reads_in_columns",
        f"{MADE}.test_locked:test_a_password_that_is_set_later_opens_it_on_a_retry",
        f"{CONVERT}:test_broken_locked_and_foreign_files_are_told_apart",
    ),
    "merged cells": (
        f"{CONVERT}:test_a_merged_cell_is_told_once",
        f"{REAL}:test_a_merged_cell_of_a_word_table_is_told_once",
    ),
    "sparse columns": (f"{CONVERT}:test_a_sparse_column_stays_in_one_table",),
    "sheets without end, and gaps in them": (
        f"{CONVERT}:test_a_styled_cell_in_the_last_row_costs_no_rows",
        f"{CONVERT}:test_more_rows_than_the_limit_are_too_large",
        f"{CONVERT}:test_rows_after_a_gap_are_kept_and_join_their_table",
    ),
    "text from right to left": (
        f"{REAL}:test_real_files_keep_their_words_headings_and_states",
        "unit.ingestion.test_pdf_layout:test_right_to_left_runs_are_put_in_logical_order",
        "unit.ingestion.test_pdf_layout:test_columns_of_right_to_left_text_begin_at_the_right",
    ),
    "code and pipes": (
        f"{CONVERT}:test_code_is_verbatim_with_its_language_and_pipes_stay_pipes",
        "integration.retrieval.test_search:test_a_command_is_found_as_it_was_written",
    ),
    "pages that fail": (f"{REAL}:test_a_pdf_with_a_damaged_page_is_partial_and_names_it",),
    "archives that inflate, links that leave": (
        f"{CONVERT}:test_a_bomb_is_refused_whatever_it_declares",
        "unit.ingestion.test_sources:test_links_that_leave_or_loop_are_reported_and_not_followed",
    ),
    "tags nested without end": (f"{MADE}.test_convert_made_files:test_tags_five_thousand_deep_are_read",),
    "a long table under headings": (f"{CHUNK}:test_a_table_of_200_rows_keeps_its_header_on_every_chunk_and_the_limit",),
    "a header longer than a chunk": (f"{CHUNK}:test_a_header_longer_than_the_limit_is_told_with_every_cell",),
    "headings alone": (
        f"{CHUNK}:test_only_headings_give_one_chunk",
        f"{CHUNK}:test_one_heading_alone_is_a_chunk",
    ),
    "headings after one another": (f"{CHUNK}:test_consecutive_headings_all_stand_in_the_path",),
    "chunks that the model does not take whole": (
        f"{CHUNK}:test_windows_fit_the_model_and_cover_every_word",
        f"{CHUNK}:test_tails_that_differ_give_windows_that_differ",
        f"{CHUNK}:test_sizes_that_cannot_work_are_refused",
    ),
    "overlap": (
        f"{CHUNK}:test_the_overlap_never_crosses_a_heading",
        f"{CHUNK}:test_the_overlap_is_at_most_what_was_asked_for",
        f"{CHUNK}:test_a_table_of_200_rows_keeps_its_header_on_every_chunk_and_the_limit",
    ),
    "other options over the same bytes": (
        f"{PIPELINE}:test_other_rules_convert_a_document_again",
        "unit.ingestion.test_worker:test_other_options_are_another_version_where_they_change_what_comes_out",
        "unit.ingestion.test_worker:test_other_code_is_another_version",
    ),
    "rules in the body without frontmatter": (f"{FRONT}:test_rules_in_the_body_are_no_frontmatter",),
    "values of frontmatter, and broken frontmatter": (
        f"{FRONT}:test_values_stay_as_they_are_written",
        f"{FRONT}:test_broken_frontmatter_is_left_out_with_its_line",
        f"{CONVERT}:test_broken_frontmatter_is_a_warning_not_a_failure",
    ),
    "a moved file": (f"{PIPELINE}:test_a_moved_file_costs_no_embedding_and_stays_searchable",),
    "two equal files": (f"{PIPELINE}:test_two_equal_files_stay_two_documents",),
    "deleted files, and listings that failed": (
        f"{PIPELINE}:test_documents_are_pruned_only_when_asked",
        f"{PIPELINE}:test_an_empty_listing_prunes_nothing",
        f"{MADE}.test_gone:test_a_folder_that_cannot_be_read_keeps_all_of_its_root",
        f"{MADE}.test_gone:test_a_folder_that_lists_nothing_removes_nothing_and_is_told_by_name",
        f"{PIPELINE}:test_too_many_deletions_are_refused",
    ),
    "one section of many changed": (
        f"{PIPELINE}:test_one_changed_section_re_embeds_only_its_own_chunks",
        f"{MADE}.test_gate:test_a_search_during_a_re_ingest_finds_a_document_whole",
        f"{MADE}.test_interruption:test_a_reader_never_sees_half_of_a_document",
    ),
    "a new time of the same bytes": (
        f"{PIPELINE}:test_a_new_time_of_change_changes_nothing",
        "unit.ingestion.test_sources:test_the_hash_does_not_know_the_time",
    ),
    "another embedding model": (
        f"{MADE}.test_versions:test_the_old_index_serves_until_the_new_one_is_complete",
        f"{MADE}.test_gate:test_a_search_during_a_change_of_the_model_always_answers",
        f"{MADE}.test_gate:test_work_for_another_model_is_not_published",
    ),
    "NUL and lone surrogates in text and metadata": (
        f"{CONVERT}:test_what_a_database_refuses_is_removed_and_counted",
        f"{PIPELINE}:test_text_that_postgresql_cannot_hold_is_cleaned",
        "unit.ingestion.test_index_values:test_values_are_cleaned_through_and_through",
    ),
    "vectors that cannot be stored": (
        f"{PIPELINE}:test_a_chunk_without_a_usable_vector_does_not_take_the_batch_with_it",
        "unit.ingestion.test_index_values:test_a_vector_that_cannot_be_stored_is_told",
        f"{MADE}.test_gate:test_what_is_refused_stays_as_it_was_and_the_rest_is_published",
    ),
    "a path longer than a key": (
        f"{PIPELINE}:test_a_path_longer_than_a_database_key_is_indexed",
        "unit.ingestion.test_index_values:test_a_document_id_is_short_whatever_the_path",
    ),
    "an ingest that is killed": (
        f"{MADE}.test_interruption:test_killed_at_ten_random_moments_and_repeated_the_index_is_the_same",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_tests(kind: str) -> None:
    require_tests(KINDS[kind])
