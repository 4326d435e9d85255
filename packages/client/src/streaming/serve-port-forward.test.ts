import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type Clock, VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { streamHeaders } from './protocols.ts'
import { streamCreationTimeoutMs } from './serve-command.ts'
import { forwardOverSpdy } from './serve-port-forward.ts'
import { SpdySession } from './spdy/spdy-session.ts'
import { connectionPair } from './testing/connection-pair.ts'

/** A client with a way to the ports of a pod, and how many timers the server has set. */
function forwarding() {
  const clock = new VirtualClock()
  let timers = 0
  const counting: Clock = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    defer: (callback) => clock.defer(callback),
    hold: (work) => clock.hold(work),
    catchUp: () => clock.catchUp(),
    setTimer(delayMs, callback, options) {
      let isSet = true
      const end = () => {
        if (isSet) timers -= 1
        isSet = false
      }
      timers += 1
      const fire = () => {
        end()
        callback()
      }
      const timer = clock.setTimer(delayMs, fire, options)
      return {
        cancel() {
          end()
          timer.cancel()
        },
      }
    },
  }
  const [here, connection] = connectionPair()
  const service = {
    kind: 'portForward',
    pod: 'web',
    ports: [],
    forward: async (port: number) => Promise.reject(new Error(`nothing listens on ${port}`)),
  } as const
  const parts = { clock: counting, connection, head: Buffer.alloc(0), idleTimeoutMs: 60 * 60_000 }
  const done = forwardOverSpdy(service, { ...parts, signal: new AbortController().signal })
  const client = new SpdySession(here, { role: 'client', clock })
  const open = (type: string, request: string) =>
    client.openStream(
      new Map([
        [streamHeaders.type, type],
        [streamHeaders.port, '80'],
        [streamHeaders.request, request],
      ]),
    )
  return { clock, client, done, open, timers: () => timers }
}

describe('a connection for the ports of a pod', () => {
  it('joins the two streams of a request, whichever comes first, and says what goes wrong', async () => {
    const { client, done, open, clock } = forwarding()
    for (const types of [
      ['error', 'data'],
      ['data', 'error'],
    ] as const) {
      const request = types.join()
      const streams = new Map([
        [types[0], await open(types[0], request)],
        [types[1], await open(types[1], request)],
      ])
      streams.get('data')?.resume()
      const error = streams.get('error')
      expect(error && (await text(error))).toBe('error forwarding port 80 to pod web: nothing listens on 80')
    }
    client.close()
    await clock.advance('1m')
    await done
  })

  it('keeps nothing of streams that their client resets, and ends one that stays alone', async () => {
    const { client, done, open, clock, timers } = forwarding()
    const before = timers()
    for (let request = 0; request < 20; request++) {
      const stream = await open('data', `${request}`)
      stream.destroy()
      await once(stream, 'close')
    }
    const alone = await open('data', 'alone')
    alone.resume()
    expect(timers()).toBe(before + 1)
    const ended = new Promise((resolve) => alone.once('close', resolve))
    await clock.advance(streamCreationTimeoutMs)
    await ended
    client.close()
    await clock.advance('1m')
    await done
  })
})
