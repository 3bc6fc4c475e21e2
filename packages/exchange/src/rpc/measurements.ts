/** The Measurements service. */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  invalid,
  type Measurement,
  type NativeObject,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import {
  BatchGetMeasurementsResponseSchema,
  ListMeasurementsResponseSchema,
  type Measurements,
} from '@measurement-exchange/contract/rpc';
import { type Api, idsIn } from './api.ts';
import type { DirectProtocol } from './direct.ts';
import { fromProtocolConfig, toProtocolConfig } from './protocolConfig.ts';
import {
  enumNames,
  fromEncrypted,
  fromPublicKey,
  fromSignedSpec,
  fromTimestamp,
  given,
  isJsonSpec,
  toEncrypted,
  toPublicKey,
  toSignedSpec,
  toTimestamp,
} from './values.ts';

export function measurements(api: Api, direct: DirectProtocol): Partial<ServiceImpl<typeof Measurements>> {
  const write = (measurement: Measurement) => toMeasurement(measurement, direct);
  return {
    getMeasurement: api.unary(async ({ name }, call) =>
      write(await call.run('getMeasurement', idsIn('measurement', name))),
    ),

    createMeasurement: api.unary(async ({ parent, measurement, requestId }, call) => {
      const request = {
        body: measurement && fromMeasurement(measurement, 'measurement'),
        within: 'measurement',
        requestId: given(requestId),
      };
      return write(
        await call.run('createMeasurement', idsIn('measurementConsumer', parent, 'parent'), request),
      );
    }),

    listMeasurements: api.unary(async ({ parent, pageSize, pageToken, filter }, call) => {
      const query = {
        pageSize,
        pageToken: given(pageToken),
        'filter.states': filter && enumNames(specs.Measurement_StateSchema, filter.states),
        'filter.updatedAfter': fromTimestamp(filter?.updatedAfter),
        'filter.updatedBefore': fromTimestamp(filter?.updatedBefore),
        'filter.createdAfter': fromTimestamp(filter?.createdAfter),
        'filter.createdBefore': fromTimestamp(filter?.createdBefore),
      };
      return call.runPage(
        'listMeasurements',
        idsIn('measurementConsumer', parent, 'parent'),
        { query },
        (page) =>
          create(ListMeasurementsResponseSchema, {
            measurements: page.measurements.filter((one) => !isJsonSpec(one.measurementSpec)).map(write),
            nextPageToken: page.nextPageToken ?? '',
          }),
        (page) => page.measurements,
      );
    }),

    batchGetMeasurements: api.unary(async ({ parent, names }, call) => {
      const params = idsIn('measurementConsumer', parent, 'parent');
      const { measurements } = await call.run('batchGetMeasurements', params, { body: { names } });
      return create(BatchGetMeasurementsResponseSchema, { measurements: measurements.map(write) });
    }),

    cancelMeasurement: api.unary(async ({ name }, call) => {
      const cancelled = await call.run('cancelMeasurement', idsIn('measurement', name));
      // An error would hide that the measurement is cancelled now.
      return write(
        isJsonSpec(cancelled.measurementSpec) ? { ...cancelled, measurementSpec: undefined } : cancelled,
      );
    }),
  };
}

/** `field` is the field of the request message that contains the measurement. */
export function fromMeasurement(measurement: specs.Measurement, field: string): NativeObject {
  const { measurementConsumerCertificate, measurementSpec, dataProviders, measurementReferenceId } =
    measurement;
  return {
    measurementConsumerCertificate: given(measurementConsumerCertificate),
    measurementSpec: fromSignedSpec(measurementSpec, `${field}.measurementSpec.message`),
    dataProviders: fromEntries(dataProviders, `${field}.dataProviders`),
    measurementReferenceId: given(measurementReferenceId),
    protocolConfig: fromProtocolConfig(measurement.protocolConfig),
  };
}

function fromEntries(entries: specs.Measurement_DataProviderEntry[], field: string): NativeObject {
  const dataProviders: NativeObject = Object.create(null);
  entries.forEach(({ key, value }, i) => {
    const at = `${field}[${i}]`;
    if (key in dataProviders) throw invalid([{ field: `${at}.key`, description: 'is given twice' }]);
    dataProviders[key] = {
      dataProviderCertificate: given(value?.dataProviderCertificate),
      dataProviderPublicKey: fromPublicKey(value?.dataProviderPublicKey, `${at}.value.dataProviderPublicKey`),
      encryptedRequisitionSpec: fromEncrypted(value?.encryptedRequisitionSpec, TYPE_URLS.RequisitionSpec),
      nonceHash: given(value?.nonceHash),
    };
  });
  return dataProviders;
}

function toMeasurement(m: Measurement, direct: DirectProtocol): specs.Measurement {
  return create(specs.MeasurementSchema, {
    name: m.name,
    state: specs.Measurement_State[m.state],
    measurementConsumerCertificate: m.measurementConsumerCertificate,
    measurementSpec: toSignedSpec(m.measurementSpec, m.name!),
    dataProviders: Object.entries(m.dataProviders ?? {}).map(([key, entry]) => ({
      key,
      value: {
        dataProviderCertificate: entry.dataProviderCertificate,
        dataProviderPublicKey: toPublicKey(entry.dataProviderPublicKey),
        encryptedRequisitionSpec: toEncrypted(entry.encryptedRequisitionSpec, TYPE_URLS.RequisitionSpec),
        nonceHash: entry.nonceHash,
      },
    })),
    protocolConfig: toProtocolConfig(m.protocolConfig, direct),
    results: m.results?.map(({ certificate, encryptedResult }) => ({
      certificate,
      encryptedResult: toEncrypted(encryptedResult, TYPE_URLS.MeasurementResult),
    })),
    measurementReferenceId: m.measurementReferenceId,
    failure: m.failure && {
      reason: specs.Measurement_Failure_Reason[m.failure.reason],
      message: m.failure.message,
    },
    createTime: toTimestamp(m.createTime),
    updateTime: toTimestamp(m.updateTime),
  });
}
