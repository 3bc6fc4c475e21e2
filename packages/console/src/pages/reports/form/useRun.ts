/** Creates and starts a report. Ignores further clicks meanwhile, so that two clicks do not create two reports. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';

export function useRun(definition: ReportDefinition | undefined) {
  const { companion } = useSession();
  const navigate = useNavigate();
  const isRunning = useRef(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<Error>();
  const start = async () => {
    if (definition === undefined || isRunning.current) return;
    isRunning.current = true;
    setSending(true);
    setError(undefined);
    try {
      const { name } = await companion!.createReport({ definition });
      await companion!.runReport({ name });
      await navigate({ to: `/reports/${idOf(name)}` as '.' });
    } catch (error) {
      setError(error as Error);
    } finally {
      isRunning.current = false;
      setSending(false);
    }
  };
  return { run: () => void start(), isSending, error };
}
