/** What Go writes as null: in JSON alone, and nowhere in this process. */
import { apiVersionOf, deployments, limitRanges, pods, roles } from '@coracle/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const collection = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
const role = (name: string, more: object = {}) => ({
  apiVersion: apiVersionOf(roles),
  kind: 'Role',
  metadata: { name },
  ...more,
})

describe('a Role without rules', () => {
  it('has rules that are null in every answer', async () => {
    const watch = await server.lines(`${collection}?watch=true`)
    const created = await server.call(collection, { method: 'POST', body: role('a', { rules: [] }) })
    expect([created.code, created.json.rules]).toEqual([201, null])
    expect((await watch.next()).object).toHaveProperty('rules', null)
    watch.close()
    expect((await server.call(`${collection}/a`)).json).toHaveProperty('rules', null)
    expect((await server.call(`${collection}/a?pretty=true`)).json).toHaveProperty('rules', null)
    expect((await server.call(`${collection}/a`, { headers: { accept: 'application/yaml' } })).text).toContain(
      'rules: null\n',
    )
    const { items } = (await server.call(collection)).json
    expect(items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'a')).toHaveProperty(
      'rules',
      null,
    )
    const dry = await server.call(`${collection}?dryRun=All`, { method: 'POST', body: role('dry') })
    expect(dry.json).toHaveProperty('rules', null)
  })

  it('has none for who is in the process', async () => {
    await server.call(collection, { method: 'POST', body: role('b') })
    const found = await server.core.client({ name: 'admin', groups: ['system:masters'] }).get(roles, {
      namespace: 'default',
      name: 'b',
    })
    expect(found).not.toHaveProperty('rules')
  })

  it('is what it was when it comes back as it was sent', async () => {
    const { json } = await server.call(collection, { method: 'POST', body: role('c') })
    const updated = await server.call(`${collection}/c`, { method: 'PUT', body: json })
    expect(updated.json.metadata.resourceVersion).toBe(json.metadata.resourceVersion)
    expect(updated.json.metadata.managedFields).toEqual(json.metadata.managedFields)
  })

  it('has rules to a JSON patch, which it may replace', async () => {
    await server.call(collection, { method: 'POST', body: role('d') })
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
    const patched = await server.call(`${collection}/d`, {
      method: 'PATCH',
      body: [
        { op: 'test', path: '/rules', value: null },
        { op: 'replace', path: '/rules', value: rules },
      ],
      headers: { 'content-type': 'application/json-patch+json' },
    })
    expect([patched.code, patched.json.rules]).toEqual([200, rules])
  })
})

it('is null in the list of limits that always is there', async () => {
  const body = { apiVersion: 'v1', kind: limitRanges.kind, metadata: { name: 'a' }, spec: { limits: [] } }
  const created = await server.call('/api/v1/namespaces/default/limitranges', { method: 'POST', body })
  expect(created.json.spec).toEqual({ limits: null })
})

it('is the secret of a ScaleIO volume that has none', async () => {
  const scaleIO = { gateway: 'g', system: 's', volumeName: 'v' }
  const spec = { containers: [{ name: 'a', image: 'a' }], volumes: [{ name: 'data', scaleIO }] }
  const created = await server.call('/api/v1/namespaces/default/pods', {
    method: 'POST',
    body: { apiVersion: 'v1', kind: pods.kind, metadata: { name: 'scale-io' }, spec },
  })
  const defaults = { storageMode: 'ThinProvisioned', fsType: 'xfs' }
  expect(created.json.spec.volumes[0].scaleIO).toEqual({ ...scaleIO, secretRef: null, ...defaults })
})

it('are the times of a condition that are not set', async () => {
  const path = '/api/v1/namespaces/default/pods'
  const spec = { containers: [{ name: 'a', image: 'a' }] }
  await server.call(path, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: pods.kind, metadata: { name: 'a' }, spec },
  })
  const answer = await server.call(`${path}/a/status`, {
    method: 'PATCH',
    body: JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  expect(answer.json.status.conditions).toEqual([
    { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null, observedGeneration: undefined },
  ])
})

it('is not the time at which the template of a pod was made', async () => {
  const labels = { app: 'a' }
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  }
  const body = { apiVersion: apiVersionOf(deployments), kind: deployments.kind, metadata: { name: 'a' }, spec }
  const created = await server.call('/apis/apps/v1/namespaces/default/deployments', { method: 'POST', body })
  expect(created.json.spec.template.metadata).toEqual({ labels })
})
