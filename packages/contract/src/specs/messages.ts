/** The messages that parties sign and encrypt for each other, and the messages that these contain. */
export * from '../gen/wfa/measurement/api/v2alpha/event_group_pb.ts';
export * from '../gen/wfa/measurement/api/v2alpha/measurement_pb.ts';
export * from '../gen/wfa/measurement/api/v2alpha/protocol_config_pb.ts';
export * from '../gen/wfa/measurement/api/v2alpha/specs_pb.ts';
