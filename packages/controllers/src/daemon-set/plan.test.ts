import type { ControllerRevision, DaemonSet, Node, Pod } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { isPresent, newRevision, revisionHash } from '../revisions/revision.ts'
import { pod as anyPod, type PodTraits, secondsAgo, startMs } from '../testing/objects.ts'
import type { ObservedDaemonSet } from './observed.ts'
import { planDaemonSet } from './plan.ts'

const labels = { app: 'agent' }

function daemonSet(parts: Partial<DaemonSet['spec']> = {}, status: Partial<DaemonSet['status']> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      namespace: 'default',
      name: 'agent',
      uid: 'ds',
      generation: 3,
      annotations: { 'deprecated.daemonset.template.generation': '2' },
    },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'agent' }] } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
      ...parts,
    },
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0, ...status },
  } as DaemonSet
}

/** The set, created so many seconds ago. */
const createdAgo = (seconds: number, set: DaemonSet): DaemonSet => ({
  ...set,
  metadata: { ...set.metadata, creationTimestamp: secondsAgo(seconds) },
})

const node = (name: string, traits: { labels?: Record<string, string>; taints?: readonly string[] } = {}): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: traits.labels },
    spec: { taints: traits.taints?.map((taint) => ({ key: taint.split(':')[0], effect: taint.split(':')[1] })) },
  }) as Node

const nodes = (count: number) => Array.from({ length: count }, (_, index) => node(`n${index}`))

/** The revision of the present template. */
const present = (owner: DaemonSet): ControllerRevision => {
  const revision = newRevision(owner, 1)
  return { ...revision, metadata: { ...revision.metadata, uid: 'present' } }
}

const hashOf = (owner: DaemonSet) => revisionHash(present(owner))

interface DaemonPodTraits extends PodTraits {
  readonly isUnready?: boolean
  /** Of a former template. */
  readonly isOld?: boolean
  /** The count of template changes that its label names. */
  readonly generation?: string
}

function podOn(owner: DaemonSet, name: string, on: string, traits: DaemonPodTraits = {}): Pod {
  const { isOld = false, isUnready = false, generation, ...rest } = traits
  const hash = isOld ? 'old' : hashOf(owner)
  const counted = generation === undefined ? {} : { 'pod-template-generation': generation }
  return anyPod(name, {
    node: on,
    ...(isUnready ? {} : { readyFor: 60 }),
    ...rest,
    labels: { ...labels, 'controller-revision-hash': hash, ...counted },
  })
}

/** A pod that waits to be bound to a node. */
function unbound(owner: DaemonSet, name: string, to: string, traits: DaemonPodTraits = {}): Pod {
  const pod = podOn(owner, name, '', traits)
  const [create] = plan(owner, { nodes: [node(to)] }).actions
  const { affinity } = ((create?.type === 'create' ? create.object : undefined) as Pod).spec
  return { ...pod, spec: { ...pod.spec, affinity } } as Pod
}

function plan(owner: DaemonSet, parts: Partial<ObservedDaemonSet> = {}) {
  return planDaemonSet(
    {
      daemonSet: owner,
      nodes: [],
      pods: [],
      orphans: [],
      mismatched: [],
      revisions: [present(owner)],
      orphanRevisions: [],
      isRevisionNameTaken: () => false,
      waitAfterFailureMs: () => 0,
      ...parts,
    },
    startMs,
  )
}

/** `+n0` for a pod made for n0, `-web` for a deleted one. */
function shortly(actions: readonly Action[]): readonly string[] {
  return actions.flatMap((action) => {
    if (action.type === 'delete') return [`-${action.key.name}`]
    if (action.type === 'create') return [`+${nodeNameOf(action.object as Pod) ?? action.object.metadata.name}`]
    if (action.type === 'event') return [`!${action.reason}`]
    return [action.type]
  })
}

function nodeNameOf({ spec }: Pod): string | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0]
}

