/** The settings that the agent sends with every statement. */

export interface Limits {
  timeoutSeconds: number;
  /** The maximum memory of one statement on one server, in bytes. */
  memoryBytes: number;
  /** The maximum number of rows that one statement reads. */
  rows: number;
}

export type Settings = Readonly<Record<string, string>>;

/** The maximum size of a response. For comparison, 100 million people with 64-bit VIDs take 900 MB. */
const MAX_RESULT_BYTES = 2 ** 34;
const MAX_SQL_BYTES = 2 ** 20;

export function settingsOf({ timeoutSeconds, memoryBytes, rows }: Limits): Settings {
  return {
    ...WHOLE_RESULTS,
    ...MEANING,
    max_execution_time: String(Math.ceil(timeoutSeconds)),
    // With 0, the server applies the time limit to the elapsed time, not to an estimate of the total time.
    timeout_before_checking_execution_speed: '0',
    max_memory_usage: String(memoryBytes),
    max_rows_to_read: String(rows),
    max_result_bytes: String(MAX_RESULT_BYTES),
    max_result_rows: '0',
    max_query_size: String(MAX_SQL_BYTES),
    cancel_http_readonly_queries_on_client_close: '1',
  };
}

/** Settings that keep a statement from leaving out rows, counting rows twice, or returning a stale result. */
const WHOLE_RESULTS: Settings = {
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  skip_unavailable_shards: '0',
  fallback_to_stale_replicas_for_distributed_queries: '0',
  additional_table_filters: '{}',
  additional_result_filter: '',
  distributed_group_by_no_merge: '0',
  do_not_merge_across_partitions_select_final: '0',
  use_query_cache: '0',
  apply_deleted_mask: '1',
  limit: '0',
  offset: '0',
};

/**
 * Settings that affect results. The agent sends them with each statement to override the settings in the account's
 * profile.
 */
const MEANING: Settings = {
  session_timezone: 'UTC',
  transform_null_in: '0',
  join_use_nulls: '0',
  join_any_take_last_row: '0',
  aggregate_functions_null_for_empty: '0',
  empty_result_for_aggregation_by_empty_set: '0',
  prefer_column_name_to_alias: '0',
  extremes: '0',
  final: '0',
  output_format_json_quote_64bit_integers: '1',
  http_write_exception_in_output_format: '0',
};
