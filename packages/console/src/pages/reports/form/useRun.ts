/**
 * Creates a report and starts it. Clicks have no effect while a report is being created or started. If a report was
 * created but could not be started, the next click with the same definition starts that report, and does not create
 * another one.
 */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';

export function useRun(definition: ReportDefinition | undefined) {
  const { companion } = useSession();
  const navigate = useNavigate();
  const isRunning = useRef(false);
  const created = useRef<{ definition: string; name: string }>(undefined);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<Error>();
  const start = async () => {
    if (definition === undefined || isRunning.current) return;
    isRunning.current = true;
    setSending(true);
    setError(undefined);
    try {
      const text = JSON.stringify(definition);
      if (created.current?.definition !== text) {
        const { name } = await companion!.createReport({ definition });
        created.current = { definition: text, name };
      }
      const { name } = created.current;
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