describe('where the pods of a daemon set are', () => {
  const rows: readonly [string, Partial<DaemonSet['spec']['template']['spec']>, Node, 'gets' | 'keeps' | 'none'][] = [
    ['any node', {}, node('n'), 'gets'],
    [
      'a node with the labels selected',
      { nodeSelector: { disk: 'ssd' } },
      node('n', { labels: { disk: 'ssd' } }),
      'gets',
    ],
    ['a node without them', { nodeSelector: { disk: 'ssd' } }, node('n'), 'none'],
    ['another node than the one named', { nodeName: 'other' }, node('n'), 'none'],
    ['the node named', { nodeName: 'n' }, node('n'), 'gets'],
    ['a node with a taint against new pods', {}, node('n', { taints: ['gpu:NoSchedule'] }), 'keeps'],
    ['a node with a taint against all pods', {}, node('n', { taints: ['gpu:NoExecute'] }), 'none'],
    ['a node that would rather have none', {}, node('n', { taints: ['gpu:PreferNoSchedule'] }), 'gets'],
    [
      'a node whose taint is tolerated',
      { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
      node('n', { taints: ['gpu:NoExecute'] }),
      'gets',
    ],
    ['a cordoned node', {}, node('n', { taints: ['node.kubernetes.io/unschedulable:NoSchedule'] }), 'gets'],
    ['a node that is not ready', {}, node('n', { taints: ['node.kubernetes.io/not-ready:NoExecute'] }), 'gets'],
    ['a node out of memory', {}, node('n', { taints: ['node.kubernetes.io/memory-pressure:NoSchedule'] }), 'gets'],
    [
      'a node without network',
      {},
      node('n', { taints: ['node.kubernetes.io/network-unavailable:NoSchedule'] }),
      'keeps',
    ],
    [
      'a node without network, when it uses the host’s',
      { hostNetwork: true },
      node('n', { taints: ['node.kubernetes.io/network-unavailable:NoSchedule'] }),
      'gets',
    ],
  ]

  it.each(rows)('%s', (_, spec, on, expected) => {
    const base = daemonSet()
    const owner = daemonSet({
      template: { ...base.spec.template, spec: { ...base.spec.template.spec, ...spec } },
    })
    const bare = plan(owner, { nodes: [on] })
    expect(shortly(bare.actions)).toEqual(expected === 'gets' ? ['+n'] : [])
    expect(bare.status).toMatchObject({ currentNumberScheduled: 0, numberMisscheduled: 0 })
    const occupied = plan(owner, { nodes: [on], pods: [podOn(owner, 'p', 'n')] })
    expect(shortly(occupied.actions)).toEqual(expected === 'none' ? ['-p'] : [])
    expect(occupied.status).toMatchObject(
      expected === 'gets'
        ? { desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 0 }
        : { desiredNumberScheduled: 0, currentNumberScheduled: 0, numberMisscheduled: 1 },
    )
  })
})

describe('the pod made for a node', () => {
  const [action] = plan(daemonSet(), { nodes: nodes(1) }).actions
  const made = action?.type === 'create' ? (action.object as Pod) : undefined

  const exists = (key: string, effect: string) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect })
  const troubles = [
    exists('not-ready', 'NoExecute'),
    exists('unreachable', 'NoExecute'),
    exists('disk-pressure', 'NoSchedule'),
    exists('memory-pressure', 'NoSchedule'),
    exists('pid-pressure', 'NoSchedule'),
    exists('unschedulable', 'NoSchedule'),
  ]

  it('can be bound to that node only, keeps what the template prefers, and tolerates the node’s troubles', () => {
    const base = daemonSet()
    const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } }]
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'os', operator: 'DoesNotExist' }] }] }
    const nodeAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: required,
    }
    const template = { ...base.spec.template, spec: { ...base.spec.template.spec, affinity: { nodeAffinity } } }
    const [create] = plan(daemonSet({ template } as Partial<DaemonSet['spec']>), { nodes: nodes(1) }).actions
    const { spec } = (create?.type === 'create' ? create.object : {}) as Pod
    expect(spec.affinity).toEqual({
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n0'] }] }],
        },
      },
    })
    expect(spec.tolerations).toEqual(troubles)
  })

  it('tolerates what the template says, and each trouble once', () => {
    const base = daemonSet()
    const own = { key: 'gpu', operator: 'Equal', value: 'a', effect: 'NoSchedule' }
    const [trouble] = troubles
    const others = [
      { ...trouble, effect: 'NoSchedule' },
      { ...trouble, operator: 'Equal' },
      { ...trouble, value: 'b' },
    ]
    const tolerations = [own, trouble, { ...trouble, value: '' }, ...others]
    const spec = { ...base.spec.template.spec, tolerations, hostNetwork: true }
    const template = { ...base.spec.template, spec }
    const [create] = plan(daemonSet({ template } as Partial<DaemonSet['spec']>), { nodes: nodes(1) }).actions
    expect(((create?.type === 'create' ? create.object : {}) as Pod).spec.tolerations).toEqual([
      own,
      ...others,
      ...troubles,
      exists('network-unavailable', 'NoSchedule'),
    ])
  })

  it('says nothing of the count of template changes where the set does not count', () => {
    const set = daemonSet()
    const uncounted = { ...set, metadata: { ...set.metadata, annotations: undefined } }
    const [create] = plan(uncounted, { nodes: nodes(1) }).actions
    expect(create?.type === 'create' && create.object.metadata.labels).toEqual({
      app: 'agent',
      'controller-revision-hash': hashOf(set),
    })
  })

  it('is told of when it is made and when it is not', () => {
    expect(action).toMatchObject({
      because: 'node n0 has no pod of the daemon set',
      events: {
        succeeded: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
        failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
      },
    })
  })

  it('belongs to the daemon set and says which template it is of', () => {
    expect(made?.metadata).toMatchObject({
      generateName: 'agent-',
      labels: { app: 'agent', 'pod-template-generation': '2', 'controller-revision-hash': hashOf(daemonSet()) },
      ownerReferences: [{ kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true }],
    })
  })
})

