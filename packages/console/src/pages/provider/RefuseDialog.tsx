/** The dialog that refuses a request permanently. It warns that the measurement fails. */
import {
  REFUSAL_JUSTIFICATIONS,
  type RefusalJustification,
  type Requisition,
} from '@measurement-exchange/contract';
import { retryOnAborted } from '@measurement-exchange/sdk/client';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ConfirmDialog } from '../../parts/Dialog.tsx';
import { capital } from '../../parts/names.ts';
import { useSession } from '../../session/session.ts';
import { costWords } from './budgetDays.ts';
import { useCosts, useIsCharged } from './requests.ts';
import { JUSTIFICATIONS } from './words.ts';

const MAX_MESSAGE = 2000;

export function RefuseDialog({ requisition, close }: { requisition: Requisition; close: () => void }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [justification, setJustification] = useState<RefusalJustification>('DECLINED');
  const [message, setMessage] = useState('');
  const name = requisition.name!;
  const cost = useCosts().get(name);
  const isCharged = useIsCharged()(name);
  const consumer = capital(requisition.measurement?.split('/')[1] ?? 'the advertiser');
  const messageId = useId();
  const refuse = async () => {
    const refusal = { justification, ...(message !== '' && { message }) };
    await retryOnAborted(
      () => client.getRequisition({ name }),
      ({ etag }) => client.refuseRequisition({ name, body: { refusal, etag: etag! } }),
    );
    await queries.invalidateQueries({ queryKey: [principal, 'requisitions'] });
  };
  return (
    <ConfirmDialog title="Refuse this request?" verb="Refuse request" onConfirm={refuse} onClose={close}>
      <p>
        The measurement of <bdi>{consumer}</bdi> fails permanently, and what other publishers answered is
        discarded.{' '}
        {cost === undefined
          ? isCharged === false && 'Nothing was charged to your budget.'
          : `You have already charged ${costWords(cost)} of your budget. That stays spent.`}{' '}
        If you only need more time, defer it.
      </p>
      <fieldset className="stack tight">
        <legend className="lab">Why</legend>
        {REFUSAL_JUSTIFICATIONS.toReversed().map((each) => (
          <label key={each} className="pick">
            <input
              type="radio"
              name="justification"
              checked={each === justification}
              onChange={() => setJustification(each)}
            />
            <span>
              <b>{JUSTIFICATIONS[each].title}</b>
              <span className="xs">{JUSTIFICATIONS[each].meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div className="field">
        <label htmlFor={messageId}>What the advertiser should know</label>
        <textarea
          id={messageId}
          className="in"
          rows={2}
          maxLength={MAX_MESSAGE}
          value={message}
          onChange={({ target }) => setMessage(target.value)}
        />
        <span className="hint">
          The advertiser and the exchange read it. Say nothing about single people.
        </span>
      </div>
    </ConfirmDialog>
  );
}
