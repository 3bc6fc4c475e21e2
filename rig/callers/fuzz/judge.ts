/** The rules that every response must satisfy, for any request. */
import type { JsonSchema, OpenApiDocument, OpenApiResponse } from '@measurement-exchange/contract';
import { isDocumented } from '@measurement-exchange/testkit/documentedErrors';
import { errorModelProblems } from '@measurement-exchange/testkit/errorModel';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import type { Built, Operation } from './plan.ts';
import { conformityOf } from './schemas.ts';
import type { State } from './state.ts';

/**
 * The documented statuses that requests of the fuzzer can cause. 500 is not among them, because it is always a defect.
 * 503 and 504 are not among them, because they need a fault, such as a stopped database. `isWaiting` handles the only
 * 503 that needs no fault.
 */
const STATUSES = [200, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429, 431];
/** The exchange can return these statuses before it checks the token. */
const FRAMING = [400, 414, 431];

/** Error reasons that even a valid request can get, because of earlier or concurrent requests. */
const MEANWHILE =
  /^(?:\w+_STATE_ILLEGAL|\w+_ALREADY_EXISTS|REQUISITION_ETAG_MISMATCH|EVENT_GROUP_(?:NOT_FOUND|INVALID_ARGS)|CERTIFICATE_IS_INVALID|REQUEST_ID_REUSED)$/;
/**
 * Operations whose template in templates.ts follows all rules. The exchange must accept requests from these templates.
 */
const SURE = ['createMeasurement', 'fulfillDirectRequisition', 'refuseRequisition'];

export class Judge {
  private readonly state: State;
  private readonly conforms: (operation: Operation) => (value: unknown, at: string) => string | undefined;
  readonly operationCount: number;
  /** Operations that returned 200 at least once. */
  readonly granted = new Set<string>();
  readonly statuses = new Map<number, number>();

  constructor(document: OpenApiDocument, operations: readonly Operation[], state: State) {
    this.state = state;
    this.operationCount = new Set(operations.map(({ route }) => route.operation)).size;
    const compile = conformityOf(document.components.schemas);
    this.conforms = ({ document: { responses } }) =>
      compile(Object.values((responses[200] as OpenApiResponse).content)[0]!.schema as JsonSchema);
  }

  /** Returns a description of each rule that the response violates. */
  problemsOf(sent: Built, response: Reply, sentAt: number): string[] {
    const { status } = response;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 0) return [`no response: ${response.text}`];
    if (isWaiting(sent, response)) return [];
    const problems = STATUSES.includes(status)
      ? []
      : [`status ${status} is not documented: ${response.text.slice(0, 300)}`];
    if (sent.speaker.name === '' && sent.token !== undefined && sent.speaker.kind === undefined) {
      if (status === 200) problems.push('a stranger was let in');
    } else if (sent.token === undefined && status !== 401 && !FRAMING.includes(status)) {
      problems.push(`${status} without a token`);
    }
    if (status === 200) problems.push(...this.successProblems(sent, response, sentAt));
    else if (sent.method !== 'HEAD')
      problems.push(...errorModelProblems(response), ...this.rejectionOddities(sent, response));
    return problems;
  }

  private successProblems(sent: Built, response: Reply, sentAt: number): string[] {
    const problems: string[] = [];
    const operation = this.operationOf(sent);
    this.granted.add(operation.route.operation);
    if (sent.mustReject)
      problems.push(`granted, though it should be rejected (${sent.plan.twists[0]?.kind})`);
    if (response.headers.get('content-type') !== 'application/json; charset=utf-8')
      problems.push('the response is not JSON');
    if (!response.headers.has('x-request-id')) problems.push('no x-request-id');
    if (response.json === undefined) return [...problems, `no JSON: ${response.text.slice(0, 200)}`];
    const problem = this.conforms(operation)(response.json, 'the response');
    if (problem !== undefined) problems.push(`not as documented: ${problem}`);
    problems.push(...this.rightProblems(sent, operation));
    // Skip the list of changes, which shows old states of a resource.
    const isPast = operation.route.operation === 'listChanges';
    for (const resource of isPast ? [] : resourcesIn(response.json)) {
      const changed = this.state.observe(resource, sentAt);
      if (changed !== undefined) problems.push(changed);
    }
    const nonce = sent.filled?.nonces?.get(sent.speaker.name);
    if (
      operation.route.operation === 'fulfillDirectRequisition' &&
      nonce !== undefined &&
      !sent.target.includes('validateOnly')
    ) {
      // Compare the text, because JSON.parse would round the nonce.
      if (!response.text.includes(`"nonce":${nonce},`)) problems.push('the nonce came back changed');
    }
    return problems;
  }

  /**
   * Returns the operation that the request reached. If a twist (a change that makes a request wrong or hostile) changed
   * the method, this may be another operation of the same path.
   */
  private operationOf({ plan, method }: Built): Operation {
    const { route, siblings } = plan.operation;
    const other = siblings.find(
      (one) => one.route.method === method && one.route.path === route.path && one.route.verb === route.verb,
    );
    return other ?? plan.operation;
  }

  private rightProblems({ speaker, target }: Built, { row }: Operation): string[] {
    const right = speaker.kind && row.may[speaker.kind];
    if (right === undefined) return [`${speaker.name || 'a stranger'} may not do this`];
    const owner = target.slice('/v2alpha/'.length).split('/')[1]?.split(/[:?]/)[0];
    const foreign = right === 'own' && decodeURIComponent(owner ?? '') !== speaker.id;
    return foreign ? [`${speaker.name} reached what belongs to ${owner}`] : [];
  }

  private rejectionOddities(sent: Built, { status, headers, json }: Reply): string[] {
    const reason: string = json?.error?.details?.[0]?.reason ?? '';
    const code: string = json?.error?.status ?? '';
    if (!isDocumented({ status, code, reason }, sent.method, sent.target.split('?')[0]))
      return [`${status} ${code} ${reason} is not documented for this operation`];
    if (status === 405) {
      // Twists of these kinds change the path, so the allowed methods are unknown.
      const wanted = sent.plan.twists.some(({ kind }) => kind === 'oddPath' || kind === 'oddId')
        ? undefined
        : sent.plan.operation.methods;
      const allow = headers.get('allow')?.split(', ').sort().join();
      if (allow === undefined || (wanted !== undefined && allow !== wanted.toSorted().join()))
        return [`405 with Allow ${allow}`];
    }
    if (status === 429 && reason === 'RATE_LIMITED') return ['limited, though the limits are out of reach'];
    const sure = sent.inOrder && SURE.includes(sent.plan.operation.route.operation);
    if (sure && !MEANWHILE.test(reason)) return [`rejected with ${reason}, though it was in order`];
    return [];
  }
}

/**
 * Whether the exchange asked the caller to retry the release of a certificate hold. The exchange asks for retries until
 * the effects of the hold have ended.
 */
function isWaiting({ plan }: Built, { status, headers, json }: Reply): boolean {
  const { operation } = plan.operation.route;
  if (operation !== 'releaseCertificateHold' || status !== 503) return false;
  return json?.error?.status === 'UNAVAILABLE' && headers.has('retry-after');
}

/** Yields all resources in a response that have a state. */
function* resourcesIn(json: unknown): Generator<{ name: string; state: string }> {
  const found = json as Record<string, unknown>;
  if (typeof found.name === 'string' && typeof found.state === 'string')
    yield found as { name: string; state: string };
  for (const member of Object.values(found)) {
    if (Array.isArray(member))
      for (const one of member) if (typeof one === 'object' && one !== null) yield* resourcesIn(one);
  }
}
