/** Chains of message types: A has a field of type B, B has a field of type C, and so on. */
import { isMessageType } from './fields.ts';
import { cached, type FieldProto, quote, type Report } from './model.ts';
import type { Symbols } from './symbols.ts';

/**
 * The protobuf runtime follows a chain by recursion before it reads or prints the first message, and 2,000 types overflow
 * the stack. A circle of types counts as a chain of all its types.
 */
const MAX_CHAIN = 256;

export function checkChains({ types, extensions }: Symbols, report: Report): void {
  const chains = new TypeChains();
  const add = (type: string, field: FieldProto) => {
    if (isMessageType(field.type)) chains.add(type, field.typeName!.slice(1));
  };
  for (const { kind, name, proto } of types.values()) {
    if (kind === 'message') for (const field of proto.field ?? []) add(name, field);
  }
  // An extension is a field of the message that it extends.
  for (const { proto } of extensions) add(proto.extendee!.slice(1), proto);
  const start = chains.tooLong();
  if (start === undefined) return;
  report.reject(
    '',
    '',
    `has a chain of more than ${MAX_CHAIN} message types, which starts at ${quote(start)}`,
  );
}

interface Node {
  name: string;
  targets: Node[];
  /** The order in which the search reached this node, from 1; 0 before. */
  index: number;
  /** Tarjan's low link: the smallest index of an open node that this node is known to lead to. */
  low: number;
  /** The index of the next target to visit. */
  next: number;
  /** The length of the longest chain that starts in the node's circle; 0 until the circle is complete. */
  length: number;
}

/**
 * Tarjan's algorithm (1972) for strongly connected components, here called circles, without recursion. A circle is
 * complete only after all circles that it leads to.
 */
export class TypeChains {
  private readonly nodes = new Map<string, Node>();

  /** A field of `type` has the type `target`. */
  add(type: string, target: string): void {
    const node = (name: string): Node =>
      cached(this.nodes, name, () => ({ name, targets: [], index: 0, low: 0, next: 0, length: 0 }));
    node(type).targets.push(node(target));
  }

  /** The first type of a chain that is too long; undefined if every chain is short enough. */
  tooLong(): string | undefined {
    let reached = 0;
    const open: Node[] = [];
    for (const root of this.nodes.values()) {
      if (root.index > 0) continue;
      const path = [root];
      for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
        if (node.index === 0) {
          node.index = node.low = ++reached;
          open.push(node);
        }
        const target = node.targets[node.next];
        if (target !== undefined && target.index === 0) {
          path.push(target);
          continue;
        }
        if (target !== undefined) {
          // The low link of a target is final only after its own targets were visited, so it is read on the way back.
          if (target.length === 0) node.low = Math.min(node.low, target.low);
          node.next++;
          continue;
        }
        path.pop();
        if (node.low < node.index) continue;
        const circle = open.splice(open.lastIndexOf(node));
        const beyond = circle.flatMap(({ targets }) => targets.map((to) => to.length));
        const longest = circle.length + beyond.reduce((most, one) => Math.max(most, one), 0);
        if (longest > MAX_CHAIN) return node.name;
        for (const member of circle) member.length = longest;
      }
    }
    return undefined;
  }
}