describe('a node with pods already', () => {
  const owner = daemonSet()
  const surging = daemonSet({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  })
  const patient = daemonSet({ ...surging.spec, minReadySeconds: 10 })
  const rows: readonly [string, DaemonSet, readonly Pod[], readonly string[]][] = [
    [
      'keeps the oldest of several',
      owner,
      [
        podOn(owner, 'young', 'n0', { age: 5 }),
        podOn(owner, 'oldest', 'n0', { age: 9 }),
        podOn(owner, 'mid', 'n0', { age: 7 }),
      ],
      ['-mid', '-young'],
    ],
    [
      'keeps the first by name of several of the same age',
      owner,
      ['c', 'a', 'b'].map((name) => podOn(owner, name, 'n0')),
      ['-b', '-c'],
    ],
    [
      'keeps one that is bound before an older one that is yet to be',
      owner,
      [unbound(owner, 'waiting', 'n0', { age: 9 }), podOn(owner, 'bound', 'n0', { age: 5 })],
      ['-waiting'],
    ],
    ['waits for one to be bound', owner, [unbound(owner, 'p', 'n0')], []],
    ['takes no notice of one that requires no node', owner, [podOn(owner, 'p', '')], ['+n0']],
    [
      'keeps one though surge is allowed, where others are to delete the pods',
      daemonSet({ updateStrategy: { ...surging.spec.updateStrategy, type: 'OnDelete' } }),
      [podOn(surging, 'old', 'n0', { isOld: true, age: 9 }), podOn(surging, 'new', 'n0', { isUnready: true, age: 5 })],
      ['-new'],
    ],
    ['waits for one that is going', owner, [podOn(owner, 'p', 'n0', { isGoing: true })], []],
    [
      'does not wait for one that failed and is kept by a finalizer',
      owner,
      [podOn(owner, 'p', 'n0', { phase: 'Failed', isGoing: true })],
      ['+n0'],
    ],
    [
      'does not wait for one that succeeded and is kept by a finalizer',
      owner,
      [podOn(owner, 'p', 'n0', { phase: 'Succeeded', isGoing: true })],
      ['+n0'],
    ],
    [
      'has no further one beside one that runs while an ended one goes',
      owner,
      [podOn(owner, 'ended', 'n0', { phase: 'Failed', isGoing: true, age: 9 }), podOn(owner, 'p', 'n0')],
      [],
    ],
    [
      'makes one beside one that is going, if it may have two',
      surging,
      [podOn(surging, 'p', 'n0', { isGoing: true })],
      ['+n0'],
    ],
    ['is rid of a failed pod', owner, [podOn(owner, 'p', 'n0', { phase: 'Failed' })], ['!FailedDaemonPod', '-p']],
    [
      'is rid of one that has ended',
      owner,
      [podOn(owner, 'p', 'n0', { phase: 'Succeeded' })],
      ['!SucceededDaemonPod', '-p'],
    ],
    [
      'is rid of one that has ended, and keeps another',
      owner,
      [podOn(owner, 'ended', 'n0', { phase: 'Succeeded', age: 9 }), podOn(owner, 'p', 'n0', { age: 5 })],
      ['!SucceededDaemonPod', '-ended'],
    ],
    [
      'loses the old one when it is not ready and a newer is there',
      surging,
      [
        podOn(surging, 'old', 'n0', { isOld: true, isUnready: true, age: 9 }),
        podOn(surging, 'new', 'n0', { isUnready: true }),
      ],
      ['-old'],
    ],
    [
      'loses the old one when the newer is available',
      surging,
      [podOn(surging, 'old', 'n0', { isOld: true, age: 9 }), podOn(surging, 'new', 'n0')],
      ['-old'],
    ],
    [
      'keeps the old one while the newer has not been ready for long enough',
      patient,
      [podOn(patient, 'old', 'n0', { isOld: true, age: 90 }), podOn(patient, 'new', 'n0', { readyFor: 9 })],
      [],
    ],
    [
      'loses the old one at the very moment when the newer has been ready for long enough',
      patient,
      [podOn(patient, 'old', 'n0', { isOld: true, age: 90 }), podOn(patient, 'new', 'n0', { readyFor: 10 })],
      ['-old'],
    ],
    [
      'keeps the oldest old one and the oldest new one of more than two',
      surging,
      [
        podOn(surging, 'old', 'n0', { isOld: true, age: 9 }),
        podOn(surging, 'older', 'n0', { isOld: true, age: 10 }),
        podOn(surging, 'new', 'n0', { isUnready: true, age: 8 }),
        podOn(surging, 'newer', 'n0', { isUnready: true, age: 7 }),
      ],
      ['-newer', '-old'],
    ],
    [
      'has the two while the newer is not yet available',
      surging,
      [podOn(surging, 'old', 'n0', { isOld: true, age: 9 }), podOn(surging, 'new', 'n0', { isUnready: true })],
      [],
    ],
  ]

  it.each(rows)('%s', (_, set, pods, expected) => {
    expect(shortly(plan(set, { nodes: nodes(1), pods }).actions)).toEqual(expected)
  })

  it('leaves a failed pod alone for a while when others failed there before', () => {
    const pods = [podOn(owner, 'p', 'n0', { phase: 'Failed' })]
    const waiting = plan(owner, { nodes: nodes(1), pods, waitAfterFailureMs: () => 4000 })
    expect(waiting).toMatchObject({ actions: [], failedOn: [], requeueAfterMs: 4000 })
    expect(plan(owner, { nodes: nodes(1), pods }).failedOn).toEqual(['n0'])
  })

  it('is looked at again when the first of the failed pods may go', () => {
    const pods = ['n0', 'n1', 'n2'].map((on) => podOn(owner, `on-${on}`, on, { phase: 'Failed' }))
    const waits = new Map([
      ['n0', 4000],
      ['n1', 2000],
      ['n2', 3000],
    ])
    const waitAfterFailureMs = (on: string) => waits.get(on) ?? 0
    expect(plan(owner, { nodes: nodes(3), pods, waitAfterFailureMs }).requeueAfterMs).toBe(2000)
    const starting = podOn(patient, 'starting', 'n3', { readyFor: 9 })
    const observed = { nodes: nodes(4), pods: [...pods, starting], waitAfterFailureMs }
    expect(plan(patient, observed).requeueAfterMs).toBe(1000)
    expect(plan(owner, { nodes: nodes(1), pods: [podOn(owner, 'p', 'n0')] })).not.toHaveProperty('requeueAfterMs')
  })

  it('that is gone loses what was never bound to it', () => {
    const pods = [unbound(owner, 'waiting', 'n0'), podOn(owner, 'bound', 'n0')]
    expect(plan(owner, { pods }).actions).toMatchObject([
      { type: 'delete', key: { name: 'waiting' }, because: 'the pod’s node is gone' },
    ])
  })

  it('that keeps its pod but gets no other keeps one, and is rid of what has ended', () => {
    const tainted = [node('n0', { taints: ['gpu:NoSchedule'] })]
    const two = [podOn(owner, 'a', 'n0', { age: 9 }), podOn(owner, 'b', 'n0', { age: 5 })]
    expect(shortly(plan(owner, { nodes: tainted, pods: two }).actions)).toEqual(['-b'])
    const ended = [podOn(owner, 'p', 'n0', { phase: 'Failed' })]
    expect(shortly(plan(owner, { nodes: tainted, pods: ended }).actions)).toEqual(['!FailedDaemonPod', '-p'])
  })

  it('that is to have no pod waits for one that is going', () => {
    const pods = [podOn(owner, 'p', 'n0', { isGoing: true })]
    expect(plan(owner, { nodes: [node('n0', { taints: ['gpu:NoExecute'] })], pods }).actions).toEqual([])
  })

  it('that gets no new pods gets none beside one that is going, with surge, either', () => {
    const tainted = node('n0', { taints: ['gpu:NoSchedule'] })
    expect(plan(surging, { nodes: [tainted], pods: [podOn(surging, 'p', 'n0', { isGoing: true })] }).actions).toEqual(
      [],
    )
  })

  it.each<readonly [string, DaemonSet, readonly Node[], readonly Pod[]]>([
    [
      'the pod does not belong on its node',
      owner,
      [node('n0', { taints: ['gpu:NoExecute'] })],
      [podOn(owner, 'p', 'n0')],
    ],
    ['the pod has failed', owner, nodes(1), [podOn(owner, 'p', 'n0', { phase: 'Failed' })]],
    ['the pod has ended', owner, nodes(1), [podOn(owner, 'p', 'n0', { phase: 'Succeeded' })]],
    [
      'the node has another pod of the daemon set',
      owner,
      nodes(1),
      [podOn(owner, 'a', 'n0', { age: 9 }), podOn(owner, 'p', 'n0', { age: 5 })],
    ],
    [
      'a newer pod has taken its place',
      surging,
      nodes(1),
      [podOn(surging, 'p', 'n0', { isOld: true, age: 9 }), podOn(surging, 'new', 'n0')],
    ],
    ['the pod is of a former template', owner, nodes(1), [podOn(owner, 'p', 'n0', { isOld: true })]],
    [
      'the pod is of a former template, and others serve in its place',
      surging,
      [node('n0', { taints: ['gpu:NoSchedule'] })],
      [podOn(surging, 'p', 'n0', { isOld: true })],
    ],
  ])('loses just one pod because %s, and an event tells of it', (because, set, on, pods) => {
    const { actions } = plan(set, { nodes: on, pods })
    expect(actions.filter(({ type }) => type !== 'event')).toMatchObject([
      {
        type: 'delete',
        key: { namespace: 'default', name: 'p' },
        uid: 'p',
        because,
        events: {
          succeeded: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
          failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
        },
      },
    ])
  })

  it.each([
    ['Failed', 'Warning', 'FailedDaemonPod', 'Found failed daemon pod default/p on node n0, will try to kill it'],
    [
      'Succeeded',
      'Normal',
      'SucceededDaemonPod',
      'Found succeeded daemon pod default/p on node n0, will try to delete it',
    ],
  ])('tells of a pod with the phase %s', (phase, eventType, reason, message) => {
    const [told, ...rest] = plan(owner, { nodes: nodes(1), pods: [podOn(owner, 'p', 'n0', { phase })] }).actions
    expect(told).toMatchObject({ type: 'event', eventType, reason, message })
    expect(told?.because).toBe(rest[0]?.because)
  })

  it('is one of 250 at most that get a pod, and of as many that lose one, at a time', () => {
    const tainted = Array.from({ length: 300 }, (_, index) => node(`t${index}`, { taints: ['gpu:NoExecute'] }))
    const pods = tainted.map(({ metadata: { name = '' } }) => podOn(owner, `on-${name}`, name))
    const short = shortly(plan(owner, { nodes: [...nodes(300), ...tainted], pods }).actions)
    expect([short.slice(0, 250), short.slice(250)]).toEqual([
      nodes(250).map(({ metadata }) => `+${metadata.name}`),
      tainted.slice(0, 250).map(({ metadata }) => `-on-${metadata.name}`),
    ])
  })
})

