import type { Event, KubernetesObject, Pod, Resource } from '@coracle/api'
import { formatTime, nodes, persistentVolumeClaims, pods, replicaSets } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type Examined, findingsOf, verdictOf } from './explanation.ts'
import type { Diagnosis, Finding, FindingState } from './finding.ts'
import { condition, examined, nowMs, object, onNode, pod, readyNode, running } from './testing/examined.ts'

const onReadyNode = { known: new Map<Resource, readonly KubernetesObject[]>([[nodes as Resource, [readyNode]]]) }
const reasons = (subject: Examined) => findingsOf(subject).map(({ reason }) => reason)

describe('nothing holds up', () => {
  it.each<[what: string, Examined]>([
    [
      'a pod that is ready',
      examined(pod({ ...running, conditions: [condition('Ready', 'True')] }, onNode), onReadyNode),
    ],
    ['a pod that has done its work', examined(pod({ phase: 'Succeeded' }, onNode), onReadyNode)],
    [
      'a claim that is bound',
      examined(object('v1', 'PersistentVolumeClaim', { spec: {}, status: { phase: 'Bound' } })),
    ],
    ['a Node that is ready', examined(readyNode)],
    ['a ConfigMap', examined(object('v1', 'ConfigMap', {}))],
    [
      'a kind that nothing is known of, and whose controller is content',
      examined(object('a.io/v1', 'Widget', { status: { conditions: [condition('Ready', 'True')] } })),
    ],
    [
      'a Service for names elsewhere',
      examined(object('v1', 'Service', { spec: { type: 'ExternalName', externalName: 'a.io' } })),
    ],
    [
      'a Deployment that is as it is to be, and paused',
      examined(
        object('apps/v1', 'Deployment', {
          spec: { replicas: 1, selector: {}, paused: false },
          status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 },
        }),
      ),
    ],
  ])('%s', (_what, subject) => {
    expect(findingsOf(subject)).toEqual([])
    expect(verdictOf(findingsOf(subject))).toBe('fine')
  })
})

describe('what could not be read', () => {
  const selecting = object('v1', 'Service', { spec: { selector: { app: 'web' }, ports: [] } })
  const mounting = pod({ phase: 'Pending' }, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] })

  it.each<[what: string, KubernetesObject, Resource, reason: string]>([
    ['pods that a Service selects', selecting, pods as Resource, 'SelectorMatchesNothing'],
    ['a claim that a pod uses', mounting, persistentVolumeClaims as Resource, 'ClaimMissing'],
    ['the node of a pod', pod(running, onNode), nodes as Resource, 'NodeLost'],
  ])('is not taken for absent: %s', (_what, subject, resource, reason) => {
    const readable = { known: new Map<Resource, readonly KubernetesObject[]>([[resource, []]]) }
    expect(reasons(examined(subject, readable))).toContain(reason)
    expect(reasons(examined(subject))).not.toContain(reason)
  })
})

