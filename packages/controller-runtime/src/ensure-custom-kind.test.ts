import { type CustomResourceDefinition, customResourceDefinitions, object, required, string } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { customKind } from './custom-kind.ts'
import { type EnsureOptions, ensureCustomKind } from './ensure-custom-kind.ts'

const kindWith = (field: string) =>
  customKind({
    group: 'example.com',
    kind: 'Site',
    doc: 'A site.',
    versions: { v1: { fields: { spec: required(object('', '', { [field]: required(string(), '') }), '') } } },
  })
const key = { name: 'sites.example.com' }

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
})

/** What becomes of making the server serve a kind: the error's message, or that it is served, or still waited for. */
function ensuring(field: string, options?: EnsureOptions): { outcome: string } {
  const state = { outcome: 'waiting' }
  ensureCustomKind(client, kindWith(field), environment, options).then(
    () => {
      state.outcome = 'served'
    },
    (error: Error) => {
      state.outcome = error.message
    },
  )
  return state
}

async function report(type: string, status: string, message = ''): Promise<void> {
  const present = await client.get(customResourceDefinitions, key)
  const conditions = [{ type, status, message }]
  await client.update(customResourceDefinitions, { ...present, status: { conditions } } as CustomResourceDefinition, {
    subresource: 'status',
  })
  await environment.clock.settle()
}

const writes = () => client.calls.map(({ verb }) => verb).filter((verb) => verb === 'create' || verb === 'patch')

describe('a kind that is to be served', () => {
  it('is waited for until the server has established it', async () => {
    const state = ensuring('image')
    await environment.clock.settle()
    expect(state.outcome).toBe('waiting')
    await report('Established', 'True')
    expect(state.outcome).toBe('served')
  })

  it('is written once, and again only when it says something else', async () => {
    ensuring('image')
    await environment.clock.settle()
    await report('Established', 'True')
    const again = ensuring('image')
    await environment.clock.settle()
    expect([again.outcome, writes()]).toEqual(['served', ['create']])
    ensuring('host')
    await environment.clock.settle()
    expect(writes()).toEqual(['create', 'patch'])
    const { versions } = (await client.get(customResourceDefinitions, key)).spec
    expect(versions[0]?.schema?.openAPIV3Schema?.properties).toMatchObject({ spec: { required: ['host'] } })
  })

  it('may be created by somebody else at the same time', async () => {
    const states = [ensuring('image'), ensuring('image')]
    await environment.clock.settle()
    await report('Established', 'True')
    expect(states.map(({ outcome }) => outcome)).toEqual(['served', 'served'])
  })

  it('is given up when its names are taken, when it takes too long, and when nobody wants it any more', async () => {
    const taken = ensuring('image')
    await environment.clock.settle()
    await report('NamesAccepted', 'False', '"sites" is already in use')
    expect(taken.outcome).toBe('sites.example.com is not served: "sites" is already in use')
    await report('NamesAccepted', 'True')
    const late = ensuring('image', { timeoutMs: 5000 })
    const stopping = new AbortController()
    const stopped = ensuring('image', { signal: stopping.signal })
    await environment.clock.settle()
    stopping.abort(new Error('told to end'))
    const tooLate = ensuring('image', { signal: stopping.signal })
    await environment.clock.settle()
    expect(tooLate.outcome).toBe('told to end')
    await environment.clock.advance('5s')
    expect([late.outcome, stopped.outcome]).toEqual(['sites.example.com is not served after 5000 ms', 'told to end'])
  })
})
