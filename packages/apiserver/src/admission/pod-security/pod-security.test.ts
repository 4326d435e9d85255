import {
  type CronJob,
  cronJobs,
  type Deployment,
  deployments,
  type KubernetesObject,
  type Namespace,
  namespaces,
  type Pod,
  pods,
  podTemplates,
  type Resource,
} from '@coracle/api'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RequestContext } from '../../request.ts'
import { admin, pod, refusal, startTestCore, type TestCore } from '../../testing/test-core.ts'
import { checkedPodsMax } from './existing-pods.ts'

let test: TestCore
/** Nobody makes accounts for pods here. */
const withoutAccounts = { disabledAdmission: ['ServiceAccount'] }

/** What was told beside the answers, since it was last emptied. */
let warnings: string[]
let annotations: Record<string, string>
beforeEach(async () => {
  test = await startTestCore(withoutAccounts)
  warnings = []
  annotations = {}
})

const listening = (): RequestContext => ({
  ...admin,
  warn: (text) => warnings.push(text),
  annotate: (key, value) => {
    annotations[key] ??= value
  },
})
const options = { dryRun: false, fieldManager: '', fieldValidation: 'Warn' } as const

const create = <T extends KubernetesObject>(resource: Resource<T>, object: T): Promise<unknown> =>
  test.registry(resource).create(listening(), object.metadata.namespace ?? '', object, options)
const update = <T extends KubernetesObject>(resource: Resource<T>, object: T): Promise<unknown> => {
  const { name = '', namespace = '' } = object.metadata
  return test.registry(resource).update(listening(), namespace, name, '', object, options)
}

/** A namespace with these labels, given without their prefix. */
function namespace(labels: Readonly<Record<string, string>>, name = 'team'): Namespace {
  const prefixed = Object.entries(labels).map(([label, value]) => [`pod-security.kubernetes.io/${label}`, value])
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: Object.fromEntries(prefixed) } }
}

const inTeam = { namespace: 'team' }
const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }
const violation = 'privileged (container "c" must not set securityContext.privileged=true)'
const warning = `would violate PodSecurity "baseline:latest": ${violation}`

describe('pods', () => {
  it('that violate what their namespace enforces are refused, without a warning', async () => {
    await create(namespaces, namespace({ enforce: 'baseline', warn: 'restricted' }))
    expect(await refusal(create(pods, pod('a', inTeam, privileged)))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `pods "a" is forbidden: violates PodSecurity "baseline:latest": ${violation}`,
    })
    expect(warnings).toEqual([])
  })

  it('may do everything where labels do not say otherwise', async () => {
    await create(namespaces, namespace({}))
    await create(pods, pod('a', inTeam, privileged))
    await create(namespaces, namespace({ enforce: 'privileged' }, 'other'))
    await create(pods, pod('a', { namespace: 'other' }, privileged))
    expect(warnings).toEqual([])
  })

  it('are refused by the name that is made for them', async () => {
    await create(namespaces, namespace({ enforce: 'baseline' }))
    const made = pod('', { ...inTeam, generateName: 'web-' }, privileged)
    const { name: _, ...metadata } = made.metadata
    expect((await refusal(create(pods, { ...made, metadata }))).message).toMatch(/^pods "web-\w+" is forbidden: /)
  })

  it('that would violate what is warned of and audited are stored, and told of', async () => {
    await create(namespaces, namespace({ audit: 'baseline', 'audit-version': 'v1.30', warn: 'baseline' }))
    await create(pods, pod('a', inTeam, privileged))
    expect(warnings).toEqual([warning])
    expect(annotations).toEqual({
      'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
      'pod-security.kubernetes.io/audit-violations': `would violate PodSecurity "baseline:v1.30": ${violation}`,
    })
  })

  it('are judged anew when images change, and not when something else does', async () => {
    await create(namespaces, namespace({}))
    const created = (await test.client.create(pods, pod('a', inTeam, privileged))) as Pod
    await test.client.update(namespaces, namespace({ enforce: 'baseline' }))
    const labelled = { ...created, metadata: { ...created.metadata, labels: { seen: 'yes' } } }
    const stored = (await test.client.update(pods, labelled)) as Pod
    const [container] = stored.spec.containers
    const changed = { ...stored, spec: { ...stored.spec, containers: [{ ...container, image: 'j' }] } } as Pod
    expect((await refusal(update(pods, changed))).message).toContain('violates PodSecurity "baseline:latest"')
  })

  it('get no containers for debugging that violate it', async () => {
    await create(namespaces, namespace({ enforce: 'baseline' }))
    await create(pods, pod('a', inTeam))
    const add = (securityContext: object) =>
      test.client.patch(
        pods,
        { namespace: 'team', name: 'a' },
        {
          type: 'strategic',
          body: { spec: { ephemeralContainers: [{ name: 'debug', image: 'i', securityContext }] } },
        },
        { subresource: 'ephemeralcontainers' },
      )
    expect((await refusal(add({ privileged: true }))).message).toBe(
      'pods "a" is forbidden: violates PodSecurity "baseline:latest": privileged (container "debug" must not set securityContext.privileged=true)',
    )
    await add({ privileged: false })
  })

  it('are bound to nodes and evicted whatever is enforced by then', async () => {
    await create(namespaces, namespace({}))
    await create(pods, pod('a', inTeam, privileged))
    await test.client.update(namespaces, namespace({ enforce: 'baseline' }))
    const key = { namespace: 'team', name: 'a' }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: key, target: { kind: 'Node', name: 'n1' } }
    await test.client.createSubresource(pods, key, 'binding', binding)
    expect((await test.client.get(pods, key)).spec.nodeName).toBe('n1')
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key }
    await test.client.createSubresource(pods, key, 'eviction', eviction)
    expect((await test.client.get(pods, key)).metadata.deletionTimestamp).toBeDefined()
  })

  it('may be left to do everything by leaving the plugin out', async () => {
    test = await startTestCore({ disabledAdmission: ['PodSecurity', 'ServiceAccount'] })
    await create(namespaces, namespace({ enforce: 'nonsense' }))
    await create(pods, pod('a', inTeam, privileged))
  })
})

