import { type ApiError, type Node, nodes, type Pod, pods } from '@coracle/api'
import type { Patch } from '@coracle/client'
import { expect, it } from 'vitest'
import { refusal, startTestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'web' }
const resources = { requests: { cpu: '100m', memory: '64Mi' } }
const both = ['InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers']

const refusedAs = (changing: Promise<unknown>): Promise<ApiError> =>
  changing.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: unknown) => error as ApiError,
  )

/** A pod on a node, and how its resources are changed. */
async function onNode(spec: object, node: object = {}, labels: object = {}) {
  const { client } = await startTestCore()
  const status = { allocatable: { cpu: '2', memory: '1Gi' }, declaredFeatures: both, ...node }
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels }, status } as Node)
  const main = { name: 'main', image: 'x', resources }
  const whole = { containers: [main], nodeName: 'n1', ...spec }
  await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: key, spec: whole } as unknown as Pod)
  const patch = (spec: object) =>
    client.patch(pods, key, { type: 'strategic', body: { spec } } as Patch, { subresource: 'resize' })
  const ask = (requests: object) => patch({ containers: [{ name: 'main', resources: { requests } }] })
  return { client, patch, ask }
}

it('a pod gets as much as its node has, whatever others have, and no more', async () => {
  const { ask } = await onNode({})
  await ask({ cpu: '2', memory: '1Gi' })
  const { message, status } = await refusedAs(ask({ cpu: '2100m', memory: '2Gi' }))
  expect(message).toBe(
    `pods "web" is forbidden: node didn't have enough allocatable resources: cpu, requested: 2100, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824`,
  )
  expect(status.details).toEqual({ name: 'web', kind: 'pods', causes: [{ reason: 'NodeCapacity' }] })
})

it('a pod without a node may ask for anything, and one whose node is gone for nothing', async () => {
  await (await onNode({ nodeName: '' })).ask({ cpu: '3' })
  const { client, ask } = await onNode({})
  await client.delete(nodes, { name: 'n1' })
  expect((await refusal(ask({ cpu: '1' }))).message).toBe('pods "web" is forbidden: node "n1" not found')
  await ask({ cpu: '100m' })
})

it('pods on nodes of other systems keep what they have', async () => {
  const { ask } = await onNode({}, {}, { 'kubernetes.io/os': 'windows' })
  const { message, status } = await refusedAs(ask({ cpu: '1' }))
  expect(message).toContain('pod resize is only supported on linux nodes, node "n1" is "windows"')
  expect(status.details?.causes).toEqual([{ reason: 'UnsupportedPlatform' }])
})

it.each<[string, object, object, readonly string[], string | undefined]>([
  ['of a container', {}, { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] }, [], undefined],
  ['as a whole', { resources }, { resources: { requests: { cpu: '1' } } }, both.slice(1), both[0]],
  ['as a whole', { resources }, { resources: { requests: { cpu: '1' } } }, both, undefined],
  [
    'of an init container',
    { initContainers: [{ name: 'init', image: 'x', resources }] },
    { initContainers: [{ name: 'init', resources: { requests: { cpu: '1' } } }] },
    both.slice(0, 1),
    both[1],
  ],
  [
    'of a sidecar',
    { initContainers: [{ name: 'init', image: 'x', resources, restartPolicy: 'Always' }] },
    { initContainers: [{ name: 'init', resources: { requests: { cpu: '1' } } }] },
    [],
    undefined,
  ],
  [
    'of both',
    { resources, initContainers: [{ name: 'init', image: 'x', resources: { requests: { cpu: '1m' } } }] },
    {
      resources: { requests: { cpu: '1' } },
      initContainers: [{ name: 'init', resources: { requests: { cpu: '2m' } } }],
    },
    [],
    both.join(', '),
  ],
])(
  'changing the resources %s needs what the node declares: %j, %j, %j',
  async (_what, spec, change, declared, missing) => {
    const { patch } = await onNode(spec, { declaredFeatures: declared })
    const changing = patch(change)
    if (missing === undefined) return void (await changing)
    expect((await refusal(changing)).message).toBe(
      `pods "web" is forbidden: pod update requires features ${missing} which are not available on node "n1"`,
    )
  },
)
