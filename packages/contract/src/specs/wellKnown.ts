/**
 * The files a descriptor set may import without carrying them: google/protobuf/* and google/type/*.
 * The first ones come with the protobuf runtime, the second ones from our own proto/google/type.
 */
import { type DescFile, toBinary } from '@bufbuild/protobuf';
import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import * as wkt from '@bufbuild/protobuf/wkt';
import { file_google_type_calendar_period } from '../gen/google/type/calendar_period_pb.ts';
import { file_google_type_color } from '../gen/google/type/color_pb.ts';
import { file_google_type_date } from '../gen/google/type/date_pb.ts';
import { file_google_type_datetime } from '../gen/google/type/datetime_pb.ts';
import { file_google_type_dayofweek } from '../gen/google/type/dayofweek_pb.ts';
import { file_google_type_decimal } from '../gen/google/type/decimal_pb.ts';
import { file_google_type_expr } from '../gen/google/type/expr_pb.ts';
import { file_google_type_fraction } from '../gen/google/type/fraction_pb.ts';
import { file_google_type_interval } from '../gen/google/type/interval_pb.ts';
import { file_google_type_latlng } from '../gen/google/type/latlng_pb.ts';
import { file_google_type_localized_text } from '../gen/google/type/localized_text_pb.ts';
import { file_google_type_money } from '../gen/google/type/money_pb.ts';
import { file_google_type_month } from '../gen/google/type/month_pb.ts';
import { file_google_type_phone_number } from '../gen/google/type/phone_number_pb.ts';
import { file_google_type_postal_address } from '../gen/google/type/postal_address_pb.ts';
import { file_google_type_quaternion } from '../gen/google/type/quaternion_pb.ts';
import { file_google_type_timeofday } from '../gen/google/type/timeofday_pb.ts';
import { readWire, SPEC_LIMITS, type WireMessage } from './wire.ts';

const files: DescFile[] = [
  ...Object.values<object>(wkt).filter((each): each is DescFile => 'kind' in each && each.kind === 'file'),
  file_google_type_calendar_period,
  file_google_type_color,
  file_google_type_date,
  file_google_type_datetime,
  file_google_type_dayofweek,
  file_google_type_decimal,
  file_google_type_expr,
  file_google_type_fraction,
  file_google_type_interval,
  file_google_type_latlng,
  file_google_type_localized_text,
  file_google_type_money,
  file_google_type_month,
  file_google_type_phone_number,
  file_google_type_postal_address,
  file_google_type_quaternion,
  file_google_type_timeofday,
];

/** By the name they are imported under, such as `google/type/date.proto`. */
export const WELL_KNOWN_FILES: ReadonlyMap<string, DescFile> = new Map(files.map((f) => [f.proto.name, f]));

const wireFiles = new Map<string, WireMessage>();

/** A well-known file as `readWire` reads it. */
export function readWellKnownFile(name: string): WireMessage | undefined {
  const file = WELL_KNOWN_FILES.get(name);
  if (file === undefined) return undefined;
  let message = wireFiles.get(name);
  if (message === undefined) {
    const bytes = toBinary(wkt.FileDescriptorProtoSchema, file.proto);
    const wire = readWire(wkt.FileDescriptorProtoSchema, bytes, SPEC_LIMITS);
    message = 'message' in wire ? wire.message : {};
    wireFiles.set(name, message);
  }
  return message;
}

/** Whether a file of this name belongs to everybody, so that its types are nobody's own. */
export function isWellKnownFile(name: string): boolean {
  return name.startsWith('google/protobuf/') || name.startsWith('google/type/');
}

/** The files and all they import, each after its imports. Our own copies replace well-known files. */
export function importedFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const visit = (name: string) => {
    const file = WELL_KNOWN_FILES.get(name)?.proto ?? byName.get(name);
    if (file === undefined || ordered.has(file)) return;
    for (const imported of file.dependency) visit(imported);
    ordered.add(file);
  };
  for (const name of byName.keys()) visit(name);
  return [...ordered];
}
