import { connect, Server } from 'node:net'
import { PassThrough } from 'node:stream'
import type { HttpClient } from '@coracle/client'
import { expect, it, vi } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

/** A busy machine takes its time to load the command. */
/** A way to a pod, of which each connection is opened by hand. */
const way = vi.hoisted(() => ({
  opened: [] as ((connection: object) => void)[],
  connect: () => new Promise((resolve) => way.opened.push(resolve)),
  closed: new Promise(() => {}),
  close: () => {},
}))

vi.mock('@coracle/client/streaming', async (original) => ({
  ...(await original<object>()),
  openPortForward: async () => way,
}))

it('ends the side of the pod where a caller has gone before it was there', async () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, status: { phase: 'Running' }, spec: {} }
  const client = { get: async () => pod } as unknown as HttpClient
  const recording = recordingHost()
  const host = { ...recording, connect: async () => ({ client, namespace: 'shop' }) }
  const listens = vi.spyOn(Server.prototype, 'listen')
  const ended = run(['port-forward', 'web', ':80', '--address=127.0.0.1'], host)
  await expect.poll(() => recording.written.stdout).toMatch(/127\.0\.0\.1:\d+/)
  expect(recording.written.stderr).toBe('')
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(recording.written.stdout)?.[1])
  // A connection that cannot be taken changes nothing.
  ;(listens.mock.contexts[0] as Server).emit('error', new Error('accept EMFILE'))
  listens.mockRestore()
  const caller = connect(port, '127.0.0.1')
  await expect.poll(() => way.opened).toHaveLength(1)
  caller.resetAndDestroy()
  // The listener has seen it go once it takes the next.
  const next = connect(port, '127.0.0.1')
  await expect.poll(() => way.opened).toHaveLength(2)
  const stream = new PassThrough()
  way.opened[0]?.({ stream, problem: Promise.resolve('') })
  await expect.poll(() => stream.destroyed).toBe(true)
  next.destroy()
  recording.interrupt()
  expect(await ended).toBe(0)
})
