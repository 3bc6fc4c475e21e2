/** Searches the API reference on the server, because the page runs no scripts. */
import { REASONS } from '@measurement-exchange/contract';
import type { Entry } from './example.ts';
import { type Html, html, prose } from './html.ts';

export interface Findable {
  id: string;
  title: Html;
  /**
   * Text that raises the rank of a result. Results whose `words` contain every word of the query come before other
   * results.
   */
  words: string;
  text: string;
}

const MAX_QUERY = 100;

export function searchForm(query = ''): Html {
  return html`<form action="/docs" role="search">
<input type="search" name="q" value="${query}" maxlength="${MAX_QUERY}" placeholder="Search" aria-label="Search operations, fields and errors">
</form>`;
}

export function findableOperation({ operationId, method, path, summary }: Entry, article: Html): Findable {
  return {
    id: operationId,
    title: html`<b class="method ${method}">${method.toUpperCase()}</b> ${prose(summary)} <code class="type">${operationId}</code>`,
    words: `${operationId} ${path} ${summary}`.toLowerCase(),
    text: article.text.replaceAll(/<[^>]*>/g, ' ').toLowerCase(),
  };
}

export function findableErrors(): Findable[] {
  return Object.entries(REASONS).map(([name, { code, meaning }]) => ({
    id: name,
    title: html`<code>${name}</code> ${prose(meaning)}`,
    words: name.toLowerCase(),
    text: `${name} ${code} ${meaning}`.toLowerCase(),
  }));
}

export function searchResults(all: readonly Findable[], query: string): Html {
  const words = query.slice(0, MAX_QUERY).toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => words.every((word) => text.includes(word));
  const found = all.filter(({ words, text }) => has(words) || has(text));
  const [best, others] = [found.filter(({ words }) => has(words)), found.filter(({ words }) => !has(words))];
  if (found.length === 0) return html`<p>Nothing has all of these words. Try fewer of them.</p>`;
  return html`<ul class="results">
${[...best, ...others].map(({ id, title }) => html`<li><a href="/docs#${id}">${title}</a></li>\n`)}</ul>`;
}
