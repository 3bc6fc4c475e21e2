/** The button that cancels a measurement. A dialog first explains the consequences. */

import type { Requisition } from '@measurement-exchange/contract';
import { ExchangeError } from '@measurement-exchange/sdk/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { counted } from '../../../format.ts';
import { ConfirmDialog } from '../../../parts/Dialog.tsx';
import { useSession } from '../../../session/session.ts';

export function CancelButton({ name, requisitions }: { name: string; requisitions: readonly Requisition[] }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const cancel = async () => {
    try {
      await client.cancelMeasurement({ name });
    } catch (error) {
      // Ignore the error if the measurement has ended in the meantime. The page then shows the measurement's state.
      if (!(error instanceof ExchangeError && error.reason === 'MEASUREMENT_STATE_ILLEGAL')) throw error;
    } finally {
      void queries.invalidateQueries({ queryKey: [principal, 'measurements'] });
    }
  };
  const total = requisitions.length;
  const answered = requisitions.filter(({ state }) => state === 'FULFILLED').length;
  return (
    <>
      <button type="button" className="btn danger" onClick={() => setAsks(true)}>
        Cancel measurement
      </button>
      {asks && (
        <ConfirmDialog
          title="Cancel it?"
          verb="Cancel measurement"
          onConfirm={cancel}
          onClose={() => setAsks(false)}
        >
          <p>
            {answered === 0
              ? 'No publisher has answered yet.'
              : `${answered} of ${counted(total, 'publisher')} ${answered === 1 ? 'has' : 'have'} already answered. What they charged to their privacy budgets stays spent.`}
            {total > answered &&
              ` ${counted(total - answered, 'open request')} ${total - answered === 1 ? 'is' : 'are'} withdrawn.`}
          </p>
          <p>There will be no result. This cannot be undone, but you can ask again with a clone.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
