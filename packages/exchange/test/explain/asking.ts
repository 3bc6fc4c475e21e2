/** Asks for explanations at another time, and injects who was last seen when. */
import { type Explanation, matchRoute, type Operation, type RequestOf } from '@measurement-exchange/contract';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { LastSeen } from '../../src/database/lastSeen.ts';
import type { PendingDeadlines } from '../../src/domain/explain/facts.ts';
import { explainComputation, explainMeasurement, explainRequisition } from '../../src/operations/explain.ts';

const EXPLAIN = { explainMeasurement, explainRequisition, explainComputation };

export function useAsking(exchange: TestExchange, deadlines: PendingDeadlines) {
  const replica = useReplica(exchange);
  return {
    /** So many hours from now. */
    async explain(name: string, hoursAhead = 0): Promise<Explanation> {
      const { route, params } = matchRoute('GET', `/v2alpha/${name}:explain`);
      const store = { ...replica(hoursAhead), deadlines, lastSeen: new LastSeen() };
      const request = { params, path: name } as unknown as RequestOf<Operation>;
      return EXPLAIN[route.operation as keyof typeof EXPLAIN](store, {} as never, request as never);
    },
    /** The party was last seen so many hours from now; null: never. */
    async seen(party: { name: string }, hoursFromNow: number | null): Promise<void> {
      await exchange.database.query('DELETE FROM last_seen WHERE party = $1', [party.name]);
      if (hoursFromNow === null) return;
      await exchange.database.query(
        `INSERT INTO last_seen VALUES ($1, now() + $2::float8 * interval '1 hour')`,
        [party.name, hoursFromNow],
      );
    },
  };
}
