/** Sends the measurement only once, even if the user clicks the button several times. */
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { newRequestId } from '../../../parts/newRequestId.ts';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';

export function useSend(request: MeasurementRequest | undefined) {
  const { companion } = useSession();
  const navigate = useNavigate();
  const sent = useRef<{ text: string; requestId: string }>(undefined);
  const isRunning = useRef(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<Error>();
  const send = async () => {
    if (request === undefined || isRunning.current) return;
    isRunning.current = true;
    setSending(true);
    setError(undefined);
    // Use the same ID for every attempt with the same request. The exchange creates only one measurement per ID, even if
    // a response was lost.
    const text = JSON.stringify(request);
    if (sent.current?.text !== text) sent.current = { text, requestId: newRequestId() };
    const { requestId } = sent.current;
    try {
      const { name } = await companion!.create({ request: { ...request, requestId } });
      await navigate({ to: `/measurements/${idOf(name)}` as '.' });
    } catch (error) {
      setError(error as Error);
    } finally {
      isRunning.current = false;
      setSending(false);
    }
  };
  return { send: () => void send(), isSending, error };
}
