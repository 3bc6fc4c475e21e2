/** Every service of the public API that the exchange serves. */
import type { DescService } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextValues, type ServiceImpl } from '@connectrpc/connect';
import { ExchangeError } from '@measurement-exchange/contract';
import {
  ApiKeys,
  Certificates,
  DataProviders,
  EventGroupMetadataDescriptors,
  EventGroups,
  MeasurementConsumers,
  Measurements,
  ModelLines,
  Populations,
  PublicKeys,
  Requisitions,
} from '@measurement-exchange/contract/rpc';
import { type Api, INCOMING } from './api.ts';
import { apiKeys } from './apiKeys.ts';
import { certificates } from './certificates.ts';
import { dataProviders } from './dataProviders.ts';
import { descriptors } from './descriptors.ts';
import type { DirectProtocol } from './direct.ts';
import { eventGroups } from './eventGroups.ts';
import { measurementConsumers } from './measurementConsumers.ts';
import { measurements } from './measurements.ts';
import { modelLines } from './modelLines.ts';
import { populations } from './populations.ts';
import { publicKeys } from './publicKeys.ts';
import { requisitions } from './requisitions.ts';
import type { UnaryMethod } from './unary.ts';

/**
 * Adds the services to a router, and returns their unary methods by path. `direct` lists the noise mechanisms and the
 * methodologies that data providers are allowed to use for direct measurements.
 */
export function addServices(
  router: ConnectRouter,
  api: Api,
  direct: DirectProtocol,
): Map<string, UnaryMethod> {
  const unary = new Map<string, UnaryMethod>();
  const add = <S extends DescService>(service: S, implementation: Partial<ServiceImpl<S>>) => {
    const whole = { ...unserved(service, api), ...implementation };
    router.service(service, whole);
    for (const { localName, name, input, output, methodKind } of service.methods) {
      if (methodKind !== 'unary') continue;
      const serve = whole[localName as keyof S['method']] as unknown as Served;
      unary.set(`/${service.typeName}/${name}`, {
        ...{ input, output },
        serve: (message, incoming) =>
          serve(message, { values: createContextValues().set(INCOMING, incoming) }),
      });
    }
  };
  add(Measurements, measurements(api, direct));
  add(Requisitions, requisitions(api, direct));
  add(ApiKeys, apiKeys(api));
  add(Certificates, certificates(api));
  add(DataProviders, dataProviders(api));
  add(EventGroupMetadataDescriptors, descriptors(api));
  add(EventGroups, eventGroups(api));
  add(MeasurementConsumers, measurementConsumers(api));
  add(ModelLines, modelLines(api));
  add(Populations, populations(api));
  add(PublicKeys, publicKeys(api));
  return unary;
}

/** The type of the functions that `Api.unary` returns. */
type Served = ReturnType<typeof Api.prototype.unary<object, Record<string, unknown>>>;

/**
 * Returns an implementation that rejects every RPC of the service with UNIMPLEMENTED. `addServices` overrides the
 * RPCs that the exchange supports.
 */
function unserved<S extends DescService>(service: S, api: Api): Partial<ServiceImpl<S>> {
  const reject = api.unary(async () => {
    throw new ExchangeError('METHOD_NOT_ALLOWED', 'This exchange does not serve this RPC.');
  });
  return Object.fromEntries(service.methods.map(({ localName }) => [localName, reject])) as never;
}
