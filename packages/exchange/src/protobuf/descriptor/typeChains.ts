/**
 * Limits chains of message types. In a chain, type A has a field of type B, type B has a field of type C, and so on.
 */
import { isMessageType } from './fields.ts';
import { cached, type FieldProto, quote, type Report } from './model.ts';
import type { Symbols } from './symbols.ts';

/**
 * The maximum number of types in a chain. The protobuf runtime follows a chain recursively, and 2,000 types overflow
 * the stack. A cycle counts as a chain of all its types.
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
  // Add each extension as a field of the message that it extends.
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
  /** The node's position in the order of the search, starting at 1, or 0 until the search reaches the node. */
  index: number;
  /**
   * Tarjan's low link: the lowest `index` that the search has reached from this node, among the nodes whose cycle is
   * not complete.
   */
  low: number;
  next: number;
  /**
   * The length of the longest chain that starts in this node's cycle (strongly connected component), or 0 until the
   * cycle is complete.
   */
  length: number;
}

/**
 * Finds long chains with Tarjan's algorithm (1972) for strongly connected components, without recursion. A component is
 * called a cycle here, even if it has only one type. A cycle can lead to other cycles: one of its types has a field
 * with a type of the other cycle. The algorithm completes those other cycles first, so the longest chain that starts in
 * each of them is then known.
 */
export class TypeChains {
  private readonly nodes = new Map<string, Node>();

  add(type: string, target: string): void {
    const node = (name: string): Node =>
      cached(this.nodes, name, () => ({ name, targets: [], index: 0, low: 0, next: 0, length: 0 }));
    node(type).targets.push(node(target));
  }

  /** Returns the first type of a chain that is too long, or undefined if no chain is too long. */
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
          // The search has already visited this target. If the target's length is 0, its cycle is not complete, so this
          // node may be part of the cycle.
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
