/**
 * Thrown if the events cannot be read now: for example, because a file is missing or corrupt, or because the engine,
 * the network, or the disk failed.
 */
export class EventsUnavailable extends Error {
  override name = 'EventsUnavailable';
}

/**
 * Thrown if the engine cannot run a query, or runs out of memory during the query. Parallel queries may have used the
 * memory, so a later attempt can succeed.
 */
export class QueryFailed extends EventsUnavailable {
  override name = 'QueryFailed';
}
