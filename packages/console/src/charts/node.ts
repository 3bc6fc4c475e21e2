/** A tree of HTML and SVG elements. It can be rendered in a page, or written to a file as text. */

export interface Node {
  tag: string;
  attributes: Record<string, string | number>;
  children: readonly (Node | string)[];
}

type Child = Node | string | false | undefined;

export function node(
  tag: string,
  attributes: Record<string, string | number | undefined> = {},
  ...children: (Child | readonly Child[])[]
): Node {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return {
    tag,
    attributes: Object.fromEntries(given) as Node['attributes'],
    children: children.flat().filter((child) => child !== undefined && child !== false) as Node['children'],
  };
}

/** Returns the tree as HTML. Escapes texts and attributes, so that they are never read as markup. */
export function toText(tree: Node | string): string {
  if (typeof tree === 'string') return escapeText(tree);
  const { tag, attributes, children } = tree;
  const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeText(String(value))}"`);
  return `<${tag}${pairs.join('')}>${children.map(toText).join('')}</${tag}>`;
}

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** Formats a horizontal position or a width in a plot, in percent. Vertical positions and heights are in pixels. */
export const across = (percent: number) => `${round(percent)}%`;

export const round = (value: number) => Number(value.toFixed(2));