describe('what is told first', () => {
  const image = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }
  const stuckPod = (name: string) =>
    examined(
      pod(
        {
          ...running,
          phase: 'Pending',
          containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: image }],
        },
        onNode,
        {
          name,
          uid: name,
        },
      ),
      onReadyNode,
    )
  const overdue = object('apps/v1', 'Deployment', {
    spec: { replicas: 2, selector: {} },
    status: { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'timed out')] },
  })

  it('is the cause, then what follows from it', () => {
    expect(reasons(examined(overdue, { leads: [stuckPod('a')] }))).toEqual([
      'ImageNotPulled',
      'ProgressDeadlineExceeded',
    ])
  })

  it('is told once of those that are alike', () => {
    const [first] = findingsOf(examined(overdue, { leads: [stuckPod('a'), stuckPod('b'), stuckPod('c')] }))
    expect(first).toMatchObject({ reason: 'ImageNotPulled', object: { name: 'a' }, alike: 2 })
  })

  it('is told once where a controller has copied the condition of what it owns', () => {
    const refused = {
      status: { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota: q')] },
    }
    const owner = object('apps/v1', 'Deployment', { spec: { selector: {} }, ...refused })
    const owned = examined(object('apps/v1', 'ReplicaSet', { spec: { selector: {} }, ...refused }))
    expect(findingsOf(examined(owner, { leads: [owned] }))).toMatchObject([
      { reason: 'QuotaExceeded', object: { kind: 'Deployment' } },
    ])
  })

  it('is not told by a condition that a paused Deployment has kept from before', () => {
    const refusal = { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota: q')] }
    const ofDeployment = [{ kind: 'Deployment', name: 'web', uid: 'd', controller: true }]
    const set = (status: object) =>
      object('apps/v1', 'ReplicaSet', {
        metadata: { uid: 'r', ownerReferences: ofDeployment },
        spec: { replicas: 1, selector: {} },
        status,
      })
    const pausedWith = (...sets: readonly KubernetesObject[]) =>
      reasons(
        examined(
          object('apps/v1', 'Deployment', {
            metadata: { uid: 'd' },
            spec: { replicas: 1, paused: true, selector: {} },
            status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1, ...refusal },
          }),
          { known: new Map([[replicaSets as Resource, sets]]) },
        ),
      )
    expect(pausedWith(set({ replicas: 1, readyReplicas: 1 }))).toEqual(['Paused'])
    expect(pausedWith(set(refusal))).toEqual(['QuotaExceeded', 'Paused'])
  })

  it('is no wait of a Job between two pods while one is at work that its status does not count', () => {
    const job = object('batch/v1', 'Job', { metadata: { uid: 'j' }, spec: {}, status: { failed: 1, active: 0 } })
    const ofJob = [{ kind: 'Job', name: 'web', uid: 'j', controller: true }]
    const withPods = (...all: readonly KubernetesObject[]) =>
      reasons(examined(job, { known: new Map([[pods as Resource, all]]) }))
    const own = (phase: string) => pod({ phase }, {}, { ownerReferences: ofJob })
    expect(withPods(own('Failed'))).toContain('BackingOff')
    expect(withPods(own('Failed'), own('Running'))).not.toContain('BackingOff')
    expect(withPods(own('Failed'), own('Pending'))).not.toContain('BackingOff')
  })

  it('is no hint about an object that was not asked about', () => {
    const tainted = object('v1', 'Node', {
      spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
      status: { conditions: [condition('Ready', 'True')] },
    })
    expect(reasons(examined(tainted))).toEqual(['Tainted'])
    expect(reasons(examined(object('v1', 'ConfigMap', {}), { leads: [examined(tainted)] }))).toEqual([])
  })
})

