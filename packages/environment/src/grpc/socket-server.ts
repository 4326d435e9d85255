import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { Method } from './call.ts'
import { type Decoded, decode, type Encodable, encode, type Message } from './message.ts'

/** A procedure that a server answers. Made by `answering`. */
export interface AnsweredMethod {
  readonly path: string
  readonly handle: handleUnaryCall<Buffer, Buffer>
}

/** Has `answer` answer a procedure with one message. What it rejects with is told to who asks, as an unknown error. */
export const answering = <Request extends Message, Response extends Message>(
  { path, request, response }: Method<Request, Response>,
  answer: (request: Decoded<Request>) => Promise<Encodable<Response>>,
): AnsweredMethod => ({
  path,
  handle: (call, respond) => {
    void Promise.resolve()
      .then(() => answer(decode(request, call.request)))
      .then(
        (value) => respond(null, Buffer.from(encode(response, value))),
        (error: unknown) =>
          respond({ code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error) }),
      )
  },
})

/** A gRPC server that listens. */
export interface SocketServer {
  /** Ends it at once, with all connections to it; its socket goes. */
  close(): void
}

/** Answers procedures at a socket of this host, which must not be there yet. Rejects where it cannot listen there. */
export async function serveAtSocket(path: string, methods: readonly AnsweredMethod[]): Promise<SocketServer> {
  const server = new Server()
  const asBytes = (bytes: Buffer) => bytes
  for (const method of methods) server.register(method.path, method.handle, asBytes, asBytes, 'unary')
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    )
  })
  return { close: () => server.forceShutdown() }
}
