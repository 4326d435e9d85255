import type { ContainerStatus } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import { podStatus } from '../status/pod-status.ts'
import { startMs, testContainer, testPod, testRun, testSandbox } from '../testing/pods.ts'
import { planPod } from './plan-pod.ts'

const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }] as const
const cause = testContainer({ name: 'cause', restartPolicy: 'Never', restartPolicyRules })
const init = testContainer({ name: 'init' })
const sidecar = testContainer({ name: 'sidecar', restartPolicy: 'Always' })
const spec = { restartPolicy: 'Never', initContainers: [init, sidecar], containers: [cause, testContainer()] } as const

const run = (name: string, exitCode?: number, more: Partial<ContainerRuntimeStatus> = {}) =>
  testRun({ id: `${name}-0`, name, ...(exitCode === undefined ? {} : { exitCode }), ...more })

const observe = (runs: readonly ContainerRuntimeStatus[], more = {}) => ({
  pod: testPod(spec, more),
  gone: false,
  sandboxes: [testSandbox()],
  runs,
  backOffs: new Map(),
  failures: new Map(),
  probes: new Map(),
  unhealthy: new Map(),
  restarting: new Set<string>(),
  refused: false,
  startTimeMs: startMs,
  nowMs: startMs + 5000,
  monotonicMs: 0,
})

const actions = (runs: readonly ContainerRuntimeStatus[], more = {}) =>
  planPod(observe(runs, more)).actions.map((action) => {
    if (action.type === 'stop-container') return `stop ${action.run.name} ${action.gracePeriodMs}`
    if (action.type === 'start-container') return `start ${action.container.name}#${action.attempt}`
    return 'id' in action ? `${action.type} ${action.id}` : action.type
  })

function status(runs: readonly ContainerRuntimeStatus[], containerStatuses: readonly ContainerStatus[] = []) {
  const pod = testPod(spec, { status: { containerStatuses, conditions: [{ type: 'Initialized', status: 'True' }] } })
  return podStatus({
    pod,
    sandbox: testSandbox(),
    runs,
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
  })
}

const base = { name: 'web', ready: true, image: 'nginx:1', imageID: '', containerID: 'process://web-0' }
const running: ContainerStatus = { ...base, restartCount: 2, state: { running: {} } }

describe('a container with a rule to restart all containers of its pod', () => {
  it('has the others killed once it ends with such a code', () => {
    expect(actions([run('init', 0), run('sidecar'), run('cause', 42), run('web')])).toEqual([
      'stop sidecar 0',
      'stop web 0',
    ])
  })

  it('has them all removed then, and is itself removed last', () => {
    const killed = [run('init', 0), run('sidecar', 137), run('cause', 42), run('web', 137)]
    expect(actions(killed)).toEqual([
      'remove-container web-0',
      'remove-container init-0',
      'remove-container sidecar-0',
      'remove-container cause-0',
    ])
    expect(actions([run('cause', 42)])).toEqual(['remove-container cause-0'])
  })

  it('has runs before the last removed, too', () => {
    const before = run('cause', 1, { id: 'cause-before' })
    expect(actions([before, run('cause', 42, { attempt: 1 })])).toEqual([
      'remove-container cause-before',
      'remove-container cause-0',
    ])
  })

  it('leaves them alone where it ends with another code', () => {
    expect(actions([run('init', 0), run('sidecar'), run('cause', 1), run('web')])).toEqual([])
  })

  it('ends with its pod, if that is deleted', () => {
    const deleted = { metadata: { deletionTimestamp: '2026-01-01T00:01:00Z', deletionGracePeriodSeconds: 30 } }
    expect(actions([run('sidecar'), run('cause', 42), run('web')], deleted)).toContain('stop web 30000')
  })

  it('has init containers run again first, without a wait', () => {
    expect(actions([])).toEqual(['start init#0'])
  })

  it('has them counted on from what the API says', () => {
    const statuses = (state: ContainerStatus['state'], more = {}) => ({
      status: { initContainerStatuses: [{ ...running, name: 'init', state, ...more }] },
    })
    const waiting = { waiting: { reason: 'CrashLoopBackOff' } }
    expect(actions([], statuses({ terminated: { exitCode: 0 } }))).toEqual(['start init#3'])
    expect(actions([], statuses(waiting))).toEqual(['start init#3'])
    expect(actions([], statuses(waiting, { containerID: undefined }))).toEqual(['start init#2'])
  })
})

describe('the status of a pod whose containers all start anew', () => {
  const condition = (runs: readonly ContainerRuntimeStatus[]) =>
    status(runs).conditions?.find(({ type }) => type === 'AllContainersRestarting')

  it('says so until they are removed', () => {
    expect(condition([run('cause', 42), run('web')])).toMatchObject({
      status: 'True',
      reason: 'RestartAllContainersStarted',
      message: 'container exited with restart policy rule',
    })
    expect(condition([])).toMatchObject({ status: 'False' })
    expect(condition([])?.reason).toBeUndefined()
    expect(condition([run('init', 3)])).toMatchObject({ status: 'False', reason: 'PodFailed' })
  })

  it('is not said to have failed while they are killed', () => {
    expect(status([run('init', 137), run('sidecar', 137), run('cause', 42), run('web', 137)]).phase).toBe('Running')
  })

  it('counts removed ones as restarted, and keeps the pod initialized and running', () => {
    const { phase, conditions, containerStatuses } = status([], [running, { ...running, name: 'cause' }])
    const removed = {
      reason: 'RestartingAllContainers',
      message: 'The container is removed because RestartAllContainers in place',
    }
    expect(containerStatuses?.[1]).toMatchObject({
      state: { waiting: removed },
      lastState: { terminated: { exitCode: 137, ...removed } },
      restartCount: 3,
    })
    expect(conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({ status: 'True' })
    const initDone = run('init', 0, { attempt: 1 })
    const again = run('sidecar', undefined, { attempt: 1 })
    expect(phase).toBe('Pending')
    expect(status([initDone, again], [running, { ...running, name: 'cause' }]).phase).toBe('Running')
  })

  it('tells of their removal when they run again', () => {
    const [, web] = status([run('web', undefined, { id: 'web-1', attempt: 3 })], [running]).containerStatuses ?? []
    expect(web).toMatchObject({
      restartCount: 3,
      lastState: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } },
    })
  })
})
