import type { KubernetesObject } from '@coracle/api'
import { seededRandom } from '@coracle/environment'
import { Draw } from './draw.ts'
import type { Operation, PropagationPolicy, Request, Target } from './operation.ts'
import { budgetShape, imageOf, namespaceOf, quotaNamed, shapeOf } from './shapes.ts'

/** How often a scenario has workloads that ask for something out of the ordinary. */
const demandsShare = 0.4
/** Requests to each of them, at most. */
const requestsMax = 6
const replicasMax = 5

type Spec = Readonly<Record<string, unknown>>

/**
 * A scenario's operations with those of workloads among them that ask for what is rarely asked for: Jobs with rules for failure and
 * success, sets of numbers that do not begin with 0, pods that nodes have hardly room for and that are more or less important or keep
 * apart, quotas of all there is, and owners in a circle. They are drawn from a source of their own, so that a seed without them is what
 * it is without all this.
 */
export function withDemands(seed: number, operations: readonly Operation[]): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('demands'))
  if (!draw.chance(demandsShare)) return operations
  const lastMs = Math.max(30_000, operations.at(-1)?.atMs ?? 0)
  const themes = [ruledJobs, numberedSets, scarceRoom, widerQuotas, ownersInACircle]
  const first = draw.below(themes.length)
  const chosen = [first, ...(draw.chance(0.4) ? [(first + 1 + draw.below(themes.length - 1)) % themes.length] : [])]
  const added = chosen.flatMap((index) => themes[index]?.(draw, lastMs) ?? [])
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}

/** What is there from the start, and what is asked of it afterwards. */
function story(
  draw: Draw,
  lastMs: number,
  opening: readonly Request[],
  choices: readonly (() => Request)[],
): readonly Operation[] {
  return [
    ...opening.map((each): Operation => ({ atMs: 0, ...each })),
    ...Array.from({ length: draw.below(requestsMax + 1) }, () => ({ atMs: draw.below(lastMs), ...draw.of(choices)() })),
  ]
}

const withSpec = (object: KubernetesObject, spec: Spec): KubernetesObject => {
  const { spec: before } = object as KubernetesObject & { readonly spec: Spec }
  return { ...object, spec: { ...before, ...spec } } as KubernetesObject
}

const policies: readonly PropagationPolicy[] = ['Background', 'Foreground', 'Orphan']

/** Jobs that say which failures count, which end them, and when enough has succeeded. */
function ruledJobs(draw: Draw, lastMs: number): readonly Operation[] {
  const count = 1 + draw.below(3)
  return Array.from({ length: count }, (_, index) => index).flatMap((index) => {
    const target: Target = { kind: 'Job', namespace: namespaceOf(draw), name: `ruled${index}` }
    const create = (): Request => ({ type: 'create', object: ruledJob(draw, target) })
    const choices: readonly (() => Request)[] = [
      () => ({ type: 'change', target, spec: { suspend: draw.chance(0.4) } }),
      () => ({ type: 'change', target, spec: { parallelism: draw.below(4) } }),
      () => ({ type: 'delete-pod', pick: draw.next() }),
      () => ({ type: 'evict-pod', pick: draw.next() }),
      () => ({ type: 'delete', target, propagationPolicy: draw.of(policies) }),
      create,
    ]
    return story(draw, lastMs, [create()], choices)
  })
}

