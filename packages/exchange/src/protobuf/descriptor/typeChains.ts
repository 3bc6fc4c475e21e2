/** Chains of message types: A has a field of type B, which has one of type C, and so on. */
import { isMessageType } from './fields.ts';
import { type FieldProto, quote, type Report } from './model.ts';
import type { Symbols } from './symbols.ts';

/**
 * The protobuf runtime follows a chain by recursion, several calls for each type, before it reads or prints the first
 * message: 2,000 types overflow the stack. Types that refer to each other in circles count with all of their circle.
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
  // An extension is a field of what it extends.
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
  /** The order in which it was reached; 0 before. */
  index: number;
  /** The smallest index of its circle that it is known to reach. */
  low: number;
  /** How many of its targets were looked at. */
  next: number;
  /** The length of the longest chain that starts at its circle; 0 until the circle is complete. */
  length: number;
}

/** The strongly connected components of Tarjan (1972), without recursion: each is complete after all it leads to. */
export class TypeChains {
  private readonly nodes = new Map<string, Node>();

  /** A field of `type` has the type `target`. */
  add(type: string, target: string): void {
    this.node(type).targets.push(this.node(target));
  }

  private node(name: string): Node {
    let node = this.nodes.get(name);
    if (node === undefined) {
      node = { name, targets: [], index: 0, low: 0, next: 0, length: 0 };
      this.nodes.set(name, node);
    }
    return node;
  }

  /** A type at which a chain starts that is longer than allowed. */
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
          // Looked at again when it is done, when its low is final.
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
