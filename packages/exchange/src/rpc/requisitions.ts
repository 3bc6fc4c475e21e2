/** Implements the Requisitions service: gets, lists, refuses, and fulfills requisitions. */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import { parseName, type Requisition, specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  type FulfillDirectRequisitionRequest,
  FulfillDirectRequisitionResponseSchema,
  type ListRequisitionsRequest,
  ListRequisitionsResponseSchema,
  type Requisition as ProtoRequisition,
  Requisition_Refusal_Justification,
  Requisition_Refusal_JustificationSchema,
  Requisition_State,
  Requisition_StateSchema,
  RequisitionSchema,
  type Requisitions,
} from '@measurement-exchange/contract/rpc';
import { type Api, type Call, idsIn, malformedName } from './api.ts';
import type { DirectProtocol } from './direct.ts';
import { shortPage } from './pages.ts';
import { toProtocolConfig } from './protocolConfig.ts';
import { nameAlgorithms, type Signature } from './signatures.ts';
import {
  enumName,
  enumNames,
  fromEncrypted,
  given,
  isJsonSpec,
  olderCopy,
  toEncrypted,
  toPublicKey,
  toSigned,
  toSignedSpec,
  toTimestamp,
} from './values.ts';

export function requisitions(api: Api, direct: DirectProtocol): Partial<ServiceImpl<typeof Requisitions>> {
  const write = async (call: Call, requisition: Requisition) => {
    const written = toRequisition(requisition, direct);
    await nameAlgorithms(call, signaturesOf(written));
    return written;
  };
  return {
    getRequisition: api.unary(async ({ name }, call) => {
      const ofMeasurement = parseName('measurementRequisition', name);
      if (ofMeasurement !== undefined)
        return write(call, await call.run('getMeasurementRequisition', ofMeasurement));
      const own = parseName('requisition', name);
      if (own !== undefined) return write(call, await call.run('getRequisition', own));
      throw malformedName(['requisition', 'measurementRequisition'], name);
    }),

    listRequisitions: api.unary(async (request, call) => {
      const page = await listRequisitions(request, call, (one) => toRequisition(one, direct));
      await nameAlgorithms(call, page.requisitions.flatMap(signaturesOf));
      return page;
    }),

    refuseRequisition: api.unary(async ({ name, refusal, etag }, call) => {
      const body = {
        refusal: refusal && {
          justification: enumName(Requisition_Refusal_JustificationSchema, refusal.justification),
          message: given(refusal.message),
        },
      };
      const refused = await call.run('refuseRequisition', idsIn('requisition', name), withEtag(body, etag));
      // Omit a JSON spec. `write` would reject the spec, and the client would get an error although the requisition is
      // now refused.
      return write(
        call,
        isJsonSpec(refused.measurementSpec) ? { ...refused, measurementSpec: undefined } : refused,
      );
    }),

    fulfillDirectRequisition: api.unary(async (request, call) => {
      const params = idsIn('requisition', request.name);
      const { state } = await call.run('fulfillDirectRequisition', params, {
        ...withEtag(await fulfillmentOf(request, call), request.etag),
      });
      return create(FulfillDirectRequisitionResponseSchema, { state: Requisition_State[state] });
    }),
  };
}

/**
 * Returns the body with the etag. gRPC clients send an empty etag to match any version of the requisition, but the REST
 * schema rejects an empty etag. If the etag is empty, the body has a placeholder instead. After the schema check, the
 * empty etag in `unchecked` replaces the placeholder.
 */
function withEtag<Body extends object>(body: Body, etag: string) {
  if (etag !== '') return { body: { ...body, etag } };
  return { body: { ...body, etag: 'current' }, unchecked: { etag: '' } };
}

async function fulfillmentOf(request: FulfillDirectRequisitionRequest, call: Call) {
  const { encryptedResult, encryptedResultCiphertext, fulfillmentContext, nonce } = request;
  const encrypted =
    encryptedResult ??
    (encryptedResultCiphertext.length === 0
      ? undefined
      : create(specs.EncryptedMessageSchema, {
          ciphertext: encryptedResultCiphertext,
          typeUrl: TYPE_URLS.SignedMessage,
        }));
  return {
    encryptedResult: fromEncrypted(encrypted, TYPE_URLS.MeasurementResult),
    nonce,
    certificate: given(request.certificate) ?? (await certificateOf(request.name, call)),
    fulfillmentContext: fulfillmentContext && {
      buildLabel: given(fulfillmentContext.buildLabel),
      warnings: fulfillmentContext.warnings,
    },
  };
}

/**
 * Returns the data provider's certificate that the measurement names. This certificate is the default for a
 * fulfillment that names no certificate.
 */
async function certificateOf(name: string, call: Call): Promise<string | undefined> {
  return (await call.run('getRequisition', idsIn('requisition', name))).dataProviderCertificate;
}

