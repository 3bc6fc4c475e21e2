/** Converts computations to API resources. A computation's name starts with the name of the duchy that reads it. */
import type { Computation, Participant, Protocol } from '@measurement-exchange/contract';
import type { ComputationRecord } from '../../database/computations.ts';
import type { ParticipantRecord } from '../../domain/aggregate.ts';
import { certificateName } from '../../domain/certificate.ts';
import { computationEtag } from '../../domain/computation.ts';
import { computationName, computationState } from '../../domain/participants.ts';
import { viewProtocol } from '../../domain/protocolConfig.ts';
export function viewComputation(
  { aggregate, requisitionSpecHashes }: ComputationRecord,
  duchy: string,
): Computation {
  const { measurement: m, requisitions, participants } = aggregate;
  const own = participants.find((p) => p.duchy === duchy)!;
  return {
    name: computationName(duchy, m.id),
    role: own.role,
    state: computationState(aggregate),
    measurementConsumer: m.consumer,
    measurementSpec: m.spec,
    measurementConsumerCertificate: certificateName(m.consumer, m.certificate),
    protocolConfig: viewProtocol(m),
    participants: Object.fromEntries(participants.map((p) => [p.duchy, viewParticipant(p, m.protocol)])),
    requisitions: requisitions.map((r, i) => ({
      name: `${r.provider}/requisitions/${r.id}`,
      dataProvider: r.provider,
      dataProviderCertificate: certificateName(r.provider, r.certificate),
      requisitionSpecHash: requisitionSpecHashes[i]!,
      nonceHash: r.nonceHash,
      nonce: r.fulfillment?.nonce,
      state: r.state,
      fulfillingDuchy: r.fulfillingDuchy!,
    })),
    failure: m.failure,
    traceparent: m.traceparent,
    etag: computationEtag(aggregate),
    createTime: m.createTime,
    updateTime: own.updateTime,
  };
}

function viewParticipant(
  { duchy, role, state, parameters }: ParticipantRecord,
  protocol: Protocol,
): Participant {
  if (parameters === undefined) return { role, state };
  const { certificate, publicKey, elGamalPublicKey } = parameters;
  return {
    role,
    state,
    certificate: certificateName(duchy, certificate),
    parameters: { [protocol]: { publicKey, elGamalPublicKey } },
  };
}
