import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../../../freeze.ts'
import { type Pod, pods } from './pod.ts'
import { storedContainer, storedPod, withStatus } from './pod-fixtures.ts'
import { computeQos } from './pod-qos.ts'
import type { PodCondition, PodPhase } from './pod-status.ts'

const { strategy } = pods

describe('a new pod', () => {
  it('is pending, whatever it says of itself', () => {
    const pod = withStatus(storedPod(), { phase: 'Running', podIP: '10.0.0.1' })
    expect(strategy.prepareForCreate?.(deepFreeze(pod), 0).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' })
  })

  it('says that it waits for its gates', () => {
    const pod = strategy.prepareForCreate?.(storedPod({ schedulingGates: [{ name: 'a.b/wait' }] }), 0)
    expect(pod?.status?.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
    ])
  })

  it('has its own labels in the selectors that ask for them', () => {
    const labelSelector = { matchLabels: { app: 'web' } }
    const term = { topologyKey: 'zone', labelSelector, matchLabelKeys: ['hash'], mismatchLabelKeys: ['tenant'] }
    const spread = {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector,
      matchLabelKeys: ['hash', 'none'],
    }
    const pod = storedPod({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      topologySpreadConstraints: [spread],
    })
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { hash: 'x', tenant: 't' } } }
    const { spec } = strategy.prepareForCreate?.(deepFreeze(labelled), 0) ?? pod
    const hash = { key: 'hash', operator: 'In', values: ['x'] }
    expect(spec.topologySpreadConstraints?.[0]?.labelSelector?.matchExpressions).toEqual([hash])
    const [merged] = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    expect(merged?.labelSelector?.matchExpressions).toEqual([hash, { key: 'tenant', operator: 'NotIn', values: ['t'] }])
    expect(strategy.validate?.({ ...labelled, spec }, 'v1')).toEqual([])
  })

  it.each([
    ['runtime/default', { type: 'RuntimeDefault' }],
    ['unconfined', { type: 'Unconfined' }],
    ['localhost/mine', { type: 'Localhost', localhostProfile: 'mine' }],
    ['mine', undefined],
  ])('has its AppArmor profile %s by its annotation', (value, appArmorProfile) => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/web': value }
    const profileOf = (pod: Pod) =>
      strategy.prepareForCreate?.({ ...pod, metadata: { ...pod.metadata, annotations } }, 0).spec.containers[0]
        ?.securityContext?.appArmorProfile
    expect(profileOf(storedPod())).toEqual(appArmorProfile)
    expect(profileOf(storedPod({ os: { name: 'windows' } }))).toBeUndefined()
    const own = { type: 'Localhost', localhostProfile: 'own' } as const
    expect(profileOf(storedContainer({ securityContext: { appArmorProfile: own } }))).toEqual(own)
    expect(profileOf(storedPod({ securityContext: { appArmorProfile } }))).toBeUndefined()
  })

  it.each(['runtime/default', 'unconfined', 'localhost/mine', 'mine'])(
    'is warned of its annotation for the AppArmor profile %s, unless its fields say as much already',
    (value) => {
      const key = 'container.apparmor.security.beta.kubernetes.io/web'
      const warningsOf = (pod: Pod) => {
        const annotated = { ...pod, metadata: { ...pod.metadata, annotations: { [key]: value } } }
        return strategy.warnings?.(strategy.prepareForCreate?.(annotated, 0) ?? annotated, undefined)
      }
      const warning = `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`
      expect(warningsOf(storedPod())).toEqual([warning])
      expect(warningsOf(storedPod({ os: { name: 'windows' } }))).toEqual([])
      const own = { type: 'Localhost', localhostProfile: 'mine' } as const
      expect(warningsOf(storedContainer({ securityContext: { appArmorProfile: own } }))).toEqual([])
      const ofPod = warningsOf(storedPod({ securityContext: { appArmorProfile: own } }))
      expect(ofPod).toEqual(value === 'localhost/mine' ? [] : [warning])
    },
  )

  it('may not bring ephemeral containers along', () => {
    const pod = storedPod({ ephemeralContainers: [{ name: 'debug', image: 'busybox:1' }] })
    expect(strategy.validateCreate?.(pod, 'v1')).toMatchObject([
      { field: 'spec.ephemeralContainers', message: 'Forbidden: cannot be set on create' },
    ])
    expect(strategy.validate?.(pod, 'v1')).toEqual([])
  })

  it('gets warnings for what is hardly meant', () => {
    const pod = storedContainer({
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
        { name: 'A', value: '$(A)3' },
        { name: 'a"b', value: '1' },
        { name: 'a"b', value: '2' },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 80 }],
    })
    const named = { ...pod, metadata: { ...pod.metadata, name: 'web.example' } }
    expect(strategy.warnings?.(named, undefined)).toEqual([
      expect.stringMatching(/^metadata.name: this is used in the Pod's hostname/),
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
      'spec.containers[0].env[4]: hides previous definition of "a\\"b", which may be dropped when using apply',
      'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    ])
    expect(strategy.warnings?.(named, named)).toEqual([])
  })
})