describe('a pod', () => {
  const container = (state: object, more: object = {}) => ({
    containerStatuses: [{ name: 'main', ready: false, restartCount: 1, state, ...more }],
  })

  it.each<[what: string, KubernetesObject, readonly Partial<Event>[], reason: string]>([
    [
      'has failed with a segmentation fault',
      pod({ phase: 'Failed', ...container({ terminated: { exitCode: 139 } }) }, onNode),
      [],
      'ContainerFailed',
    ],
    [
      'was killed for its memory',
      pod({ phase: 'Failed', ...container({ terminated: { exitCode: 137, reason: 'OOMKilled' } }) }, onNode),
      [],
      'OutOfMemory',
    ],
    [
      'has run out of time',
      pod({ phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' }, onNode),
      [],
      'DeadlineExceeded',
    ],
    [
      'had to make room',
      pod({
        phase: 'Failed',
        conditions: [condition('DisruptionTarget', 'True', 'PreemptionByScheduler', 'more important')],
      }),
      [],
      'Preempted',
    ],
    [
      'waits for room that is being made',
      pod({
        phase: 'Pending',
        nominatedNodeName: 'n1',
        conditions: [condition('PodScheduled', 'False', 'Unschedulable', 'Insufficient cpu')],
      }),
      [],
      'WaitsForPreemption',
    ],
    [
      'cannot mount what is not there',
      pod(
        {
          phase: 'Pending',
          startTime: '2026-01-01T00:00:00Z',
          ...container({ waiting: { reason: 'ContainerCreating' } }),
        },
        onNode,
      ),
      [{ reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "v" : configmap "settings" not found' }],
      'ConfigurationMissing',
    ],
    [
      'could not mount something before, and fetches its image now',
      pod(
        {
          phase: 'Pending',
          startTime: '2026-01-01T00:00:00Z',
          ...container({ waiting: { reason: 'ContainerCreating' } }),
        },
        onNode,
      ),
      [
        { reason: 'FailedMount', message: 'not yet', lastTimestamp: '2026-01-01T00:00:01Z' },
        { reason: 'Pulling', message: 'Pulling image "web"', lastTimestamp: '2026-01-01T00:00:05Z' },
      ],
      'Starting',
    ],
    [
      'is not let in by a readiness gate',
      pod(
        {
          ...running,
          conditions: [condition('Ready', 'False'), condition('ContainersReady', 'True')],
          ...container({ running: {} }, { ready: true }),
        },
        { ...onNode, readinessGates: [{ conditionType: 'a.io/lb' }] },
      ),
      [],
      'ReadinessGateNotMet',
    ],
    [
      'does not pass its startup probe',
      pod({ ...running, ...container({ running: {} }, { started: false }) }, onNode),
      [{ reason: 'Unhealthy', message: 'Startup probe failed: not yet', lastTimestamp: '2026-01-01T00:00:01Z' }],
      'StartupProbeFailed',
    ],
    ['is not taken on by its node', pod({ phase: 'Pending' }, onNode), [], 'NotTakenOn'],
    [
      'ends in its time',
      pod(running, onNode, { deletionTimestamp: '2026-01-01T00:01:10Z', deletionGracePeriodSeconds: 30 }),
      [],
      'Ending',
    ],
    [
      'should have ended',
      pod(running, onNode, { deletionTimestamp: '2025-12-31T00:01:10Z', deletionGracePeriodSeconds: 30 }),
      [],
      'EndingOverdue',
    ],
    [
      'is on a node that has gone silent',
      pod(running, { nodeName: 'n2' }, { deletionTimestamp: '2026-01-01T00:01:10Z' }),
      [],
      'NodeSilent',
    ],
  ])('%s', (_what, subject, events, reason) => {
    const silent = object('v1', 'Node', {
      metadata: { name: 'n2' },
      status: { conditions: [condition('Ready', 'Unknown')] },
    })
    const isElsewhere = (subject as Pod).spec.nodeName === 'n2'
    const around = isElsewhere ? { known: new Map([[nodes as Resource, [silent]]]) } : onReadyNode
    const [first] = findingsOf(examined(subject, { ...around, events }))
    expect(first?.reason).toBe(reason)
    expect([first?.what, first?.because, first?.remedy]).not.toContain('')
  })
})

describe('a container that runs and is not ready', () => {
  /** Of a container that has run for so many seconds, and whose probe has failed since the first of `failed` seconds ago until the last. */
  interface Run {
    readonly forSeconds: number
    readonly failed?: readonly [from: number, to: number]
    readonly kind?: string
    readonly probes?: object
    readonly container?: object
    readonly events?: readonly Partial<Event>[]
    readonly of?: string
  }
  const ago = (seconds: number) => formatTime(nowMs - seconds * 1000)
  const told = ({ forSeconds, failed, kind = 'Readiness', probes, container = {}, events = [], of = 'main' }: Run) => {
    const statusOf = { name: 'main', ready: false, restartCount: 0, state: { running: { startedAt: ago(forSeconds) } } }
    const subject = pod(
      { ...running, containerStatuses: [{ ...statusOf, ...container }] },
      { ...onNode, containers: [{ name: 'main', image: 'a', readinessProbe: {}, ...probes }] },
    )
    const failures: readonly Partial<Event>[] =
      failed === undefined
        ? []
        : [
            {
              reason: 'Unhealthy',
              message: `${kind} probe failed: not yet`,
              involvedObject: { kind: 'Pod', fieldPath: `spec.containers{${of}}` },
              firstTimestamp: ago(failed[0]),
              lastTimestamp: ago(failed[1]),
            },
          ]
    const [first] = findingsOf(examined(subject, { ...onReadyNode, events: [...events, ...failures] }))
    return first
  }
  const startupProbe = { startupProbe: { periodSeconds: 10, failureThreshold: 30 } }
  const notStarted = { started: false }

  it.each<[what: string, run: Run, reason: string, state: string]>([
    ['has just started', { forSeconds: 2, failed: [1, 1] }, 'NotReadyYet', 'waiting'],
    ['may fail once more', { forSeconds: 29, failed: [29, 9] }, 'NotReadyYet', 'waiting'],
    ['has failed as often as counts', { forSeconds: 30, failed: [30, 10] }, 'ReadinessProbeFailed', 'stuck'],
    [
      'is given time before the first probe',
      { forSeconds: 59, failed: [29, 9], probes: { readinessProbe: { initialDelaySeconds: 30 } } },
      'NotReadyYet',
      'waiting',
    ],
    [
      'is probed every second and fails for good at the first',
      { forSeconds: 1, failed: [1, 1], probes: { readinessProbe: { periodSeconds: 1, failureThreshold: 1 } } },
      'ReadinessProbeFailed',
      'stuck',
    ],
    ['was ready for long', { forSeconds: 3600, failed: [20, 0] }, 'ReadinessProbeFailed', 'stuck'],
    ['has been started anew since', { forSeconds: 40, failed: [100, 50] }, 'NotReadyYet', 'waiting'],
    ['is not the one whose probe failed', { forSeconds: 40, failed: [40, 5], of: 'other' }, 'NotReadyYet', 'waiting'],
    [
      'took its time to start, and is asked whether it is ready since then',
      { forSeconds: 200, failed: [5, 5], probes: startupProbe },
      'NotReadyYet',
      'waiting',
    ],
    [
      'took its time to start, and is not ready long after',
      { forSeconds: 200, failed: [20, 0], probes: startupProbe },
      'ReadinessProbeFailed',
      'stuck',
    ],
    [
      'may go on starting',
      { forSeconds: 200, failed: [200, 5], kind: 'Startup', probes: startupProbe, container: notStarted },
      'NotReadyYet',
      'waiting',
    ],
    [
      'starts again since it was ended for not starting',
      {
        forSeconds: 20,
        failed: [600, 5],
        kind: 'Startup',
        probes: startupProbe,
        container: { ...notStarted, restartCount: 1 },
        events: [{ reason: 'Killing', message: 'Container main failed startup probe, will be restarted' }],
      },
      'StartupProbeFailed',
      'stuck',
    ],
  ])('%s', (_what, run, reason, state) => {
    expect(told(run)).toMatchObject({ reason, state })
  })

  it('says since when it starts, what its probe says, and how often that may be', () => {
    expect(told({ forSeconds: 4, failed: [1, 1] })?.because).toBe(
      'its readiness probe has not succeeded in the 4s since it started (Readiness probe failed: not yet): it is asked every 10 s, and 3 failures in a row count',
    )
  })
})

describe('kinds of others', () => {
  it('are explained by the conditions that their controllers set', () => {
    const widget = object('a.io/v1', 'Widget', {
      status: {
        conditions: [condition('Ready', 'False', 'DiskFull', 'the disk is full'), condition('Progressing', 'False')],
      },
    })
    expect(findingsOf(examined(widget))).toMatchObject([{ reason: 'DiskFull', because: 'the disk is full' }])
  })
})

describe('of what rules say', () => {
  const says = (reason: string, more: Partial<Diagnosis> = {}): Diagnosis => ({
    reason,
    what: '',
    because: `because of ${reason}`,
    remedy: '',
    ...more,
  })
  const widget = (
    name: string,
    said: readonly Diagnosis[],
    more: Partial<Pick<Examined, 'leads'> & Pick<Examined['rules'], 'behind'>> = {},
  ): Examined => {
    const { leads = [], behind } = more
    const rules = { rules: [() => said], ...(behind === undefined ? {} : { behind }) }
    return { ...examined(object('a.io/v1', 'Widget', { metadata: { name, uid: name } }), { leads }), rules }
  }
  const told = (subject: Examined) => findingsOf(subject).map(({ object, reason }) => `${object.name}: ${reason}`)

  it('comes first what holds it up, then what holds up others, what follows from that, and hints', () => {
    const said = [
      says('Hint', { state: 'hint' }),
      says('Symptom', { isSymptom: true }),
      says('Wait', { state: 'waiting' }),
      says('Cause'),
    ]
    const other = widget('b', [
      says('Symptom', { isSymptom: true, because: 'of b' }),
      says('Hint', { state: 'hint' }),
      says('Cause', { because: 'it' }),
    ])
    expect(told(widget('a', said, { leads: [other] }))).toEqual([
      'a: Wait',
      'a: Cause',
      'b: Cause',
      'b: Symptom',
      'a: Symptom',
      'a: Hint',
    ])
  })

  it('is told that it is behind where nothing else explains that: hints do not', () => {
    const behind = () => says('Behind')
    const hint = says('Hint', { state: 'hint' })
    expect(told(widget('a', [], { behind }))).toEqual(['a: Behind'])
    expect(told(widget('a', [hint], { behind }))).toEqual(['a: Behind', 'a: Hint'])
    expect(told(widget('a', [says('Cause')], { behind }))).toEqual(['a: Cause'])
    expect(told(widget('a', [], { behind, leads: [widget('b', [says('Cause')])] }))).toEqual(['b: Cause'])
    expect(told(widget('a', [], { behind, leads: [widget('b', [hint])] }))).toEqual(['a: Behind'])
  })

  it('is told of another only where it is not the same in the same words', () => {
    const lead = widget('b', [
      says('Same'),
      says('Other', { because: 'because of Same' }),
      says('Third', { because: 'else' }),
    ])
    expect(told(widget('a', [says('Same'), says('Third')], { leads: [lead] }))).toEqual([
      'a: Same',
      'a: Third',
      'b: Other',
      'b: Third',
    ])
  })

  it('is told once what is true of several but for their names, and of each what is not', () => {
    const lead = (name: string, because: string) => widget(name, [says('Cause', { because })])
    const leads = [
      lead('b', 'the image of b is not there'),
      lead('c.d', 'the image of c.d is not there'),
      lead('e', 'the image of b is not there'),
      lead('f', 'the disk of f is full'),
    ]
    const findings = findingsOf(widget('a', [], { leads }))
    expect(findings.map(({ object: { name }, alike }) => [name, alike])).toEqual([
      ['b', 1],
      ['e', undefined],
      ['f', undefined],
    ])
  })

  it('is no other object alike where one says the same twice', () => {
    const findings = findingsOf(widget('a', [says('Cause'), says('Cause')]))
    expect(findings).toHaveLength(1)
    expect(findings[0]).not.toHaveProperty('alike')
    const both = widget('a', [], { leads: [widget('b', [says('Cause'), says('Cause')]), widget('c', [says('Cause')])] })
    expect(findingsOf(both)).toMatchObject([{ object: { name: 'b' }, alike: 1 }])
  })

  it.each<[FindingState[], string]>([
    [[], 'fine'],
    [['hint'], 'fine'],
    [['hint', 'waiting'], 'waiting'],
    [['waiting', 'stuck', 'hint'], 'stuck'],
  ])('the verdict is the worst: %j is %s', (states, verdict) => {
    expect(verdictOf(states.map((state) => ({ state }) as Finding))).toBe(verdict)
  })
})
