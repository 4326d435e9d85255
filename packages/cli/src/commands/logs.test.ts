import type { HttpClient } from '@coracle/client'
import { expect, it } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { containers: [{ name: 'main' }] },
})

it('mixes logs that it follows by whole lines', async () => {
  const paused = Promise.withResolvers<void>()
  async function* first() {
    yield Buffer.from('one li')
    await paused.promise
    yield Buffer.from('ne\n')
  }
  async function* second() {
    yield Buffer.from('another line\n')
    paused.resolve()
  }
  const logs: Readonly<Record<string, () => AsyncIterable<Uint8Array>>> = { first, second }
  const client = {
    list: async () => ({ items: Object.keys(logs).map(pod), metadata: {} }),
    stream: async (_: unknown, { name }: { readonly name: string }) => logs[name]?.(),
  } as unknown as HttpClient
  const host = { ...recordingHost(), connect: async () => ({ client, namespace: 'shop' }) }
  expect([await run(['logs', '-f', '-l', 'app=web'], host), host.written.stderr]).toEqual([0, ''])
  expect(host.written.stdout).toBe('another line\none line\n')
})
