import {
  createRegistry,
  type DescEnum,
  type DescField,
  type DescMessage,
  ScalarType,
} from '@bufbuild/protobuf';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import * as rpc from '../rpc.ts';

const PACKAGE = 'wfa.measurement.api.v2alpha';

/**
 * The messages and enums of the public reference system, with the number and type of each field and the number of each
 * enum value, as listed from its published descriptors.
 */
const PUBLISHED = `
ApiKey: name=1 string; nickname=2 string; description=3 string; authentication_key=4 string
BatchCreateMeasurementsRequest: parent=1 string; requests=2 repeated CreateMeasurementRequest
BatchCreateMeasurementsResponse: measurements=1 repeated Measurement
BatchGetMeasurementsRequest: parent=1 string; names=2 repeated string
BatchGetMeasurementsResponse: measurements=1 repeated Measurement
CancelMeasurementRequest: name=1 string
Certificate.RevocationState: REVOCATION_STATE_UNSPECIFIED=0, HOLD=1, REVOKED=2
Certificate: name=1 string; x509_der=2 bytes; revocation_state=3 Certificate.RevocationState; subject_key_identifier=4 bytes
CreateCertificateRequest: parent=1 string; certificate=2 Certificate
CreateEventGroupRequest: parent=1 string; event_group=2 EventGroup; request_id=3 string
CreateMeasurementRequest: parent=3 string; measurement=1 Measurement; request_id=2 string
DataProvider.Capabilities: honest_majority_share_shuffle_supported=1 bool; trus_tee_supported=2 bool; noise_mechanism_none_supported=3 bool; noise_mechanism_deterministic_truncated_laplace_supported=4 bool
DataProvider.DataAvailabilityMapEntry: key=1 string; value=2 Interval
DataProvider: name=1 string; certificate_der=2 bytes; certificate=3 string; public_key=4 SignedMessage; display_name=5 string; required_duchies=6 repeated string; data_availability_interval=7 Interval; capabilities=8 DataProvider.Capabilities; data_availability_intervals=9 repeated DataProvider.DataAvailabilityMapEntry
EncryptedMessage: ciphertext=1 bytes; type_url=2 string
EventGroup.AggregatedActivity: interval=1 DateInterval
EventGroup.EntityKey: entity_type=1 string; entity_id=2 string
EventGroup.EventTemplate: type=1 string
EventGroup.State: STATE_UNSPECIFIED=0, ACTIVE=1, DELETED=2
EventGroup.View: VIEW_UNSPECIFIED=0, BASIC=1, WITH_ACTIVITY_SUMMARY=2
EventGroup: name=1 string; measurement_consumer=2 string; event_group_reference_id=5 string; media_types=13 repeated MediaType; event_group_metadata=14 EventGroupMetadata; vid_model_lines=6 repeated string; event_templates=7 repeated EventGroup.EventTemplate; encrypted_metadata=10 EncryptedMessage; serialized_encrypted_metadata=8 bytes; measurement_consumer_public_key=12 Any; signed_measurement_consumer_public_key=4 SignedMessage; state=9 EventGroup.State; data_availability_interval=11 Interval; aggregated_activities=15 repeated EventGroup.AggregatedActivity; entity_key=16 EventGroup.EntityKey
EventGroupMetadata.AdMetadata.CampaignMetadata: brand_name=1 string; campaign_name=2 string
EventGroupMetadata.AdMetadata: campaign_metadata=1 EventGroupMetadata.AdMetadata.CampaignMetadata
EventGroupMetadata: ad_metadata=2 EventGroupMetadata.AdMetadata (oneof selector); entity_metadata=3 Struct
EventGroupMetadataDescriptor: name=1 string; descriptor_set=2 FileDescriptorSet
FulfillDirectRequisitionRequest: name=1 string; encrypted_result=4 EncryptedMessage; encrypted_result_ciphertext=2 bytes; nonce=3 fixed64; certificate=5 string; fulfillment_context=6 Requisition.FulfillmentContext; etag=7 string
FulfillDirectRequisitionResponse: state=1 Requisition.State
GetCertificateRequest: name=1 string
GetMeasurementRequest: name=1 string
GetRequisitionRequest: name=1 string
LiquidLegionsSketchParams: decay_rate=1 double; max_size=2 int64; sampling_indicator_size=3 int64
ListCertificatesRequest.Filter: subject_key_identifiers=1 repeated bytes
ListCertificatesRequest: parent=1 string; page_size=2 int32; page_token=3 string; filter=4 ListCertificatesRequest.Filter
ListEventGroupsRequest.Filter: measurement_consumer_in=1 repeated string; data_provider_in=6 repeated string; media_types_intersect=2 repeated MediaType; data_availability_start_time_on_or_after=3 Timestamp; data_availability_end_time_on_or_before=4 Timestamp; data_availability_start_time_on_or_before=7 Timestamp; data_availability_end_time_on_or_after=8 Timestamp; data_availability_intersects=10 Interval; metadata_search_query=5 string; activity_contains=9 DateInterval; entity_type_in=11 repeated string
ListEventGroupsRequest.OrderBy.Field: FIELD_UNSPECIFIED=0, DATA_AVAILABILITY_START_TIME=1
ListEventGroupsRequest.OrderBy: field=1 ListEventGroupsRequest.OrderBy.Field; descending=2 bool
ListEventGroupsRequest: parent=1 string; page_size=2 int32; page_token=3 string; filter=4 ListEventGroupsRequest.Filter; show_deleted=5 bool; order_by=6 ListEventGroupsRequest.OrderBy; view=7 EventGroup.View
ListMeasurementsRequest.Filter: states=1 repeated Measurement.State; updated_after=4 Timestamp; updated_before=8 Timestamp; created_before=9 Timestamp; created_after=10 Timestamp
ListMeasurementsRequest: parent=1 string; page_size=2 int32; page_token=3 string; filter=4 ListMeasurementsRequest.Filter
ListMeasurementsResponse: measurements=1 repeated Measurement; next_page_token=2 string
ListRequisitionsRequest.Filter: states=1 repeated Requisition.State; measurement_states=3 repeated Measurement.State
ListRequisitionsRequest: parent=1 string; page_size=2 int32; page_token=3 string; filter=4 ListRequisitionsRequest.Filter
ListRequisitionsResponse: requisitions=1 repeated Requisition; next_page_token=2 string
Measurement.DataProviderEntry.Value: data_provider_certificate=1 string; data_provider_public_key=6 Any; encrypted_requisition_spec=5 EncryptedMessage; nonce_hash=4 bytes
Measurement.DataProviderEntry: key=1 string; value=2 Measurement.DataProviderEntry.Value
Measurement.Failure.Reason: REASON_UNSPECIFIED=0, CERTIFICATE_REVOKED=1, REQUISITION_REFUSED=2, COMPUTATION_PARTICIPANT_FAILED=3
Measurement.Failure: reason=1 Measurement.Failure.Reason; message=2 string
Measurement.ResultOutput: encrypted_result=3 EncryptedMessage; certificate=2 string
Measurement.State: STATE_UNSPECIFIED=0, AWAITING_REQUISITION_FULFILLMENT=1, COMPUTING=2, SUCCEEDED=3, FAILED=4, CANCELLED=5
Measurement: name=1 string; measurement_consumer_certificate=2 string; measurement_spec=3 SignedMessage; data_providers=4 repeated Measurement.DataProviderEntry; protocol_config=5 ProtocolConfig; state=6 Measurement.State; results=8 repeated Measurement.ResultOutput; measurement_reference_id=9 string; failure=10 Measurement.Failure; create_time=11 Timestamp; update_time=12 Timestamp
MeasurementConsumer: name=1 string; certificate_der=2 bytes; certificate=3 string; public_key=4 SignedMessage; display_name=5 string; owners=6 repeated string; measurement_consumer_creation_token=7 string
MediaType: MEDIA_TYPE_UNSPECIFIED=0, VIDEO=1, DISPLAY=2, OTHER=3, NATIVE=4
ModelLine.Type: TYPE_UNSPECIFIED=0, DEV=1, PROD=2, HOLDBACK=3
ModelLine: name=1 string; display_name=2 string; description=3 string; active_start_time=4 Timestamp; active_end_time=5 Timestamp; type=6 ModelLine.Type; holdback_model_line=7 string; create_time=8 Timestamp; update_time=9 Timestamp
Population.PopulationBlob: blob_uri=1 string
Population: name=1 string; description=2 string; create_time=3 Timestamp; population_blob=4 Population.PopulationBlob (oneof population_spec_ref); population_spec=6 PopulationSpec (oneof population_spec_ref); event_template=5 EventTemplate
PopulationSpec.SubPopulation: attributes=1 repeated Any; vid_ranges=2 repeated PopulationSpec.VidRange
PopulationSpec.VidRange: start_vid=1 int64; end_vid_inclusive=2 int64
PopulationSpec: subpopulations=3 repeated PopulationSpec.SubPopulation
ProtocolConfig.DeterministicTruncatedLaplaceNoiseParams: truncation_bound=1 int32
ProtocolConfig.Direct.CustomDirectMethodology:
ProtocolConfig.Direct.DeterministicCount:
ProtocolConfig.Direct.DeterministicCountDistinct:
ProtocolConfig.Direct.DeterministicDistribution:
ProtocolConfig.Direct.DeterministicSum:
ProtocolConfig.Direct.LiquidLegionsCountDistinct:
ProtocolConfig.Direct.LiquidLegionsDistribution:
ProtocolConfig.Direct: noise_mechanisms=1 repeated ProtocolConfig.NoiseMechanism; custom_direct_methodology=2 ProtocolConfig.Direct.CustomDirectMethodology; deterministic_count_distinct=3 ProtocolConfig.Direct.DeterministicCountDistinct; deterministic_distribution=4 ProtocolConfig.Direct.DeterministicDistribution; deterministic_count=5 ProtocolConfig.Direct.DeterministicCount; deterministic_sum=6 ProtocolConfig.Direct.DeterministicSum; liquid_legions_count_distinct=7 ProtocolConfig.Direct.LiquidLegionsCountDistinct; liquid_legions_distribution=8 ProtocolConfig.Direct.LiquidLegionsDistribution
ProtocolConfig.HonestMajorityShareShuffle: noise_mechanism=2 ProtocolConfig.NoiseMechanism; ring_modulus=3 int32
ProtocolConfig.LiquidLegionsV2: sketch_params=1 LiquidLegionsSketchParams; data_provider_noise=2 DifferentialPrivacyParams; elliptic_curve_id=3 int32; maximum_frequency=4 int32; noise_mechanism=5 ProtocolConfig.NoiseMechanism
ProtocolConfig.MeasurementType: MEASUREMENT_TYPE_UNSPECIFIED=0, REACH_AND_FREQUENCY=1, IMPRESSION=2, DURATION=3, REACH=4, POPULATION=5
ProtocolConfig.NoiseMechanism: NOISE_MECHANISM_UNSPECIFIED=0, NONE=3, GEOMETRIC=1, DISCRETE_GAUSSIAN=2, CONTINUOUS_LAPLACE=4, CONTINUOUS_GAUSSIAN=5, DETERMINISTIC_TRUNCATED_LAPLACE=6
ProtocolConfig.Protocol: liquid_legions_v2=1 ProtocolConfig.LiquidLegionsV2 (oneof protocol); direct=2 ProtocolConfig.Direct (oneof protocol); reach_only_liquid_legions_v2=3 ProtocolConfig.ReachOnlyLiquidLegionsV2 (oneof protocol); honest_majority_share_shuffle=4 ProtocolConfig.HonestMajorityShareShuffle (oneof protocol); trus_tee=5 ProtocolConfig.TrusTee (oneof protocol)
ProtocolConfig.ReachOnlyLiquidLegionsV2: sketch_params=1 ReachOnlyLiquidLegionsSketchParams; data_provider_noise=2 DifferentialPrivacyParams; elliptic_curve_id=3 int32; noise_mechanism=4 ProtocolConfig.NoiseMechanism
ProtocolConfig.TrusTee.ResultMinimumThresholds: min_impressions=1 int32; min_users=2 int32
ProtocolConfig.TrusTee: noise_mechanism=1 ProtocolConfig.NoiseMechanism; result_minimum_thresholds=2 ProtocolConfig.TrusTee.ResultMinimumThresholds; deterministic_truncated_laplace_noise_params=3 ProtocolConfig.DeterministicTruncatedLaplaceNoiseParams
ProtocolConfig: name=1 string; measurement_type=2 ProtocolConfig.MeasurementType; liquid_legions_v2=3 ProtocolConfig.LiquidLegionsV2 (oneof protocol); protocols=4 repeated ProtocolConfig.Protocol
PublicKey: name=1 string; public_key=2 SignedMessage; certificate=3 string
ReachOnlyLiquidLegionsSketchParams: decay_rate=1 double; max_size=2 int64
RefuseRequisitionRequest: name=1 string; refusal=2 Requisition.Refusal; etag=3 string
ReleaseCertificateHoldRequest: name=1 string
ReplaceDataAvailabilityIntervalRequest: name=1 string; data_availability_interval=2 Interval
ReplaceDataAvailabilityIntervalsRequest: name=1 string; data_availability_intervals=2 repeated DataProvider.DataAvailabilityMapEntry
ReplaceDataProviderCapabilitiesRequest: name=1 string; capabilities=2 DataProvider.Capabilities
ReplaceDataProviderRequiredDuchiesRequest: name=1 string; required_duchies=2 repeated string
Requisition.DuchyEntry.HonestMajorityShareShuffle: public_key=1 SignedMessage
Requisition.DuchyEntry.LiquidLegionsV2: el_gamal_public_key=1 SignedMessage
Requisition.DuchyEntry.TrusTee:
Requisition.DuchyEntry.Value: duchy_certificate=1 string; liquid_legions_v2=2 Requisition.DuchyEntry.LiquidLegionsV2 (oneof protocol); reach_only_liquid_legions_v2=3 Requisition.DuchyEntry.LiquidLegionsV2 (oneof protocol); honest_majority_share_shuffle=4 Requisition.DuchyEntry.HonestMajorityShareShuffle (oneof protocol); trus_tee=5 Requisition.DuchyEntry.TrusTee (oneof protocol)
Requisition.DuchyEntry: key=1 string; value=2 Requisition.DuchyEntry.Value
Requisition.FulfillmentContext: build_label=1 string; warnings=2 repeated string
Requisition.Refusal.Justification: JUSTIFICATION_UNSPECIFIED=0, CONSENT_SIGNAL_INVALID=1, SPEC_INVALID=2, INSUFFICIENT_PRIVACY_BUDGET=3, UNFULFILLABLE=4, DECLINED=5
Requisition.Refusal: justification=1 Requisition.Refusal.Justification; message=2 string
Requisition.State: STATE_UNSPECIFIED=0, UNFULFILLED=1, FULFILLED=2, REFUSED=3, WITHDRAWN=4
Requisition: name=1 string; measurement=2 string; measurement_consumer_certificate=3 string; measurement_spec=4 SignedMessage; protocol_config=5 ProtocolConfig; data_provider_certificate=6 string; data_provider_public_key=15 Any; signed_data_provider_public_key=7 SignedMessage; encrypted_requisition_spec=14 EncryptedMessage; encrypted_requisition_spec_ciphertext=8 bytes; duchies=9 repeated Requisition.DuchyEntry; state=10 Requisition.State; nonce=11 fixed64; refusal=12 Requisition.Refusal; fulfillment_context=17 Requisition.FulfillmentContext; measurement_state=13 Measurement.State; update_time=16 Timestamp; etag=18 string
RevokeCertificateRequest: name=1 string; revocation_state=2 Certificate.RevocationState
SignedMessage: message=4 Any; data=1 bytes; signature=2 bytes; signature_algorithm_oid=3 string
UpdateEventGroupRequest: event_group=1 EventGroup
`;

