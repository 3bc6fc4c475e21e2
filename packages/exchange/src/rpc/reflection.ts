/**
 * Implements the gRPC reflection service, which describes the services and messages to tools that have no .proto files.
 */
import { createRegistry, type DescEnum, type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ServiceImpl } from '@connectrpc/connect';
import type {
  ServerReflection,
  ServerReflectionRequest,
  ServerReflectionResponse,
} from '@measurement-exchange/contract/rpc';

type Question = ServerReflectionRequest['messageRequest'];
type Answer = ServerReflectionResponse['messageResponse'];
/** Returns the response to one reflection request. */
export type Reflect = (question: Question) => Answer;

export function reflection(services: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const reflect = reflectionOf(services);
  return {
    async *serverReflectionInfo(requests) {
      for await (const originalRequest of requests) {
        yield { originalRequest, messageResponse: reflect(originalRequest.messageRequest) };
      }
    },
  };
}

export function reflectionOf(services: readonly DescService[]): Reflect {
  const files = new Map(filesOf(services.map(({ file }) => file)).map((file) => [file.proto.name, file]));
  const registry = createRegistry(...files.values());
  // An enum value is named in the scope that contains its enum, so a value of a top-level enum is `package.VALUE`.
  const values = new Map<string, DescEnum>(
    [...registry].flatMap((type) =>
      type.kind === 'enum' && type.parent === undefined
        ? type.values.map(({ name }) => [`${type.file.proto.package}.${name}`, type] as const)
        : [],
    ),
  );
  return (question) => {
    switch (question.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse',
          value: { service: services.map(({ typeName: name }) => ({ name })) } as never,
        };
      case 'fileByFilename':
        return fileAnswer(files.get(question.value));
      case 'fileContainingSymbol': {
        const name = question.value;
        // For a method, a field, or a value of a nested enum, look up the service or message that contains it.
        const container = name.slice(0, Math.max(0, name.lastIndexOf('.')));
        const found = registry.get(name) ?? values.get(name) ?? registry.get(container);
        return fileAnswer(found?.file);
      }
      case 'allExtensionNumbersOfType':
        return registry.getMessage(question.value) === undefined
          ? notFound()
          : {
              case: 'allExtensionNumbersResponse',
              value: { baseTypeName: question.value, extensionNumber: [] } as never,
            };
      case 'fileContainingExtension':
        // Report no extensions, because our messages have none.
        return notFound();
      default:
        return failure(Code.InvalidArgument, 'The request asks for nothing.');
    }
  };
}

/** Returns the files and all files that they import. Each file comes after its imports. */
export function filesOf(files: readonly DescFile[]): DescFile[] {
  const found = new Set<DescFile>();
  const add = (file: DescFile) => {
    if (found.has(file)) return;
    file.dependencies.forEach(add);
    found.add(file);
  };
  files.forEach(add);
  return [...found];
}

function fileAnswer(file: DescFile | undefined): Answer {
  if (file === undefined) return notFound();
  const fileDescriptorProto = filesOf([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } as never };
}

function notFound(): Answer {
  return failure(Code.NotFound, 'No such file or symbol.');
}

function failure(errorCode: Code, errorMessage: string): Answer {
  return { case: 'errorResponse', value: { errorCode, errorMessage } as never };
}