async function listRequisitions(
  { parent, pageSize, pageToken, filter }: ListRequisitionsRequest,
  call: Call,
  write: (requisition: Requisition) => ProtoRequisition,
) {
  const query = {
    pageSize: shortPage(pageSize),
    pageToken: given(pageToken),
    'filter.states': filter && enumNames(Requisition_StateSchema, filter.states),
  };
  const wanted = enumNames(specs.Measurement_StateSchema, filter?.measurementStates ?? []);
  const page = (found: { requisitions: Requisition[]; nextPageToken?: string | undefined }) =>
    create(ListRequisitionsResponseSchema, {
      requisitions: found.requisitions
        .filter((one) => !isJsonSpec(one.measurementSpec))
        .filter(({ measurementState }) => wanted === undefined || wanted.includes(measurementState ?? ''))
        .map(write),
      nextPageToken: found.nextPageToken ?? '',
    });
  const measurement = parseName('measurement', parent);
  if (measurement !== undefined) {
    return call.runPage('listMeasurementRequisitions', measurement, { query }, page, (p) => p.requisitions);
  }
  const provider = parseName('dataProvider', parent);
  if (provider === undefined) throw malformedName(['dataProvider', 'measurement'], parent, 'parent');
  return call.runPage('listRequisitions', provider, { query }, page, (p) => p.requisitions);
}

function toRequisition(r: Requisition, direct: DirectProtocol): ProtoRequisition {
  return create(RequisitionSchema, {
    name: canonicalName(r),
    measurement: r.measurement,
    measurementConsumerCertificate: r.measurementConsumerCertificate,
    measurementSpec: toSignedSpec(r.measurementSpec, r.name!),
    protocolConfig: toProtocolConfig(r.protocolConfig, direct),
    dataProviderCertificate: r.dataProviderCertificate,
    dataProviderPublicKey: toPublicKey(r.dataProviderPublicKey),
    encryptedRequisitionSpec: toEncrypted(r.encryptedRequisitionSpec, TYPE_URLS.RequisitionSpec),
    encryptedRequisitionSpecCiphertext: olderCopy(r.encryptedRequisitionSpec?.ciphertext),
    duchies: Object.entries(r.duchies ?? {}).map(([key, entry]) => ({ key, value: toDuchy(entry) })),
    state: Requisition_State[r.state],
    nonce: r.nonce,
    refusal: r.refusal && {
      justification: Requisition_Refusal_Justification[r.refusal.justification],
      message: r.refusal.message,
    },
    fulfillmentContext: r.fulfillmentContext,
    ...(r.measurementState && { measurementState: specs.Measurement_State[r.measurementState] }),
    updateTime: toTimestamp(r.updateTime),
    etag: r.etag,
  });
}

function signaturesOf({ measurementSpec, measurementConsumerCertificate, duchies }: ProtoRequisition) {
  const keys = duchies.map(({ value }): Signature => {
    const { value: parameters } = value!.protocol;
    const { publicKey = undefined, elGamalPublicKey = undefined } = { ...parameters } as DuchyKeys;
    return [publicKey ?? elGamalPublicKey, value!.duchyCertificate];
  });
  return [[measurementSpec, measurementConsumerCertificate] satisfies Signature, ...keys];
}

interface DuchyKeys {
  publicKey?: specs.SignedMessage;
  elGamalPublicKey?: specs.SignedMessage;
}

/**
 * Returns the form of the requisition's name that starts with the data provider's name. All gRPC clients use this form,
 * even consumers. The tombstone of a deleted requisition has no data provider, so its name is returned unchanged.
 */
function canonicalName({ name, dataProvider }: Requisition): string {
  return dataProvider === undefined ? name! : `${dataProvider}/requisitions/${name!.split('/').at(-1)}`;
}

type Duchy = NonNullable<Requisition['duchies']>[string];

function toDuchy({ duchyCertificate, ...protocol }: Duchy) {
  const { liquidLegionsV2, reachOnlyLiquidLegionsV2, honestMajorityShareShuffle } = protocol;
  const legions = liquidLegionsV2 ?? reachOnlyLiquidLegionsV2;
  if (legions !== undefined) {
    const elGamalPublicKey = toSigned(legions.elGamalPublicKey, TYPE_URLS.ElGamalPublicKey);
    const name = liquidLegionsV2 === undefined ? 'reachOnlyLiquidLegionsV2' : 'liquidLegionsV2';
    return { duchyCertificate, protocol: { case: name, value: { elGamalPublicKey } } } as const;
  }
  const publicKey = toSigned(honestMajorityShareShuffle?.publicKey, TYPE_URLS.EncryptionPublicKey);
  const value = publicKey === undefined ? {} : { publicKey };
  return { duchyCertificate, protocol: { case: 'honestMajorityShareShuffle', value } } as const;
}
