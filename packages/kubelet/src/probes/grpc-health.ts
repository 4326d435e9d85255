import { connect } from 'node:http2'

/** Answer of a server that is fit to serve (grpc.health.v1.HealthCheckResponse.SERVING). */
const serving = 1
/** Longest answer that is read: a status takes two bytes. */
const answerBytesMax = 1024

/**
 * Asks a gRPC server how it is, by the health checking protocol
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). Both messages have one field, so they are put
 * together by hand.
 */
export function checkGrpcHealth(
  host: string,
  port: number,
  service: string,
  signal: AbortSignal,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://${host}:${port}`)
    const abort = () => session.destroy(signal.reason)
    const end = (result: { readonly ok: boolean; readonly output: string }) => {
      session.close()
      resolve(result)
    }
    signal.addEventListener('abort', abort, { once: true })
    session.once('close', () => signal.removeEventListener('abort', abort))
    session.once('error', reject)
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const pieces: Buffer[] = []
    let failure = ''
    stream.on('response', (headers) => {
      if (headers['grpc-status'] !== undefined && headers['grpc-status'] !== '0')
        failure = String(headers['grpc-message'] ?? headers['grpc-status'])
    })
    stream.on('trailers', (trailers) => {
      if (trailers['grpc-status'] !== '0') failure = String(trailers['grpc-message'] ?? trailers['grpc-status'])
    })
    stream.on('data', (piece: Buffer) => {
      if (pieces.length < answerBytesMax) pieces.push(piece)
    })
    stream.once('error', reject)
    stream.once('end', () => {
      if (failure !== '') return end({ ok: false, output: `error: health rpc failed: ${failure}` })
      const status = statusIn(Buffer.concat(pieces))
      end(
        status === serving
          ? { ok: true, output: '' }
          : { ok: false, output: `service unhealthy (responded with status ${status})` },
      )
    })
    stream.end(requestFor(service))
  })
}

/** A message: one byte for no compression, four for the length, then field 1 (a string) if it is not empty. */
function requestFor(service: string): Buffer {
  const name = Buffer.from(service)
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Field 1, a varint; 0 (UNKNOWN) where it is not there. */
function statusIn(answer: Buffer): number {
  return answer[5] === 0x08 ? (answer[6] ?? 0) : 0
}
