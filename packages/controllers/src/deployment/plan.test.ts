import { type Deployment, type DeploymentStatus, type ReplicaSet, replicaSets } from '@coracle/api'
import { metadataOf } from '@coracle/client'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { type DeploymentParts, deployment, replicaSet, rolling, templateOf } from '../testing/deployments.ts'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { newSetName } from './new-replica-set.ts'
import { createFailureStatus, isSettled, type ObservedDeployment, planDeployment } from './plan.ts'
import { templateHash } from './template-hash.ts'

function plan(object: Deployment, sets: readonly ReplicaSet[] = [], parts: Partial<ObservedDeployment> = {}) {
  const others = { orphans: [], mismatched: [], hasPods: () => false, isNameTaken: () => false, ...parts }
  const made = planDeployment({ deployment: object, replicaSets: sets, ...others }, startMs)
  if (isSettled(object, made)) {
    // What is called settled comes to the same when it is looked at again.
    const annotations = { ...object.metadata.annotations, ...made.annotations }
    const written = { ...object, metadata: { ...object.metadata, annotations }, status: made.status }
    expect(planDeployment({ deployment: written as Deployment, replicaSets: sets, ...others }, startMs)).toEqual(made)
  }
  return made
}

/** What an action does: `create web-x 3`, `update web-old 5`, `delete web-old`. */
function summary(action: Action): string {
  switch (action.type) {
    case 'create':
    case 'update':
      return `${action.type} ${action.object.metadata.name} ${(action.object as ReplicaSet).spec.replicas}`
    case 'apply':
      return `apply ${metadataOf(action.object).name}`
    case 'patch':
    case 'delete':
      return `${action.type} ${action.key.name}`
    case 'event':
      return `event ${action.reason}: ${action.message}`
  }
}

const summaries = (actions: readonly Action[]) => actions.map(summary)
const scalingMessages = (actions: readonly Action[]) =>
  actions.map((action) => (action.type === 'event' ? undefined : action.events?.succeeded?.message))
const objectOf = (action: Action | undefined) =>
  action?.type === 'create' || action?.type === 'update' ? (action.object as ReplicaSet) : undefined
const reasonOf = (status: DeploymentStatus | undefined, type: string) =>
  status?.conditions?.find((condition) => condition.type === type)?.reason

/** Of a deployment whose last rollout is over. */
const finished = (replicas: number): DeploymentStatus => ({
  replicas,
  updatedReplicas: replicas,
  readyReplicas: replicas,
  availableReplicas: replicas,
  observedGeneration: 1,
  conditions: [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }],
})

const saysSize = (replicas: number, max: number) => ({
  'deployment.kubernetes.io/desired-replicas': String(replicas),
  'deployment.kubernetes.io/max-replicas': String(max),
})

