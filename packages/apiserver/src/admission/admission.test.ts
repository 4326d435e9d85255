import { configMaps, type Node, namespaces, nodes, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { configMap, pod, refusal, startTestCore } from '../testing/test-core.ts'
import type { AdmissionPlugin } from './admission.ts'

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

describe('NamespaceLifecycle', () => {
  it('lets nothing into a namespace that is not there', async () => {
    const { client } = await startTestCore()
    expect(await refusal(client.create(configMaps, configMap('a', {}, { namespace: 'nowhere' })))).toEqual({
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
    })
  })

  it('lets nothing new into a namespace that is ending, and says why in a cause', async () => {
    const { client } = await startTestCore()
    await client.create(namespaces, namespace('team'))
    await client.create(configMaps, configMap('old', {}, { namespace: 'team' }))
    await client.delete(namespaces, { name: 'team' })
    const error = await client.create(configMaps, configMap('a', {}, { namespace: 'team' })).catch((caught) => caught)
    expect(error.status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace team because it is being terminated',
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace team is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    })
    await client.update(configMaps, configMap('old', { still: 'changes' }, { namespace: 'team' }))
  })

  it.each(['default', 'kube-system', 'kube-public'])('keeps %s', async (name) => {
    const { client } = await startTestCore()
    expect(await refusal(client.delete(namespaces, { name }))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })
})

describe('nodes', () => {
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  const node = (spec: Node['spec'] = {}): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec })

  it('are tainted as not ready when they are created, and not again when that was taken off', async () => {
    const { client } = await startTestCore()
    const created = await client.create(nodes, node())
    expect(created.spec?.taints).toEqual([notReady])
    const updated = await client.update(nodes, { ...created, spec: {} })
    expect(updated.spec?.taints).toBeUndefined()
  })

  it('keep the taints they come with, and get none twice', async () => {
    const { client } = await startTestCore()
    const own = { key: 'gpu', effect: 'NoSchedule' } as const
    expect((await client.create(nodes, node({ taints: [own] }))).spec?.taints).toEqual([own, notReady])
    const other = { ...node({ taints: [{ ...notReady, effect: 'NoSchedule' }] }), metadata: { name: 'b' } }
    expect((await client.create(nodes, other)).spec?.taints).toEqual([notReady])
  })
})

