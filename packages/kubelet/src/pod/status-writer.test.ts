import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Pod, pods } from '@coracle/api'
import { type Client, interceptClient } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { createLogger, realEnvironment, virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import type { OwnPodStatus } from '../status/pod-status.ts'
import { testPod } from '../testing/pods.ts'
import { StatusWriter } from './status-writer.ts'

const key = { namespace: 'default', name: 'web' }

const readiness = (status: 'True' | 'False', message: string): OwnPodStatus => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status, message }],
})

it('writes what was decided while it looked at a pod that somebody else had changed', async () => {
  const environment = virtualEnvironment()
  const server = createFakeClient(environment)
  let known: Pod = await server.create(pods, testPod())
  const decided = readiness('True', 'decided anew')
  /** The watch is faster than the answer to the look: by then the owner has decided what to make of the change. */
  const client: Client = interceptClient(() => server, {
    async call({ verb }, proceed) {
      const answer = await proceed()
      if (verb === 'get') {
        known = answer as Pod
        writer.write(decided)
      }
      return answer
    },
  })
  const writer = new StatusWriter(
    { client, environment },
    {
      get pod() {
        return known
      },
      update(pod) {
        known = pod
      },
      statusShown() {},
      statusWritten() {},
    },
  )
  const byOthers = { status: { conditions: [{ type: 'Ready', status: 'False' }] } }
  await server.patch(pods, key, { type: 'merge', body: byOthers }, { subresource: 'status' })
  writer.write(readiness('True', 'decided before'))
  await environment.clock.advance('1m')
  const { status } = await server.get(pods, key)
  expect(status?.conditions).toEqual([{ type: 'Ready', status: 'True', message: 'decided anew' }])
})

it('writes at once what was decided after the watch had told of a change, before the refusal of a write came', async () => {
  const environment = virtualEnvironment()
  const server = createFakeClient(environment)
  let known: Pod = await server.create(pods, testPod())
  let isChanged = false
  const client: Client = interceptClient(() => server, {
    async call({ verb }, proceed) {
      if (verb !== 'patch' || isChanged) return proceed()
      isChanged = true
      const byOthers = { status: { conditions: [{ type: 'Ready', status: 'False' }] } }
      known = await server.patch(pods, key, { type: 'merge', body: byOthers }, { subresource: 'status' })
      writer.write(readiness('True', 'decided anew'))
      return proceed()
    },
  })
  const host = {
    get pod() {
      return known
    },
    update() {},
    statusShown() {},
    statusWritten() {},
  }
  const writer = new StatusWriter({ client, environment }, host)
  writer.write(readiness('True', 'decided before'))
  await environment.clock.settle()
  const { status } = await server.get(pods, key)
  expect(status?.conditions).toEqual([{ type: 'Ready', status: 'True', message: 'decided anew' }])
})

it('promises no other try of a write that fails after it was closed', async () => {
  const { clock, random } = virtualEnvironment()
  const said: string[] = []
  const environment = { clock, random, logger: createLogger(({ message }) => void said.push(message), 'warn') }
  const server = createFakeClient(environment)
  const known = await server.create(pods, testPod())
  const client: Client = interceptClient(() => server, {
    async call({ verb }, proceed) {
      if (verb !== 'patch') return proceed()
      writer.close()
      throw new Error('the API has gone')
    },
  })
  const writer = new StatusWriter(
    { client, environment },
    { pod: known, update() {}, statusShown() {}, statusWritten() {} },
  )
  writer.write(readiness('True', 'decided'))
  await clock.settle()
  expect(said).toEqual([])
})

it.each([
  ['shows it', (pod: Pod) => pod, 1],
  ['shows something else', (pod: Pod): Pod => ({ ...pod, status: { ...pod.status, message: 'normalized' } }), 0],
])(
  "keeps of statuses that are alike the last alone, which is its owner's, where the server %s",
  async (_what, shown, tells) => {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    let known: Pod = await client.create(pods, testPod())
    let told = 0
    const host = {
      get pod() {
        return known
      },
      update(pod: Pod) {
        known = shown(pod)
      },
      statusShown() {
        told += 1
      },
      statusWritten() {},
    }
    const writer = new StatusWriter({ client, environment }, host)
    const written = await (async () => {
      const status = readiness('True', 'decided')
      writer.write(status)
      await environment.clock.settle()
      return new WeakRef(status)
    })()
    const last = readiness('True', 'decided')
    expect(writer.shows(last)).toBe(true)
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    // What a weak reference was asked for stays until the end of a turn.
    await new Promise<void>((resolve) => realEnvironment().clock.defer(resolve))
    collect()
    expect(written.deref()).toBeUndefined()
    expect(writer.shows(last)).toBe(true)
    expect(told).toBe(tells)
  },
)