describe('a rollout', () => {
  const rolling = (maxUnavailable: number | string, maxSurge: number | string, more: Partial<DaemonSet['spec']> = {}) =>
    daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } }, ...more })
  const old = (name: string, on: string, traits: DaemonPodTraits = {}) =>
    podOn(daemonSet(), name, on, { isOld: true, ...traits })
  const three = [old('a', 'n0'), old('b', 'n1'), old('c', 'n2')]
  const unready = { isUnready: true }

  const rows: readonly [string, DaemonSet, readonly Pod[], readonly string[]][] = [
    ['takes one node at a time', rolling(1, 0), three, ['-a']],
    ['takes a share of the nodes, rounded up', rolling('34%', 0), three, ['-a', '-b']],
    ['takes one node where the numbers come to none', rolling(0, 0), three, ['-a']],
    [
      'waits while a new pod is not available',
      rolling(1, 0),
      [podOn(daemonSet(), 'a', 'n0', unready), ...three.slice(1)],
      [],
    ],
    ['waits for a pod that is going', rolling(1, 0), [old('a', 'n0', { isGoing: true }), ...three.slice(1)], []],
    [
      'goes on when the new pod is available',
      rolling(1, 0),
      [podOn(daemonSet(), 'a', 'n0'), ...three.slice(1)],
      ['-b'],
    ],
    [
      'replaces what serves nobody at once, and nothing else',
      rolling(1, 0),
      [old('a', 'n0', unready), old('b', 'n1', unready), old('c', 'n2')],
      ['-a', '-b'],
    ],
    [
      'counts on no pod of a node that is gone, where an old one and a new one are left',
      rolling(1, 0),
      [...three, old('x', 'gone'), podOn(daemonSet(), 'y', 'gone')],
      [],
    ],
    ['makes new pods beside old ones where it may', rolling(0, 2), three, ['+n0', '+n1']],
    ['makes them on a share of the nodes, rounded up', rolling(0, '34%'), three, ['+n0', '+n1']],
    [
      'counts nodes whose new pod is not available',
      rolling(0, 1),
      [...three, podOn(daemonSet(), 'new', 'n0', unready)],
      [],
    ],
    [
      'makes a new pod at once where the old one is not available',
      rolling(0, 1),
      [old('a', 'n0'), old('b', 'n1', unready), old('c', 'n2')],
      ['+n1', '+n0'],
    ],
    ['leaves pods to others', daemonSet({ updateStrategy: { type: 'OnDelete' } }), three, []],
    [
      'leaves pods alone whose label names the count of template changes, though they are of another revision',
      rolling(1, 0),
      [old('a', 'n0', { generation: '2' }), old('b', 'n1', { generation: '1' }), old('c', 'n2')],
      ['-b'],
    ],
    [
      'replaces pods of the same count that are older than the set, in place',
      createdAgo(30, rolling(2, 0)),
      [
        old('a', 'n0', { generation: '2', age: 31 }),
        old('b', 'n1', { generation: '2', age: 30 }),
        old('c', 'n2', { generation: '2', age: 31 }),
      ],
      ['-a', '-c'],
    ],
    [
      'replaces pods of the same count that are older than the set, by surge',
      createdAgo(30, rolling(0, 1)),
      [
        old('a', 'n0', { generation: '2', age: 31 }),
        old('b', 'n1', { generation: '2', age: 29 }),
        podOn(daemonSet(), 'c', 'n2'),
      ],
      ['+n0'],
    ],
    [
      'does not wait for pods that have ended and are going: their nodes lack one',
      rolling(1, 0),
      [old('a', 'n0', { phase: 'Failed', isGoing: true }), ...three.slice(1)],
      ['+n0'],
    ],
  ]

  it.each(rows)('%s', (_, set, pods, expected) => {
    expect(shortly(plan(set, { nodes: nodes(3), pods }).actions)).toEqual(expected)
  })

  describe('with surge, where a node gets no new pods any more', () => {
    const places = [node('n0'), node('n1'), node('n2', { taints: ['gpu:NoSchedule'] })]
    const others = [podOn(daemonSet(), 'a', 'n0'), podOn(daemonSet(), 'b', 'n1')]
    const cases: readonly [string, readonly Pod[], readonly string[]][] = [
      ['takes the old pod off it when all others are available', [...others, old('c', 'n2')], ['-c']],
      [
        'keeps the old pod while another is not',
        [...others.slice(1), podOn(daemonSet(), 'a', 'n0', unready), old('c', 'n2')],
        [],
      ],
      ['takes an old pod off it that is not available', [...others, old('c', 'n2', unready)], ['-c']],
      ['keeps a pod of the present template', [...others, podOn(daemonSet(), 'c', 'n2')], []],
      ['waits for one that is going', [...others, old('c', 'n2', { isGoing: true })], []],
      ['leaves one to others whose node is gone', [...others, old('c', 'gone', unready)], []],
    ]
    it.each(cases)('%s', (_, pods, expected) => {
      expect(shortly(plan(rolling(0, 1), { nodes: places, pods }).actions)).toEqual(expected)
    })
  })

  describe('while a failed pod is left alone for a while beside another', () => {
    const failed = { phase: 'Failed', age: 90 } as const
    const rest = [old('b', 'n1'), old('c', 'n2')]
    const cases: readonly [string, readonly Pod[]][] = [
      ['of the same former template', [old('failed', 'n0', failed), old('a', 'n0')]],
      ['of the present template', [podOn(daemonSet(), 'failed', 'n0', failed), podOn(daemonSet(), 'a', 'n0')]],
    ]
    const waitAfterFailureMs = () => 4000
    it.each(cases)('%s: takes its node for unavailable, in place', (_, pods) => {
      const observed = { nodes: nodes(3), pods: [...pods, ...rest], waitAfterFailureMs }
      expect(shortly(plan(rolling(1, 0), observed).actions)).toEqual([])
      expect(shortly(plan(rolling(2, 0), observed).actions)).toEqual(['-b'])
    })
    it.each(cases)('%s: takes its node for one that has a further pod, with surge', (_, pods) => {
      const observed = { nodes: nodes(3), pods: [...pods, ...rest], waitAfterFailureMs }
      expect(shortly(plan(rolling(0, 1), observed).actions)).toEqual([])
      expect(shortly(plan(rolling(0, 2), observed).actions)).toEqual(['+n1'])
    })
  })

  it('takes an old pod that has failed off its node, with surge, where the new one is available', () => {
    const pods = [old('failed', 'n0', { phase: 'Failed', age: 90, isUnready: true }), podOn(daemonSet(), 'new', 'n0')]
    const observed = { nodes: nodes(1), pods, waitAfterFailureMs: () => 4000 }
    expect(shortly(plan(rolling(0, 1), observed).actions)).toEqual(['-failed'])
  })

  it('takes a pod for available at the very moment when it has been ready for long enough', () => {
    const set = rolling(1, 0, { minReadySeconds: 10 })
    const pods = [podOn(daemonSet(), 'a', 'n0', { readyFor: 10 }), ...three.slice(1)]
    expect(shortly(plan(set, { nodes: nodes(3), pods }).actions)).toEqual(['-b'])
  })

  it('goes from node to node by their names, in whatever order pods were heard of', () => {
    const pods = [old('c', 'n2'), old('b', 'n1'), old('a', 'n0')]
    expect(shortly(plan(rolling(1, 0), { nodes: nodes(3), pods }).actions)).toEqual(['-a'])
    expect(shortly(plan(rolling(0, 1), { nodes: nodes(3), pods }).actions)).toEqual(['+n0'])
  })

  it('makes and deletes 250 pods at once, at most', () => {
    const many = nodes(300)
    const pods = many.map(({ metadata }) => old(`on-${metadata.name}`, metadata.name ?? ''))
    expect(plan(rolling('100%', 0), { nodes: many, pods }).actions).toHaveLength(250)
    expect(plan(rolling(0, '100%'), { nodes: many, pods }).actions).toHaveLength(250)
    const tainted = many.map(({ metadata: { name = '' } }) => node(name, { taints: ['gpu:NoSchedule'] }))
    const useless = many.map(({ metadata: { name = '' } }) => old(`on-${name}`, name, unready))
    expect(plan(rolling(0, 1), { nodes: tainted, pods: useless }).actions).toHaveLength(250)
  })

  it('counts a pod as available only when it has been ready for long enough', () => {
    const set = rolling(1, 0, { minReadySeconds: 10 })
    const pods = [podOn(daemonSet(), 'a', 'n0', { readyFor: 4 }), ...three.slice(1)]
    expect(plan(set, { nodes: nodes(3), pods })).toMatchObject({
      actions: [],
      requeueAfterMs: 6000,
      status: { numberReady: 3, numberAvailable: 2, numberUnavailable: 1, updatedNumberScheduled: 1 },
    })
  })
})

