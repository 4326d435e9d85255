import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { startMs, testContainer, testPod, testRun, testSandbox } from '../testing/pods.ts'
import { finalStatuses } from './final-statuses.ts'
import { type PodStatusInput, podStatus, statusPatch } from './pod-status.ts'
import { statusReason } from './status-reason.ts'

function status(fields: Partial<PodStatusInput> = {}) {
  return podStatus({
    pod: testPod(),
    sandbox: testSandbox(),
    runs: [],
    waiting: new Map(),
    probes: new Map(),
    restarting: new Set(),
    terminal: false,
    ended: false,
    failure: undefined,
    startTimeMs: startMs,
    nodeAddress: '127.0.0.1',
    runtimeName: 'process',
    nowMs: startMs + 5000,
    ...fields,
  })
}

/** `Ready=False(reason)` for each condition. */
const conditions = (fields: Partial<PodStatusInput>) =>
  Object.fromEntries(
    (status(fields).conditions ?? []).map(({ type, status: value, reason }) => [
      type,
      reason === undefined ? value : `${value}(${reason})`,
    ]),
  )

const init = testContainer({ name: 'init' })
const side = testContainer({ name: 'side', restartPolicy: 'Always' })
const failure = { reason: 'DeadlineExceeded', message: 'm' }

describe('phase', () => {
  it.each<[string, Partial<PodStatusInput>, string]>([
    ['nothing has started', {}, 'Pending'],
    ['all run', { runs: [testRun()] }, 'Running'],
    ['init is under way', { pod: testPod({ initContainers: [init] }), runs: [testRun({ name: 'init' })] }, 'Pending'],
    [
      'init is tried again',
      { pod: testPod({ initContainers: [init] }), runs: [testRun({ name: 'init', exitCode: 1 })] },
      'Pending',
    ],
    [
      'a container was stopped to start again',
      {
        pod: testPod({ restartPolicy: 'OnFailure' }),
        runs: [testRun({ exitCode: 0 })],
        restarting: new Set(['c0']),
      },
      'Running',
    ],
    [
      'init failed for good',
      {
        pod: testPod({ restartPolicy: 'Never', initContainers: [init] }),
        runs: [testRun({ name: 'init', exitCode: 1 })],
      },
      'Failed',
    ],
    ['a crashed container will be restarted', { runs: [testRun({ exitCode: 1 })] }, 'Running'],
    ['all ended well', { pod: testPod({ restartPolicy: 'Never' }), runs: [testRun({ exitCode: 0 })] }, 'Succeeded'],
    ['one failed', { pod: testPod({ restartPolicy: 'Never' }), runs: [testRun({ exitCode: 3 })] }, 'Failed'],
    [
      'one of two has ended',
      {
        pod: testPod({ restartPolicy: 'Never', containers: [testContainer(), testContainer({ name: 'two' })] }),
        runs: [testRun({ exitCode: 0 }), testRun({ id: 'c1', name: 'two' })],
      },
      'Running',
    ],
    [
      'one of two cannot start',
      { pod: testPod({ containers: [testContainer(), testContainer({ name: 'two' })] }), runs: [testRun()] },
      'Pending',
    ],
    ['it was deleted and ended well', { runs: [testRun({ exitCode: 0 })], terminal: true, ended: true }, 'Succeeded'],
    ['it was deleted and was killed', { runs: [testRun({ exitCode: 137 })], terminal: true, ended: true }, 'Failed'],
    [
      'its deadline has passed, and nothing of it runs any more',
      { runs: [testRun({ exitCode: 137 })], terminal: true, ended: true, failure },
      'Failed',
    ],
    [
      'its deadline has passed, and it is being stopped',
      { pod: testPod({}, { status: { phase: 'Running' } }), runs: [testRun()], terminal: true, failure },
      'Running',
    ],
    [
      'init failed for good, and a sidecar is being stopped',
      {
        pod: testPod({ restartPolicy: 'Never', initContainers: [side, init] }, { status: { phase: 'Pending' } }),
        runs: [testRun({ id: 'c1', name: 'side' }), testRun({ name: 'init', exitCode: 1 })],
        terminal: true,
      },
      'Pending',
    ],
    [
      'a sidecar starts in a new sandbox, and its container has ended with the one before',
      {
        pod: testPod({ initContainers: [side] }),
        sandbox: testSandbox({ id: 's1', attempt: 1 }),
        runs: [testRun({ exitCode: 137 }), testRun({ id: 'c1', name: 'side', sandboxId: 's1' })],
        probes: new Map([['c1', { started: false, ready: false }]]),
      },
      'Pending',
    ],
    [
      'a sidecar starts again beside a container that has ended',
      {
        pod: testPod({ initContainers: [side] }),
        runs: [testRun({ exitCode: 1 }), testRun({ id: 'c1', name: 'side', attempt: 1 })],
        probes: new Map([['c1', { started: false, ready: false }]]),
      },
      'Running',
    ],
    [
      'all run, and there is no trace of init',
      { pod: testPod({ initContainers: [init] }), runs: [testRun()] },
      'Running',
    ],
    ['it had failed before', { pod: testPod({}, { status: { phase: 'Failed' } }), runs: [testRun()] }, 'Failed'],
  ])('when %s', (_, fields, expected) => expect(status(fields).phase).toBe(expected))
})

