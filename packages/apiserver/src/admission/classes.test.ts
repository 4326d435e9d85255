import {
  type IngressClass,
  ingressClasses,
  ingresses,
  type PersistentVolumeClaim,
  type PriorityClass,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityClasses,
  type RuntimeClass,
  runtimeClasses,
  type StorageClass,
  storageClasses,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'

const storageClass = (name: string, more: Partial<StorageClass> = {}, isDefault = false): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name,
    annotations: isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {},
  },
  provisioner: 'example.com/local',
  ...more,
})

const claim = (name: string, spec: object = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})

const priorityClass = (name: string, value: number, globalDefault = false): PriorityClass => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  globalDefault,
})

describe('DefaultStorageClass', () => {
  it('is the newest of the classes that are marked', async () => {
    const { client, environment } = await startTestCore()
    expect((await client.create(persistentVolumeClaims, claim('early'))).spec?.storageClassName).toBeUndefined()
    await client.create(storageClasses, storageClass('old', {}, true))
    await client.create(storageClasses, storageClass('other'))
    await environment.clock.advance(5000)
    await client.create(storageClasses, storageClass('new-b', {}, true))
    await client.create(storageClasses, storageClass('new-a', {}, true))
    expect((await client.create(persistentVolumeClaims, claim('a'))).spec?.storageClassName).toBe('new-a')
    const none = await client.create(persistentVolumeClaims, claim('b', { storageClassName: '' }))
    expect(none.spec?.storageClassName).toBe('')
    const own = await client.create(persistentVolumeClaims, claim('c', { storageClassName: 'other' }))
    expect(own.spec?.storageClassName).toBe('other')
  })
})

describe('DefaultIngressClass', () => {
  const defaultBackend = { service: { name: 'web', port: { number: 80 } } }
  const ingress = (name: string, annotations: Readonly<Record<string, string>> = {}) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, namespace: 'default', annotations },
    spec: { defaultBackend },
  })

  it('goes to ingresses that name none', async () => {
    const { client } = await startTestCore()
    const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
    await client.create(ingressClasses, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'edge', annotations },
      spec: { controller: 'example.com/edge' },
    } as IngressClass)
    expect((await client.create(ingresses, ingress('a'))).spec?.ingressClassName).toBe('edge')
    const named = await client.create(ingresses, ingress('b', { 'kubernetes.io/ingress.class': 'own' }))
    expect(named.spec?.ingressClassName).toBeUndefined()
  })
})

describe('PersistentVolumeClaimResize', () => {
  it.each([
    [true, undefined],
    [
      false,
      'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    ],
  ])('lets claims grow where the class says %s', async (allowVolumeExpansion, problem) => {
    const { client } = await startTestCore()
    await client.create(storageClasses, storageClass('fast', { allowVolumeExpansion }))
    const created = await client.create(persistentVolumeClaims, claim('c', { storageClassName: 'fast' }))
    const status = { phase: 'Bound' as const, capacity: { storage: '1Gi' } }
    const bound = await client.update(persistentVolumeClaims, { ...created, status }, { subresource: 'status' })
    const larger = { ...bound, spec: { ...bound.spec, resources: { requests: { storage: '2Gi' } } } }
    const update = client.update(persistentVolumeClaims, larger)
    if (problem === undefined) expect((await update).spec?.resources?.requests?.storage).toBe('2Gi')
    else expect((await refusal(update)).message).toBe(problem)
  })
})

describe('StorageObjectInUseProtection', () => {
  it('holds claims and volumes', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(persistentVolumeClaims, claim('c'))
    expect(metadata.finalizers).toEqual(['kubernetes.io/pvc-protection'])
    const volume = await client.create(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'v' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
    })
    expect(volume.metadata.finalizers).toEqual(['kubernetes.io/pv-protection'])
  })
})