describe('the status of a daemon set', () => {
  it('counts nodes by what their oldest pod is, and keeps what others say', () => {
    const conditions = [{ type: 'Any', status: 'True' }]
    const set = daemonSet(
      { minReadySeconds: 10, updateStrategy: { type: 'OnDelete' } },
      { collisionCount: 2, conditions },
    )
    const pods = [
      podOn(set, 'available', 'n0', { readyFor: 10 }),
      podOn(set, 'ready', 'n1', { readyFor: 9, isOld: true }),
      podOn(set, 'unready', 'n2', { isUnready: true }),
      podOn(set, 'misplaced', 'n4'),
    ]
    const tainted = node('n4', { taints: ['gpu:NoExecute'] })
    expect(plan(set, { nodes: [...nodes(4), tainted], pods })).toMatchObject({
      status: {
        observedGeneration: 3,
        desiredNumberScheduled: 4,
        currentNumberScheduled: 3,
        numberMisscheduled: 1,
        numberReady: 2,
        numberAvailable: 1,
        numberUnavailable: 3,
        updatedNumberScheduled: 2,
        collisionCount: 2,
        conditions,
      },
      requeueAfterMs: 1000,
    })
  })

  it('counts no pod as updated that has no count, where the set does not count either', () => {
    const set = { ...daemonSet(), metadata: { ...daemonSet().metadata, annotations: undefined } }
    const pods = [podOn(set, 'p', 'n0', { isOld: true })]
    expect(plan(set, { nodes: nodes(1), pods }).status?.updatedNumberScheduled).toBeUndefined()
  })

  it('counts a pod as updated that is of another revision of the same template', () => {
    const set = daemonSet()
    const earlier = present(set)
    const labelled = {
      ...earlier.metadata,
      name: 'agent-old',
      labels: { ...labels, 'controller-revision-hash': 'old' },
    }
    const revisions = [
      { ...earlier, metadata: labelled, revision: 1 },
      { ...earlier, revision: 2 },
    ]
    const pods = [podOn(set, 'p', 'n0', { isOld: true, generation: '2' })]
    expect(plan(set, { nodes: nodes(1), pods, revisions }).status?.updatedNumberScheduled).toBe(1)
  })

  it('counts pods as updated by their revision or by the count of template changes', () => {
    const set = daemonSet()
    const pods = [
      podOn(set, 'both', 'n0', { generation: '2' }),
      podOn(set, 'revision', 'n1', { generation: '1' }),
      podOn(set, 'generation', 'n2', { isOld: true, generation: '2' }),
      podOn(set, 'neither', 'n3', { isOld: true, generation: '1' }),
    ]
    expect(plan(set, { nodes: nodes(4), pods }).status).toMatchObject({ updatedNumberScheduled: 3 })
  })

  it('counts no pod as updated that it adopted with its revision, however young it is', () => {
    const set = createdAgo(60, daemonSet())
    const formerly = daemonSet({
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'former' }] } },
    })
    const revisions = [
      { ...present(formerly), revision: 1 },
      { ...present(set), revision: 2 },
    ]
    const pods = [podOn(formerly, 'adopted', 'n0', { generation: '2', age: 60 })]
    const made = plan(set, { nodes: nodes(1), pods, revisions })
    expect(made.status?.updatedNumberScheduled).toBeUndefined()
    expect(shortly(made.actions)).toEqual(['-adopted'])
  })

  it('leaves out pods that have ended and are going', () => {
    const set = daemonSet()
    const pods = [podOn(set, 'p', 'n0', { phase: 'Succeeded', isGoing: true, isUnready: true })]
    expect(plan(set, { nodes: nodes(1), pods }).status).toMatchObject({
      desiredNumberScheduled: 1,
      currentNumberScheduled: 0,
    })
  })
})

