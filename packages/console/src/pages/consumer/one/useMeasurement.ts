/** Reads everything about one measurement, and keeps it up to date while the page is open. */
import { isTerminal, type Timeline } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { pollMs } from '../../../live/pollMs.ts';
import { useQuestion } from '../../../live/useOpened.ts';
import { useResource } from '../../../live/useResource.ts';
import { useSession } from '../../../session/session.ts';

export function useMeasurement(name: string) {
  const measurement = useResource('measurements', ['one', name], ({ client }, signal) =>
    client.getMeasurement({ name, signal }),
  );
  useRequestsAgain(measurement.data?.updateTime);
  const state = measurement.data?.state;
  const isOpen = state !== undefined && !isTerminal(state);
  const known = { enabled: measurement.data !== undefined, refetchInterval: () => pollMs(state) };
  const requisitions = useResource(
    'requisitions',
    ['of', name],
    async ({ client }, signal) => {
      const all = await Array.fromAsync(client.listMeasurementRequisitions({ parent: name, signal }));
      return all.sort((a, b) => ((a.dataProvider ?? '') < (b.dataProvider ?? '') ? -1 : 1));
    },
    { enabled: known.enabled },
  );
  const explanation = useResource(
    'requisitions',
    ['why', name],
    ({ client }, signal) => client.explainMeasurement({ name, signal }),
    known,
  );
  const timeline = useResource(
    'requisitions',
    ['timeline', name],
    async ({ client }, signal): Promise<Timeline> => {
      const pages = await Array.fromAsync(
        client.getMeasurementTimeline({ name, pageSize: 200, signal }).pages(),
      );
      return { transitions: pages.flatMap(({ transitions }) => transitions), progress: pages[0]?.progress };
    },
    known,
  );
  const question = useQuestion(name, { enabled: known.enabled });
  return { measurement, isOpen, requisitions, explanation, timeline, question };
}

function useRequestsAgain(updateTime: string | undefined): void {
  const { principal } = useSession();
  const queries = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the measurement has changed
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: [principal, 'requisitions'] });
  }, [updateTime]);
}

export type MeasurementQueries = ReturnType<typeof useMeasurement>;
