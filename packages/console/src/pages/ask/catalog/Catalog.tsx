/** The catalog: all event groups that publishers have described to the consumer. */
import { MEDIA_TYPES } from '@measurement-exchange/contract';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { A } from '../../../parts/A.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import '../ask.css';
import { MEDIA_WORDS } from '../../../parts/eventGroupWords.ts';
import { type Filters, GroupList } from './GroupList.tsx';

export default function Catalog() {
  const search = new URLSearchParams(useLocation().searchStr);
  const filters = {
    words: search.get('q') ?? '',
    media: search.get('media') ?? '',
    publisher: search.get('publisher') ?? '',
  };
  return (
    <>
      <PageHead
        title="Catalog"
        meta={['What publishers have described to you: their event groups, days and attributes.']}
        actions={
          <A className="btn main" to="/new">
            <Icon name="plus" /> New measurement
          </A>
        }
      />
      <section className="card" aria-label="Event groups">
        <FilterRow filters={filters} />
        <GroupList filters={filters} />
      </section>
    </>
  );
}

function FilterRow({ filters: { words, media, publisher } }: { filters: Filters }) {
  const id = useId();
  const navigate = useNavigate();
  const set = (part: Record<string, string>) => {
    const all: Record<string, string> = { q: words, media, publisher, ...part };
    const search = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    void navigate({ to: '/catalog' as '.', search: search as never, replace: true });
  };
  return (
    <div className="in-card row">
      <div className="field grow">
        <label htmlFor={`${id}-words`}>Brand or campaign</label>
        <input
          className="in"
          type="search"
          id={`${id}-words`}
          defaultValue={words}
          onChange={({ target }) => set({ q: target.value })}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-media`}>Media</label>
        <select
          className="in"
          id={`${id}-media`}
          value={media}
          onChange={({ target }) => set({ media: target.value })}
        >
          <option value="">All</option>
          {MEDIA_TYPES.map((type) => (
            <option key={type} value={type}>
              {MEDIA_WORDS[type]}
            </option>
          ))}
        </select>
      </div>
      {publisher && (
        <button type="button" className="btn sm" onClick={() => set({ publisher: '' })}>
          Only <PublisherTag name={`dataProviders/${publisher}`} /> · show all
        </button>
      )}
    </div>
  );
}