describe('what makes pods', () => {
  const metadata = { name: 'web', namespace: 'team' }
  const template = { metadata: { labels: { app: 'web' } }, spec: privileged }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { selector: { matchLabels: { app: 'web' } }, template },
  } as unknown as Deployment
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec: {
      schedule: '@daily',
      jobTemplate: { spec: { template: { spec: { ...privileged, restartPolicy: 'Never' } } } },
    },
  } as unknown as CronJob
  const podTemplate = { apiVersion: 'v1', kind: 'PodTemplate', metadata, template } as unknown as KubernetesObject

  it.each<[string, Resource, KubernetesObject]>([
    ['a Deployment', deployments, deployment],
    ['a CronJob', cronJobs, cronJob],
    ['a PodTemplate', podTemplates, podTemplate],
  ])('is stored and warned of: %s', async (_, resource, object) => {
    await create(namespaces, namespace({ enforce: 'baseline' }))
    await create(resource, object)
    expect(warnings).toEqual([warning])
  })

  it('is warned of again at each change, but not when its scale or its status changes', async () => {
    await create(namespaces, namespace({ enforce: 'baseline' }))
    const created = (await test.client.create(deployments, deployment)) as Deployment
    const key = { namespace: 'team', name: 'web' }
    const registry = test.registry(deployments)
    const patch = { type: 'merge', body: { status: { observedGeneration: 1 } } } as const
    await registry.patch(listening(), key.namespace, key.name, 'status', patch, options)
    expect(warnings).toEqual([])
    const current = (await test.client.get(deployments, key)) as Deployment
    await update(deployments, { ...current, spec: { ...created.spec, replicas: 3 } })
    expect(warnings).toEqual([warning])
  })
})

describe('labels of namespaces', () => {
  const problem = (name: string) =>
    `Namespace "team" is invalid: metadata.labels[pod-security.kubernetes.io/${name}]: Invalid value: `

  it('that cannot be read are refused, unless they were there before', async () => {
    expect(await refusal(create(namespaces, namespace({ enforce: 'all' })))).toEqual({
      code: 422,
      reason: 'Invalid',
      message: `${problem('enforce')}"all": must be one of privileged, baseline, restricted`,
    })
    await create(namespaces, namespace({}))
    expect((await refusal(update(namespaces, namespace({ 'warn-version': '1.30' })))).message).toBe(
      `${problem('warn-version')}"1.30": must be "latest" or "v1.x"`,
    )
    test = await startTestCore({ store: test.store, disabledAdmission: ['PodSecurity', 'ServiceAccount'] })
    await update(namespaces, namespace({ enforce: 'all' }))
    test = await startTestCore({ store: test.store, ...withoutAccounts })
    const { metadata, ...rest } = namespace({ enforce: 'all' })
    await update(namespaces, { ...rest, metadata: { ...metadata, annotations: { seen: 'yes' } } })
    expect((await refusal(create(pods, pod('a', inTeam)))).message).toContain(
      'violates PodSecurity "restricted:latest"',
    )
    expect(annotations['pod-security.kubernetes.io/error']).toMatch(/^Failed to parse policy: metadata\.labels/)
  })

  it('tell what is there and would be refused from now on, when more is enforced', async () => {
    await create(namespaces, namespace({}))
    for (const name of ['c', 'b', 'a']) await create(pods, pod(name, inTeam, privileged))
    await create(pods, pod('net', inTeam, { hostNetwork: true }))
    await create(pods, pod('good', inTeam))
    await update(namespaces, namespace({ enforce: 'baseline' }))
    expect(warnings).toEqual([
      'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 2 other pods): privileged',
      'net: host namespaces',
    ])
    warnings = []
    await update(namespaces, namespace({ enforce: 'baseline', warn: 'restricted' }))
    await update(namespaces, namespace({ enforce: 'privileged' }))
    expect(warnings).toEqual([])
  })

  it('tell it of so many pods, of those first that are not alike', async () => {
    await create(namespaces, namespace({}))
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true }
    await Promise.all(
      Array.from({ length: checkedPodsMax + 1 }, (_, index) =>
        test.client.create(pods, pod(`a-${index}`, { ...inTeam, ownerReferences: [owner] })),
      ),
    )
    await create(pods, pod('z', inTeam, privileged))
    await update(namespaces, namespace({ enforce: 'baseline' }))
    expect(warnings).toEqual([
      `new PodSecurity enforce level only checked against the first ${checkedPodsMax} of ${checkedPodsMax + 2} existing pods`,
      'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:latest"',
      'z: privileged',
    ])
  })
})