describe('quality of service', () => {
  const full = { cpu: '1', memory: '1Gi' }
  it.each([
    ['nothing asked for', {}, 'BestEffort'],
    ['limits only, which are requests too', { limits: full }, 'Guaranteed'],
    [
      'both the same, written differently',
      { limits: { cpu: '1000m', memory: '1Gi' }, requests: { cpu: '1', memory: '1024Mi' } },
      'Guaranteed',
    ],
    ['less requested than allowed', { limits: full, requests: { cpu: '500m', memory: '1Gi' } }, 'Burstable'],
    ['one resource only', { limits: { cpu: '1' } }, 'Burstable'],
    ['requests only', { requests: full }, 'Burstable'],
    ['resources that do not count', { limits: { 'ephemeral-storage': '1Gi' } }, 'BestEffort'],
    ['zero', { requests: { cpu: '0' } }, 'BestEffort'],
  ])('%s', (_what, resources, expected) => {
    expect(computeQos(storedContainer({ resources }).spec)).toBe(expected)
  })

  it('is that of all containers, init containers too', () => {
    const web = { name: 'web', image: 'a:1', resources: { limits: full } }
    expect(computeQos(storedPod({ containers: [web], initContainers: [{ name: 'init', image: 'a:1' }] }).spec)).toBe(
      'Burstable',
    )
    const initContainers = [{ name: 'init', image: 'a:1', resources: { limits: full } }]
    expect(computeQos(storedPod({ containers: [web], initContainers }).spec)).toBe('Guaranteed')
  })
})

describe('the grace period of a delete', () => {
  it.each<[string, number | undefined, PodPhase, number | undefined, number]>([
    ['node-1', 45, 'Running', undefined, 45],
    ['node-1', 45, 'Running', 5, 5],
    ['node-1', 45, 'Running', 0, 0],
    ['node-1', 45, 'Running', -1, 1],
    ['node-1', undefined, 'Running', undefined, 30],
    ['', 45, 'Pending', undefined, 0],
    ['', 45, 'Pending', 10, 0],
    ['node-1', 45, 'Succeeded', undefined, 0],
    ['node-1', 45, 'Failed', 10, 0],
  ])('on %j with %s s, %s, asked for %s: %s', (nodeName, terminationGracePeriodSeconds, phase, requested, expected) => {
    const spec = { nodeName, ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }) }
    expect(strategy.gracePeriodSeconds?.(withStatus(storedPod(spec), { phase }), requested)).toBe(expected)
  })
})

describe('a status update', () => {
  it('changes nothing but the status', () => {
    const old = withStatus(storedPod(), { phase: 'Pending', qosClass: 'BestEffort', observedGeneration: 2 })
    const written = withStatus(storedPod({ nodeName: 'elsewhere' }), { phase: 'Running' })
    const prepared = strategy.prepareForStatusUpdate?.(deepFreeze(written), deepFreeze(old), 0)
    expect(prepared).toEqual({ ...old, status: { phase: 'Running', qosClass: 'BestEffort', observedGeneration: 2 } })
  })

  it('keeps what generation a condition is about where it does not say so', () => {
    const condition = (type: string, observedGeneration?: number): PodCondition => ({
      type,
      status: 'True',
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
    })
    const statusWith = (...conditions: readonly PodCondition[]) => withStatus(storedPod(), { conditions })
    const old = statusWith(condition('Ready', 3), condition('example.com/a', 1), condition('example.com/a', 2))
    const written = statusWith(
      condition('example.com/a'),
      condition('Ready', 4),
      condition('example.com/b'),
      condition('example.com/a'),
      condition('example.com/a'),
    )
    const prepared = strategy.prepareForStatusUpdate?.(deepFreeze(written), deepFreeze(old), 0)
    expect(prepared?.status?.conditions).toEqual([
      condition('example.com/a', 1),
      condition('Ready', 4),
      condition('example.com/b'),
      condition('example.com/a', 2),
      condition('example.com/a'),
    ])
  })

  it.each([
    [{ podIP: '10.0.0.1' }, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }],
    [{ podIPs: [{ ip: '10.0.0.1' }] }, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }],
    [
      { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.1' }] },
      { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] },
    ],
  ])('makes the two fields of addresses agree: %j', (addresses, expected) => {
    const old = storedPod()
    const prepared = strategy.prepareForStatusUpdate?.(withStatus(old, { phase: 'Running', ...addresses }), old, 0)
    expect(prepared?.status).toEqual({ phase: 'Running', ...expected })
  })
})

it('selects pods by the fields upstream knows', () => {
  const pod = withStatus(storedPod({ nodeName: 'n', hostNetwork: true, serviceAccountName: 's' }), {
    phase: 'Running',
    podIPs: [{ ip: '10.0.0.1' }],
  })
  const values = Object.fromEntries(Object.entries(pods.selectableFields).map(([name, read]) => [name, read(pod)]))
  expect(values).toEqual({
    'spec.host': 'n',
    'spec.hostNetwork': 'true',
    'spec.nodeName': 'n',
    'spec.restartPolicy': 'Always',
    'spec.schedulerName': 'default-scheduler',
    'spec.serviceAccountName': 's',
    'status.nominatedNodeName': '',
    'status.phase': 'Running',
    'status.podIP': '10.0.0.1',
  })
})