describe('the resources of a pod as a whole', () => {
  const given = (requests: object, limits: object) => testContainer({ resources: { requests, limits } as never })
  const both = given({ cpu: '100m', 'ephemeral-storage': '1Gi' }, { cpu: '200m', memory: '1Gi' })
  const other = testContainer({ name: 'other', resources: { limits: { cpu: '1' } } as never })
  const asWhole = { requests: { cpu: '2' }, limits: { memory: '3Gi' }, claims: [{ name: 'c' }] }

  it.each<[string, Partial<Pod['spec']>, object, object, object | undefined]>([
    ['nothing, where it asks for nothing', {}, {}, {}, undefined],
    [
      'those of its containers, and limits only where all have one when it runs',
      { containers: [both, other] },
      { requests: { cpu: '100m', 'ephemeral-storage': '1Gi' }, limits: { cpu: '1200m', memory: '1Gi' } },
      { requests: { cpu: '100m' }, limits: { cpu: '1200m' } },
      { cpu: '100m', 'ephemeral-storage': '1Gi' },
    ],
    [
      'what it asks for as a whole in place of those',
      { containers: [both, other], resources: asWhole as never },
      {
        requests: { cpu: '2', 'ephemeral-storage': '1Gi' },
        limits: { cpu: '1200m', memory: '3Gi' },
        claims: [{ name: 'c' }],
      },
      { requests: { cpu: '2' }, limits: { cpu: '1200m', memory: '3Gi' }, claims: [{ name: 'c' }] },
      { cpu: '2', 'ephemeral-storage': '1Gi' },
    ],
  ])('are %s', (_what, spec, pending, running, allocated) => {
    const pod = testPod(spec)
    const runs = pod.spec.containers.map(({ name }) => testRun({ id: name, name }))
    const [before, then] = [status({ pod }), status({ pod, runs })]
    expect([before.phase, before.resources, before.allocatedResources]).toEqual(['Pending', pending, allocated])
    expect([then.phase, then.resources, then.allocatedResources]).toEqual(['Running', running, allocated])
  })
})

describe('a pod that was evicted', () => {
  const evicted = (message: string) => {
    const found = status({ failure: { reason: 'Evicted', message }, terminal: true, ended: true })
    return [found.phase, found.reason, found.message, found.conditions?.find(({ type }) => type === 'DisruptionTarget')]
  }

  it('was disrupted where its node runs out of something', () => {
    const message = 'The node was low on resource: memory. '
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }
    expect(evicted(message)).toEqual(['Failed', 'Evicted', message, expect.objectContaining(condition)])
  })

  it('was not where it has only itself to blame', () => {
    const message = 'Usage of EmptyDir volume "v" exceeds the limit "1Ki". '
    expect(evicted(message)).toEqual(['Failed', 'Evicted', message, undefined])
  })
})