const rows = PUBLISHED.trim().split('\n');
const registry = createRegistry(
  ...Object.values(rpc).flatMap((each) => ('kind' in each && each.kind === 'file' ? [each] : [])),
);

function printed(type: DescMessage | DescEnum | undefined): string | undefined {
  if (type === undefined) return undefined;
  const name = type.typeName.slice(PACKAGE.length + 1);
  if (type.kind === 'enum') {
    return `${name}: ${type.values.map((value) => `${value.name}=${value.number}`).join(', ')}`;
  }
  return `${name}: ${type.fields.map(printedField).join('; ')}`.trimEnd();
}

function printedField(field: DescField): string {
  const repeated = field.fieldKind === 'list' ? 'repeated ' : '';
  const type = field.message?.typeName ?? field.enum?.typeName ?? ScalarType[field.scalar!].toLowerCase();
  const short = type.replace(`${PACKAGE}.`, '').replace(/^google\.(?:protobuf|type)\./, '');
  const oneof = field.oneof === undefined ? '' : ` (oneof ${field.oneof.name})`;
  return `${field.name}=${field.number} ${repeated}${short}${oneof}`;
}

/** Splits and sorts the fields, because the order of declarations has no meaning. */
function sorted(row: string | undefined): string[] | undefined {
  return row?.split(/: |; |, /).sort();
}

describe('the public API', () => {
  it.each(rows)('has %s', (row) => {
    const typeName = `${PACKAGE}.${row.split(':')[0]}`;
    expect(sorted(printed(registry.getMessage(typeName) ?? registry.getEnum(typeName)))).toEqual(sorted(row));
  });

  it('has no gRPC service in the entry for browsers', async () => {
    const inputsOf = async (entry: string) => {
      const entryPoints = [new URL(entry, import.meta.url).pathname];
      const { metafile } = await build({
        entryPoints,
        bundle: true,
        write: false,
        format: 'esm',
        metafile: true,
      });
      return Object.keys(metafile.inputs).filter((input) => /_service_pb|\/grpc\/|\/rpc\//.test(input));
    };
    expect(await inputsOf('../rpc.ts')).not.toEqual([]);
    expect(await inputsOf('../index.ts')).toEqual([]);
  });
});
