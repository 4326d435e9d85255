import { limitRanges, type Pod, pods, type ResourceQuota, resourceQuotas } from '@coracle/api'
import type { Client, Patch } from '@coracle/client'
import { describe, expect, it } from 'vitest'
import { refusal, startTestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'web' }
const subresource = 'resize'
const main = {
  name: 'main',
  image: 'x',
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m' } },
}

async function withPod(spec: object = {}, metadata: object = {}) {
  const { client } = await startTestCore()
  const created = await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...key, ...metadata },
    spec: { containers: [main], ...spec },
  } as unknown as Pod)
  const patch = (spec: object, type: Patch['type'] = 'strategic') =>
    client.patch(pods, key, { type, body: { spec } } as Patch, { subresource })
  const resize = (resources: object, name = 'main') => patch({ containers: [{ name, resources }] })
  return { client, created, patch, resize }
}

/** A quota called `own`. */
const createQuota = (client: Client, hard: Readonly<Record<string, string>>) =>
  client.create<ResourceQuota>(resourceQuotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'own', namespace: 'default' },
    spec: { hard },
  } as ResourceQuota)

describe('pods/resize', () => {
  it('changes what a container has of CPU and memory, as a new generation', async () => {
    const { resize, created } = await withPod()
    const changed = await resize({ requests: { cpu: '150m' }, limits: { cpu: '1' } })
    expect(changed.spec.containers[0]?.resources).toEqual({
      requests: { cpu: '150m', memory: '64Mi' },
      limits: { cpu: '1' },
    })
    expect([created.metadata.generation, changed.metadata.generation]).toEqual([1, 2])
  })

  it('is read as the pod, and replaced whole or applied too', async () => {
    const { client, created } = await withPod()
    const [container] = created.spec.containers
    const resources = { ...main.resources, requests: { cpu: '120m', memory: '1Gi' } }
    const body = { ...created, spec: { ...created.spec, containers: [{ ...container, resources }] } } as Pod
    const replaced = await client.update(pods, body, { subresource })
    expect(replaced.spec.containers[0]?.resources).toEqual(resources)
    expect(await client.get(pods, key, { subresource })).toEqual(replaced)
    const configuration = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: key,
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: '130m' } } }] },
    }
    const options = { subresource, fieldManager: 'me', force: true }
    const applied = await client.apply(pods, configuration as never, options)
    expect(applied.spec.containers[0]?.resources?.requests).toEqual({ cpu: '130m', memory: '1Gi' })
  })

  it('changes nothing else of a pod', async () => {
    const { patch } = await withPod()
    const changed = await patch({
      priority: 7,
      containers: [{ name: 'main', image: 'other', resources: { limits: { cpu: '1' } } }],
    })
    expect([changed.spec.containers[0]?.image, changed.spec.priority]).toEqual(['x', 0])
    expect(changed.spec.containers[0]?.resources?.limits).toEqual({ cpu: '1' })
  })

  it('changes sidecars as well', async () => {
    const { patch } = await withPod({ initContainers: [{ ...main, name: 'side', restartPolicy: 'Always' }] })
    const changed = await patch({ initContainers: [{ name: 'side', resources: { limits: { cpu: '1' } } }] })
    expect(changed.spec.initContainers?.[0]?.resources?.limits).toEqual({ cpu: '1' })
  })

  it('changes init containers as well', async () => {
    const { patch } = await withPod({ initContainers: [{ ...main, name: 'init' }] })
    const changed = await patch({ initContainers: [{ name: 'init', resources: { limits: { cpu: '1' } } }] })
    expect(changed.spec.initContainers?.[0]?.resources?.limits).toEqual({ cpu: '1' })
  })

  it('changes what a pod has as a whole', async () => {
    const { patch } = await withPod({ resources: { requests: { cpu: '1', memory: '1Gi' } } })
    const changed = await patch({ resources: { requests: { cpu: '2' } } })
    expect(changed.spec.resources?.requests).toEqual({ cpu: '2', memory: '1Gi' })
    expect(changed.metadata.generation).toBe(2)
    expect((await patch({ containers: [{ name: 'main', resources: { limits: { cpu: '1' } } }] })).spec).toMatchObject({
      resources: { requests: { cpu: '2' } },
      containers: [{ resources: { limits: { cpu: '1' } } }],
    })
  })

  it.each<[string, object | null, string]>([
    ['of all', null, 'spec.resources: Forbidden: pod-level resources cannot be removed'],
    [
      'of a request',
      { requests: { cpu: null } },
      'spec.resources.requests: Forbidden: pod-level resource requests cannot be removed',
    ],
    [
      'of another kind',
      { limits: { 'hugepages-2Mi': '2Mi' } },
      'spec: Forbidden: only cpu and memory resources are mutable at pod-level',
    ],
  ])('refuses to change what a pod has as a whole where that is %s', async (_what, resources, message) => {
    const { patch } = await withPod({ resources: { requests: { cpu: '1', memory: '1Gi' } } })
    expect((await refusal(patch({ resources }))).message).toContain(message)
  })

  it('is refused where the node does not say what containers have been given', async () => {
    const { client, resize } = await withPod()
    const state = { running: { startedAt: '2026-01-01T00:00:00Z' } }
    const containerStatus = { name: 'main', ready: true, restartCount: 0, image: 'x', imageID: '', state }
    const report = (more: object) => {
      const body = { status: { containerStatuses: [{ ...containerStatus, ...more }] } }
      return client.patch(pods, key, { type: 'merge', body } as Patch, { subresource: 'status' })
    }
    await report({})
    expect((await refusal(resize({ limits: { cpu: '1' } }))).message).toContain(
      'spec: Forbidden: Pod running on node without support for resize',
    )
    await report({ resources: {} })
    await resize({ limits: { cpu: '1' } })
  })

  it.each<[string, object, string]>([
    [
      'taking a request away',
      { requests: { memory: null } },
      'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
    ],
    [
      'taking a limit away',
      { limits: { cpu: null } },
      'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
    ],
    [
      'other resources',
      { limits: { 'ephemeral-storage': '1Gi' } },
      'spec: Forbidden: only cpu and memory resources are mutable',
    ],
    ['more than the limit', { requests: { cpu: '300m' } }, 'must be less than or equal to cpu limit of 200m'],
    [
      'another quality of service',
      { requests: { cpu: '200m' }, limits: { memory: '64Mi' } },
      'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    ],
  ])('refuses %s', async (_what, resources, message) => {
    const { resize } = await withPod()
    const refused = await refusal(resize(resources))
    expect(refused.code).toBe(422)
    expect(refused.message).toContain(message)
  })

  it.each<[string, object, string]>([
    [
      'a further container',
      { containers: [main, { ...main, name: 'more' }] },
      'spec.containers: Forbidden: containers may not be added or removed on resize',
    ],
    [
      'another name',
      { containers: [{ ...main, name: 'other' }] },
      'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
    ],
    [
      'other policies',
      { containers: [{ ...main, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }] },
      'spec: Forbidden: only cpu and memory resources are mutable',
    ],
  ])('refuses %s', async (_what, spec, message) => {
    const { patch } = await withPod()
    expect((await refusal(patch(spec, 'merge'))).message).toContain(message)
  })

  it.each<[string, object, object, string]>([
    [
      'of static pods',
      { nodeName: 'a' },
      { annotations: { 'kubernetes.io/config.mirror': 'x' } },
      'static pods cannot be resized',
    ],
    ['of Windows pods', { os: { name: 'windows' } }, {}, 'windows pods cannot be resized'],
  ])('refuses resources %s', async (_what, spec, metadata, message) => {
    const { patch } = await withPod(spec, metadata)
    const init = 'initContainers' in spec
    const body = {
      [init ? 'initContainers' : 'containers']: [{ name: init ? 'init' : 'main', resources: { limits: { cpu: '2' } } }],
    }
    expect((await refusal(patch(body))).message).toContain(message)
  })

  it('is the only way to change them', async () => {
    const { client } = await withPod()
    const body = { spec: { containers: [{ name: 'main', resources: { limits: { cpu: '1' } } }] } }
    expect((await refusal(client.patch(pods, key, { type: 'strategic', body }))).message).toContain(
      'pod updates may not change fields',
    )
  })

  it('is held to limit ranges and quotas', async () => {
    const { client, resize } = await withPod()
    const metadata = { name: 'own', namespace: 'default' }
    const limits = [{ type: 'Container', max: { cpu: '2' } }]
    await client.create(limitRanges, { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } } as never)
    expect((await refusal(resize({ limits: { cpu: '3' } }))).message).toContain(
      'maximum cpu usage per Container is 2, but limit is 3',
    )
    const hard = { 'requests.memory': '128Mi' }
    const quota = await createQuota(client, hard)
    const status = { hard, used: { 'requests.memory': '64Mi' } }
    await client.update(resourceQuotas, { ...quota, status }, { subresource: 'status' })
    expect((await refusal(resize({ requests: { memory: '129Mi' } }))).message).toContain(
      'exceeded quota: own, requested: requests.memory=65Mi',
    )
    await resize({ requests: { memory: '100Mi' } })
    expect((await client.get(resourceQuotas, { namespace: 'default', name: 'own' })).status?.used).toEqual({
      'requests.memory': '100Mi',
    })
  })

  it('has the defaults of limit ranges for what it does not say', async () => {
    const { client, patch } = await withPod({ containers: [{ name: 'main', image: 'x' }] })
    const metadata = { name: 'own', namespace: 'default' }
    const limits = [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1' } }]
    await client.create(limitRanges, { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } } as never)
    const other = { name: 'web-2', namespace: 'default' }
    const spec = { containers: [{ name: 'main', image: 'x' }] }
    await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: other, spec } as unknown as Pod)
    const body = { spec: { containers: [{ name: 'main', image: 'x' }] } }
    const kept = await client.patch(pods, other, { type: 'merge', body }, { subresource })
    expect(kept.spec.containers[0]?.resources).toEqual({ requests: { cpu: '1' }, limits: { cpu: '2' } })
    // One that came before the range would get another class by it.
    expect((await refusal(patch({ containers: [{ name: 'main', image: 'x' }] }, 'merge'))).message).toContain(
      'Pod QOS Class may not change as a result of resizing',
    )
  })

  it('is charged to quotas though the node has refused what was asked for before', async () => {
    const { client, resize } = await withPod()
    const hard = { 'requests.memory': '128Mi' }
    await createQuota(client, hard)
    // What the quota controller says of a request that was refused: the pod takes what it has.
    const refused = await resize({ requests: { memory: '120Mi' } })
    const status = {
      phase: 'Running',
      observedGeneration: refused.metadata.generation,
      containerStatuses: [
        {
          name: 'main',
          ready: true,
          restartCount: 0,
          image: 'x',
          imageID: '',
          allocatedResources: main.resources.requests,
        },
      ],
      conditions: [
        {
          type: 'PodResizePending',
          status: 'True',
          reason: 'Infeasible',
          observedGeneration: refused.metadata.generation,
        },
      ],
    }
    await client.patch(pods, key, { type: 'merge', body: { status } } as never, { subresource: 'status' })
    const used = { 'requests.memory': '64Mi' }
    const quota = await client.get(resourceQuotas, { namespace: 'default', name: 'own' })
    await client.update(resourceQuotas, { ...quota, status: { hard, used } }, { subresource: 'status' })
    await resize({ requests: { memory: '96Mi' } })
    expect((await client.get(resourceQuotas, { namespace: 'default', name: 'own' })).status?.used).toEqual({
      'requests.memory': '96Mi',
    })
  })
})
