import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { CommandStreams } from './command-streams.ts'
import { openSpdyStreams } from './remote-streams.ts'
import { inputGraceMs, runOverSpdy } from './serve-command.ts'
import type { CommandOptions } from './streaming-service.ts'
import { connectionPair } from './testing/connection-pair.ts'

const protocol = 'v4.channel.k8s.io'
const idleTimeoutMs = 60 * 60_000
const noBytes = Buffer.alloc(0)

/** A command under way whose client is there yet, and what ends it. */
async function running({ stdin = false, tty = false }: Partial<CommandOptions>) {
  const clock = new VirtualClock()
  const [connection, clientsEnd] = connectionPair()
  const server = new AbortController()
  connection.once('close', () => server.abort())
  const begun = Promise.withResolvers<{ readonly streams: CommandStreams; readonly signal: AbortSignal }>()
  const run = (streams: CommandStreams, signal: AbortSignal) => {
    begun.resolve({ streams, signal })
    return new Promise<number>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const options = { stdin, stdout: true, stderr: false, tty }
  const parts = { clock, connection, head: noBytes, signal: server.signal, idleTimeoutMs }
  const done = runOverSpdy({ kind: 'command', options, run }, protocol, parts)
  const wanted = { stdin, stdout: true, stderr: false, resize: tty }
  const client = await openSpdyStreams({ connection: clientsEnd, head: noBytes, protocol }, clock, wanted)
  const { streams, signal } = await begun.promise
  const leave = async () => {
    const closed = once(connection, 'close')
    client.close()
    await closed
  }
  return { clock, client, streams, signal, server, leave, done }
}

describe('a command whose client goes', () => {
  it('reads the input that the client has sent to its end', async () => {
    const { client, streams, signal, leave } = await running({ stdin: true })
    client.writable('stdin').write('all of it')
    await once(streams.stdin ?? Readable.from([]), 'readable')
    await leave()
    expect([await text(streams.stdin ?? Readable.from([])), signal.aborted]).toEqual(['all of it', false])
  })

  it('is ended where it goes on for long after that', async () => {
    const { clock, signal, leave, done } = await running({ stdin: true })
    await leave()
    await clock.advance(inputGraceMs - 1)
    expect(signal.aborted).toBe(false)
    await clock.advance(1)
    expect(signal.aborted).toBe(true)
    await done
  })

  it.each([
    ['that has no input', {}],
    ['that has a terminal', { stdin: true, tty: true }],
  ])('is ended at once, one %s', async (_what, options) => {
    const { signal, leave, done } = await running(options)
    await leave()
    expect(signal.aborted).toBe(true)
    await done
  })

  it('is ended at once where it is the server that ends', async () => {
    const { signal, server, done } = await running({ stdin: true })
    server.abort()
    expect(signal.aborted).toBe(true)
    await done
  })
})
