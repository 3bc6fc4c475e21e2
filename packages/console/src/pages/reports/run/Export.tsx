/** Saves a report as a file, or prints it. */
import { useState } from 'react';
import type { ReportFormat } from '../../../companion/methods.ts';
import { save } from '../../../parts/Chart.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { ErrorNote } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';

const TYPES: Record<ReportFormat, string> = {
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

export function Export({ name }: { name: string }) {
  const { companion } = useSession();
  const [error, setError] = useState<Error>();
  const download = async (format: ReportFormat) => {
    setError(undefined);
    try {
      const { text } = await companion!.exportReport({ name, format });
      save(new Blob([text], { type: TYPES[format] }), `${idOf(name)}.${format}`);
    } catch (error) {
      setError(error as Error);
    }
  };
  return (
    <>
      {(Object.keys(TYPES) as ReportFormat[]).map((format) => (
        <button key={format} type="button" className="btn" onClick={() => void download(format)}>
          <Icon name="down" /> {format.toUpperCase()}
        </button>
      ))}
      <button type="button" className="btn" onClick={() => window.print()}>
        Print
      </button>
      {error && <ErrorNote error={error} />}
    </>
  );
}