describe('container statuses', () => {
  it('shows a running container', () => {
    expect(status({ runs: [testRun()] }).containerStatuses).toEqual([
      {
        name: 'web',
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        lastState: {},
        ready: true,
        started: true,
        restartCount: 0,
        image: 'nginx:1',
        imageID: 'nginx:1',
        containerID: 'process://c0',
        resources: {},
      },
    ])
  })

  it('shows the signal that a container is asked to end with, where its pod says which and the runtime heeds it', () => {
    const shown = (asked: 'SIGUSR1' | undefined, told: string | undefined) => {
      const lifecycle = asked === undefined ? {} : { lifecycle: { stopSignal: asked } }
      const pod = testPod({ containers: [testContainer(lifecycle)] })
      return status({ pod, runs: [testRun(told === undefined ? {} : { stopSignal: told })] }).containerStatuses?.[0]
        ?.stopSignal
    }
    expect(shown('SIGUSR1', 'SIGUSR1')).toBe('SIGUSR1')
    expect(shown('SIGUSR1', undefined)).toBeUndefined()
    expect(shown(undefined, 'SIGTERM')).toBeUndefined()
  })

  it('shows what a container was given once it has started', () => {
    const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } }
    const volumeMounts = [
      { name: 'a', mountPath: '/a' },
      { name: 'b', mountPath: '/b', readOnly: true },
      { name: 'c', mountPath: '/c', readOnly: true },
    ]
    const pod = testPod({ containers: [testContainer({ resources, volumeMounts })] })
    const user = { uid: 1000, gid: 1000, supplementalGroups: [] }
    const mounted = (recursiveReadOnly: string) => [
      { name: 'a', mountPath: '/a' },
      { name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'Disabled' },
      { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly },
    ]
    expect(status({ pod, runs: [testRun({ user, recursiveReadOnly: ['/c'] })] }).containerStatuses?.[0]).toMatchObject({
      allocatedResources: { cpu: '1' },
      resources,
      volumeMounts: mounted('Enabled'),
      user: { linux: user },
    })
    const [waiting] = status({ pod }).containerStatuses ?? []
    expect(waiting).toMatchObject({ volumeMounts: mounted('Disabled') })
    expect(waiting).not.toHaveProperty('resources')
  })

  it('shows how the run before ended', () => {
    const runs = [testRun({ exitCode: 7 }), testRun({ id: 'c1', attempt: 1 })]
    expect(status({ runs }).containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      containerID: 'process://c1',
      lastState: {
        terminated: {
          exitCode: 7,
          reason: 'Error',
          startedAt: '2026-01-01T00:00:00Z',
          finishedAt: '2026-01-01T00:00:01Z',
          containerID: 'process://c0',
        },
      },
    })
  })

  it('shows a container in back-off as waiting, and its end as the last state', () => {
    const waiting = new Map([['web', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]])
    expect(status({ runs: [testRun({ exitCode: 1 })], waiting }).containerStatuses?.[0]).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
      lastState: { terminated: { exitCode: 1 } },
      ready: false,
      started: false,
    })
  })

  it.each([
    ['ContainerCreating', testPod()],
    ['PodInitializing', testPod({ initContainers: [init] })],
  ])('waits as %s', (reason, pod) => {
    expect(status({ pod }).containerStatuses?.[0]?.state).toEqual({ waiting: { reason } })
  })

  it('takes a container that was running and has no trace left for one that has ended', () => {
    const before = { name: 'web', state: { running: {} }, ready: true, restartCount: 2, image: 'nginx:1', imageID: '' }
    const pod = testPod({}, { status: { containerStatuses: [before] } })
    expect(status({ pod }).containerStatuses?.[0]).toMatchObject({
      restartCount: 3,
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
    })
    const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:30Z' }
    expect(status({ pod: { ...pod, metadata } }).containerStatuses?.[0]).toMatchObject({
      restartCount: 2,
    })
  })

  it('takes init containers without a trace for done once another container has been made, but no sidecars', () => {
    const { initContainerStatuses: [first, second] = [] } = status({
      pod: testPod({ initContainers: [init, side] }),
      runs: [testRun()],
    })
    expect(first).toMatchObject({ ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } })
    expect(second).toMatchObject({ ready: false, state: { waiting: { reason: 'PodInitializing' } } })
  })

  it.each([
    ['a whole message of one', 1, 'é'.repeat(2048), 4096],
    ['a part of each of several', 4, 'é'.repeat(2048), 3072],
    ['no part of a character', 5, `a${'é'.repeat(2000)}`, 2457],
  ])('keeps 12 KiB of last words of all containers: %s', (_, count, message, bytes) => {
    const containers = Array.from({ length: count }, (_, index) => testContainer({ name: `web${index}` }))
    const runs = containers.map(({ name }) => testRun({ id: name, name, exitCode: 1, message }))
    const told = status({ pod: testPod({ containers }), runs }).containerStatuses?.map(
      ({ state }) => state?.terminated?.message ?? '',
    )
    expect(told?.map((text) => Buffer.byteLength(text))).toEqual(containers.map(() => bytes))
    expect(message.startsWith(told?.[0] ?? '?')).toBe(true)
  })

  describe('when the pod is over', () => {
    const states = (fields: Partial<PodStatusInput>) => {
      const {
        initContainerStatuses = [],
        containerStatuses = [],
        phase,
      } = status({ ended: true, terminal: true, ...fields })
      const all = [...initContainerStatuses, ...containerStatuses].map(
        ({ name, state }) => `${name} ${state?.terminated?.reason ?? state?.waiting?.reason ?? 'running'}`,
      )
      return [phase, ...all]
    }

    it('has no container that is ready, or has started, though it was before and its end was missed', () => {
      const init = [{ name: 'setup', state: { running: {} }, ready: true, started: true }]
      const regular = [{ name: 'web', state: { running: {} }, ready: true, started: true }]
      const common = { restartCount: 0, image: 'nginx:1', imageID: '' }
      const withCommon = (each: object) => ({ name: '', ready: true, ...common, ...each })
      const final = finalStatuses(testPod().spec, init.map(withCommon), regular.map(withCommon))
      for (const each of [...final.init, ...final.regular]) {
        expect(each).toMatchObject({
          ready: false,
          started: false,
          state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
        })
      }
    })

    it('counts a container that never came to run as failed', () => {
      expect(states({})).toEqual(['Failed', 'web ContainerStatusUnknown'])
    })

    it('counts one as failed that came after init which has ended well and was to run again', () => {
      const ended = { terminated: { exitCode: 0, reason: 'Completed' } }
      const common = { ready: false, restartCount: 0, image: 'nginx:1', imageID: '', state: { waiting: {} } }
      const { spec } = testPod({ initContainers: [init] })
      const { regular } = finalStatuses(
        spec,
        [{ ...common, name: 'init', lastState: ended }],
        [{ ...common, name: 'web' }],
      )
      expect(regular[0]?.state?.terminated?.reason).toBe('ContainerStatusUnknown')
    })

    it('leaves those alone that the pod never came to', () => {
      const second = testContainer({ name: 'second' })
      const pod = testPod({ restartPolicy: 'Never', initContainers: [init, second] })
      expect(states({ pod, runs: [testRun({ name: 'init', exitCode: 1 })] })).toEqual([
        'Failed',
        'init Error',
        'second PodInitializing',
        'web PodInitializing',
      ])
    })
  })

  it('is not ready while its probe says so', () => {
    const probes = new Map([['c0', { started: true, ready: false }]])
    expect(status({ runs: [testRun()], probes }).containerStatuses?.[0]).toMatchObject({ ready: false, started: true })
  })
})

