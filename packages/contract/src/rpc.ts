/**
 * The public API as gRPC services. This file is a separate entry point, so that code without gRPC does not load the
 * services and their requests.
 */
export * from './gen/google/rpc/error_details_pb.ts';
export * from './gen/google/rpc/status_pb.ts';
export * from './gen/grpc/health/v1/health_pb.ts';
export * from './gen/grpc/reflection/v1/reflection_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/api_key_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/api_keys_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/certificate_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/certificates_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/data_provider_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/data_providers_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/date_interval_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/encryption_key_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/event_group_metadata_descriptor_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/event_group_metadata_descriptors_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/event_group_metadata_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/event_group_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/event_groups_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/event_template_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/measurement_consumer_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/measurement_consumers_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/measurement_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/measurements_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/media_type_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/model_line_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/model_lines_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/population_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/population_spec_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/populations_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/protocol_config_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/public_key_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/public_keys_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/requisition_fulfillment_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/requisition_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/requisitions_service_pb.ts';
export * from './gen/wfa/measurement/api/v2alpha/specs_pb.ts';