describe('a deployment without a ReplicaSet for its template', () => {
  it('gets one named after the template, with all its replicas', () => {
    const object = deployment(4, {
      minReadySeconds: 5,
      annotations: { team: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    })
    const { actions, status, annotations } = plan(object)
    const hash = templateHash(templateOf('new'), undefined)
    const labels = { app: 'web', 'pod-template-hash': hash }
    expect(actions).toHaveLength(1)
    expect(objectOf(actions[0])).toEqual({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `web-${hash}`,
        namespace: 'default',
        labels,
        annotations: { team: 'a', 'deployment.kubernetes.io/revision': '1', ...saysSize(4, 5) },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name: 'web',
            uid: 'deployment',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        replicas: 4,
        minReadySeconds: 5,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: templateOf('new').spec },
      },
    })
    expect(actions[0]?.type === 'create' ? actions[0].events : undefined).toEqual({
      succeeded: { reason: 'ScalingReplicaSet', message: 'Scaled up replica set {name} from 0 to 4' },
      failed: {
        reason: 'ReplicaSetCreateError',
        message: 'Failed to create new replica set "{name}": {error}',
      },
    })
    expect(annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' })
    expect(status?.conditions).toContainEqual({
      type: 'Progressing',
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "web-${hash}"`,
      lastUpdateTime: secondsAgo(0),
      lastTransitionTime: secondsAgo(0),
    })
  })

  it('makes room for it at once, as far as pods may be missing', () => {
    const object = deployment(10, { ...rolling(3, 2), status: finished(10) })
    const old = replicaSet('old', { replicas: 10, revision: 1, annotations: saysSize(10, 13) })
    const { actions } = plan(object, [old])
    expect(summaries(actions)).toEqual([`create ${newSetName(object)} 3`, 'update web-old 8'])
    expect(scalingMessages(actions)).toEqual([
      'Scaled up replica set {name} from 0 to 3',
      'Scaled down replica set {name} from 10 to 8',
    ])
    expect(objectOf(actions[0])?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '2' })
  })

  it('gets the revision after the latest of its old ones, whichever of them is the youngest', () => {
    const sets = [replicaSet('a', { revision: 3, age: 10 }), replicaSet('b', { revision: 5, age: 300 })]
    const [creation] = plan(deployment(3), sets).actions
    expect(objectOf(creation)?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '6' })
  })

  it('gets one also where nobody has looked at it yet', () => {
    const object = { ...deployment(2), status: undefined }
    const { actions, status } = plan(object)
    expect(summaries(actions)).toEqual([`create ${newSetName(object)} 2`])
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['Progressing', 'Available'])
    expect(plan(object, [], { isNameTaken: () => true }).status).toEqual({ conditions: [], collisionCount: 1 })
    expect(createFailureStatus(object, 'no room', startMs)?.conditions).toHaveLength(1)
  })

  it('is named so also where the name of the deployment leaves no room', () => {
    const named = (length: number) => {
      const of = deployment(1)
      const [creation] = plan({ ...of, metadata: { ...of.metadata, name: 'd'.repeat(length) } }, []).actions
      return objectOf(creation)?.metadata.name ?? ''
    }
    const suffix = named(10).slice(10)
    expect(named(253 - suffix.length)).toHaveLength(253)
    expect(named(253)).toBe(`${'d'.repeat(253 - suffix.length)}${suffix}`)
  })

  it('says nothing of scaling where there is nothing to scale', () => {
    expect(scalingMessages(plan(deployment(0)).actions)).toEqual([undefined])
  })

  it('tells another template of the same name from its own, and takes another name', () => {
    const object = deployment(1, { status: { collisionCount: 2 } })
    const { actions, status } = plan(object, [], { isNameTaken: (name) => name === newSetName(object) })
    expect(actions).toEqual([])
    expect(status?.collisionCount).toBe(3)
    expect(newSetName({ ...object, status: { collisionCount: 3 } })).not.toBe(newSetName(object))
  })

  it('says why it could not be made', () => {
    const object = deployment(1, { status: { replicas: 3 } })
    expect(createFailureStatus(object, 'no room', startMs)).toMatchObject({
      replicas: 3,
      conditions: [
        {
          type: 'Progressing',
          status: 'False',
          reason: 'ReplicaSetCreateError',
          message: `Failed to create new replica set "${newSetName(object)}": no room`,
        },
      ],
    })
    expect(createFailureStatus(deployment(1, { progressDeadlineSeconds: 2_147_483_647 }), '', startMs)).toBeUndefined()
  })
})

describe('a deployment with a ReplicaSet for its template', () => {
  const current = (parts: Parameters<typeof replicaSet>[1] = {}) =>
    replicaSet('new', { replicas: 3, revision: 1, annotations: saysSize(3, 4), ...parts })

  it('does nothing where all is done', () => {
    const { actions, status, requeueAfterMs } = plan(deployment(3, { status: finished(3) }), [current()])
    expect(actions).toEqual([])
    expect(reasonOf(status, 'Progressing')).toBe('NewReplicaSetAvailable')
    expect(requeueAfterMs).toBeUndefined()
  })

  it('tells it by the template and not by the hash', () => {
    const object = deployment(3, { status: finished(3) })
    expect(newSetName(object)).not.toBe('web-new')
    expect(plan(object, [current()]).actions).toEqual([])
  })

  it('takes the oldest where there are several', () => {
    const object = deployment(3, { status: finished(3) })
    const twin = replicaSet('twin', { image: 'new', replicas: 0, age: 600, revision: 2 })
    expect(plan(object, [current(), twin]).annotations).toEqual({ 'deployment.kubernetes.io/revision': '2' })
  })

  it('takes the first by name where several are of the same age', () => {
    const twins = [replicaSet('b', { image: 'new', revision: 2 }), replicaSet('a', { image: 'new', revision: 3 })]
    for (const sets of [twins, twins.toReversed()])
      expect(plan(deployment(0), sets).annotations).toEqual({ 'deployment.kubernetes.io/revision': '3' })
  })

  it('takes from several old ones in the order of their age, whichever was heard of first', () => {
    const object = deployment(4, rolling(1, 1))
    const old = [replicaSet('younger', { replicas: 1, age: 300 }), replicaSet('older', { replicas: 1, age: 600 })]
    const sets = [current({ replicas: 3, annotations: saysSize(4, 5) }), ...old].map((set) => ({
      ...set,
      metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...saysSize(4, 5) } },
    }))
    for (const each of [sets, sets.toReversed()])
      expect(summaries(plan(object, each).actions).slice(-2)).toEqual(['update web-older 0', 'update web-younger 0'])
  })

  it('copies annotations to it, and never takes one away', () => {
    const object = deployment(3, { status: finished(3), annotations: { team: 'b' } })
    const { actions } = plan(object, [current({ annotations: { ...saysSize(3, 4), team: 'a', other: 'x' } })])
    expect(summaries(actions)).toEqual(['update web-new 3'])
    expect(objectOf(actions[0])?.metadata.annotations).toMatchObject({ team: 'b', other: 'x' })
    expect(scalingMessages(actions)).toEqual([undefined])
  })

  it('gives it the deployment’s minReadySeconds', () => {
    const { actions } = plan(deployment(3, { status: finished(3), minReadySeconds: 7 }), [current()])
    expect(objectOf(actions[0])?.spec.minReadySeconds).toBe(7)
  })

  it('says that it was found, where nothing was said of progress before', () => {
    const { status } = plan(deployment(3), [current({ available: 0 })])
    expect(reasonOf(status, 'Progressing')).toBe('ReplicaSetUpdated')
    const quiet = plan(deployment(3, { status: { ...finished(3), conditions: [] } }), [current({ available: 0 })])
    expect(quiet.status?.conditions?.[0]).toMatchObject({
      status: 'True',
      reason: 'FoundNewReplicaSet',
      message: 'Found new replica set "web-new"',
    })
    const available = [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }]
    const other = plan(deployment(3, { status: { ...finished(3), conditions: available } }), [
      current({ available: 0 }),
    ])
    expect(reasonOf(other.status, 'Progressing')).toBe('FoundNewReplicaSet')
  })

  it('looks again when the time for progress is up', () => {
    const conditions = [
      { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', lastUpdateTime: secondsAgo(100) },
    ]
    const status = { ...finished(3), availableReplicas: 0, readyReplicas: 0, conditions }
    expect(plan(deployment(3, { status }), [current({ available: 0 })]).requeueAfterMs).toBe(501_000)
  })

  it('is given the latest revision when it is rolled back to, and remembers the earlier ones', () => {
    const history = 'deployment.kubernetes.io/revision-history'
    const object = deployment(3, { status: finished(3) })
    const back = (annotations: Readonly<Record<string, string>> = {}) => {
      const set = current({ replicas: 0, revision: 3, annotations })
      const { actions, ...rest } = plan(object, [set, replicaSet('old', { replicas: 3, revision: 4 })])
      return { set: objectOf(actions.find((each) => objectOf(each)?.metadata.name === 'web-new')), ...rest }
    }
    expect(back().set?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '5', [history]: '3' })
    expect(back().annotations).toEqual({ 'deployment.kubernetes.io/revision': '5' })
    expect(back({ [history]: '1,2' }).set?.metadata.annotations?.[history]).toBe('1,2,3')
    const long = Array.from({ length: 600 }, (_, index) => String(1000 + index)).join(',')
    const shortened = back({ [history]: long }).set?.metadata.annotations?.[history] ?? ''
    expect(shortened.length).toBeLessThanOrEqual(2000)
    expect(shortened).toMatch(/,1599,3$/)
    // With what is to come it is 2000 characters long: as many as it may be.
    const full = `${'1'.repeat(998)},${'2'.repeat(999)}`
    expect(back({ [history]: full }).set?.metadata.annotations?.[history]).toBe(`${full},3`)
    expect(back({ [history]: `1${full}` }).set?.metadata.annotations?.[history]).toBe(`${'2'.repeat(999)},3`)
  })

  it('is given the latest revision where it had none, and has no history then', () => {
    const bare = current()
    const found = { ...bare, metadata: { ...bare.metadata, annotations: undefined } }
    const { actions } = plan(deployment(3, { status: finished(3) }), [found, replicaSet('old', { revision: 4 })])
    expect(objectOf(actions[0])?.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '5' })
  })

  it('counts on from a revision that no double can tell from the next', () => {
    const revision = '3546343826724305832'
    const old = replicaSet('old', { replicas: 3, annotations: { 'deployment.kubernetes.io/revision': revision } })
    const { actions } = plan(deployment(3), [old])
    expect(objectOf(actions[0])?.metadata.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '3546343826724305833',
    })
  })

  it('leaves a revision alone that is no number', () => {
    const object = deployment(3, { status: finished(3) })
    const set = current({ annotations: { ...saysSize(3, 4), 'deployment.kubernetes.io/revision': 'x' } })
    expect(plan(object, [set, replicaSet('old', { revision: 4 })]).actions).toEqual([])
  })
})

describe('a deployment that is scaled in the middle of a rollout', () => {
  it('keeps the proportions and goes no further', () => {
    const object = deployment(20, rolling(0, 0))
    const noted = saysSize(10, 10)
    const sets = [
      replicaSet('new', { replicas: 5, revision: 2, annotations: noted }),
      replicaSet('old', { replicas: 5, revision: 1, annotations: noted }),
    ]
    const { actions, status } = plan(object, sets)
    expect(summaries(actions)).toEqual(['update web-new 10', 'update web-old 10'])
    expect(status).toMatchObject({ replicas: 10, unavailableReplicas: 10 })
    expect(new Set(actions.map(({ because }) => because))).toEqual(new Set(['the deployment has been scaled']))
  })

  it('keeps all old ReplicaSets until the rollout is over', () => {
    const noted = saysSize(10, 10)
    const sets = [
      replicaSet('new', { replicas: 5, revision: 3, annotations: noted }),
      replicaSet('old', { replicas: 5, revision: 2, annotations: noted }),
      replicaSet('older', { revision: 1 }),
    ]
    const { actions } = plan(deployment(20, { ...rolling(0, 0), revisionHistoryLimit: 0 }), sets)
    expect(summaries(actions)).toEqual(['update web-new 10', 'update web-old 10'])
  })
})

describe('a paused deployment', () => {
  const paused = (replicas: number, parts: DeploymentParts = {}) => deployment(replicas, { paused: true, ...parts })

  it('makes no ReplicaSet for a new template', () => {
    const { actions, status } = plan(paused(3), [replicaSet('old', { replicas: 3, annotations: saysSize(3, 4) })])
    expect(actions).toEqual([])
    expect(reasonOf(status, 'Progressing')).toBe('DeploymentPaused')
  })

  it('is scaled all the same', () => {
    const { actions } = plan(paused(5), [replicaSet('old', { replicas: 3, annotations: saysSize(3, 4) })])
    expect(summaries(actions)).toEqual(['update web-old 5'])
    expect(actions.map(({ because }) => because)).toEqual(['the deployment is paused'])
  })

  it('says nothing of progress where there is no deadline for it', () => {
    const { status } = plan(paused(3, { progressDeadlineSeconds: 2_147_483_647 }), [replicaSet('new', { replicas: 3 })])
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['Available'])
  })

  it.each<readonly [string, ReplicaSet, boolean]>([
    ['that is empty', replicaSet('old'), false],
    ['that is to have pods, though there are none yet', replicaSet('old', { replicas: 2, pods: 0 }), true],
    ['that has pods yet, though it is to have none', replicaSet('old', { pods: 2, available: 0 }), true],
    ['that has changed since somebody has looked', replicaSet('old', { status: { observedGeneration: 0 } }), true],
    ['that nobody has looked at', { ...replicaSet('old'), status: undefined }, true],
  ])('does not keep an old ReplicaSet %s, else it does', (_, old, isKept) => {
    const sets = [replicaSet('new', { replicas: 3 }), replicaSet('live', { replicas: 1, revision: 2 }), old]
    const deleted = plan(paused(3, { revisionHistoryLimit: 1 }), sets).actions.filter(({ type }) => type === 'delete')
    const because = 'more old revisions exist than are kept'
    const key = { namespace: 'default', name: 'web-old' }
    const deletion = { type: 'delete', resource: replicaSets, key, uid: 'old', because }
    expect(deleted).toEqual(isKept ? [] : [deletion])
  })

  it('keeps no more old ReplicaSets than it may', () => {
    const sets = [replicaSet('old', { replicas: 3, revision: 2 }), replicaSet('older', { revision: 1 })]
    expect(summaries(plan(paused(3, { revisionHistoryLimit: 1 }), sets).actions)).toContain('delete web-older')
    const annotations = { 'deprecated.deployment.rollback.to': '1' }
    const waiting = paused(3, { revisionHistoryLimit: 1, annotations })
    expect(summaries(plan(waiting, sets).actions)).not.toContain('delete web-older')
  })
})

describe('a deployment whose pods are recreated', () => {
  const recreate = (parts: DeploymentParts = {}) => deployment(3, { strategy: { type: 'Recreate' }, ...parts })
  const old = (replicas: number, pods = replicas) => replicaSet('old', { replicas, pods, revision: 1 })

  it('empties the old ReplicaSets first', () => {
    const { actions } = plan(recreate(), [old(3), replicaSet('older')])
    expect(summaries(actions)).toEqual(['update web-old 0'])
    expect(actions[0]?.because).toBe('the deployment is being rolled out')
  })

  it('waits while there are old pods', () => {
    expect(plan(recreate(), [old(0, 3)]).actions).toEqual([])
    expect(plan(recreate(), [old(0, 3), replicaSet('older')]).actions).toEqual([])
  })

  it('waits while the last of them may still run', () => {
    expect(plan(recreate(), [old(0)], { hasPods: () => true }).actions).toEqual([])
  })

  it('makes all new ones then', () => {
    expect(summaries(plan(recreate(), [old(0)]).actions)).toEqual([`create ${newSetName(recreate())} 3`])
  })

  it('fills a ReplicaSet that is there already', () => {
    const { actions } = plan(recreate(), [old(0), replicaSet('new', { replicas: 0, revision: 2 })])
    expect(summaries(actions)).toEqual(['update web-new 3'])
  })

  it('is not held up by pods of the new one', () => {
    const sets = [replicaSet('new', { replicas: 3, pods: 0, revision: 1 })]
    const { status, actions } = plan(recreate(), sets, { hasPods: () => true })
    expect(reasonOf(status, 'Progressing')).toBe('ReplicaSetUpdated')
    expect(actions).toEqual([])
  })

  it('counts anew where the name of the new one is taken', () => {
    expect(plan(recreate(), [old(0)], { isNameTaken: () => true }).status?.collisionCount).toBe(1)
  })
})

describe('old ReplicaSets', () => {
  const done = (limit: number | undefined) => deployment(1, { status: finished(1), revisionHistoryLimit: limit })
  const current = replicaSet('new', { replicas: 1, revision: 9, annotations: saysSize(1, 2) })
  const deletions = (object: Deployment, sets: readonly ReplicaSet[]) =>
    summaries(plan(object, [current, ...sets]).actions)

  // The younger has the earlier revision: it is the revision that counts.
  const history = [
    replicaSet('three', { revision: 3, age: 300 }),
    replicaSet('one', { revision: 1, age: 10 }),
    replicaSet('two', { revision: 2, age: 200 }),
  ]

  it.each([
    [0, ['delete web-one', 'delete web-two', 'delete web-three']],
    [1, ['delete web-one', 'delete web-two']],
    [3, []],
    [2_147_483_647, []],
  ])('are kept up to %i, the latest ones', (limit, wanted) => {
    expect(deletions(done(limit), history)).toEqual(wanted)
  })

  it.each<readonly [string, readonly ReplicaSet[]]>([
    ['the oldest first', [replicaSet('second', { age: 100 }), replicaSet('first', { age: 200 })]],
    ['of the same age by name', [replicaSet('second'), replicaSet('first')]],
  ])('of one revision go in the order of their age: %s', (_, sets) => {
    for (const each of [sets, sets.toReversed()])
      expect(deletions(done(0), each)).toEqual(sets.map(({ metadata }) => `delete ${metadata.name}`).toReversed())
  })

  it.each<[string, ReplicaSet]>([
    ['still has pods', replicaSet('old', { revision: 1, pods: 1, available: 0 })],
    [
      'has not been looked at since its last change',
      replicaSet('old', { revision: 1, status: { observedGeneration: 0 } }),
    ],
  ])('stay while one %s', (_what, set) => {
    const object = { ...done(0), status: finished((set.status?.replicas ?? 0) + 1) }
    expect(deletions(object, [set])).toEqual([])
  })

  it('do not count while they are going', () => {
    const [first, ...rest] = history as [ReplicaSet, ...ReplicaSet[]]
    const going = { ...first, metadata: { ...first.metadata, deletionTimestamp: secondsAgo(0) } }
    expect(deletions(done(1), [going, ...rest])).toEqual(['delete web-one'])
  })

  it('are not cleaned up while a rollout goes on', () => {
    const object = deployment(2, { revisionHistoryLimit: 0, status: finished(1) })
    const behind = replicaSet('new', { replicas: 2, available: 1, revision: 9, annotations: saysSize(2, 3) })
    expect(summaries(plan(object, [behind, ...history]).actions)).toEqual([])
  })
})

describe('whose ReplicaSets are whose', () => {
  it('is settled before anything else', () => {
    const orphan = {
      ...replicaSet('orphan'),
      metadata: { ...replicaSet('orphan').metadata, ownerReferences: undefined },
    }
    const { actions, status } = plan(deployment(3), [], { orphans: [orphan], mismatched: [replicaSet('other')] })
    expect(summaries(actions)).toEqual(['patch web-other', 'patch web-orphan'])
    expect(actions.map(({ because }) => because)).toEqual([
      'the labels of the ReplicaSet no longer match the selector',
      'the ReplicaSet matches the selector and is nobody’s',
    ])
    expect(actions.map((action) => action.type === 'patch' && action.patch.body)).toMatchObject([
      { metadata: { uid: 'other', ownerReferences: null } },
      { metadata: { uid: 'orphan', ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true }] } },
    ])
    expect(status).toBeUndefined()
  })
})

it('only counts for a deployment that is being deleted', () => {
  const { actions, status } = plan(deployment(3, { isGoing: true }), [replicaSet('old', { replicas: 2 })])
  expect(actions).toEqual([])
  expect(status).toMatchObject({ replicas: 2 })
})

it('does nothing for a deployment that selects everything, and says so', () => {
  const { actions, status } = plan(deployment(3, { selector: {} }), [])
  expect(summaries(actions)).toEqual([
    'event SelectingAll: This deployment is selecting all pods. A non-empty selector is required.',
  ])
  expect(actions).toMatchObject([{ eventType: 'Warning' }])
  expect(status).toEqual({ observedGeneration: 1 })
})

describe('a rollback that is asked for by annotation', () => {
  const asking = (revision: string, annotations = {}) =>
    deployment(3, { annotations: { 'deprecated.deployment.rollback.to': revision, ...annotations } })
  const sets = [
    replicaSet('old', { revision: 2, annotations: { 'kubernetes.io/change-cause': 'first' } }),
    replicaSet('older', { revision: 1 }),
    replicaSet('new', { replicas: 3, revision: 3 }),
  ]
  const imageOf = (action: Action | undefined) =>
    action?.type === 'update' ? (action.object as Deployment).spec.template.spec?.containers[0]?.image : undefined

  it.each([
    ['0', 'old', 2],
    ['1', 'older', 1],
  ])('%s brings back an earlier template', (asked, image, revision) => {
    const own = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'deployment.kubernetes.io/revision': '3' }
    const { actions } = plan(asking(asked, { 'kubernetes.io/change-cause': 'second', other: 'x', ...own }), sets)
    expect(imageOf(actions[0])).toBe(image)
    expect(actions[0]?.because).toBe('a rollback was asked for')
    expect(objectOf(actions[0])?.metadata.annotations).toEqual(
      image === 'old' ? { 'kubernetes.io/change-cause': 'first', ...own } : own,
    )
    expect(actions[1]).toMatchObject({
      eventType: 'Normal',
      reason: 'DeploymentRollback',
      message: `Rolled back deployment "web" to revision ${revision}`,
    })
  })

  it.each([
    ['7', sets, 'DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.'],
    ['0', [], 'DeploymentRollbackRevisionNotFound: Unable to find last revision.'],
    [
      '3',
      sets,
      'DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"',
    ],
  ])('%s is given up where it cannot be', (asked, known, event) => {
    const { actions } = plan(asking(asked, { own: 'x' }), known)
    expect(summary(actions[0] as Action)).toBe(`event ${event}`)
    expect(actions[0]).toMatchObject({ eventType: 'Warning' })
    expect(imageOf(actions[1])).toBe('new')
    expect(objectOf(actions[1])?.metadata.annotations).toEqual({ own: 'x' })
  })

  it('waits while the deployment is paused', () => {
    const paused = { ...asking('1'), spec: { ...asking('1').spec, paused: true } }
    expect(plan(paused, [replicaSet('new', { replicas: 3, revision: 3 })]).actions).not.toContainEqual(
      expect.objectContaining({ type: 'event' }),
    )
  })
})

describe('the hash of a template', () => {
  it('is the same whatever the order of its fields', () => {
    const { metadata, spec } = templateOf('new')
    expect(templateHash({ spec, metadata }, undefined)).toBe(templateHash({ metadata, spec }, undefined))
  })

  it('is another for another template, and for each collision', () => {
    const hashes = [templateOf('a'), templateOf('b')].flatMap((template) => [
      templateHash(template, undefined),
      templateHash(template, 1),
    ])
    expect(new Set(hashes).size).toBe(4)
    for (const hash of hashes) expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{6,10}$/)
  })
})