describe('Priority', () => {
  it('knows the classes of the system, which every cluster has', async () => {
    const { client } = await startTestCore()
    const { items } = await client.list(priorityClasses, {})
    expect(items.map(({ metadata, value }) => [metadata.name, value])).toEqual([
      ['system-cluster-critical', 2_000_000_000],
      ['system-node-critical', 2_000_001_000],
    ])
  })

  it('gives pods the priority of their class, or of the default one', async () => {
    const { client } = await startTestCore()
    await client.create(priorityClasses, priorityClass('high', 1000))
    await client.create(priorityClasses, priorityClass('usual', 10, true))
    expect((await client.create(pods, pod('a', {}, { priorityClassName: 'high' }))).spec.priority).toBe(1000)
    expect((await client.create(pods, pod('b'))).spec).toMatchObject({ priority: 10, priorityClassName: 'usual' })
    expect((await refusal(client.create(pods, pod('c', {}, { priorityClassName: 'low' })))).message).toBe(
      'pods "c" is forbidden: no PriorityClass with name low was found',
    )
  })

  it('gives the priority of the default class as it is at the time', async () => {
    const { client } = await startTestCore()
    const priorityOf = async (name: string) => (await client.create(pods, pod(name))).spec.priority
    expect(await priorityOf('a')).toBe(0)
    await client.create(priorityClasses, priorityClass('usual', 10, true))
    expect([await priorityOf('b'), await priorityOf('c')]).toEqual([10, 10])
    await client.delete(priorityClasses, { name: 'usual' })
    expect(await priorityOf('d')).toBe(0)
    await client.create(priorityClasses, priorityClass('usual', 20, true))
    expect(await priorityOf('e')).toBe(20)
  })

  it('lets one class be the default', async () => {
    const { client } = await startTestCore()
    const first = await client.create(priorityClasses, priorityClass('first', 1, true))
    expect(await refusal(client.create(priorityClasses, priorityClass('second', 2, true)))).toMatchObject({
      code: 403,
      message:
        'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass first is already marked as default. Only one default can exist',
    })
    await client.update(priorityClasses, { ...first, description: 'still the default' })
  })
})

describe('RuntimeClass', () => {
  const vm = (more: Partial<RuntimeClass>): RuntimeClass => ({
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'vm' },
    handler: 'vm',
    ...more,
  })
  const inVm = { runtimeClassName: 'vm' }

  it('gives pods its overhead, and leads them to its nodes', async () => {
    const { client } = await startTestCore()
    const toleration = { key: 'vm', operator: 'Exists' as const }
    const scheduling = { nodeSelector: { vm: 'yes' }, tolerations: [toleration] }
    await client.create(runtimeClasses, vm({ overhead: { podFixed: { cpu: '100m' } }, scheduling }))
    const { spec } = await client.create(pods, pod('a', {}, { ...inVm, nodeSelector: { disk: 'ssd' } }))
    expect(spec).toMatchObject({ overhead: { cpu: '100m' }, nodeSelector: { disk: 'ssd', vm: 'yes' } })
    expect(spec.tolerations).toContainEqual(toleration)
  })

  it('keeps of tolerations of a pod and its class those that the others do not cover', async () => {
    const { client } = await startTestCore({ disabledAdmission: ['DefaultTolerationSeconds'] })
    const tolerating = (key: string) => ({ key, operator: 'Exists' as const })
    const tolerations = [tolerating('vm'), { ...tolerating('disk'), effect: 'NoSchedule' as const }]
    await client.create(runtimeClasses, vm({ scheduling: { tolerations } }))
    const own = [{ ...tolerating('vm'), effect: 'NoSchedule' as const }, tolerating('disk')]
    const { spec } = await client.create(pods, pod('a', {}, { ...inVm, tolerations: own }))
    expect(spec.tolerations).toEqual([tolerating('disk'), tolerating('vm')])
  })

  it.each<readonly [string, Partial<RuntimeClass> | undefined, object, string]>([
    ['a class that is not there', undefined, inVm, 'pod rejected: RuntimeClass "vm" not found'],
    [
      'nodes that the class is not on',
      { scheduling: { nodeSelector: { vm: 'yes' } } },
      { ...inVm, nodeSelector: { vm: 'no' } },
      'conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no',
    ],
    [
      'another overhead',
      { overhead: { podFixed: { cpu: '100m' } } },
      { ...inVm, overhead: { cpu: '1' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      'overhead of its own',
      {},
      { overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
  ])('refuses %s', async (_, definition, spec, why) => {
    const { client } = await startTestCore()
    if (definition !== undefined) await client.create(runtimeClasses, vm(definition))
    expect((await refusal(client.create(pods, pod('a', {}, spec)))).message).toBe(`pods "a" is forbidden: ${why}`)
  })
})
