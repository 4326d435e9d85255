import {
  type ApiService,
  apiServices,
  configMaps,
  type Namespace,
  namespaces,
  type Pod,
  pods,
  type Resource,
} from '@coracle/api'
import { createFakeClient, type FakeClient, type Widget, widget, widgets } from '@coracle/client/testing'
import { createManager, type Manager } from '@coracle/controller-runtime'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countReads } from '../testing/count-reads.ts'
import { pod } from '../testing/objects.ts'
import { createNamespaceController } from './controller.ts'

describe('the namespace controller', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager
  let resources: readonly Resource[]
  let listeners: (() => void)[]
  /** What other servers have. */
  let elsewhere: readonly Resource[]

  beforeEach(async () => {
    environment = virtualEnvironment()
    client = createFakeClient(environment)
    manager = createManager({ client, environment })
    resources = [namespaces, configMaps, pods]
    listeners = []
    elsewhere = []
    const onResourcesChange = (listener: () => void) => {
      listeners.push(listener)
      return () => {}
    }
    const discover = async () =>
      [...resources, ...elsewhere].map((resource) => ({
        ...resource,
        singular: '',
        shortNames: [],
        categories: [],
        verbs: ['list', 'delete', 'deletecollection'] as const,
        subresources: [],
        isPreferredVersion: true,
      }))
    manager.add(createNamespaceController({ resources: () => resources, onResourcesChange, discover }))
    await manager.start()
    // The finalizer in metadata keeps the namespace where the test can look at it.
    await client.create<Namespace>(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default', finalizers: ['example.com/look'] },
      spec: { finalizers: ['kubernetes', 'example.com/other'] },
      status: { phase: 'Active' },
    } as Namespace)
    await environment.clock.settle()
  })

  afterEach(() => manager.stop())

  const configMap = (name: string, finalizers?: readonly string[], namespace = 'default') =>
    client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, finalizers } })
  const current = () => client.get(namespaces, { name: 'default' })
  const end = async () => {
    await client.delete(namespaces, { name: 'default' })
    await environment.clock.settle()
  }
  const release = async (resource: Resource, name: string) => {
    const key = { namespace: 'default', name }
    await client.patch(resource, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    await environment.clock.settle()
  }

  it('leaves namespaces alone that are not being deleted', async () => {
    await configMap('a')
    await environment.clock.advance('1m')
    expect(client.stored(configMaps)).toHaveLength(1)
  })

  it('deletes what is in the namespace, and nothing else, and takes its finalizer off', async () => {
    await configMap('a')
    await configMap('b', undefined, 'elsewhere')
    await end()
    expect(client.stored(configMaps).map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect((await current()).spec?.finalizers).toEqual(['example.com/other'])
    expect(client.calls.filter(({ subresource }) => subresource === 'finalize')).toHaveLength(1)
  })

  it('says what it waits for, and goes on as soon as that is gone', async () => {
    await configMap('held', ['example.com/wait'])
    await end()
    const { spec, status } = await current()
    expect(spec?.finalizers).toContain('kubernetes')
    expect(status?.phase).toBe('Terminating')
    expect(status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
      [
        'NamespaceDeletionGroupVersionParsingFailure',
        'False',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ],
      [
        'NamespaceDeletionContentFailure',
        'False',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ],
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances',
      ],
    ])
    await release(configMaps, 'held')
    const emptied = await current()
    expect(emptied.spec?.finalizers).toEqual(['example.com/other'])
    expect(emptied.status?.conditions?.map(({ status }) => status)).toEqual(Array(5).fill('False'))
  })

  it('looks at none of what is left when something is gone', async () => {
    for (let index = 0; index < 100; index++) await configMap(`c${index}`)
    const reads = countReads(manager.informer(configMaps))
    await end()
    expect(client.stored(configMaps)).toHaveLength(0)
    // Those that were deleted, each once: nobody looks at an object again as long as another is left.
    expect(reads.taken()).toBeLessThanOrEqual(100)
  })

  it('deletes pods before anything else', async () => {
    const { metadata, ...rest } = pod('p')
    await client.create<Pod>(pods, {
      ...rest,
      metadata: { namespace: 'default', name: 'p', finalizers: ['example.com/wait'] },
    })
    await configMap('a')
    await end()
    expect(client.stored(configMaps)).toHaveLength(1)
    await release(pods, 'p')
    expect(client.stored(configMaps)).toHaveLength(0)
  })

  it('says what could not be deleted, and tries again', async () => {
    await configMap('a')
    const recover = client.intercept(({ verb, plural }) => {
      if (verb === 'deletecollection' && plural === 'configmaps') throw new Error('disk on fire')
    })
    await end()
    expect((await current()).status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'NamespaceDeletionContentFailure',
        status: 'True',
        message: 'Failed to delete all resource types, 1 remaining: disk on fire',
      }),
    )
    recover()
    await environment.clock.advance('5s')
    expect(client.stored(configMaps)).toHaveLength(0)
  })

  const serve = (served: readonly Resource[]) => {
    resources = served
    for (const listener of listeners) listener()
  }

  it('goes on as soon as the last object of a kind is gone that is served since later', async () => {
    serve([...resources, widgets])
    await client.create<Widget>(
      widgets,
      widget('held', { metadata: { name: 'held', finalizers: ['example.com/wait'] } }),
    )
    await end()
    expect((await current()).spec?.finalizers).toContain('kubernetes')
    await release(widgets, 'held')
    expect((await current()).spec?.finalizers).toEqual(['example.com/other'])
  })

  it('no longer watches a kind that is not served any more', async () => {
    const watches = () => client.calls.filter(({ verb, plural }) => verb === 'watch' && plural === 'widgets').length
    serve([...resources, widgets])
    await environment.clock.settle()
    expect(watches()).toBe(1)
    serve(resources.filter(({ plural }) => plural !== 'widgets'))
    await environment.clock.settle()
    client.dropWatches()
    await environment.clock.advance('1m')
    expect(watches()).toBe(1)
    serve([...resources, widgets])
    await environment.clock.settle()
    expect(watches()).toBe(2)
  })

  it('empties kinds that are served since later', async () => {
    await client.create<Widget>(widgets, widget('w'))
    resources = [...resources, widgets]
    await end()
    expect(client.stored(widgets)).toHaveLength(0)
  })

  const createApiService = (isAvailable: boolean) => {
    const { group, version } = widgets
    return client.create<ApiService>(apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        service: { namespace: 'elsewhere', name: 'api' },
      },
      status: { conditions: [{ type: 'Available', status: isAvailable ? 'True' : 'False' }] },
    } as ApiService)
  }

  it('deletes what other servers have in the namespace', async () => {
    await createApiService(true)
    elsewhere = [widgets]
    await client.create<Widget>(widgets, widget('w'))
    await end()
    expect(client.stored(widgets)).toHaveLength(0)
    expect((await current()).spec?.finalizers).toEqual(['example.com/other'])
  })

  it('keeps the namespace while nobody can say what another server has in it', async () => {
    const { metadata } = await createApiService(false)
    await end()
    const { spec, status } = await current()
    expect(spec?.finalizers).toContain('kubernetes')
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'NamespaceDeletionDiscoveryFailure',
        status: 'True',
        reason: 'DiscoveryFailed',
        message:
          'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: example.com/v1: stale GroupVersion discovery: example.com/v1',
      }),
    )
    await client.delete(apiServices, { name: metadata.name ?? '' })
    await environment.clock.advance('5s')
    expect((await current()).spec?.finalizers).toEqual(['example.com/other'])
  })
})