it('looks again when a pod beside an older one becomes available', () => {
  const set = daemonSet({
    minReadySeconds: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  })
  const pods = [podOn(set, 'old', 'n0', { isOld: true, age: 90 }), podOn(set, 'new', 'n0', { readyFor: 4, age: 30 })]
  expect(plan(set, { nodes: nodes(1), pods })).toMatchObject({ actions: [], requeueAfterMs: 6000 })
})

describe('the history of a daemon set', () => {
  const owner = daemonSet()
  const revision = (name: string, number: number, template: unknown = name): ControllerRevision =>
    ({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { namespace: 'default', name, uid: name, labels: { 'controller-revision-hash': name } },
      data: { spec: { template } },
      revision: number,
    }) as ControllerRevision

  it('begins with the first template', () => {
    const { actions, status } = plan(owner, { revisions: [] })
    expect(actions).toMatchObject([
      {
        type: 'create',
        object: {
          metadata: {
            name: `agent-${hashOf(owner)}`,
            labels: { app: 'agent', 'controller-revision-hash': hashOf(owner) },
          },
          data: { spec: { template: { $patch: 'replace', spec: { containers: [{ image: 'agent' }] } } } },
          revision: 1,
        },
      },
    ])
    expect(isPresent(present(owner), owner)).toBe(true)
    expect(status?.observedGeneration).toBe(3)
  })

  it('counts on with each template', () => {
    const { actions } = plan(owner, { revisions: [revision('a', 4), revision('b', 2)] })
    expect(actions).toMatchObject([{ type: 'create', object: { revision: 5 } }])
  })

  it('has a template that came back as the latest', () => {
    const { actions } = plan(owner, { revisions: [present(owner), revision('b', 2)] })
    expect(actions).toMatchObject([{ type: 'update', object: { metadata: { uid: 'present' }, revision: 3 } }])
  })

  it('tries another name where the name is taken', () => {
    const taken = plan(daemonSet({}, { collisionCount: 1, numberReady: 2 }), {
      revisions: [],
      isRevisionNameTaken: () => true,
      nodes: nodes(1),
    })
    expect(taken).toMatchObject({ actions: [], status: { collisionCount: 2, numberReady: 2 } })
    expect(hashOf(daemonSet({}, { collisionCount: 2 }))).not.toBe(hashOf(owner))
  })

  it('forgets the earliest beyond the limit, but none whose pods there are', () => {
    const limited = daemonSet({ revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } })
    const past = [revision('a', 1), revision('old', 2), revision('c', 3), revision('d', 4)]
    const kept = { ...present(limited), revision: 5 }
    const observed = { revisions: [...past, kept], nodes: nodes(1), pods: [podOn(limited, 'p', 'n0', { isOld: true })] }
    expect(shortly(plan(limited, observed).actions)).toEqual(['-a', '-c', '-d'])
  })
})

