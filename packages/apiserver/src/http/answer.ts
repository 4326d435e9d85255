import type { Socket } from 'node:net'
import { ServerResponse } from './server-response.ts'

/**
 * Bodies up to this length go out in one piece with their headers, and so in one TLS record: Node.js puts headers before a text, and
 * Latin-1 has a character for each byte. A GET costs 5 % less for it.
 */
const joinedBytesMax = 8 * 1024

/**
 * The answer to a request. Where a large one is still on its way Node.js stops reading the next request, and takes bytes
 * that TLS has decrypted already for malformed: it ends the connection under a request that a client has sent in good
 * faith. It does so only where it reads a connection past JavaScript, so a connection with an answer waiting is read
 * through JavaScript from then on.
 */
export class Answer extends ServerResponse {
  override write(...args: readonly unknown[]): boolean {
    const isRoomy = super.write(...(args as Parameters<ServerResponse['write']>))
    if (!isRoomy) readThroughJavaScript(this.req.socket)
    return isRoomy
  }

  override end(...args: readonly unknown[]): this {
    const [body] = args
    if (args.length === 1 && Buffer.isBuffer(body) && body.length <= joinedBytesMax)
      super.end(body.toString('latin1'), 'latin1')
    // Node.js fills in what the shorter forms of its declaration leave out.
    else super.end(...(args as Parameters<ServerResponse['end']>))
    const { socket } = this.req
    if (this.writableLength >= socket.writableHighWaterMark || socket.writableNeedDrain) readThroughJavaScript(socket)
    return this
  }
}

const readThrough = new WeakSet<Socket>()

function readThroughJavaScript(socket: Socket): void {
  if (readThrough.has(socket) || socket.destroyed) return
  readThrough.add(socket)
  // A listener is what makes Node.js do it.
  socket.on('data', ignore)
}

const ignore = (): void => {}
