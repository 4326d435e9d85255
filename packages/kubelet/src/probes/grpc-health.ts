import type { HandlerResult } from './handlers.ts'
import { connectFailure, withPort } from './ports.ts'

/** Answers by number (grpc.health.v1.HealthCheckResponse). */
const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const
/** Code of a method that the server does not have. */
const unimplemented = 12
/** Longest answer that is read: a status takes two bytes. */
const answerBytesMax = 1024

export interface GrpcCheck {
  readonly host: string
  readonly port: number
  /** Empty: the server as a whole. */
  readonly service: string
  readonly userAgent: string
  /** What to say it did not answer within. */
  readonly timeoutSeconds: number
}

/**
 * Asks a gRPC server how it is, by the health checking protocol
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). Both messages have one field, so they are put
 * together by hand. Rejects where there is no answer.
 */
export async function checkGrpcHealth(check: GrpcCheck, signal: AbortSignal): Promise<HandlerResult> {
  // Few clusters have such probes: what they need is loaded with the first.
  const { connect } = await import('node:http2')
  const { host, port, service, userAgent, timeoutSeconds } = check
  const target = withPort(host, port)
  const unconnected = `timeout: failed to connect service "${target}" within ${timeoutSeconds}s: context deadline exceeded`
  // To load that may have taken all of the time there is.
  if (signal.aborted) throw new Error(unconnected)
  return new Promise((resolve, reject) => {
    const session = connect(`http://${target}`)
    let connected = false
    const timeout = () => (connected ? `timeout: health rpc did not complete within ${timeoutSeconds}s` : unconnected)
    const abort = () => session.destroy(signal.reason)
    const fail = (error: Error) =>
      reject(
        new Error(
          signal.aborted
            ? timeout()
            : `error: failed to connect service at "${target}": ${connectFailure(error, host, port)}`,
        ),
      )
    const end = (result: HandlerResult) => {
      session.close()
      resolve(result)
    }
    signal.addEventListener('abort', abort, { once: true })
    session.once('connect', () => {
      connected = true
    })
    session.once('close', () => signal.removeEventListener('abort', abort))
    session.once('error', fail)
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': userAgent,
      te: 'trailers',
    })
    const pieces: Buffer[] = []
    let bytes = 0
    let failure: { readonly code: number; readonly message: string } | undefined
    const note = (headers: Readonly<Record<string, unknown>>) => {
      const code = Number(headers['grpc-status'] ?? 0)
      if (code !== 0) failure = { code, message: percentDecoded(String(headers['grpc-message'] ?? '')) }
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('data', (piece: Buffer) => {
      if (bytes < answerBytesMax) pieces.push(piece)
      bytes += piece.length
    })
    stream.once('error', fail)
    stream.once('end', () => end(failure === undefined ? resultOf(Buffer.concat(pieces)) : rpcFailure(failure)))
    stream.end(requestFor(service))
  })
}

/** A text as gRPC has it in headers. A percent sign that begins no byte stays as it is: servers may send anything. */
const percentDecoded = (text: string): string =>
  text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'))

function resultOf(answer: Buffer): HandlerResult {
  // Field 1, a varint; 0 where it is not there.
  const status = answer[5] === 0x08 ? (answer[6] ?? 0) : 0
  const name = statuses[status] ?? String(status)
  return name === 'SERVING'
    ? { ok: true, output: 'service healthy' }
    : { ok: false, output: `service unhealthy (responded with "${name}")` }
}

function rpcFailure({ code, message }: { readonly code: number; readonly message: string }): HandlerResult {
  if (code !== unimplemented)
    return {
      ok: false,
      output: `error: health rpc probe failed: rpc error: code = ${codeName(code)} desc = ${message}`,
    }
  const what = 'this server does not implement the grpc health protocol (grpc.health.v1.Health)'
  return { ok: false, output: `error: ${what}: ${message}` }
}

/** Of the codes that health servers use. */
function codeName(code: number): string {
  const names = new Map([
    [2, 'Unknown'],
    [4, 'DeadlineExceeded'],
    [5, 'NotFound'],
    [7, 'PermissionDenied'],
    [13, 'Internal'],
    [14, 'Unavailable'],
    [16, 'Unauthenticated'],
  ])
  return names.get(code) ?? `Code(${code})`
}

/** A message: one byte for no compression, four for the length, then field 1 (a string) if it is not empty. */
function requestFor(service: string): Buffer {
  const name = Buffer.from(service)
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** A number as protocol buffers have it: seven bits to a byte, the lowest first. */
const varint = (value: number): readonly number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