function ruledJob(draw: Draw, { namespace = '', name }: Target): KubernetesObject {
  const isIndexed = draw.chance(0.7)
  const completions = 2 + draw.below(4)
  const hasLimitPerIndex = isIndexed && draw.chance(0.6)
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
    { action: draw.of(['Ignore', 'Count']), onExitCodes: { operator: 'In', values: [3, 4] } },
    ...(hasLimitPerIndex
      ? [{ action: 'FailIndex', onExitCodes: { operator: 'NotIn', values: [0, 1, 3, 4, 42] } }]
      : []),
  ].filter(() => draw.chance(0.7))
  const env = [
    { name: 'SIMULATED_RUN', value: draw.of(['0s', '3s', '15s']) },
    { name: 'SIMULATED_EXIT_CODE', value: draw.of(['0,0,1', '0,3', '0,0,0,42', '0,7', '0,0,1,3,7']) },
  ]
  const successRules = [
    { succeededIndexes: draw.of(['0', '0-1', '1']) },
    { succeededCount: 1 + draw.below(completions) },
    { succeededIndexes: '0-1', succeededCount: 1 },
  ]
  return withSpec(shapeOf(draw, 'Job', name, namespace), {
    parallelism: 1 + draw.below(3),
    completions,
    completionMode: isIndexed ? 'Indexed' : 'NonIndexed',
    podReplacementPolicy: rules.length > 0 || draw.chance(0.5) ? 'Failed' : 'TerminatingOrFailed',
    backoffLimit: hasLimitPerIndex && draw.chance(0.7) ? 100 : draw.below(5),
    backoffLimitPerIndex: hasLimitPerIndex ? draw.below(3) : undefined,
    maxFailedIndexes: hasLimitPerIndex && draw.chance(0.6) ? draw.below(completions) : undefined,
    ...(rules.length > 0 ? { podFailurePolicy: { rules } } : {}),
    ...(isIndexed && draw.chance(0.5) ? { successPolicy: { rules: [draw.of(successRules)] } } : {}),
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: imageOf(draw), env }] } },
  })
}

/** Sets whose numbers begin somewhere, and whose partition moves while they are replaced. */
function numberedSets(draw: Draw, lastMs: number): readonly Operation[] {
  const target: Target = { kind: 'StatefulSet', namespace: namespaceOf(draw), name: 'numbered' }
  const { namespace = '', name } = target
  const updateStrategy = () => ({ type: 'RollingUpdate', rollingUpdate: { partition: draw.below(replicasMax) } })
  const create = (): Request => ({
    type: 'create',
    object: withSpec(shapeOf(draw, 'StatefulSet', name, namespace), {
      ordinals: { start: draw.below(4) },
      updateStrategy: draw.chance(0.2) ? { type: 'OnDelete' } : updateStrategy(),
    }),
  })
  const change = (spec: Spec): Request => ({ type: 'change', target, spec })
  const setImage = (): Request => ({ type: 'set-image', target, image: imageOf(draw) })
  return story(
    draw,
    lastMs,
    [create()],
    [
      setImage,
      setImage,
      () => change({ ordinals: { start: draw.below(4) } }),
      () => change({ updateStrategy: updateStrategy() }),
      () => change({ updateStrategy: { type: 'OnDelete', rollingUpdate: null } }),
      () => ({ type: 'scale', target, replicas: draw.below(replicasMax) }),
      () => ({ type: 'delete-pod', pick: draw.next() }),
      () => ({ type: 'delete', target, propagationPolicy: draw.of(policies) }),
      create,
    ],
  )
}

/** The cores of a simulated node are 32: two of these pods fill it, or three of the smaller ones. */
const sizes = ['10', '15'] as const
const importance = ['low', 'high'] as const
/** Without these there are no such pods. */
export const priorityClassShapes: readonly KubernetesObject[] = importance.map((name, index) => {
  const value = 100 * (index + 1)
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value } as KubernetesObject
})
/** What `calm` makes fit in the end. */
export const scarceLabel = 'example.dev/scarce'

/** Pods that need much of a node, of which the more important ones make the others go, and some of which keep apart. */
function scarceRoom(draw: Draw, lastMs: number): readonly Operation[] {
  const namespace = 'default'
  const classes = priorityClassShapes.map((object): Request => ({ type: 'create', object }))
  const targets = importance.map((name): Target => ({ kind: 'ReplicaSet', namespace, name: `scarce-${name}` }))
  const create = (target: Target): Request => ({ type: 'create', object: scarceSet(draw, target) })
  const guard = ({ name }: Target): Request => {
    const budget = budgetShape(draw, name, namespace)
    const unhealthyPodEvictionPolicy = draw.of(['IfHealthyBudget', 'AlwaysAllow'])
    return { type: 'create', object: withSpec(budget, { unhealthyPodEvictionPolicy }) }
  }
  const any = (): Target => draw.of(targets)
  const opening = [...classes, ...targets.map(create), ...(draw.chance(0.5) ? [guard(any())] : [])]
  return story(draw, lastMs, opening, [
    () => ({ type: 'scale', target: any(), replicas: draw.below(replicasMax + 1) }),
    () => ({ type: 'scale', target: any(), replicas: draw.below(replicasMax + 1) }),
    () => ({ type: 'evict-pod', pick: draw.next() }),
    () => ({ type: 'delete-pod', pick: draw.next() }),
    () => ({ type: 'drain', pick: draw.next() }),
    () => ({ type: 'cordon', pick: draw.next(), isCordoned: false }),
    () => ({ type: 'delete', target: any(), propagationPolicy: draw.of(policies) }),
    () => create(any()),
  ])
}

