import type { ConfigMap, Container, Secret } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { environmentVariables } from './environment-variables.ts'
import { expand } from './expand.ts'

const settings: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { mode: 'fast', level: '3', 'not=possible': 'x' },
}
const keys: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, data: { token: 'c2VjcmV0' } }

async function variables(fields: Partial<Container>): Promise<Record<string, string>> {
  const pod = testPod(
    { serviceAccountName: 'robot' },
    { metadata: { labels: { app: 'shop' }, annotations: { 'x.y/z': 'note' } } },
  )
  const context = {
    pod,
    podAddresses: ['127.1.0.1'],
    nodeAddress: '127.0.0.1',
    allocatable: { cpu: '8', memory: '1Gi' },
  }
  const list = await environmentVariables(testContainer(fields), context, {
    configMap: async (_, name) => (name === 'settings' ? settings : undefined),
    secret: async (_, name) => (name === 'keys' ? keys : undefined),
  })
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}

const field = (fieldPath: string) => ({ env: [{ name: 'V', valueFrom: { fieldRef: { fieldPath } } }] })
const resource = (name: string, divisor?: string) => ({
  resources: { limits: { memory: '300Mi' }, requests: { cpu: '250m' } },
  env: [
    { name: 'V', valueFrom: { resourceFieldRef: { resource: name, ...(divisor === undefined ? {} : { divisor }) } } },
  ],
})

describe('references in texts', () => {
  it.each([
    ['$(A)', '1'],
    ['x$(A)y$(B)', 'x1y2'],
    ['$(UNKNOWN)', '$(UNKNOWN)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$1'],
    ['$A and $', '$A and $'],
    ['$(C)', '$(A)'],
    ['$(A', '$(A'],
  ])('%s becomes %s', (text, expected) => {
    const values = new Map([
      ['A', '1'],
      ['B', '2'],
      ['C', '$(A)'],
    ])
    expect(expand(text, (name) => values.get(name))).toBe(expected)
  })
})

describe('variables of a container', () => {
  it('refer to earlier ones only', async () => {
    const env = [
      { name: 'A', value: '$(B)' },
      { name: 'B', value: '2' },
      { name: 'C', value: '$(B)!' },
    ]
    expect(await variables({ env })).toEqual({ A: '$(B)', B: '2', C: '2!' })
  })

  it('come from whole ConfigMaps and Secrets, and env wins', async () => {
    const envFrom = [{ configMapRef: { name: 'settings' } }, { prefix: 'KEY_', secretRef: { name: 'keys' } }]
    expect(await variables({ envFrom, env: [{ name: 'mode', value: 'slow' }] })).toEqual({
      level: '3',
      mode: 'slow',
      KEY_token: 'secret',
    })
  })

  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'uid-1'],
    ["metadata.labels['app']", 'shop'],
    ["metadata.annotations['x.y/z']", 'note'],
    ["metadata.labels['none']", ''],
    ['spec.nodeName', 'node-a'],
    ['spec.serviceAccountName', 'robot'],
    ['status.podIP', '127.1.0.1'],
    ['status.podIPs', '127.1.0.1'],
    ['status.hostIP', '127.0.0.1'],
  ])('tell the pod its %s', async (path, expected) => expect(await variables(field(path))).toEqual({ V: expected }))

  it.each([
    ['limits.memory', undefined, '314572800'],
    ['limits.memory', '1Mi', '300'],
    ['requests.cpu', undefined, '1'],
    ['requests.cpu', '1m', '250'],
    ['requests.memory', undefined, '0'],
    ['limits.cpu', undefined, '8'],
  ])('tell the container its %s in units of %s', async (name, divisor, expected) => {
    expect(await variables(resource(name, divisor))).toEqual({ V: expected })
  })

  it.each<[string, Partial<Container>]>([
    ['configmap "x" not found', { envFrom: [{ configMapRef: { name: 'x' } }] }],
    ['secret "x" not found', { envFrom: [{ secretRef: { name: 'x' } }] }],
    ['configmap "x" not found', { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'x', key: 'k' } } }] }],
    [
      "couldn't find key k in ConfigMap default/settings",
      { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } }] },
    ],
    [
      "couldn't find key k in Secret default/keys",
      { env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } }] },
    ],
  ])('are refused: %s', async (message, fields) => await expect(variables(fields)).rejects.toThrow(message))

  it('go without what is optional', async () => {
    const env = [{ name: 'V', valueFrom: { secretKeyRef: { name: 'x', key: 'k', optional: true } } }]
    expect(await variables({ env, envFrom: [{ configMapRef: { name: 'x', optional: true } }] })).toEqual({})
  })
})
