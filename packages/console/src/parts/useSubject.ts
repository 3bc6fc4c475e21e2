import type { Change } from '@measurement-exchange/contract';
import { useQuery } from '@tanstack/react-query';
import { limited, useQuestion } from '../live/useOpened.ts';
import { idOf } from '../session/roles.ts';
import { type Session, useSession } from '../session/session.ts';
import { partyName } from './names.ts';
import { usePublishers } from './Publisher.tsx';
import { specWords } from './specWords.ts';
import { useReferences } from './useReferences.ts';

/**
 * Returns a readable name of the changed resource, such as the title of a measurement. Returns undefined until the name
 * is loaded, and if the resource has no readable name.
 */
export function useSubject({ name, kind }: Pick<Change, 'name' | 'kind'>): string | undefined {
  const session = useSession();
  const isAsked = session.role === 'consumer' && name.split('/')[2] === 'measurements';
  const isRead = !isAsked && (kind === 'REQUISITION' || kind === 'COMPUTATION');
  const question = useQuestion(name.split('/').slice(0, 4).join('/'), { enabled: isAsked });
  const references = useReferences({ enabled: kind === 'EVENT_GROUP' });
  const read = useQuery({
    queryKey: ['subject', name],
    queryFn: ({ signal }) => atMost3(() => titleOf(session, { name, kind }, signal)),
    enabled: isRead,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const publisher = usePublishers();
  if (isAsked) return question.data?.question?.title;
  if (kind !== 'EVENT_GROUP') return read.data;
  const { eventGroupReferenceId: reference, dataProvider } = references.get(idOf(name)) ?? {};
  const isOfAnother = session.role === 'consumer' && dataProvider !== undefined;
  return reference && isOfAnother ? `${reference}, of ${publisher(dataProvider).label}` : reference;
}

const atMost3 = limited(3);

/** Returns the title of a request or computation. The title uses only fields that all parties involved can read. */
async function titleOf(
  { client }: Session,
  { name, kind }: Pick<Change, 'name' | 'kind'>,
  signal: AbortSignal,
): Promise<string> {
  const { measurementSpec, consumer } =
    kind === 'REQUISITION'
      ? await client.getRequisition({ name, signal }).then(({ measurementSpec, measurement }) => ({
          measurementSpec,
          consumer: measurement?.split('/').slice(0, 2).join('/'),
        }))
      : await client.getComputation({ name, signal }).then(({ measurementSpec, measurementConsumer }) => ({
          measurementSpec,
          consumer: measurementConsumer,
        }));
  const what = specWords(measurementSpec?.message)?.what;
  return what && consumer ? `${what}, for ${partyName(consumer)}` : idOf(name);
}