function scarceSet(draw: Draw, { namespace = '', name }: Target): KubernetesObject {
  const labels = { app: name, [scarceLabel]: 'yes' }
  const resources = { requests: { cpu: draw.of(sizes) } }
  const apart = { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' }
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } }
  return withSpec(shapeOf(draw, 'ReplicaSet', name, namespace), {
    replicas: 1 + draw.below(replicasMax),
    template: {
      metadata: { labels },
      spec: {
        priorityClassName: name.replace('scarce-', ''),
        containers: [{ name: 'main', image: imageOf(draw), resources }],
        ...(draw.chance(0.4) ? { affinity } : {}),
      },
    },
  })
}

/** Quotas of objects of many kinds. */
function widerQuotas(draw: Draw, lastMs: number): readonly Operation[] {
  const namespace = namespaceOf(draw)
  const target: Target = { kind: 'ResourceQuota', namespace, name: 'wider' }
  const names = ['count/jobs.batch', 'count/replicasets.apps', 'count/pods', 'configmaps', 'services'] as const
  const hard = () =>
    Object.fromEntries(names.filter(() => draw.chance(0.5)).map((name) => [name, String(1 + draw.below(8))]))
  const cronJob: Target = { kind: 'CronJob', namespace, name: 'counted' }
  const deployment: Target = { kind: 'Deployment', namespace, name: 'counted' }
  const make = ({ kind, name }: Target): Request => ({ type: 'create', object: shapeOf(draw, kind, name, namespace) })
  const limit = (): Request => ({ type: 'create', object: quotaNamed('wider', namespace, hard()) })
  return story(
    draw,
    lastMs,
    [limit(), make(cronJob), make(deployment)],
    [
      () => ({ type: 'change', target, spec: { hard: hard() } }),
      () => ({ type: 'set-image', target: deployment, image: imageOf(draw) }),
      () => ({ type: 'scale', target: deployment, replicas: draw.below(replicasMax) }),
      () => ({ type: 'delete', target, propagationPolicy: 'Background' }),
      () => ({ type: 'delete', target: draw.of([cronJob, deployment]), propagationPolicy: draw.of(policies) }),
      () => ({ type: 'create', object: configOf(`counted${draw.below(4)}`, namespace) }),
      limit,
    ],
  )
}

const configOf = (name: string, namespace: string): KubernetesObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }) as KubernetesObject

/** Objects that own each other, which go together when one of them is to go with all that it owns. */
function ownersInACircle(draw: Draw, lastMs: number): readonly Operation[] {
  const namespace = namespaceOf(draw)
  const circle = Array.from(
    { length: 2 + draw.below(2) },
    (_, index): Target => ({ kind: 'ConfigMap', namespace, name: `circle${index}` }),
  )
  const make = ({ name }: Target, owner?: Target): Request => ({
    type: 'create',
    object: configOf(name, namespace),
    ...(owner === undefined ? {} : { owners: [{ ...owner, blockOwnerDeletion: draw.chance(0.6) }] }),
  })
  const close = (): Request => ({
    type: 'own',
    target: circle[0] ?? { kind: 'ConfigMap', name: '' },
    owner: { ...(circle.at(-1) as Target), blockOwnerDeletion: draw.chance(0.6) },
  })
  const opening = [...circle.map((each, index) => make(each, circle[index - 1])), close()]
  const remove = (): Request => ({ type: 'delete', target: draw.of(circle), propagationPolicy: draw.of(policies) })
  return story(draw, lastMs, opening, [remove, remove, () => make(draw.of(circle)), close])
}
