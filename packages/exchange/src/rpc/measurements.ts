/** Implements the Measurements service: gets, creates, lists, and cancels measurements. */
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
  BatchCreateMeasurementsResponseSchema,
  BatchGetMeasurementsResponseSchema,
  ListMeasurementsResponseSchema,
  type Measurements,
} from '@measurement-exchange/contract/rpc';
import { type Api, type Call, idsIn, withinLimit } from './api.ts';
import type { DirectProtocol } from './direct.ts';
import { fromProtocolConfig, toProtocolConfig } from './protocolConfig.ts';
import { nameAlgorithms, type Signature } from './signatures.ts';
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
  const write = async (call: Call, measurement: Measurement) => {
    const written = toMeasurement(measurement, direct);
    await nameAlgorithms(call, [signatureOf(written)]);
    return written;
  };
  return {
    getMeasurement: api.unary(async ({ name }, call) =>
      write(call, await call.run('getMeasurement', idsIn('measurement', name))),
    ),

    createMeasurement: api.unary(async ({ parent, measurement, requestId }, call) => {
      const request = {
        body: measurement && fromMeasurement(measurement, 'measurement'),
        within: 'measurement',
        requestId: given(requestId),
      };
      const params = idsIn('measurementConsumer', parent, 'parent');
      return write(call, await call.run('createMeasurement', params, request));
    }),

    batchCreateMeasurements: api.unary(async ({ parent, requests }, call) => {
      const parts = requests.map(({ parent, measurement, requestId }, i) => ({
        parent: given(parent),
        measurement: measurement && fromMeasurement(measurement, `requests[${i}].measurement`),
        requestId: given(requestId),
      }));
      const params = idsIn('measurementConsumer', parent, 'parent');
      const created = await call.run('batchCreateMeasurements', params, { body: { requests: parts } });
      const measurements = created.measurements.map((one) => toMeasurement(one, direct));
      await nameAlgorithms(call, measurements.map(signatureOf));
      return create(BatchCreateMeasurementsResponseSchema, { measurements });
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
      const page = await call.runPage(
        'listMeasurements',
        idsIn('measurementConsumer', parent, 'parent'),
        { query },
        (page) =>
          create(ListMeasurementsResponseSchema, {
            measurements: page.measurements
              .filter((one) => !isJsonSpec(one.measurementSpec))
              .map((one) => toMeasurement(one, direct)),
            nextPageToken: page.nextPageToken ?? '',
          }),
        (page) => page.measurements,
      );
      await nameAlgorithms(call, page.measurements.map(signatureOf));
      return page;
    }),

    batchGetMeasurements: api.unary(async ({ parent, names }, call) => {
      const params = idsIn('measurementConsumer', parent, 'parent');
      const found = await call.run('batchGetMeasurements', params, { body: { names } });
      const measurements = found.measurements.map((one) => toMeasurement(one, direct));
      await nameAlgorithms(call, measurements.map(signatureOf));
      return withinLimit(create(BatchGetMeasurementsResponseSchema, { measurements }));
    }),

    cancelMeasurement: api.unary(async ({ name }, call) => {
      const cancelled = await call.run('cancelMeasurement', idsIn('measurement', name));
      // Omit a JSON spec. `write` would reject the spec, and the client would get an error although the measurement is
      // now cancelled.
      return write(
        call,
        isJsonSpec(cancelled.measurementSpec) ? { ...cancelled, measurementSpec: undefined } : cancelled,
      );
    }),
  };
}

const signatureOf = (m: specs.Measurement): Signature => [
  m.measurementSpec,
  m.measurementConsumerCertificate,
];

/** Translates a measurement of a request. `field` is the request's field that contains the measurement. */
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
