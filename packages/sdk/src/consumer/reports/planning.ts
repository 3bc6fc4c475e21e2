/** Plans a report with data from the exchange: protocols, event groups, the population, and existing answers. */
import {
  type Plan,
  planReport,
  type Rehearsal,
  type ReportDefinition,
  rehearse,
  type Surroundings,
} from '@measurement-exchange/reports';
import type { Dependencies } from '../deps.ts';
import type { DuchyProtocol } from '../protocol.ts';
import { inBatches } from './batches.ts';
import { readWorld, type Union, unionId, type World, whoComputes } from './surroundings.ts';

export interface Planning {
  plan: Plan;
  rehearsal: Rehearsal;
  surroundings: Surroundings;
  world: World;
}

/**
 * Plans the report that the definition describes. `isAnswered` takes the key of a need (a value that the report
 * requires). It returns whether the consumer already has a successful or pending measurement for this need. Omit
 * `isAnswered` if there are no such measurements at all.
 */
export async function planWith(
  deps: Dependencies,
  definition: ReportDefinition,
  isAnswered: ((key: string) => Promise<boolean>) | undefined,
): Promise<Planning> {
  const world = await readWorld(deps, definition);
  const computed = new Map<string, DuchyProtocol | undefined>();
  const learn = async (unions: readonly Union[]) => {
    for (const [id, by] of await whoComputes(deps, definition, world, unions)) computed.set(id, by);
  };
  // Ask the exchange about the union of all data providers first, because this also checks their keys and all filters.
  await learn([{ type: 'REACH', dataProviders: providersOf(world, definition) }]);
  const answered = new Map<string, boolean>();
  // Plan with the data that is known. If the planner asked for more data, read this data and plan again.
  for (;;) {
    const [unions, lookups] = [new Map<string, Union>(), new Set<string>()];
    const surroundings: Surroundings = {
      ...world.known,
      computedBy(type, dataProviders) {
        const id = unionId({ type, dataProviders });
        if (computed.has(id)) return computed.get(id);
        unions.set(id, { type, dataProviders });
        return computed.values().find((by) => by !== undefined);
      },
      ...(isAnswered && {
        answered: setOf((key) => {
          if (!answered.has(key)) lookups.add(key);
          return answered.get(key) ?? false;
        }),
      }),
    };
    const planned = await attempt(() => planReport(definition, surroundings));
    if (unions.size + lookups.size === 0) {
      const plan = planned();
      return { plan, rehearsal: rehearse(plan, surroundings), surroundings, world };
    }
    await learn([...unions.values()]);
    await inBatches([...lookups], LOOKUPS_AT_ONCE, async (key) => {
      answered.set(key, await isAnswered!(key));
    });
  }
}

const LOOKUPS_AT_ONCE = 8;

/**
 * Runs `work`. Returns a function that returns the result of `work`, or throws its error. Planning sometimes fails
 * because some data has not been read yet. In that case, the caller ignores the error, reads the data, and plans again.
 */
async function attempt<T>(work: () => Promise<T>): Promise<() => T> {
  try {
    const result = await work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/**
 * Returns an object that acts as the set of all keys for which `has` returns true. The planner uses only `has`, and
 * whether `size` is 0.
 */
function setOf(has: (key: string) => boolean): ReadonlySet<string> {
  return { size: 1, has } as ReadonlySet<string>;
}

function providersOf({ eventGroups }: World, { segments }: ReportDefinition): string[] {
  const names = Object.values(segments).flatMap((segment) => segment.eventGroups);
  return [...new Set(names.map((name) => eventGroups.get(name)!.dataProvider!))];
}
