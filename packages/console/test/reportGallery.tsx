/** A page with one report, for the tests. The report comes as JSON, as the companion sends it. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../src/app/style.css';
import { Cost } from '../src/pages/reports/run/Cost.tsx';
import { ReportBody } from '../src/pages/reports/show/ReportBody.tsx';
import type { ReportView } from '../src/reports/types.ts';
import { labelsOf } from '../src/reports/words.ts';

const HOSTILE = `<img src=x onerror="alert(1)">\u202e${'long '.repeat(60)}`;

const which = new URLSearchParams(location.search).get('view') ?? 'usual';
const view = (await (await fetch(`/${which}.json`)).json()) as ReportView;
const nameOf = (party: string) => (which === 'hostile' ? HOSTILE : party.split('/').at(-1)!);
const labels = labelsOf(view.segments, (name) => ({ label: nameOf(name) }));

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <main className="page">
      <h1>{view.title}</h1>
      <ReportBody
        {...{ view, labels, nameOf }}
        linkTo={() => <a href="#measurement">Open the measurement</a>}
      >
        <Cost view={view} />
      </ReportBody>
    </main>
  </StrictMode>,
);