describe('conditions', () => {
  it('stand in upstream’s order, and say which generation they are about but for one', () => {
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
    const pod = testPod(
      { containers: [testContainer({ restartPolicy: 'Always', restartPolicyRules } as never)] },
      {
        metadata: { generation: 3 },
        status: {
          conditions: [
            { type: 'Other', status: 'True' },
            { type: 'PodScheduled', status: 'True' },
          ],
        },
      },
    )
    const resize = { pending: { message: 'm' }, inProgress: true }
    expect(status({ pod, resize }).conditions?.map((each) => `${each.type} ${each.observedGeneration}`)).toEqual([
      'Other undefined',
      'PodResizePending 3',
      'PodResizeInProgress 3',
      'PodReadyToStartContainers 3',
      'Initialized 3',
      'Ready 3',
      'ContainersReady 3',
      'PodScheduled 3',
      'AllContainersRestarting undefined',
    ])
  })

  it('says why a container could not be given other resources, and what it has until then', () => {
    const resources = { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } }
    const pod = testPod({ containers: [testContainer({ resources })] })
    const before = { limits: { memory: '2Gi' } }
    const { name } = testContainer()
    const resize = { inProgress: true, error: 'it uses more', actual: new Map([[name, before]]) }
    const { conditions, containerStatuses } = status({ pod, runs: [testRun()], resize })
    expect(conditions?.find(({ type }) => type === 'PodResizeInProgress')).toMatchObject({
      status: 'True',
      reason: 'Error',
      message: 'it uses more',
    })
    expect(containerStatuses?.[0]).toMatchObject({ resources: before, allocatedResources: resources.requests })
  })

  it.each<[string, Partial<PodStatusInput>, Record<string, string>]>([
    [
      'before a sandbox is there',
      { sandbox: undefined },
      {
        PodReadyToStartContainers: 'False',
        Initialized: 'True',
        Ready: 'False(ContainersNotReady)',
        ContainersReady: 'False(ContainersNotReady)',
        PodScheduled: 'True',
      },
    ],
    [
      'when all is well',
      { runs: [testRun()] },
      {
        PodReadyToStartContainers: 'True',
        Initialized: 'True',
        Ready: 'True',
        ContainersReady: 'True',
        PodScheduled: 'True',
      },
    ],
    [
      'while init runs',
      { pod: testPod({ initContainers: [init] }), runs: [testRun({ name: 'init' })] },
      {
        PodReadyToStartContainers: 'True',
        Initialized: 'False(ContainersNotInitialized)',
        Ready: 'False(ContainersNotReady)',
        ContainersReady: 'False(ContainersNotReady)',
        PodScheduled: 'True',
      },
    ],
    [
      'after success',
      {
        pod: testPod({ restartPolicy: 'Never' }),
        runs: [testRun({ exitCode: 0 })],
        sandbox: testSandbox({ ready: false }),
      },
      {
        PodReadyToStartContainers: 'False',
        Initialized: 'True(PodCompleted)',
        Ready: 'False(PodCompleted)',
        ContainersReady: 'False(PodCompleted)',
        PodScheduled: 'True',
      },
    ],
    [
      'after failure',
      { pod: testPod({ restartPolicy: 'Never' }), runs: [testRun({ exitCode: 1 })] },
      {
        PodReadyToStartContainers: 'True',
        Initialized: 'True',
        Ready: 'False(PodFailed)',
        ContainersReady: 'False(PodFailed)',
        PodScheduled: 'True',
      },
    ],
    [
      'with a readiness gate nobody has opened',
      { pod: testPod({ readinessGates: [{ conditionType: 'x/y' }] }), runs: [testRun()] },
      {
        PodReadyToStartContainers: 'True',
        Initialized: 'True',
        Ready: 'False(ReadinessGatesNotReady)',
        ContainersReady: 'True',
        PodScheduled: 'True',
      },
    ],
  ])('%s', (_, fields, expected) => expect(conditions(fields)).toEqual(expected))

  it('names the containers that are not ready', () => {
    const ready = status({}).conditions?.find(({ type }) => type === 'Ready')
    expect(ready?.message).toBe('containers with unready status: [web]')
  })

  it('keeps the conditions of others, and the time of a transition that has not happened', () => {
    const foreign = { type: 'x/y', status: 'True' } as const
    const before = { type: 'Ready', status: 'True', lastTransitionTime: '2025-12-24T00:00:00Z' } as const
    const next = status({ pod: testPod({}, { status: { conditions: [foreign, before] } }), runs: [testRun()] })
    expect(next.conditions?.[0]).toEqual(foreign)
    expect(next.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe('2025-12-24T00:00:00Z')
    expect(next.conditions?.find(({ type }) => type === 'ContainersReady')?.lastTransitionTime).toBe(
      '2026-01-01T00:00:05Z',
    )
  })
})

