import type { Computation } from '@measurement-exchange/contract';
import { mapClient } from './mapClient.ts';
import type { TestDuchy } from './world.ts';

/** Runs `meanwhile` while the exchange shows changed computations to this duchy alone. */
export async function lyingTo<T>(
  { duchy: { client } }: TestDuchy,
  change: (view: Computation) => unknown,
  meanwhile: () => Promise<T>,
): Promise<T> {
  const honest = { ...client };
  const lie = (view: Computation) => {
    change(view);
    return view;
  };
  Object.assign(
    client,
    mapClient(honest, (call, operation) => (args) => {
      const told = call(args);
      if (!/Computation/.test(operation)) return told;
      return 'then' in told ? told.then((view) => lie(view as Computation)) : mapped(told, lie);
    }),
  );
  try {
    return await meanwhile();
  } finally {
    Object.assign(client, honest);
  }
}

async function* mapped(views: AsyncIterable<unknown>, lie: (view: Computation) => Computation) {
  for await (const view of views) yield lie(view as Computation);
}