describe('claims of a daemon set', () => {
  const owner = daemonSet()

  it('come before all else', () => {
    const stray = podOn(owner, 'stray', 'n0')
    const { actions, status } = plan(owner, { nodes: nodes(2), orphans: [stray], mismatched: [anyPod('gone')] })
    expect(actions).toMatchObject([
      { type: 'patch', key: { name: 'gone' }, patch: { body: { metadata: { ownerReferences: null } } } },
      { type: 'patch', key: { name: 'stray' }, patch: { body: { metadata: { ownerReferences: [{ uid: 'ds' }] } } } },
    ])
    expect(status).toBeUndefined()
  })

  it('of a daemon set that is going are the garbage collector’s', () => {
    const going = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: secondsAgo(0) } } as DaemonSet
    expect(plan(going, { nodes: nodes(1), revisions: [] })).toEqual({ actions: [], failedOn: [] })
  })

  it('are none where everything would be selected', () => {
    expect(plan(daemonSet({ selector: {} }), { nodes: nodes(1) })).toEqual({
      failedOn: [],
      actions: [
        {
          type: 'event',
          eventType: 'Warning',
          reason: 'SelectingAll',
          message: 'This daemon set is selecting all pods. A non-empty selector is required.',
          because: 'the selector is empty',
        },
      ],
    })
  })
})
