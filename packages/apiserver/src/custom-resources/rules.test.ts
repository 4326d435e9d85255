/** Rules of custom resources over the wire: asked on every way that writes an object. */
import { customResourceDefinitions } from '@coracle/api'
import type { Client } from '@coracle/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { TestServer } from '../http/testing/test-server.ts'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'

const crates = '/apis/example.com/v1/namespaces/default/crates'
const type = { apiVersion: 'example.com/v1', kind: 'Crate' }
const call = (method: string, body: unknown) => ({ method, body })

/** Crates may not lose weight, and are never shipped empty. */
function ruled(rule = 'self.spec.weight >= oldSelf.spec.weight'): object {
  const spec = {
    type: 'object',
    properties: { label: { type: 'string', maxLength: 10 }, weight: { type: 'integer', default: 1 } },
    'x-kubernetes-validations': [{ rule: "self.label != 'bad'", message: 'not this label' }],
  }
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec, status: { type: 'object', properties: { state: { type: 'string', maxLength: 10 } } } },
    'x-kubernetes-validations': [
      { rule },
      { rule: "!has(self.status) || self.status.state != 'shipped' || self.spec.weight > 0", message: 'empty' },
    ],
  }
  return crateVersion('v1', { storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } })
}

let server: TestServer
let client: Client

beforeEach(async () => {
  server = await TestServer.start()
  client = server.core.client(apiServerUser)
})

afterEach(() => server.close())

it('refuses a definition whose rule does not fit its schema', async () => {
  const made = client.create(customResourceDefinitions, crateDefinition([ruled('self.spec.wait > 1')]))
  await expect(made).rejects.toThrow("undefined field 'wait'")
})

it('refuses objects that break a rule, whatever writes them', async () => {
  await establish(client, crateDefinition([ruled()]))
  const refused = await server.call(crates, call('POST', { ...type, metadata: { name: 'a' }, spec: { label: 'bad' } }))
  expect(refused.code).toBe(422)
  expect(refused.json.message).toBe('Crate.example.com "a" is invalid: spec: Invalid value: not this label')

  const made = await server.call(
    crates,
    call('POST', { ...type, metadata: { name: 'a' }, spec: { label: 'x', weight: 0 } }),
  )
  expect(made.code).toBe(201)
  const lighter = await server.call(`${crates}/a`, call('PUT', { ...made.json, spec: { label: 'x', weight: -1 } }))
  expect(lighter.json.message).toContain('failed rule: self.spec.weight >= oldSelf.spec.weight')
  const shipped = await server.call(`${crates}/a/status`, call('PUT', { ...made.json, status: { state: 'shipped' } }))
  expect(shipped.json.message).toContain('Invalid value: empty')
})

it('does not hold against an update what was there before the rule', async () => {
  await establish(client, crateDefinition([crateVersion('v1', { storage: true })]))
  const old = await server.call(
    crates,
    call('POST', { ...type, metadata: { name: 'a' }, spec: { label: 'bad', weight: 1 } }),
  )
  const definition = await client.get(customResourceDefinitions, { name: 'crates.example.com' })
  const body = { spec: { versions: [ruled()] } }
  await client.patch(customResourceDefinitions, { name: definition.metadata.name ?? '' }, { type: 'merge', body })
  const labelled = { ...old.json, metadata: { ...old.json.metadata, labels: { a: 'b' } } }
  const changed = await server.call(`${crates}/a`, call('PUT', labelled))
  expect([changed.code, changed.headers.warning]).toEqual([200, '299 - "spec: Invalid value: not this label"'])
  const heavier = await server.call(`${crates}/a`, call('PUT', { ...changed.json, spec: { label: 'bad', weight: 2 } }))
  expect(heavier.json.message).toContain('not this label')
})

it('asks rules about the change where nothing changes, too', async () => {
  const rule = "self.metadata.name == 'a' && oldSelf.spec.weight < 5"
  await establish(client, crateDefinition([ruled(rule)]))
  const made = await server.call(
    crates,
    call('POST', { ...type, metadata: { name: 'a' }, spec: { label: 'x', weight: 5 } }),
  )
  expect(made.code).toBe(201)
  const same = await server.call(`${crates}/a`, call('PUT', made.json))
  expect([same.code, same.json.message]).toEqual([422, expect.stringContaining('failed rule')])
})

it('serves others between rules that cost much, on every way that writes an object, and while a definition with many is read', async () => {
  const numbers = { type: 'array', maxItems: 150, items: { type: 'integer' } }
  const rules = Array.from({ length: 2_000 }, (_, index) => ({ rule: `has(self.a) || ${index} >= 0` }))
  const dear = Array.from({ length: 8 }, (_, index) => ({
    rule: `!has(self.a) || self.a.all(x, self.a.all(y, x + y + ${index} > 0))`,
  }))
  const part = { type: 'object', properties: { a: numbers }, 'x-kubernetes-validations': dear }
  const many = { type: 'object', properties: { a: numbers }, 'x-kubernetes-validations': rules }
  const openAPIV3Schema = { type: 'object', properties: { spec: part, status: part, more: many } }
  const version = crateVersion('v1', { storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } })
  const take = vi.spyOn(server.core.turns, 'take')
  const turnsOf = async (write: () => Promise<unknown>): Promise<number> => {
    take.mockClear()
    await write()
    return take.mock.calls.filter(([isLarge]) => isLarge).length
  }
  expect(await turnsOf(() => establish(client, crateDefinition([version])))).toBeGreaterThan(2)

  const a = Array.from({ length: 150 }, () => 1)
  let resourceVersion: string | undefined
  const write = async (method: string, path: string, name: string, parts: object): Promise<number> =>
    turnsOf(async () => {
      const metadata = { name, ...(method === 'PUT' ? { resourceVersion } : {}) }
      const { code, json } = await server.call(path, call(method, { ...type, metadata, ...parts }))
      expect(code).toBeLessThan(300)
      resourceVersion = json.metadata.resourceVersion
    })
  expect(await write('POST', crates, 'a', {})).toBe(0)
  expect(await write('PUT', `${crates}/a`, 'a', { spec: { a } })).toBeGreaterThan(1)
  expect(await write('PUT', `${crates}/a/status`, 'a', { status: { a } })).toBeGreaterThan(1)
  expect(await write('POST', crates, 'b', { spec: { a } })).toBeGreaterThan(1)
})
