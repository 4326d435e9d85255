import { type Client, type ClientReadableStream, Metadata, type ServiceError } from '@grpc/grpc-js'
import type { Clock } from '../clock.ts'
import { type Decoded, decode, type Encodable, encode, type Message } from './message.ts'

/** A procedure of a gRPC service. */
export interface Method<Request extends Message, Response extends Message> {
  /** Such as `/etcdserverpb.KV/Range`. */
  readonly path: string
  readonly request: Request
  readonly response: Response
}

export interface CallOptions {
  readonly clock: Clock
  /** The call is cancelled after this. Absent: it may take as long as it likes. */
  readonly timeoutMs?: number
  readonly metadata?: Metadata
  /** Aborting it cancels the call. */
  readonly signal?: AbortSignal
}

/** Calls a procedure that has one answer. Rejects with gRPC's error, which `isServiceError` tells from others. */
export function callUnary<Request extends Message, Response extends Message>(
  client: Client,
  { path, request, response }: Method<Request, Response>,
  value: Encodable<Request>,
  { clock, timeoutMs, metadata = new Metadata(), signal }: CallOptions,
): Promise<Decoded<Response>> {
  return new Promise((resolve, reject) => {
    const end = () => {
      timer?.cancel()
      signal?.removeEventListener('abort', cancel)
    }
    const call = client.makeUnaryRequest<Encodable<Request>, Decoded<Response>>(
      path,
      (message) => Buffer.from(encode(request, message)),
      (bytes) => decode(response, bytes),
      value,
      metadata,
      {},
      (error, answer) => {
        end()
        if (error === null && answer !== undefined) resolve(answer)
        else reject(error)
      },
    )
    const cancel = () => call.cancel()
    const timer = timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, cancel)
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted === true) cancel()
  })
}

/** Calls a procedure that answers with a stream of messages, which ends with gRPC's error where it fails. */
export function callForStream<Request extends Message, Response extends Message>(
  client: Client,
  { path, request, response }: Method<Request, Response>,
  value: Encodable<Request>,
): ClientReadableStream<Decoded<Response>> {
  return client.makeServerStreamRequest<Encodable<Request>, Decoded<Response>>(
    path,
    (message) => Buffer.from(encode(request, message)),
    (bytes) => decode(response, bytes),
    value,
    new Metadata(),
    {},
  )
}

/** What gRPC rejects with: a code, and the server's message as `details`. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error
}
