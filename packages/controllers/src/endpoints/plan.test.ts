import type { Endpoints, Pod, Service } from '@coracle/api'
import { expect, it } from 'vitest'
import { planEndpoints } from './plan.ts'
import { endpointsMax } from './truncation.ts'

const service = (spec: object = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', labels: { tier: 'front' } },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...spec },
  }) as Service

const pod = (index: number, { ready = true, isGoing = false, spec = {} } = {}): Pod =>
  ({
    metadata: {
      namespace: 'default',
      name: `p${index}`,
      uid: `u${index}`,
      ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], ...spec },
    status: {
      phase: 'Running',
      podIP: `10.0.${index >> 8}.${index & 255}`,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }) as unknown as Pod

const planned = (given: Service, pods: readonly Pod[], present?: Endpoints) => {
  const [action] = planEndpoints(given, pods, present).actions
  return action as { readonly type: string; readonly object: Endpoints } | undefined
}

it('lists who is ready apart from who is not, by their ports', () => {
  const { object } = planned(service(), [pod(2), pod(1), pod(3, { ready: false })]) ?? {}
  expect(object?.metadata.labels).toEqual({
    tier: 'front',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  })
  expect(object?.subsets).toMatchObject([
    {
      addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }],
      notReadyAddresses: [{ ip: '10.0.0.3' }],
      ports: [{ port: 80 }],
    },
  ])
})

it('says that a service has no address of its own only where that is so, whatever its labels say', () => {
  const headless = 'service.kubernetes.io/headless'
  const labelled = (spec: object): Service => {
    const given = service(spec)
    return { ...given, metadata: { ...given.metadata, labels: { [headless]: 'x' } } }
  }
  const labelsOf = (given: Service) => planned(given, [])?.object.metadata.labels
  expect(labelsOf(labelled({}))).not.toHaveProperty([headless])
  expect(labelsOf(labelled({ clusterIP: 'None', clusterIPs: ['None'] }))).toHaveProperty([headless], '')
})

it.each<readonly [readonly string[] | undefined, readonly string[]]>([
  [['IPv6'], ['fd00::2']],
  [['IPv6', 'IPv4'], ['fd00::2']],
  [
    ['IPv4', 'IPv6'],
    ['10.0.0.1', '10.0.0.2'],
  ],
  [undefined, ['10.0.0.1', '10.0.0.2']],
])('lists pods by their addresses of the first family of the service: %s', (ipFamilies, expected) => {
  const both = pod(2)
  const podIPs = [{ ip: '10.0.0.2' }, { ip: 'fd00::2' }]
  const pods = [pod(1), { ...both, status: { ...both.status, podIPs } }]
  const { object } = planned(service({ ipFamilies }), pods) ?? {}
  expect(object?.subsets?.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))).toEqual(expected)
})

it('leaves out who is going, unless that does not matter', () => {
  const going = pod(1, { isGoing: true })
  expect(planned(service(), [going])?.object.subsets).toBeUndefined()
  expect(planned(service({ publishNotReadyAddresses: true }), [going])?.object.subsets).toHaveLength(1)
})

it('leaves out who lacks the port that the service names', () => {
  expect(planned(service({ ports: [{ port: 80, targetPort: 'web' }] }), [pod(1)])?.object.subsets).toBeUndefined()
})

it('holds so many and no more, the ready ones first, and says so', () => {
  const pods = Array.from({ length: endpointsMax + 1 }, (_, index) => pod(index, { ready: index !== 0 }))
  const { object } = planned(service(), pods) ?? {}
  expect(object?.subsets?.[0]?.addresses).toHaveLength(endpointsMax)
  expect(object?.subsets?.[0]?.notReadyAddresses).toBeUndefined()
  expect(object?.metadata.annotations).toEqual({ 'endpoints.kubernetes.io/over-capacity': 'truncated' })
  const again = planned(service(), pods.slice(0, 1), object)
  expect(again?.object.metadata.annotations).toEqual({})
})

it('leaves something behind each port where there are too many, and is content with that', () => {
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }]
  const at = (index: number, containerPort: number) =>
    pod(index, { spec: { containers: [{ ports: [{ name: 'http', containerPort }] }] } })
  const pods = Array.from({ length: 2000 }, (_, index) => at(index, index < 1500 ? 8080 : 9090))
  const { object } = planned(service({ ports }), pods) ?? {}
  expect(object?.subsets?.map((subset) => [subset.ports?.[0]?.port, subset.addresses?.length])).toEqual([
    [8080, 750],
    [9090, 250],
  ])
  expect(planned(service({ ports }), pods, object)).toBeUndefined()
})

it('counts only pods that have a port of the service', () => {
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }]
  const pods = Array.from({ length: endpointsMax + 1 }, (_, index) => pod(index))
  const { object } = planned(service({ ports }), pods) ?? {}
  expect(object?.subsets).toBeUndefined()
  expect(object?.metadata.annotations).toBeUndefined()
})

it('changes nothing where nothing has changed', () => {
  const present = planned(service(), [pod(1)])?.object
  expect(planned(service(), [pod(1)], present)).toBeUndefined()
  expect(planned(service(), [pod(1, { ready: false })], present)?.type).toBe('update')
})

it('lists ports together that the same pods have, though not all pods have all', () => {
  const ports = [
    { name: 'web', port: 80, targetPort: 8080 },
    { name: 'admin', port: 81, targetPort: 'admin' },
    { name: 'more', port: 82, targetPort: 9090 },
  ]
  const administered = pod(1, { spec: { containers: [{ ports: [{ name: 'admin', containerPort: 7070 }] }] } })
  const { object } = planned(service({ ports }), [administered, pod(2)]) ?? {}
  const shown = object?.subsets?.map((subset) => [
    subset.addresses?.map(({ ip }) => ip),
    subset.ports?.map(({ name }) => name),
  ])
  expect(shown).toEqual([
    [['10.0.0.1'], ['admin']],
    [
      ['10.0.0.1', '10.0.0.2'],
      ['web', 'more'],
    ],
  ])
})

it('says when what it tells happened, and writes nothing for that alone', () => {
  const time = '2026-01-01T00:00:00Z'
  const [action] = planEndpoints(service(), [pod(1)], undefined, time).actions
  const present = (action as unknown as { readonly object: Endpoints }).object
  expect(present.metadata.annotations).toEqual({ 'endpoints.kubernetes.io/last-change-trigger-time': time })
  expect(planEndpoints(service(), [pod(1)], present, '2026-01-01T00:00:09Z').actions).toEqual([])
})