describe('addresses and patches', () => {
  it.each([
    ['its own', testPod(), '127.1.0.1'],
    ["the node's on the host network", testPod({ hostNetwork: true }), '127.0.0.1'],
  ])('gives a pod %s', (_, pod, address) => {
    expect(status({ pod })).toMatchObject({
      podIP: address,
      podIPs: [{ ip: address }],
      hostIP: '127.0.0.1',
      hostIPs: [{ ip: '127.0.0.1' }],
    })
  })

  it('patches what differs, and nothing when nothing does', () => {
    const first = status({ runs: [testRun()] })
    const pod = testPod({}, { status: first })
    expect(statusPatch(pod, status({ pod, runs: [testRun()], nowMs: startMs + 9000 }))).toBeUndefined()
    const crashed = status({ pod, runs: [testRun({ exitCode: 1 })] })
    expect(Object.keys(statusPatch(pod, crashed) ?? {})).toEqual(['conditions', 'containerStatuses'])
  })

  it('takes back a reason that no longer holds', () => {
    const pod = testPod({}, { status: { ...status({}), phase: 'Pending', reason: 'Old' } })
    expect(statusPatch(pod, status({ pod, runs: [testRun()] }))).toMatchObject({ phase: 'Running', reason: null })
  })
})

it.each([3, 1000])('looks at each of the runs and statuses of %i containers a few times', (count) => {
  let looks = 0
  const counted = <T extends { readonly name: string }>(item: T): T =>
    Object.create(Object.getPrototypeOf(item), {
      ...Object.getOwnPropertyDescriptors(item),
      name: {
        enumerable: true,
        get() {
          looks += 1
          return item.name
        },
      },
    })
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  const runs = names.map((name) => counted(testRun({ id: `id-${name}`, name })))
  const containers = names.map((name) => testContainer({ name }))
  const before = status({ pod: testPod({ containers }), runs })
  const pod = testPod({ containers }, { status: { containerStatuses: before.containerStatuses?.map(counted) } })
  looks = 0
  const now = status({ pod, runs })
  expect(now.containerStatuses).toEqual(before.containerStatuses)
  expect(statusReason(pod.status, now)).toBe('phase is Running')
  expect(looks).toBeLessThanOrEqual(count * 100)
})