describe('what pods are given', () => {
  it('is given again when an update leaves it out', async () => {
    const { client } = await startTestCore()
    const own = { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' } as const
    const created = await client.create(pods, pod('a', {}, { tolerations: [own] }))
    const updated = await client.update(pods, { ...created, spec: { ...created.spec, tolerations: [own] } })
    expect(updated.spec.tolerations).toEqual(created.spec.tolerations)
  })

  it('stays when an update leaves it out, as far as it is their priority', async () => {
    const { client } = await startTestCore()
    const created = await client.create(pods, pod('a', {}, { priorityClassName: 'system-node-critical' }))
    const { priority, preemptionPolicy, ...spec } = created.spec
    const updated = await client.update(pods, { ...created, spec })
    expect(updated.spec).toMatchObject({ priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' })
    expect(updated.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
  })

  it('is a service account, a priority and some patience with failing nodes', async () => {
    const { client } = await startTestCore()
    const { spec } = await client.create(pods, pod('a'))
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    })
  })

  it('leaves alone what they say themselves', async () => {
    const { client } = await startTestCore()
    const own = { operator: 'Exists' as const }
    const { spec } = await client.create(pods, pod('a', {}, { tolerations: [own] }))
    expect(spec.tolerations).toEqual([own])
  })

  it('is the priority of their class', async () => {
    const { client } = await startTestCore()
    const critical = await client.create(pods, pod('a', {}, { priorityClassName: 'system-node-critical' }))
    expect(critical.spec.priority).toBe(2_000_001_000)
    expect(await refusal(client.create(pods, pod('b', {}, { priorityClassName: 'none' })))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: 'pods "b" is forbidden: no PriorityClass with name none was found',
    })
    const { message } = await refusal(client.create(pods, pod('c', {}, { priority: 7 })))
    expect(message).toContain('the integer value of priority (7) must not be provided in pod spec')
    const patient = await refusal(client.create(pods, pod('d', {}, { preemptionPolicy: 'Never' })))
    expect(patient.message).toContain('the string value of PreemptionPolicy (Never) must not be provided in pod spec')
  })

  it('is in the form that decoding gives, so that an update need not copy it', async () => {
    const { client } = await startTestCore()
    const created = await client.create(pods, pod('a'))
    const keys = Object.keys(created.spec)
    expect(keys.indexOf('tolerations')).toBeLessThan(keys.indexOf('enableServiceLinks'))
  })
})

describe('a plugin that is left out', () => {
  it('does nothing, and the others what they always do', async () => {
    const { client } = await startTestCore({ disabledAdmission: ['ServiceAccount', 'DefaultTolerationSeconds'] })
    const { spec } = await client.create(pods, pod('a'))
    expect(spec).toMatchObject({ priority: 0 })
    expect(spec.serviceAccountName).toBeUndefined()
    expect(spec.tolerations).toBeUndefined()
  })

  it('may be one of upstream that there is not here', async () => {
    const { client } = await startTestCore({ disabledAdmission: ['AlwaysPullImages', 'EventRateLimit'] })
    expect((await client.create(pods, pod('a'))).spec.serviceAccountName).toBe('default')
  })

  it('has to be one that there is', async () => {
    await expect(startTestCore({ disabledAdmission: ['Serviceaccount'] })).rejects.toThrow(
      /^disable-admission-plugins plugin "Serviceaccount" is unknown: there are AlwaysAdmit, /,
    )
    // Who has made a signing request is told whatever is left out.
    await expect(startTestCore({ disabledAdmission: ['CertificateRequester'] })).rejects.toThrow('is unknown')
  })
})

describe('a plugin that is off by default', () => {
  it('is used where it is asked for', async () => {
    const { client } = await startTestCore({ enabledAdmission: ['AlwaysPullImages', 'AlwaysAdmit'] })
    const { spec } = await client.create(pods, pod('a', {}, { containers: [{ name: 'main', image: 'nginx:1.27' }] }))
    expect(spec.containers[0]?.imagePullPolicy).toBe('Always')
  })

  it('has to be one that there is, and not be left out as well', async () => {
    for (const name of ['Namespaceexists', 'EventRateLimit']) {
      await expect(startTestCore({ enabledAdmission: [name] })).rejects.toThrow(
        `enable-admission-plugins plugin "${name}" is unknown`,
      )
    }
    const both = ['PodSecurity', 'AlwaysPullImages']
    await expect(startTestCore({ enabledAdmission: both, disabledAdmission: both })).rejects.toThrow(
      '[AlwaysPullImages PodSecurity] in enable-admission-plugins and disable-admission-plugins overlapped',
    )
  })

  it('refuses everything where it is AlwaysDeny', async () => {
    const { client, store } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const denying = await startTestCore({ store, enabledAdmission: ['AlwaysDeny'] })
    const denied = {
      code: 403,
      reason: 'Forbidden',
      message: 'configmaps "a" is forbidden: admission control is denying all modifications',
    }
    expect(await refusal(denying.client.update(configMaps, configMap('a', { b: 'c' })))).toEqual(denied)
    expect(await refusal(denying.client.delete(configMaps, { namespace: 'default', name: 'a' }))).toEqual(denied)
  })

  it('may be one of upstream that is on there, for what is not served here', async () => {
    const { client } = await startTestCore({ enabledAdmission: ['ClusterTrustBundleAttest', 'Priority'] })
    expect((await client.create(pods, pod('a'))).spec.priority).toBe(0)
  })
})

describe('the chain', () => {
  it('lets every plugin change the object in turn, and judge it only when it is valid', async () => {
    const seen: string[] = []
    const adding = (name: string): AdmissionPlugin => ({
      name,
      mutate: async (_attributes, object) =>
        object && {
          ...object,
          metadata: { ...object.metadata, labels: { ...object.metadata.labels, [name]: String(seen.length) } },
        },
      validate: ({ operation }, object) => {
        seen.push(`${name} ${operation} ${Object.keys(object?.metadata.labels ?? {})}`)
      },
    })
    const { client } = await startTestCore({ admission: [adding('one'), adding('two')] })
    seen.length = 0
    await client.create(configMaps, configMap('a'))
    expect((await refusal(client.create(configMaps, configMap('-')))).reason).toBe('Invalid')
    await client.delete(configMaps, { namespace: 'default', name: 'a' })
    expect(seen).toEqual(['one CREATE one,two', 'two CREATE one,two', 'one DELETE ', 'two DELETE '])
  })

  it('asks a plugin once for each kind of request whether it is concerned, and only then lets it judge', async () => {
    const asked: string[] = []
    const judged: string[] = []
    const plugin: AdmissionPlugin = {
      name: 'picky',
      concerns({ operation, definition, subresource }) {
        asked.push(`${operation} ${definition.plural} ${subresource}`)
        return operation === 'CREATE' && definition.plural === 'configmaps'
      },
      mutate(_attributes, object) {
        judged.push(`mutates ${object?.metadata.name}`)
        return object
      },
      validate(_attributes, object) {
        judged.push(`validates ${object?.metadata.name}`)
      },
    }
    const { client } = await startTestCore({ admission: [plugin] })
    asked.length = 0
    judged.length = 0
    for (const name of ['a', 'b']) {
      await client.create(configMaps, configMap(name))
      await client.update(configMaps, configMap(name, { key: 'value' }))
    }
    await client.delete(configMaps, { namespace: 'default', name: 'a' })
    expect(asked).toEqual(['CREATE configmaps ', 'UPDATE configmaps ', 'DELETE configmaps '])
    expect(judged).toEqual(['mutates a', 'validates a', 'mutates b', 'validates b'])
  })
})
