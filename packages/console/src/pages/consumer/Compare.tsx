/** Compares several measurements side by side: `/compare?names=<id>,<id>`. */
import { useQueries } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { questionQuery, resultQuery } from '../../live/useOpened.ts';
import { A } from '../../parts/A.tsx';
import { CopyLink } from '../../parts/CopyLink.tsx';
import { inWords, useNames } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { CompareResults } from '../../parts/results/CompareResults.tsx';
import { Empty, NeedsKey, Skeleton } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { filtersOf } from './one/EventGroups.tsx';
import { daysOf, titleOf } from './words.ts';

const MOST = 6;

export default function Compare() {
  const session = useSession();
  const { names: text = '' } = useSearch({ strict: false }) as { names?: string };
  const ids = [...new Set(text.split(',').filter(Boolean))].slice(0, MOST);
  const names = ids.map((id) => `${session.principal}/measurements/${id}`);
  const questions = useQueries({ queries: names.map((name) => questionQuery(session, name)) });
  const results = useQueries({ queries: names.map((name) => resultQuery(session, name)) });
  const compared = names.map((name, i) => {
    const question = questions[i]!.data?.question;
    return {
      name,
      question,
      title: titleOf({ name }, question),
      result: results[i]!.data?.result,
      query: results[i]!,
    };
  });
  const nameOf = useNames();
  const shown = compared.flatMap(({ title, result }) => (result ? [{ title, result }] : []));
  return (
    <>
      <PageHead
        above={{ to: '/measurements', text: 'Measurements' }}
        title="Side by side"
        {...(ids.length > 1 && { meta: [`${ids.length} measurements`], actions: <CopyLink /> })}
      />
      {session.companion === undefined && <NeedsKey what="The results are sealed for you." />}
      {ids.length < 2 && (
        <Empty title="Choose two or more measurements">
          <p>
            Check the boxes beside them in <A to="/measurements">the list</A>, then press Compare.
          </p>
        </Empty>
      )}
      {results.some(({ isLoading }) => isLoading) && <Skeleton />}
      {shown.length > 0 && <CompareResults results={shown} nameOf={nameOf} />}
      {ids.length > 0 && <Legend compared={compared} />}
    </>
  );
}

interface Compared {
  name: string;
  title: string;
  question: Parameters<typeof daysOf>[0];
  result: unknown;
  query: { error: Error | null; data?: { error?: string } | undefined };
}

function Legend({ compared }: { compared: Compared[] }) {
  const nameOf = useNames();
  return (
    <section className="card">
      <header>
        <h2>What is compared</h2>
      </header>
      <table className="fold dense">
        <thead>
          <tr>
            <th>Title</th>
            <th>Dates</th>
            <th>Filter</th>
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {compared.map(({ name, title, question, result, query }) => (
            <tr key={name}>
              <td>
                <A to={`/measurements/${idOf(name)}`}>
                  <bdi>{title}</bdi>
                </A>
              </td>
              <td data-l="Dates">{daysOf(question)}</td>
              <td data-l="Filter">
                {question && (filtersOf(question).join(', ') || <span className="muted">none</span>)}
              </td>
              <td data-l="Result">
                {result
                  ? 'Verified'
                  : inWords(query.error?.message ?? query.data?.error ?? 'Not here', nameOf)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
