import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { newRevision } from '../revisions/revision.ts'
import { pod as anyPod, type PodTraits, secondsAgo, startMs } from '../testing/objects.ts'
import type { ObservedStatefulSet } from './observed.ts'
import { hashLabel, planStatefulSet } from './plan.ts'

const labels = { app: 'db' }

const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'db', image }] } })

interface Parts extends Partial<StatefulSet['spec']> {
  readonly status?: StatefulSet['status']
  readonly isGoing?: boolean
}

/** A stateful set `db` of pods with the image `new`. */
function statefulSet(replicas: number, parts: Parts = {}): StatefulSet {
  const { status = { replicas: 0 }, isGoing = false, ...spec } = parts
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      namespace: 'default',
      name: 'db',
      uid: 'sts',
      generation: 2,
      ...(isGoing ? { deletionTimestamp: secondsAgo(0) } : {}),
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      serviceName: 'db',
      template: template('new'),
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      ...spec,
    },
    status,
  } as StatefulSet
}

const parallel = { podManagementPolicy: 'Parallel' } as const
const claimTemplate = {
  metadata: { name: 'data', labels: { tier: 'storage' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
} as unknown as PersistentVolumeClaim
const withClaims = { volumeClaimTemplates: [claimTemplate] } as Partial<StatefulSet['spec']>

/** The revision of the pods with the image `new`, or of those with another. */
function revision(image: 'new' | 'old', number = image === 'new' ? 2 : 1): ControllerRevision {
  const made = newRevision(statefulSet(0, { template: template(image) } as Parts), number, hashLabel)
  return { ...made, metadata: { ...made.metadata, uid: image } }
}

const nameOf = ({ metadata }: ControllerRevision) => metadata.name ?? ''
const rolling = { replicas: 3, currentRevision: nameOf(revision('old')), updateRevision: nameOf(revision('new')) }

interface MemberTraits extends PodTraits {
  readonly isOld?: boolean
  readonly isUnready?: boolean
}

/** A pod of the set, ready for a minute. */
function member(ordinal: number, { isOld = false, isUnready = false, ...traits }: MemberTraits = {}): Pod {
  const name = `db-${ordinal}`
  return anyPod(name, {
    ...(isUnready ? {} : { readyFor: 60 }),
    ...traits,
    labels: {
      ...labels,
      'controller-revision-hash': nameOf(revision(isOld ? 'old' : 'new')),
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
      ...traits.labels,
    },
  })
}

type Owner = readonly [kind: string, name: string, uid: string, controller?: boolean]

function claim(name: string, owners: readonly Owner[] = []) {
  const ownerReferences = owners.map(([kind, owner, uid, isController = true]) => ({
    apiVersion: { StatefulSet: 'apps/v1', Pod: 'v1', ConfigMap: 'v1' }[kind] ?? 'example.com/v1',
    kind: kind.replace('Other ', ''),
    name: owner,
    uid,
    ...(isController ? { controller: true } : {}),
  }))
  const owned = ownerReferences.length === 0 ? {} : { ownerReferences }
  return { metadata: { namespace: 'default', name, uid: name, ...owned } } as unknown as PersistentVolumeClaim
}

interface Seen extends Partial<ObservedStatefulSet> {
  readonly claims?: readonly PersistentVolumeClaim[]
}

function plan(set: StatefulSet, pods: readonly Pod[], { claims = [], ...parts }: Seen = {}) {
  return planStatefulSet(
    {
      set,
      pods,
      orphans: [],
      mismatched: [],
      revisions: [revision('old'), revision('new')],
      orphanRevisions: [],
      isRevisionNameTaken: () => false,
      claim: (name) => claims.find(({ metadata }) => metadata.name === name),
      ...parts,
    },
    startMs,
  )
}

/** `+db-0` for a pod or claim made, `-db-0` for a deleted one, `~data-db-0` for a changed one. */
function shortly(actions: readonly Action[]): readonly string[] {
  return actions.map((action) => {
    if (action.type === 'delete') return `-${action.key.name}`
    if (action.type === 'create') return `+${action.object.metadata.name}`
    return action.type === 'patch' ? `~${action.key.name}` : action.type
  })
}

describe('in order, a stateful set', () => {
  const rows: readonly [string, StatefulSet, readonly Pod[], readonly string[]][] = [
    ['begins with the first pod', statefulSet(3), [], ['+db-0']],
    ['makes the next when all before are available', statefulSet(3), [member(0)], ['+db-1']],
    ['waits for one that is not ready', statefulSet(3), [member(0, { isUnready: true })], []],
    ['waits for one that is going', statefulSet(3), [member(0, { isGoing: true })], []],
    ['waits until one has been ready for long enough', statefulSet(2, { minReadySeconds: 90 }), [member(0)], []],
    ['fills the first gap', statefulSet(3), [member(1), member(2)], ['+db-0']],
    ['removes a pod that has failed', statefulSet(2), [member(0, { phase: 'Failed' }), member(1)], ['-db-0']],
    ['removes a pod that has ended well', statefulSet(2), [member(0, { phase: 'Succeeded' }), member(1)], ['-db-0']],
    ['makes none beyond a pod that has failed', statefulSet(2), [member(0, { phase: 'Failed' })], ['-db-0']],
    ['waits for an ended pod to go', statefulSet(2), [member(0, { phase: 'Failed', isGoing: true }), member(1)], []],
    ['has nothing to do when all are there', statefulSet(2), [member(0), member(1)], []],
    ['removes the last first', statefulSet(1), [member(0), member(1), member(2)], ['-db-2']],
    ['waits for the last to go', statefulSet(1), [member(0), member(1), member(2, { isGoing: true })], []],
    ['removes none while another is not available', statefulSet(1), [member(0, { isUnready: true }), member(1)], []],
    [
      'removes one that is not ready, if it is the only one',
      statefulSet(1),
      [member(0), member(1, { isUnready: true })],
      ['-db-1'],
    ],
    [
      'waits for the first that is not ready, if there are two',
      statefulSet(1),
      [member(0), member(1, { isUnready: true }), member(2, { isUnready: true })],
      [],
    ],
    ['numbers pods from where it is told', statefulSet(2, { ordinals: { start: 5 } }), [member(5)], ['+db-6']],
    [
      'removes pods before that number',
      statefulSet(1, { ordinals: { start: 2 } }),
      [member(2), member(0), member(1)],
      ['-db-1'],
    ],
    ['leaves pods alone that have no number', statefulSet(1), [member(0), anyPod('db-x', { labels })], []],
    ['leaves everything alone while it is being deleted', statefulSet(3, { isGoing: true }), [member(1)], []],
  ]

  it.each(rows)('%s', (_, set, pods, expected) => {
    expect(shortly(plan(set, pods).actions)).toEqual(expected)
  })
})

describe('in parallel, a stateful set', () => {
  const rows: readonly [string, StatefulSet, readonly Pod[], readonly string[]][] = [
    ['makes all pods at once', statefulSet(3, parallel), [], ['+db-0', '+db-1', '+db-2']],
    ['waits for none', statefulSet(3, parallel), [member(0, { isUnready: true })], ['+db-1', '+db-2']],
    [
      'removes all at once',
      statefulSet(1, parallel),
      [member(0, { isUnready: true }), member(1), member(2)],
      ['-db-2', '-db-1'],
    ],
    [
      'replaces one old pod at a time, whatever it says',
      statefulSet(3, { ...parallel, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }),
      [member(0, { isOld: true }), member(1, { isOld: true }), member(2, { isOld: true })],
      ['-db-2'],
    ],
    [
      'replaces an old pod that is not ready, which is missing already',
      statefulSet(3, parallel),
      [member(0, { isOld: true }), member(1, { isOld: true, isUnready: true }), member(2)],
      ['-db-1'],
    ],
    [
      'replaces the last old pod, though one before it is not ready',
      statefulSet(3, parallel),
      [member(0, { isOld: true, isUnready: true }), member(1, { isOld: true }), member(2, { isOld: true })],
      ['-db-2'],
    ],
    [
      'replaces one at a time of old pods of which none is ready',
      statefulSet(2, parallel),
      [member(0, { isOld: true, isUnready: true }), member(1, { isOld: true, isUnready: true })],
      ['-db-1'],
    ],
    [
      'waits for a new pod, though an old one before it is not ready',
      statefulSet(2, parallel),
      [member(0, { isOld: true, isUnready: true }), member(1, { isUnready: true })],
      [],
    ],
    [
      'waits for a pod that is yet to be made',
      statefulSet(2, parallel),
      [member(0, { isOld: true, isUnready: true })],
      ['+db-1'],
    ],
  ]

  it.each(rows)('%s', (_, set, pods, expected) => {
    expect(shortly(plan(set, pods).actions)).toEqual(expected)
  })
})

describe('a stateful set that asks for billions of pods', () => {
  const all = 2 ** 31 - 1

  it('makes 500 of them at a time in parallel', () => {
    const names = shortly(plan(statefulSet(all, parallel), [member(1)]).actions)
    expect(names).toHaveLength(500)
    expect([names[0], names[1], names.at(-1)]).toEqual(['+db-0', '+db-2', '+db-500'])
  })

  it('makes one of them at a time in order', () => {
    expect(shortly(plan(statefulSet(all), [member(0)]).actions)).toEqual(['+db-1'])
  })

  it('replaces none of an old template before the last of them is there', () => {
    const pods = Array.from({ length: 3 }, (_, index) => member(index, { isOld: true }))
    expect(shortly(plan(statefulSet(all, { ...parallel, status: rolling }), pods).actions)).not.toContain('-db-2')
  })
})

describe('a rollout', () => {
  const old = [member(0, { isOld: true }), member(1, { isOld: true }), member(2, { isOld: true })]
  const update = (strategy: StatefulSet['spec']['updateStrategy']) => ({ updateStrategy: strategy, status: rolling })
  const from = (partition: number) => update({ type: 'RollingUpdate', rollingUpdate: { partition } })
  const named = (currentReplicas: number, ordinals = { start: 0 }) =>
    statefulSet(3, {
      updateStrategy: { type: 'RollingUpdate' },
      ordinals,
      status: { ...rolling, replicas: 3, currentReplicas },
    })
  const rows: readonly [string, StatefulSet, readonly Pod[], readonly string[]][] = [
    ['begins with the last pod', statefulSet(3, { status: rolling }), old, ['-db-2']],
    [
      'goes on when that is available again',
      statefulSet(3, { status: rolling }),
      [...old.slice(0, 2), member(2)],
      ['-db-1'],
    ],
    ['waits until then', statefulSet(3, { status: rolling }), [...old.slice(0, 2), member(2, { isUnready: true })], []],
    ['leaves pods before the partition alone', statefulSet(3, from(2)), [...old.slice(0, 2), member(2)], []],
    ['replaces the pod at the partition', statefulSet(3, from(2)), old, ['-db-2']],
    [
      'counts the partition from the first number',
      statefulSet(2, { ...from(1), ordinals: { start: 4 } }),
      [member(4, { isOld: true }), member(5)],
      [],
    ],
    ['is for others where it says so', statefulSet(3, update({ type: 'OnDelete' })), old, []],
  ]

  it.each(rows)('%s', (_, set, pods, expected) => {
    expect(shortly(plan(set, pods).actions)).toEqual(expected)
  })

  it('makes pods before the partition from the former template', () => {
    const imageOf = (set: StatefulSet) => {
      const [action] = plan(set, []).actions
      return action?.type === 'create' ? (action.object as Pod).spec.containers[0]?.image : undefined
    }
    expect(imageOf(statefulSet(3, from(1)))).toBe('old')
    expect(imageOf(statefulSet(3, from(0)))).toBe('new')
  })

  it('takes what a former revision says for a patch of the set, as others may have made one', () => {
    const made = (data: unknown) => {
      const set = statefulSet(3, from(1))
      const revisions = [{ ...revision('old'), data } as ControllerRevision, revision('new')]
      const [action] = plan(set, [], { revisions }).actions
      return action?.type === 'create' ? (action.object as Pod).spec : undefined
    }
    const [container] = template('new').spec.containers
    expect(made({})?.containers).toEqual([container])
    expect(made({ spec: { template: { spec: { priority: 5 } } } })).toMatchObject({
      priority: 5,
      containers: [container],
    })
    expect(() => made('text')).toThrow(`controller revision ${nameOf(revision('old'))} is no patch of a stateful set`)
    expect(() => made({ spec: { template: 5 } })).toThrow('is no patch of a stateful set')
  })

  it('does nothing to its pods, and says nothing of them, while the revision that they had cannot be read', () => {
    const unreadable = {
      ...revision('old'),
      data: { spec: { template: { $patch: 'replace', spec: { containers: 5 } } } },
    }
    const revisions = [unreadable as unknown as ControllerRevision, revision('new')]
    const problem = `the data of controller revision ${nameOf(unreadable)} is no patch of a stateful set`
    for (const set of [statefulSet(3, { status: rolling }), statefulSet(1, { status: rolling, isGoing: true })]) {
      expect(() => plan(set, old, { revisions })).toThrow(problem)
    }
    // Its revisions are kept all the same.
    const { actions, status } = plan(statefulSet(3, { status: rolling }), old, { revisions: revisions.slice(0, 1) })
    expect(shortly(actions)).toEqual([`+${nameOf(revision('new'))}`])
    expect(status).toBeUndefined()
    // Nobody asks what it says once all pods have another.
    const done = { ...rolling, currentRevision: nameOf(revision('new')) }
    expect(
      plan(
        statefulSet(3, { status: done }),
        [0, 1, 2].map((ordinal) => member(ordinal)),
        { revisions },
      ).status,
    ).toBeDefined()
  })

  it('makes as many pods from the former template as are left of it, where its strategy is but a name', () => {
    const revisionAt = (set: StatefulSet, pods: readonly Pod[]) => {
      const [action] = plan(set, pods).actions
      return action?.type === 'create' ? action.object.metadata.labels?.['controller-revision-hash'] : undefined
    }
    const [former, wanted] = [nameOf(revision('old')), nameOf(revision('new'))]
    expect(revisionAt(named(1), old.slice(1))).toBe(former)
    expect(revisionAt(named(2), [...old.slice(0, 1), ...old.slice(2)])).toBe(former)
    expect(revisionAt(named(1), [...old.slice(0, 1), ...old.slice(2)])).toBe(wanted)
    const fromFour = [member(5, { isOld: true }), member(6)]
    expect(revisionAt(named(1, { start: 4 }), fromFour)).toBe(former)
    expect(revisionAt(named(0, { start: 4 }), fromFour)).toBe(wanted)
  })

  it('makes no pod from the former template where others are to delete the pods', () => {
    const set = statefulSet(3, { updateStrategy: { type: 'OnDelete' }, status: { ...rolling, currentReplicas: 2 } })
    const [action] = plan(set, old.slice(1)).actions
    expect(action?.type === 'create' && action.object).toMatchObject({ spec: { containers: [{ image: 'new' }] } })
  })

  it('counts a pod that it deletes no more among those of the former template', () => {
    const { actions, status } = plan(statefulSet(3, { status: rolling }), old)
    expect(shortly(actions)).toEqual(['-db-2'])
    expect([status?.currentReplicas, status?.replicas]).toEqual([2, 3])
  })

  it('is over when all pods are new and ready', () => {
    const set = statefulSet(2, { status: { ...rolling, replicas: 2 } })
    const between = plan(set, [member(0, { isOld: true }), member(1, { isUnready: true })]).status
    expect(between).toMatchObject({
      currentRevision: nameOf(revision('old')),
      updateRevision: nameOf(revision('new')),
      currentReplicas: 1,
      updatedReplicas: 1,
    })
    expect(plan(set, [member(0), member(1)]).status).toMatchObject({
      currentRevision: nameOf(revision('new')),
      updateRevision: nameOf(revision('new')),
      currentReplicas: 2,
      updatedReplicas: 2,
    })
    expect(plan(set, [member(0), member(1, { isUnready: true })]).status?.currentRevision).toBe(nameOf(revision('old')))
  })

  it('is never over for pods that somebody else deletes: what is left of the former template stays the current one', () => {
    const set = statefulSet(2, { updateStrategy: { type: 'OnDelete' }, status: { ...rolling, replicas: 2 } })
    expect(plan(set, [member(0), member(1)]).status).toMatchObject({
      currentRevision: nameOf(revision('old')),
      updateRevision: nameOf(revision('new')),
      currentReplicas: undefined,
      updatedReplicas: 2,
    })
  })
})

describe('the pod under a number', () => {
  const [action] = plan(statefulSet(1, withClaims), [], { claims: [claim('data-db-0')] }).actions
  const made = action?.type === 'create' ? (action.object as Pod) : undefined

  it('is named, labelled and reachable by it', () => {
    expect(made?.metadata).toMatchObject({
      name: 'db-0',
      labels: {
        app: 'db',
        'statefulset.kubernetes.io/pod-name': 'db-0',
        'apps.kubernetes.io/pod-index': '0',
        'controller-revision-hash': nameOf(revision('new')),
      },
      ownerReferences: [{ kind: 'StatefulSet', uid: 'sts', controller: true }],
    })
    expect(made?.metadata.generateName).toBe('db-')
    expect(made?.spec).toMatchObject({ hostname: 'db-0', subdomain: 'db' })
    expect(made?.spec.volumes).toEqual([{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }])
  })

  it('is told of when it is made and when it is not, unless somebody else has made it', () => {
    expect(action).toMatchObject({
      because: 'there is no pod db-0',
      events: {
        succeeded: { reason: 'SuccessfulCreate', message: 'Create Pod {name} in StatefulSet db successful' },
        failed: {
          reason: 'FailedCreate',
          message: 'Create Pod {name} in StatefulSet db failed error: {error}',
          unless: 'AlreadyExists',
        },
      },
    })
  })

  it.each<readonly [string, StatefulSet, readonly Pod[]]>([
    ['the pod has ended', statefulSet(1), [member(0, { phase: 'Failed' })]],
    ['0 replicas are wanted', statefulSet(0), [member(0)]],
    ['the pod is of a former template', statefulSet(1, { status: rolling }), [member(0, { isOld: true })]],
  ])(
    'is deleted because %s: just this pod, of which an event tells even if it was gone already',
    (because, set, pods) => {
      expect(plan(set, pods).actions).toMatchObject([
        {
          type: 'delete',
          key: { namespace: 'default', name: 'db-0' },
          uid: 'db-0',
          because,
          tellsIfGone: true,
          events: {
            succeeded: { reason: 'SuccessfulDelete', message: 'Delete Pod {name} in StatefulSet db successful' },
            failed: { reason: 'FailedDelete', message: 'Delete Pod {name} in StatefulSet db failed error: {error}' },
          },
        },
      ])
    },
  )

  it('gets what of this an adopted one lacks', () => {
    const adopted = anyPod('db-0', { labels, readyFor: 60 })
    const [patch] = plan(statefulSet(1, { updateStrategy: { type: 'OnDelete' } }), [adopted]).actions
    expect(patch).toMatchObject({
      type: 'patch',
      patch: {
        body: {
          metadata: { labels: { 'statefulset.kubernetes.io/pod-name': 'db-0', 'apps.kubernetes.io/pod-index': '0' } },
        },
      },
      because: 'the pod lacks its name',
      events: {
        succeeded: { reason: 'SuccessfulUpdate', message: 'Update Pod db-0 in StatefulSet db successful' },
        failed: { reason: 'FailedUpdate', message: 'Update Pod db-0 in StatefulSet db failed error: {error}' },
      },
    })
  })
})

it('leaves a pod alone that lacks nothing but the label of its number', () => {
  const { metadata, ...pod } = member(0)
  const { 'apps.kubernetes.io/pod-index': _number, ...named } = metadata.labels ?? {}
  expect(plan(statefulSet(1), [{ ...pod, metadata: { ...metadata, labels: named } }]).actions).toEqual([])
})

describe('the volumes of an adopted pod', () => {
  const set = statefulSet(2, withClaims)
  const holding = (ordinal: number, volumes: Pod['spec']['volumes'], traits: MemberTraits = {}): Pod => {
    const pod = member(ordinal, traits)
    return { ...pod, spec: { ...pod.spec, volumes } }
  }
  const data = (claimName: string) => ({ name: 'data', persistentVolumeClaim: { claimName } })
  const scratch = { name: 'scratch', emptyDir: {} }
  const rows: readonly [string, Pod['spec']['volumes'], readonly unknown[]][] = [
    ['are none', undefined, [data('data-db-0')]],
    ['are others', [scratch], [data('data-db-0'), scratch]],
    ['are none of claims', [{ name: 'data', emptyDir: {} }, scratch], [data('data-db-0'), scratch]],
    ['are of the claim of another', [data('data-db-1')], [data('data-db-0')]],
    [
      'have another name',
      [{ ...data('data-db-0'), name: 'old' }],
      [data('data-db-0'), { ...data('data-db-0'), name: 'old' }],
    ],
  ]

  it.each(rows)('become those of its claims where they %s', (_, volumes, wanted) => {
    const { actions } = plan(set, [holding(0, volumes)], { claims: [claim('data-db-0'), claim('data-db-1')] })
    expect(shortly(actions)).toEqual(['~db-0', '+db-1'])
    expect(actions[0]).toMatchObject({
      patch: { body: { spec: { volumes: wanted } } },
      because: 'the pod lacks volumes of its claims',
    })
  })

  it('stay as they are where they are those of its claims', () => {
    const right = [scratch, data('data-db-0')]
    const claims = [claim('data-db-0'), claim('data-db-1')]
    expect(shortly(plan(set, [holding(0, right)], { claims }).actions)).toEqual(['+db-1'])
  })

  it('come after the claims that it lacks', () => {
    expect(shortly(plan(set, [holding(0, [])]).actions)).toEqual(['+data-db-0', '+data-db-1', '~db-0', '+db-1'])
  })

  it('are left alone while it is not ready, in order', () => {
    expect(shortly(plan(set, [holding(0, [], { isUnready: true })]).actions)).toEqual([])
  })
})

describe('claims of pods', () => {
  const policy = (whenDeleted: 'Retain' | 'Delete', whenScaled: 'Retain' | 'Delete') => ({
    ...withClaims,
    persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
  })
  const ownersAfter = (set: StatefulSet, pods: readonly Pod[], ...claims: readonly PersistentVolumeClaim[]) =>
    plan(set, pods, { claims }).actions.flatMap((action) => {
      if (action.type !== 'patch' || action.resource.plural !== 'persistentvolumeclaims') return []
      const { ownerReferences } = (action.patch.body as { metadata: { ownerReferences: { kind: string }[] | null } })
        .metadata
      return [[action.key.name, ownerReferences?.map(({ kind }) => kind) ?? []]]
    })

  it('are made before the pod, named after both', () => {
    const { actions } = plan(statefulSet(1, withClaims), [])
    expect(shortly(actions)).toEqual(['+data-db-0', '+db-0'])
    expect(actions[0]).toMatchObject({
      object: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: 'data-db-0',
          namespace: 'default',
          labels: { app: 'db', tier: 'storage' },
          ownerReferences: [],
        },
        spec: claimTemplate.spec,
      },
      because: 'pod db-0 has no claim data-db-0',
      events: {
        succeeded: { reason: 'SuccessfulCreate', message: 'Create Claim {name} Pod db-0 in StatefulSet db success' },
        failed: [
          {
            reason: 'FailedCreate',
            message: 'Create Claim {name} for Pod db-0 in StatefulSet db failed error: {error}',
            unless: 'AlreadyExists',
          },
          {
            reason: 'FailedCreate',
            message: 'Create Pod db-0 in StatefulSet db failed error: failed to create PVC {name}: {error}',
          },
        ],
      },
    })
  })

  it('are made again for a pod that waits for them', () => {
    expect(
      shortly(plan(statefulSet(1, withClaims), [member(0, { phase: 'Pending', isUnready: true })]).actions),
    ).toEqual(['+data-db-0'])
  })

  it('stay unless the stateful set says otherwise', () => {
    expect(ownersAfter(statefulSet(1, withClaims), [member(0)], claim('data-db-0'))).toEqual([])
    const owned = claim('data-db-0', [['StatefulSet', 'db', 'sts']])
    expect(ownersAfter(statefulSet(1, withClaims), [member(0)], owned)).toEqual([['data-db-0', []]])
  })

  it('go with the stateful set, if it says so', () => {
    const set = statefulSet(1, policy('Delete', 'Retain'))
    expect(ownersAfter(set, [member(0)], claim('data-db-0'))).toEqual([['data-db-0', ['StatefulSet']]])
    const [made] = plan(set, []).actions
    expect(made).toMatchObject({ object: { metadata: { ownerReferences: [{ kind: 'StatefulSet', uid: 'sts' }] } } })
  })

  it('go with a pod that is too much, if it says so', () => {
    const claims = [claim('data-db-0'), claim('data-db-1', [['StatefulSet', 'db', 'sts']])]
    const set = statefulSet(1, policy('Delete', 'Delete'))
    expect(ownersAfter(set, [member(0), member(1)], ...claims)).toEqual([
      ['data-db-0', ['StatefulSet']],
      ['data-db-1', ['Pod']],
    ])
    expect(shortly(plan(set, [member(0), member(1)], { claims }).actions).at(-1)).toBe('-db-1')
  })

  it('are left alone where they belong to something else', () => {
    const foreign = claim('data-db-0', [['Other', 'x', 'other']])
    expect(ownersAfter(statefulSet(1, policy('Delete', 'Retain')), [member(0)], foreign)).toEqual([])
  })

  const set: Owner = ['StatefulSet', 'db', 'sts']
  const formerSet: Owner = ['StatefulSet', 'db', 'former']
  const scaled: Owner = ['Pod', 'db-1', 'db-1']
  const formerPod: Owner = ['Pod', 'db-1', 'former']
  const other: Owner = ['Other', 'x', 'other']
  const plain = ([kind, name, uid]: Owner): Owner => [kind, name, uid, false]
  const conflict = (name: string): Action => ({
    type: 'event',
    eventType: 'Warning',
    reason: 'ConflictingController',
    message: `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
    because: 'something else controls the claim',
  })
  // Of the claim of a pod that is too much: what the policy says, whose it is, and whose it is then; undefined: it is left alone.
  const rows: readonly (readonly [
    'Retain' | 'Delete',
    'Retain' | 'Delete',
    readonly Owner[],
    readonly string[] | undefined,
  ])[] = [
    ['Retain', 'Retain', [], undefined],
    ['Retain', 'Retain', [set], []],
    ['Retain', 'Retain', [scaled], []],
    ['Retain', 'Retain', [plain(set), plain(scaled)], []],
    ['Retain', 'Retain', [other], undefined],
    ['Retain', 'Retain', [other, plain(set)], ['Other']],
    ['Retain', 'Retain', [formerSet], undefined],
    ['Retain', 'Retain', [plain(formerSet)], undefined],
    ['Retain', 'Retain', [formerPod], undefined],
    ['Delete', 'Retain', [], ['StatefulSet']],
    ['Delete', 'Retain', [set], undefined],
    ['Delete', 'Retain', [plain(set)], ['StatefulSet']],
    ['Delete', 'Retain', [scaled], ['StatefulSet']],
    ['Delete', 'Retain', [set, plain(scaled)], ['StatefulSet']],
    ['Delete', 'Retain', [set, plain(other)], undefined],
    ['Delete', 'Retain', [plain(other)], ['Other', 'StatefulSet']],
    ['Delete', 'Retain', [other], undefined],
    ['Delete', 'Retain', [other, plain(set)], ['Other']],
    ['Delete', 'Retain', [formerSet], undefined],
    ['Retain', 'Delete', [], ['Pod']],
    ['Retain', 'Delete', [scaled], undefined],
    ['Retain', 'Delete', [plain(scaled)], ['Pod']],
    ['Retain', 'Delete', [set], ['Pod']],
    ['Retain', 'Delete', [formerPod], undefined],
    ['Retain', 'Delete', [plain(formerPod)], undefined],
    ['Delete', 'Delete', [], ['Pod']],
    ['Delete', 'Delete', [set], ['Pod']],
    ['Delete', 'Delete', [set, plain(scaled)], ['Pod']],
    ['Delete', 'Delete', [scaled], undefined],
    ['Delete', 'Delete', [other, plain(scaled)], ['Other']],
  ]
  it.each(rows)(
    'deleted %s and scaled %s: those of %j become those of %j',
    (whenDeleted, whenScaled, owners, wanted) => {
      const of = statefulSet(1, policy(whenDeleted, whenScaled))
      const kept = claim('data-db-0', whenDeleted === 'Delete' ? [set] : [])
      const after = ownersAfter(of, [member(0), member(1)], kept, claim('data-db-1', owners))
      expect(after).toEqual(wanted === undefined ? [] : [['data-db-1', wanted]])
    },
  )

  it('of a pod that waits for its start become whose they are to be', () => {
    const set = statefulSet(1, policy('Delete', 'Retain'))
    const starting = member(0, { phase: 'Pending', isUnready: true })
    expect(ownersAfter(set, [starting], claim('data-db-0'))).toEqual([['data-db-0', ['StatefulSet']]])
    expect(ownersAfter(set, [member(0, { isUnready: true })], claim('data-db-0'))).toEqual([])
  })

  it.each<readonly [string, 'Retain' | 'Delete', readonly Pod[], readonly Owner[], boolean]>([
    ['a pod is made', 'Delete', [], [other], true],
    ['a pod is made, and they are its stateful set’s', 'Delete', [], [set], false],
    ['a pod is made, and they were a former stateful set’s', 'Delete', [], [plain(formerSet)], true],
    ['a pod is made, and they were a former pod’s', 'Delete', [], [['Pod', 'db-0', 'former', false]], true],
    ['a pod is made, and nothing is to go', 'Retain', [], [other], false],
    ['a pod is made, and nobody controls them', 'Delete', [], [plain(other)], false],
    ['a pod waits for its start', 'Delete', [member(0, { phase: 'Pending', isUnready: true })], [formerSet], true],
    [
      'the pod that owns them waits for its start',
      'Delete',
      [member(0, { phase: 'Pending', isUnready: true })],
      [['Pod', 'db-0', 'db-0']],
      false,
    ],
    ['they are let go', 'Delete', [member(0)], [other, set], true],
    ['there is nothing to do', 'Delete', [member(0)], [other], false],
    ['a pod is too much', 'Delete', [member(1), member(0)], [], false],
  ])('are told of where something else decides about them and %s', (_, whenDeleted, pods, owners, isTold) => {
    const of = statefulSet(1, policy(whenDeleted, 'Retain'))
    const { actions } = plan(of, pods, { claims: [claim('data-db-0', owners)] })
    expect(actions.filter(({ type }) => type === 'event')).toEqual(isTold ? [conflict('data-db-0')] : [])
  })

  it('are told of where something else decides about those of a pod that is too much, as far as they change', () => {
    const of = statefulSet(0, policy('Retain', 'Delete'))
    const toldOf = (owners: readonly Owner[]) =>
      plan(of, [member(0)], { claims: [claim('data-db-0', owners)] }).actions.filter(({ type }) => type === 'event')
    expect(toldOf([other, plain(set)])).toEqual([conflict('data-db-0')])
    expect(toldOf([other])).toEqual([])
  })

  it('are not told of where the stateful set says nothing of them', () => {
    expect(shortly(plan(statefulSet(1, withClaims), [], { claims: [claim('data-db-0', [other])] }).actions)).toEqual([
      '+db-0',
    ])
  })

  it('of a former pod, with which they go, are waited for', () => {
    const stale = claim('data-db-0', [['Pod', 'db-0', 'gone']])
    expect(plan(statefulSet(1, policy('Retain', 'Delete')), [], { claims: [stale] }).actions).toEqual([])
    const others = claim('data-db-0', [['Other Pod', 'db-0', 'there', false]])
    const { actions } = plan(statefulSet(1, policy('Retain', 'Delete')), [], { claims: [others] })
    expect(actions.map(({ type }) => type)).toEqual(['create'])
  })

  it('are waited for where one of several is of a former pod, among other owners', () => {
    const templates = ['data', 'logs'].map((name) => ({ ...claimTemplate, metadata: { name } }))
    const set = statefulSet(1, { ...policy('Retain', 'Delete'), volumeClaimTemplates: templates })
    const stale = claim('logs-db-0', [
      ['Other', 'x', 'other', false],
      ['Pod', 'db-0', 'gone'],
    ])
    expect(plan(set, [], { claims: [claim('data-db-0'), stale] }).actions).toEqual([])
    const kept = { ...policy('Retain', 'Retain'), volumeClaimTemplates: templates }
    expect(shortly(plan(statefulSet(1, kept), [], { claims: [claim('data-db-0'), stale] }).actions)).toEqual(['+db-0'])
  })

  it('of another pod or another kind of that name are nothing to wait for', () => {
    const set = statefulSet(1, policy('Retain', 'Delete'))
    const owners: readonly Owner[] = [
      ['Pod', 'db-1', 'there', false],
      ['StatefulSet', 'db-0', 'there', false],
      ['ConfigMap', 'db-0', 'there', false],
    ]
    for (const owner of owners) {
      expect(shortly(plan(set, [], { claims: [claim('data-db-0', [owner])] }).actions)).toEqual(['+db-0'])
    }
  })

  it('are given their owner by a patch of the revision that was seen', () => {
    const seen = claim('data-db-0')
    const present = { ...seen, metadata: { ...seen.metadata, resourceVersion: '7' } }
    const { actions } = plan(statefulSet(1, policy('Delete', 'Retain')), [member(0)], { claims: [present] })
    expect(actions.find((action) => action.type === 'patch' && action.key.name === 'data-db-0')).toMatchObject({
      key: { namespace: 'default', name: 'data-db-0' },
      because: 'the stateful set says what becomes of the claims of its pods',
      patch: { type: 'merge', body: { metadata: { uid: 'data-db-0', resourceVersion: '7' } } },
    })
  })

  it.each([
    ['db-0 runs', member(0), [undefined, 'SuccessfulUpdate']],
    ['db-0 has ended', member(0, { phase: 'Failed' }), []],
    ['db-0 is not ready, and waited for', member(0, { isUnready: true }), []],
    ['db-0 waits for its start', member(0, { phase: 'Pending', isUnready: true }), [undefined, undefined]],
  ])('are told of as an update of their pod, once, when they change and %s', (_, pod, reasons) => {
    const templates = ['data', 'logs'].map((name) => ({ ...claimTemplate, metadata: { name } }))
    const set = statefulSet(1, { ...policy('Delete', 'Retain'), volumeClaimTemplates: templates })
    const volumes = templates.map(({ metadata: { name } }) => ({
      name,
      persistentVolumeClaim: { claimName: `${name}-db-0` },
    }))
    const stored = { ...pod, spec: { ...pod.spec, volumes } } as typeof pod
    const { actions } = plan(set, [stored], { claims: [claim('data-db-0'), claim('logs-db-0')] })
    const changes = actions.flatMap((action) =>
      action.type === 'patch' && action.resource.plural === 'persistentvolumeclaims' ? [action.events] : [],
    )
    expect(changes.map((events) => events?.succeeded?.reason)).toEqual(reasons)
    if (reasons.includes('SuccessfulUpdate')) {
      expect(changes.map((events) => events?.failed)).toEqual(
        ['data-db-0', 'logs-db-0'].map((name) => ({
          reason: 'FailedUpdate',
          message: `Update Pod db-0 in StatefulSet db failed error: could not update claim ${name} for delete policy ownerRefs: {error}`,
        })),
      )
    }
    const wanted = 'Update Pod db-0 in StatefulSet db successful'
    expect(changes.flatMap((events) => events?.succeeded?.message ?? [])).toEqual(
      reasons.includes('SuccessfulUpdate') ? [wanted] : [],
    )
  })

  it('that change with their pod are told of with that', () => {
    const set = statefulSet(1, { ...policy('Delete', 'Retain'), updateStrategy: { type: 'OnDelete' } })
    const adopted = anyPod('db-0', { labels, readyFor: 60 })
    const { actions } = plan(set, [adopted], { claims: [claim('data-db-0')] })
    const updates = actions.map((action) =>
      action.type === 'patch' ? [action.key.name, action.events?.succeeded] : [],
    )
    const told = { reason: 'SuccessfulUpdate', message: 'Update Pod db-0 in StatefulSet db successful' }
    expect(updates).toEqual([
      ['data-db-0', undefined],
      ['db-0', told],
    ])
  })

  it('are made with the pod of each place for itself in parallel, so that one that is refused keeps no other pod away', () => {
    const chains = plan(statefulSet(2, { ...withClaims, ...parallel }), []).actions.map(({ chain }) => chain)
    expect(chains).toEqual(['0', '1', '0', '1'])
    expect(plan(statefulSet(2, withClaims), []).actions.map(({ chain }) => chain)).toEqual([undefined, undefined])
  })

  it.each([
    ['OrderedReady', ['+logs-db-0', 'event']],
    ['Parallel', ['+logs-db-0', '+data-db-1', '+logs-db-1', 'event', '+db-1']],
  ] as const)('that are on their way out are waited for (%s)', (podManagementPolicy, expected) => {
    const templates = ['data', 'logs'].map((name) => ({ ...claimTemplate, metadata: { name } }))
    const set = statefulSet(2, { volumeClaimTemplates: templates, podManagementPolicy })
    const data = claim('data-db-0')
    const going = { ...data, metadata: { ...data.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const { actions } = plan(set, [], { claims: [going] })
    expect(shortly(actions)).toEqual(expected)
    expect(actions.find(({ type }) => type === 'event')).toMatchObject({
      eventType: 'Warning',
      reason: 'FailedCreate',
      message: 'Create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted',
      because: 'claims of the pod are on their way out',
    })
  })

  it('that are on their way out are told of together', () => {
    const templates = ['data', 'logs'].map((name) => ({ ...claimTemplate, metadata: { name } }))
    const claims = ['data-db-0', 'logs-db-0'].map((name) => ({
      ...claim(name),
      metadata: { ...claim(name).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }))
    expect(plan(statefulSet(1, { volumeClaimTemplates: templates }), [], { claims }).actions).toMatchObject([
      {
        message:
          'Create Pod db-0 in StatefulSet db failed error: [pvc data-db-0 is being deleted, pvc logs-db-0 is being deleted]',
      },
    ])
  })
})

describe('the status of a stateful set', () => {
  it('counts its pods', () => {
    const pods = [
      member(0),
      member(1, { isOld: true, readyFor: 5 }),
      member(2, { isUnready: true }),
      member(3, { isGoing: true }),
    ]
    const set = statefulSet(4, { status: { ...rolling, collisionCount: 1 }, minReadySeconds: 10 })
    const { status, requeueAfterMs } = plan(set, pods)
    expect(status).toEqual({
      observedGeneration: 2,
      replicas: 4,
      readyReplicas: 3,
      availableReplicas: 2,
      currentReplicas: 1,
      updatedReplicas: 2,
      currentRevision: nameOf(revision('old')),
      updateRevision: nameOf(revision('new')),
      collisionCount: 1,
      conditions: undefined,
    })
    expect(requeueAfterMs).toBe(5000)
  })
})

describe('whether a pod of a stateful set is ready, and available', () => {
  const set = statefulSet(1, { minReadySeconds: 10 })

  it('shows in its phase, too', () => {
    expect(plan(set, [member(0, { phase: 'Failed' })]).status).toMatchObject({
      replicas: 1,
      readyReplicas: undefined,
      availableReplicas: 0,
    })
  })

  it('is so at the very moment when it has been ready for long enough: nothing is waited for', () => {
    const { status, ...planned } = plan(set, [member(0, { readyFor: 10 })])
    expect(status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 })
    expect(planned).toEqual({ actions: [] })
  })

  it('is nothing that counts before the server has given it a phase', () => {
    const made = member(0)
    const early = { ...made, status: { ...made.status, phase: undefined } } as Pod
    expect(plan(set, [early]).status).toMatchObject({ replicas: 0, updatedReplicas: undefined })
  })
})

describe('the history of a stateful set', () => {
  it('begins with the first template', () => {
    const { actions, isStatusOfSuccess } = plan(statefulSet(0), [], { revisions: [] })
    // The status names it.
    expect(isStatusOfSuccess).toBe(true)
    expect(actions).toMatchObject([
      {
        type: 'create',
        object: {
          metadata: { labels: { app: 'db', 'controller.kubernetes.io/hash': expect.any(String) } },
          revision: 1,
        },
      },
    ])
  })

  it('tries another name where the name is taken', () => {
    const taken = plan(statefulSet(1), [], { revisions: [], isRevisionNameTaken: () => true })
    expect(taken).toMatchObject({ actions: [], status: { collisionCount: 1 } })
  })

  it('forgets the earliest beyond the limit that nothing is made from', () => {
    const named = (name: string, number: number) =>
      ({
        ...revision('new', number),
        data: { spec: { template: name } },
        metadata: { namespace: 'default', name },
      }) as ControllerRevision
    const revisions = [named('a', 1), named('b', 2), named('c', 3), revision('old', 4), revision('new', 5)]
    const set = statefulSet(1, { revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' }, status: rolling })
    expect(shortly(plan(set, [member(0)], { revisions }).actions)).toEqual(['-a', '-b'])
  })

  it('forgets none that a pod is made from, not even beyond the limit', () => {
    const status = { ...rolling, currentRevision: nameOf(revision('new')) }
    const set = statefulSet(1, { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' }, status })
    expect(shortly(plan(set, [member(0, { isOld: true })]).actions)).toEqual([])
    expect(shortly(plan(set, [member(0)]).actions)).toEqual([`-${nameOf(revision('old'))}`])
  })
})

it('does nothing for a stateful set that would select all pods', () => {
  expect(plan(statefulSet(1, { selector: {} }), [], { revisions: [] })).toEqual({ actions: [] })
})

describe('claims to pods', () => {
  it('come before all else', () => {
    const { actions, status } = plan(statefulSet(3), [], { orphans: [member(0)], mismatched: [anyPod('db-1')] })
    expect(shortly(actions)).toEqual(['~db-1', '~db-0'])
    expect(status).toBeUndefined()
  })
})
