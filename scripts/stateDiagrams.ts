/** Draws the state diagrams of docs/data-model.md from EDGES, between `<!-- states -->` and `<!-- end -->`. */
import { EDGES } from '@measurement-exchange/exchange/internal/domain/aggregate';

const PLACE = /(<!-- states -->\n)[\s\S]*?(<!-- end -->)/;
const TITLES = {
  measurement: 'Measurement',
  requisition: 'Requisition',
  participant: 'Participant of a computation',
};

export function printStates(page: string): string {
  if (!PLACE.test(page)) throw new Error('The page has no place for the states.');
  const diagrams = Object.keys(TITLES).map((resource) => diagramOf(resource as keyof typeof TITLES));
  return page.replace(PLACE, (_, start, end) => `${start}\n${diagrams.join('\n')}\n${end}`);
}

function diagramOf(resource: keyof typeof TITLES): string {
  const edges = EDGES.filter(([of]) => of === resource);
  const arrows = Map.groupBy(edges, ([, , from, to]) => `${from ?? '[*]'} --> ${to}`);
  const left = new Set<string | undefined>(
    edges.filter(([, , from, to]) => from !== to).map((edge) => edge[2]),
  );
  const terminal = new Set(edges.map((edge) => edge[3]).filter((to) => !left.has(to)));
  const lines = [
    ...[...arrows].map(([arrow, of]) => `${arrow}: ${of.map(([, trigger]) => trigger).join(', ')}`),
    ...[...terminal].map((state) => `${state} --> [*]`),
  ];
  return `\`\`\`mermaid
stateDiagram-v2
  state "${TITLES[resource]}" as ${TITLES[resource][0]} {
${lines.map((line) => `    ${line}`).join('\n')}
  }
\`\`\`
`;
}
