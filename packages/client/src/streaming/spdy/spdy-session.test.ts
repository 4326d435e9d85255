import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { realClock, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { stallPingMs } from '../stall-watch.ts'
import { connectionPair } from '../testing/connection-pair.ts'
import {
  controlFrame,
  dataFrameHeader,
  type Frame,
  FrameReader,
  frameTypes,
  synStreamFrame,
  windowSettingFrame,
} from './frames.ts'
import { HeaderWriter, type SpdyHeaders } from './headers.ts'
import { heldBytesMax, SpdySession, spdyStreamsMax } from './spdy-session.ts'
import { type SpdyStream, streamWindowBytes } from './spdy-stream.ts'

const named = (name: string): SpdyHeaders => new Map([['name', name]])

/** Both ends of a session, and what the server is given. Streams named `no…` are not accepted. */
function sessions() {
  const { clock } = virtualEnvironment()
  const [here, there] = connectionPair()
  const streams: SpdyStream[] = []
  const server = new SpdySession(there, {
    role: 'server',
    clock,
    accepts: (headers) => headers.get('name')?.startsWith('no') !== true,
    onStream: (stream) => streams.push(stream),
  })
  const client = new SpdySession(here, { role: 'client', clock })
  const open = async (name: string): Promise<readonly [SpdyStream, SpdyStream]> => {
    const stream = await client.openStream(named(name))
    const other = streams.find(({ headers }) => headers.get('name') === name)
    if (other === undefined) throw new Error(`the server was not given ${name}`)
    return [stream, other]
  }
  return { clock, client, server, here, there, streams, open }
}

/** A server's end, and a client that writes frames by hand and knows nothing of windows, as upstream's. */
function serverOnly() {
  const { clock } = virtualEnvironment()
  const [peer, connection] = connectionPair()
  const streams: SpdyStream[] = []
  const server = new SpdySession(connection, {
    role: 'server',
    clock,
    accepts: () => true,
    onStream: (stream) => streams.push(stream),
  })
  const headers = new HeaderWriter()
  const open = (id: number) => peer.write(synStreamFrame(id, headers.write(named(`${id}`))))
  return { clock, peer, connection, server, streams, open }
}

function framesOf(peer: Duplex): readonly Frame[] {
  const frames: Frame[] = []
  const reader = new FrameReader((frame) => frames.push(frame))
  peer.on('data', (piece: Buffer) => reader.push(piece))
  return frames
}

/** A control frame with the flag that nothing follows on its stream. */
function lastFrame(frame: Buffer): Buffer {
  const last = Buffer.from(frame)
  last.writeUInt8(1, 4)
  return last
}

const chunk = 16 * 1024
const dataOf = (streamId: number): Buffer =>
  Buffer.concat([dataFrameHeader(streamId, chunk, false), Buffer.alloc(chunk)])

describe('a stream', () => {
  it('carries bytes both ways, in order, beside others', async () => {
    const { open } = sessions()
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(
      names.map(async (name) => {
        const [client, server] = await open(name)
        server.pipe(server)
        const sent = randomBytes(1_000_000)
        client.end(sent)
        expect((await buffer(client)).equals(sent)).toBe(true)
      }),
    )
  })

  it('has an end each way', async () => {
    const { open } = sessions()
    const [client, server] = await open('a')
    client.end('question')
    expect(await text(server)).toBe('question')
    server.end('answer')
    expect(await text(client)).toBe('answer')
  })

  it('is forgotten when both ways have ended', async () => {
    const { open, client, server } = sessions()
    const [stream, other] = await open('a')
    stream.end()
    other.end()
    await Promise.all([text(stream), text(other)])
    await expect.poll(() => [client.size, server.size]).toEqual([0, 0])
  })

  it('that is reset right after its last word still gives that to its reader', async () => {
    const { open, client } = sessions()
    const [reader, writer] = await open('a')
    writer.write('the outcome')
    writer.destroy()
    await expect.poll(() => client.size === 0 || reader.readableLength > 0).toBe(true)
    const [piece] = await reader.take(1).toArray()
    expect(String(piece)).toBe('the outcome')
  })

  it('that is destroyed is reset, and the others go on', async () => {
    const { open, client, server } = sessions()
    const [reset, other] = await open('a')
    const [kept, keptThere] = await open('b')
    reset.destroy()
    await expect.poll(() => other.destroyed).toBe(true)
    kept.end('still here')
    expect(await text(keptThere)).toBe('still here')
    expect([client.size, server.size]).toEqual([1, 1])
  })

  it('that is not accepted is refused alone', async () => {
    const { open, client } = sessions()
    await expect(client.openStream(named('no'))).rejects.toThrow('the other end has refused the stream')
    const [stream, other] = await open('a')
    stream.end('x')
    expect(await text(other)).toBe('x')
  })

  it('ends with an error when the connection does', async () => {
    const { open, there } = sessions()
    const [stream] = await open('a')
    there.destroy()
    await expect(text(stream)).rejects.toThrow('the connection has been closed')
  })
})

describe('a slow reader', () => {
  it('makes its own stream wait, where both ends heed windows', async () => {
    const { open, there } = sessions()
    const [slow, slowThere] = await open('slow')
    const [fast, fastThere] = await open('fast')
    slow.write(Buffer.alloc(4 * streamWindowBytes))
    fastThere.pipe(fastThere)
    const sent = randomBytes(2 * streamWindowBytes)
    fast.end(sent)
    expect((await buffer(fast)).equals(sent)).toBe(true)
    expect(slowThere.readableLength).toBe(streamWindowBytes)
    expect(there.isPaused()).toBe(false)
    slow.end()
    expect(await buffer(slowThere)).toHaveLength(4 * streamWindowBytes)
  })

  it('may grant room before it says with how much each stream begins', async () => {
    const { peer, streams, open } = serverOnly()
    const frames = framesOf(peer)
    const received = () => frames.reduce((sum, frame) => sum + (frame.type === 'data' ? frame.bytes.length : 0), 0)
    open(1)
    peer.write(controlFrame(frameTypes.windowUpdate, [1, 1000]))
    peer.write(windowSettingFrame(500))
    await expect.poll(() => frames.some(({ type }) => type === 'settings')).toBe(true)
    streams[0]?.write(Buffer.alloc(2000))
    peer.write(controlFrame(frameTypes.ping, [1]))
    await expect.poll(() => frames.some(({ type }) => type === 'ping')).toBe(true)
    expect(received()).toBe(1500)
    peer.write(controlFrame(frameTypes.windowUpdate, [1, 400]))
    await expect.poll(received).toBe(1900)
  })

  it('makes the connection wait, where the other end heeds none', async () => {
    const { peer, connection, streams, open } = serverOnly()
    peer.resume()
    open(1)
    for (let bytes = 0; bytes < 4 * streamWindowBytes; bytes += chunk) peer.write(dataOf(1))
    await expect.poll(() => connection.isPaused()).toBe(true)
    const [stream] = streams
    if (stream === undefined) throw new Error('there is no stream')
    expect(stream.readableLength).toBeLessThan(2 * streamWindowBytes + 3 * chunk)
    peer.write(dataFrameHeader(1, 0, true))
    expect(await buffer(stream)).toHaveLength(4 * streamWindowBytes)
    expect(connection.isPaused()).toBe(false)
  })

  it('of many streams does not fill the memory, each of them with a little', async () => {
    const { peer, connection, streams, open } = serverOnly()
    peer.resume()
    const count = (2 * heldBytesMax) / streamWindowBytes
    for (let index = 0; index < count; index++) {
      open(2 * index + 1)
      for (let bytes = 0; bytes < streamWindowBytes; bytes += chunk) peer.write(dataOf(2 * index + 1))
    }
    await expect.poll(() => connection.isPaused()).toBe(true)
    const held = () => streams.reduce((sum, { readableLength }) => sum + readableLength, 0)
    expect(held()).toBeLessThan(heldBytesMax + 3 * chunk)
    // What is destroyed is not waited for.
    for (const stream of [...streams]) stream.destroy()
    await expect.poll(() => connection.isPaused()).toBe(false)
  })

  it('is asked, while nothing is read, whether it is still there', async () => {
    const { clock, peer, connection, open } = serverOnly()
    const frames = framesOf(peer)
    open(1)
    for (let bytes = 0; bytes < 4 * streamWindowBytes; bytes += chunk) peer.write(dataOf(1))
    await expect.poll(() => connection.isPaused()).toBe(true)
    await clock.advance(2 * stallPingMs)
    await expect.poll(() => frames.filter(({ type }) => type === 'ping').length).toBe(2)
  })
})

describe('a session', () => {
  it('answers pings', async () => {
    const { peer } = serverOnly()
    const frames = framesOf(peer)
    peer.write(controlFrame(frameTypes.ping, [41]))
    await expect.poll(() => frames).toEqual([{ type: 'ping', id: 41 }])
  })

  it('takes pings with its own numbers for answers', async () => {
    const { peer } = serverOnly()
    const frames = framesOf(peer)
    peer.write(Buffer.concat([2, 41, 4, 43].map((id) => controlFrame(frameTypes.ping, [id]))))
    await expect.poll(() => frames.length).toBeGreaterThan(1)
    expect(frames).toEqual([41, 43].map((id) => ({ type: 'ping', id })))
  })

  it.each(['the frame that opens it', 'headers that come later'])('ends a stream by %s', async (what) => {
    const { peer, streams } = serverOnly()
    peer.resume()
    const headers = new HeaderWriter()
    const opening = synStreamFrame(1, headers.write(named('a')))
    const later = controlFrame(frameTypes.headers, [1], headers.write(new Map()))
    peer.write(what.includes('opens') ? lastFrame(opening) : Buffer.concat([opening, lastFrame(later)]))
    await expect.poll(() => streams.length).toBe(1)
    const [stream] = streams
    expect(stream === undefined ? undefined : await text(stream)).toBe('')
    stream?.end()
  })

  it('has so many streams and refuses more', async () => {
    const { client, streams } = sessions()
    const opened = Array.from({ length: spdyStreamsMax + 5 }, (_, index) => client.openStream(named(`${index}`)))
    const outcomes = await Promise.allSettled(opened)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(5)
    streams[0]?.destroy()
    await expect.poll(() => client.size).toBeLessThan(spdyStreamsMax)
    await client.openStream(named('one more'))
  })

  it('ends with whoever asks on and on, and does not read the answers', async () => {
    const { peer, connection, server } = serverOnly()
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => controlFrame(frameTypes.ping, [1])))
    for (let sent = 0; sent < 1000 && !connection.destroyed; sent++) {
      peer.write(pings)
      await new Promise<void>((resolve) => realClock.defer(resolve))
    }
    await server.closed
    expect(connection.destroyed).toBe(true)
  })

  it('ends with whoever does not speak the protocol', async () => {
    const { peer, server, streams, open } = serverOnly()
    open(1)
    peer.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.padStart(200, '\xff'))
    await server.closed
    expect(streams.every(({ destroyed }) => destroyed)).toBe(true)
  })

  it.each([
    ['an even number, which is not a client’s', [2]],
    ['a number that was there before', [3, 1]],
  ])('refuses streams of %s', async (_what, ids) => {
    const { peer, streams, open } = serverOnly()
    const frames = framesOf(peer)
    for (const id of ids) open(id)
    await expect.poll(() => frames.at(-1)).toMatchObject({ type: 'rstStream', streamId: ids.at(-1) })
    expect(streams).toHaveLength(ids.length - 1)
  })

  it('that is closed sends what was written before, and opens no more streams', async () => {
    const { open, client, server } = sessions()
    const [stream, other] = await open('a')
    stream.end('last words')
    await once(stream, 'finish')
    client.close()
    expect(await text(other)).toBe('last words')
    await server.closed
    await expect(client.openStream(named('b'))).rejects.toThrow('closed')
  })

  it('that is closed waits for the other end only so long', async () => {
    const { clock, connection, server } = serverOnly()
    server.close()
    await clock.advance(5_000)
    await server.closed
    expect(connection.destroyed).toBe(true)
  })
})
