import { formatTime } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { startMs, testContainer, testPod, testRun, testSandbox } from '../testing/pods.ts'
import { type PodAction, type PodObservation, planPod } from './plan-pod.ts'

function observe(fields: Partial<PodObservation> = {}): PodObservation {
  return {
    pod: testPod(),
    gone: false,
    sandboxes: [testSandbox()],
    runs: [],
    backOffs: new Map(),
    failures: new Map(),
    probes: new Map(),
    unhealthy: new Map(),
    restarting: new Set(),
    refused: false,
    startTimeMs: startMs,
    nowMs: startMs + 5000,
    ...fields,
  }
}

/** An action in a few words: what, and to whom. */
function brief(action: PodAction): string {
  switch (action.type) {
    case 'start-container':
      return `start ${action.container.name}#${action.attempt}`
    case 'stop-container':
      return `stop ${action.run.name} ${action.gracePeriodMs / 1000}s`
    case 'prepare-stop':
      return `prepare-stop ${action.run.name}`
    case 'run-sandbox':
      return `run-sandbox#${action.attempt}`
    case 'finish':
      return 'finish'
    default:
      return `${action.type} ${action.id}`
  }
}

const actions = (fields: Partial<PodObservation>) => planPod(observe(fields)).actions.map(brief)
const init = (fields = {}) => testContainer({ name: 'init', ...fields })
const sidecar = testContainer({ name: 'log', restartPolicy: 'Always' })
const deleted = { metadata: { deletionTimestamp: formatTime(startMs + 30_000), deletionGracePeriodSeconds: 30 } }

describe('starting a pod', () => {
  it.each<[string, Partial<PodObservation>, string[]]>([
    ['makes a sandbox first', { sandboxes: [] }, ['run-sandbox#0']],
    ['then starts the container', {}, ['start web#0']],
    [
      'starts all containers together',
      { pod: testPod({ containers: [testContainer(), testContainer({ name: 'two' })] }) },
      ['start web#0', 'start two#0'],
    ],
    ['leaves a running one alone', { runs: [testRun()] }, []],
    [
      'leaves a running one alone that has no image',
      { pod: testPod({ containers: [{ name: 'web' }] }), runs: [testRun({ image: '' })] },
      [],
    ],
    [
      'starts init containers one by one',
      { pod: testPod({ initContainers: [init(), init({ name: 'init2' })] }) },
      ['start init#0'],
    ],
    [
      'waits for a running init container',
      { pod: testPod({ initContainers: [init()] }), runs: [testRun({ name: 'init' })] },
      [],
    ],
    [
      'goes on to the next init container',
      {
        pod: testPod({ initContainers: [init(), init({ name: 'init2' })] }),
        runs: [testRun({ name: 'init', exitCode: 0 })],
      },
      ['start init2#0'],
    ],
    [
      'goes on to the containers when init is done',
      { pod: testPod({ initContainers: [init()] }), runs: [testRun({ name: 'init', exitCode: 0 })] },
      ['start web#0'],
    ],
    [
      'tries a failed init container again',
      { pod: testPod({ initContainers: [init()] }), runs: [testRun({ name: 'init', exitCode: 1 })] },
      ['start init#1'],
    ],
    [
      'does not run an init container again of which the runtime has lost all trace',
      { pod: testPod({ initContainers: [init(), init({ name: 'init2' })] }), runs: [testRun({ name: 'init2' })] },
      [],
    ],
    [
      'starts a sidecar again of which the runtime has lost all trace',
      {
        pod: testPod({ initContainers: [init(), sidecar, init({ name: 'init2' })] }),
        runs: [testRun({ name: 'init2' })],
      },
      ['start log#0'],
    ],
    ['starts a sidecar and waits for it', { pod: testPod({ initContainers: [sidecar] }) }, ['start log#0']],
    [
      'starts the containers beside a running sidecar',
      { pod: testPod({ initContainers: [sidecar] }), runs: [testRun({ name: 'log' })] },
      ['start web#0'],
    ],
    [
      'holds the containers back until the sidecar has started',
      {
        pod: testPod({ initContainers: [sidecar] }),
        runs: [testRun({ name: 'log' })],
        probes: new Map([['c0', { started: false, ready: false }]]),
      },
      [],
    ],
    [
      'makes a new sandbox after the old one has ended, and counts restarts on',
      { sandboxes: [testSandbox({ ready: false })], runs: [testRun({ exitCode: 143 })] },
      ['run-sandbox#1'],
    ],
    [
      'starts a container again in the new sandbox',
      {
        sandboxes: [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })],
        runs: [testRun({ exitCode: 143 })],
      },
      ['start web#1'],
    ],
    [
      'does not start one again there that has succeeded, unless it always restarts',
      {
        pod: testPod({ restartPolicy: 'OnFailure', containers: [testContainer(), testContainer({ name: 'two' })] }),
        sandboxes: [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })],
        runs: [testRun({ exitCode: 0 }), testRun({ name: 'two', id: 'c1', exitCode: 1 })],
      },
      ['start two#1'],
    ],
    [
      'makes no new sandbox for a pod of which everything has ended',
      {
        pod: testPod({ restartPolicy: 'Never' }),
        sandboxes: [testSandbox({ ready: false })],
        runs: [testRun({ exitCode: 1 })],
      },
      [],
    ],
    [
      'makes no new sandbox after an init container has failed for good',
      {
        pod: testPod({ restartPolicy: 'Never', initContainers: [init()] }),
        sandboxes: [testSandbox({ ready: false })],
        runs: [testRun({ name: 'init', exitCode: 1 })],
      },
      [],
    ],
    [
      'makes a new sandbox where no container was ever created, even in a pod that runs once',
      { pod: testPod({ restartPolicy: 'Never' }), sandboxes: [testSandbox({ ready: false })] },
      ['run-sandbox#1'],
    ],
    [
      'begins with the first init container in a new sandbox',
      {
        pod: testPod({ initContainers: [init()] }),
        sandboxes: [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })],
        runs: [testRun({ name: 'init', exitCode: 0 }), testRun({ id: 'c1', exitCode: 137 })],
      },
      ['start init#1'],
    ],
    [
      'goes on from the restart count in the API when the runtime has forgotten the container',
      {
        pod: testPod(
          {},
          {
            status: {
              containerStatuses: [
                { name: 'web', ready: true, restartCount: 4, image: 'nginx:1', imageID: '', state: { running: {} } },
              ],
            },
          },
        ),
      },
      ['start web#5'],
    ],
    [
      'throws away a container that was never started',
      { runs: [testRun({ state: 'created' })] },
      ['remove-container c0', 'start web#1'],
    ],
  ])('%s', (_, fields, expected) => expect(actions(fields)).toEqual(expected))
})

describe('an ephemeral container', () => {
  const spec = { ephemeralContainers: [testContainer({ name: 'debug' })] }
  const pod = testPod(spec)
  const ended = testRun({ name: 'debug', state: 'exited', exitCode: 1 })
  it.each<[string, Partial<PodObservation>, string[]]>([
    ['starts beside the containers of the pod', { pod, runs: [testRun()] }, ['start debug#0']],
    [
      'waits for no init container',
      { pod: testPod({ ...spec, initContainers: [init()] }), runs: [testRun({ name: 'init' })] },
      ['start debug#0'],
    ],
    ['runs once', { pod, runs: [testRun(), ended] }, []],
    [
      'runs once, even where the runtime has lost it',
      {
        pod: { ...pod, status: { ephemeralContainerStatuses: [{ name: 'debug', state: { running: {} } }] } } as never,
        runs: [testRun()],
      },
      [],
    ],
    ['stays with a pod that runs', { pod, runs: [testRun(), testRun({ name: 'debug', id: 'd' })] }, []],
    [
      'ends with its pod',
      {
        pod: testPod({ ...spec, restartPolicy: 'Never' }),
        runs: [testRun({ state: 'exited', exitCode: 0 }), testRun({ name: 'debug', id: 'd' })],
      },
      ['stop debug 30s'],
    ],
  ])('%s', (_, fields, expected) => {
    expect(actions(fields)).toEqual(expected)
  })
})

describe('restarting', () => {
  it.each<[string, 'Always' | 'OnFailure' | 'Never', number, string[]]>([
    ['Always restarts after success', 'Always', 0, ['start web#1']],
    ['Always restarts after failure', 'Always', 1, ['start web#1']],
    ['OnFailure restarts after failure', 'OnFailure', 1, ['start web#1']],
    ['OnFailure ends after success', 'OnFailure', 0, ['stop-sandbox s0']],
    ['Never ends after failure', 'Never', 1, ['stop-sandbox s0']],
  ])('%s', (_, restartPolicy, exitCode, expected) => {
    expect(actions({ pod: testPod({ restartPolicy }), runs: [testRun({ exitCode })] })).toEqual(expected)
  })

  it("lets a container's own rules decide before the pod's policy", () => {
    const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] as const
    const pod = testPod({
      restartPolicy: 'Never',
      containers: [testContainer({ restartPolicy: 'Never', restartPolicyRules: rules })],
    })
    expect(actions({ pod, runs: [testRun({ exitCode: 42 })] })).toEqual(['start web#1'])
    expect(actions({ pod, runs: [testRun({ exitCode: 1 })] })).toEqual(['stop-sandbox s0'])
  })

  it('waits 10 s after the second exit and says so', () => {
    const crashed = { runs: [testRun({ attempt: 1, exitCode: 1, finishedAtMs: startMs + 4000 })] }
    const backOffs = new Map([['web', { delayMs: 10_000, updatedAtMs: startMs }]])
    const plan = planPod(observe({ ...crashed, backOffs }))
    expect(plan.actions).toEqual([])
    expect(plan.wakeAtMs).toBe(startMs + 14_000)
    expect(plan.waiting.get('web')).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'back-off 10s restarting failed container=web pod=web_default(uid-1)',
    })
    expect(actions({ ...crashed, backOffs, nowMs: startMs + 14_000 })).toEqual(['start web#2'])
  })

  it('does not try a broken configuration again before its time', () => {
    const failures = new Map([
      ['web', { reason: 'CreateContainerConfigError', message: 'no', retryAtMs: startMs + 10_000 }],
    ])
    const plan = planPod(observe({ failures }))
    expect([plan.actions, plan.wakeAtMs, plan.waiting.get('web')?.reason]).toEqual([
      [],
      startMs + 10_000,
      'CreateContainerConfigError',
    ])
    expect(actions({ failures, nowMs: startMs + 10_000 })).toEqual(['start web#0'])
  })

  it('keeps the last two runs of a container', () => {
    const runs = [0, 1, 2].map((attempt) =>
      testRun({ id: `c${attempt}`, attempt, ...(attempt < 2 ? { exitCode: 1 } : {}) }),
    )
    expect(actions({ runs })).toEqual(['remove-container c0'])
  })

  describe('when a check fails', () => {
    const failed = (graceSeconds?: number) => new Map([['c0', { check: 'liveness' as const, graceSeconds }]])
    const stops = (fields: Partial<PodObservation>) =>
      planPod(observe(fields)).actions.map((action) =>
        action.type === 'stop-container' ? [brief(action), action.message, action.restart] : brief(action),
      )

    it('stops the container, to start it again', () => {
      expect(stops({ runs: [testRun()], unhealthy: failed() })).toEqual([
        ['stop web 30s', 'Container web failed liveness probe, will be restarted', true],
      ])
    })

    it('gives it the time that the check sets', () => {
      expect(stops({ runs: [testRun()], unhealthy: failed(5) })).toEqual([
        ['stop web 5s', 'Container web failed liveness probe, will be restarted', true],
      ])
    })

    it('does not promise a restart that the policy rules out', () => {
      const pod = testPod({ restartPolicy: 'Never' })
      expect(stops({ pod, runs: [testRun()], unhealthy: failed() })).toEqual([
        ['stop web 30s', 'Container web failed liveness probe', false],
      ])
    })

    it('calls a sidecar by what it is', () => {
      const pod = testPod({ initContainers: [sidecar] })
      const runs = [testRun({ name: 'log' }), testRun({ id: 'c1' })]
      expect(stops({ pod, runs, unhealthy: failed() })).toEqual([
        ['stop log 30s', 'Init container log failed liveness probe', true],
      ])
    })

    it('starts it again at once, though it ended well and is restarted only on failure', () => {
      const pod = testPod({ restartPolicy: 'OnFailure' })
      const runs = [testRun({ exitCode: 0, finishedAtMs: startMs + 5000 })]
      const backOffs = new Map([['web', { delayMs: 80_000, updatedAtMs: startMs }]])
      expect(actions({ pod, runs, backOffs })).toEqual(['stop-sandbox s0'])
      expect(actions({ pod, runs, backOffs, restarting: new Set(['c0']) })).toEqual(['start web#1'])
    })

    it('makes it wait only for the end of the run before', () => {
      const before = testRun({ id: 'a', exitCode: 1, finishedAtMs: startMs + 1000 })
      const stopped = testRun({ attempt: 1, exitCode: 143, finishedAtMs: startMs + 5000 })
      const fields = {
        runs: [before, stopped],
        backOffs: new Map([['web', { delayMs: 10_000, updatedAtMs: startMs }]]),
        restarting: new Set(['c0']),
      }
      expect(planPod(observe(fields)).wakeAtMs).toBe(startMs + 11_000)
      expect(actions({ ...fields, nowMs: startMs + 11_000 })).toEqual(['start web#2'])
    })
  })

  it('stops a container whose image was changed, and starts the new one at once', () => {
    const pod = testPod({ containers: [testContainer({ image: 'nginx:2' })] })
    expect(actions({ pod, runs: [testRun()] })).toEqual(['stop web 30s'])
    const backOffs = new Map([['web', { delayMs: 300_000, updatedAtMs: startMs }]])
    expect(actions({ pod, runs: [testRun({ exitCode: 0 })], backOffs })).toEqual(['start web#1'])
  })

  it('forgets the back-off of a container that has got another image', () => {
    const pod = testPod({ containers: [testContainer({ image: 'nginx:2' })] })
    const backOffs = new Map([['web', { delayMs: 300_000, updatedAtMs: startMs }]])
    const plan = planPod(observe({ pod, runs: [testRun({ exitCode: 1 })], backOffs, nowMs: startMs + 5000 }))
    expect(plan.actions).toMatchObject([{ backOff: { delayMs: 0, updatedAtMs: startMs + 5000 } }])
  })
})

describe('ending a pod', () => {
  it.each<[string, Partial<PodObservation>, string[]]>([
    ['stops its containers', { pod: testPod({}, deleted), runs: [testRun()], nowMs: startMs }, ['stop web 30s']],
    [
      'gives what is left of the grace period',
      { pod: testPod({}, deleted), runs: [testRun()], nowMs: startMs + 20_000 },
      ['stop web 11s'],
    ],
    [
      'never gives less than 2 s',
      { pod: testPod({}, deleted), runs: [testRun()], nowMs: startMs + 60_000 },
      ['stop web 2s'],
    ],
    [
      'then ends the sandbox and finishes',
      { pod: testPod({}, deleted), runs: [testRun({ exitCode: 0 })] },
      ['stop-sandbox s0', 'finish'],
    ],
    ['finishes a pod that never started', { pod: testPod({}, deleted), sandboxes: [] }, ['finish']],
    [
      'stops sidecars after the containers they serve',
      {
        pod: testPod({ initContainers: [sidecar] }, deleted),
        runs: [testRun(), testRun({ id: 'c1', name: 'log' })],
        nowMs: startMs,
      },
      ['stop web 30s', 'prepare-stop log'],
    ],
    [
      'stops sidecars in reverse order',
      {
        pod: testPod({ initContainers: [sidecar, testContainer({ name: 'proxy', restartPolicy: 'Always' })] }, deleted),
        runs: [testRun({ exitCode: 0 }), testRun({ id: 'c1', name: 'log' }), testRun({ id: 'c2', name: 'proxy' })],
        nowMs: startMs,
      },
      ['prepare-stop log', 'stop proxy 30s'],
    ],
    [
      'stops sidecars when the containers have completed',
      {
        pod: testPod({ restartPolicy: 'Never', initContainers: [sidecar] }),
        runs: [testRun({ exitCode: 0 }), testRun({ id: 'c1', name: 'log' })],
      },
      ['stop log 30s'],
    ],
    ['kills and forgets a pod that is gone from the API', { gone: true, runs: [testRun()] }, ['stop web 30s']],
    [
      'removes what a gone pod has left',
      { gone: true, runs: [testRun({ exitCode: 0 })] },
      ['stop-sandbox s0', 'remove-sandbox s0', 'finish'],
    ],
    [
      'starts nothing for a pod that has ended',
      { pod: testPod({}, { status: { phase: 'Failed' } }), sandboxes: [] },
      [],
    ],
    ['starts nothing for a pod the node has not taken on', { refused: true, sandboxes: [] }, []],
    [
      'fails for good when an init container does',
      {
        pod: testPod({ restartPolicy: 'Never', initContainers: [init()] }),
        runs: [testRun({ name: 'init', exitCode: 1 })],
      },
      ['stop-sandbox s0'],
    ],
  ])('%s', (_, fields, expected) => expect(actions(fields)).toEqual(expected))

  it('ends a pod that is past its active deadline, and wakes for it before', () => {
    const pod = testPod({ activeDeadlineSeconds: 20 })
    expect(planPod(observe({ pod, runs: [testRun()] })).wakeAtMs).toBe(startMs + 20_000)
    const late = planPod(observe({ pod, runs: [testRun()], nowMs: startMs + 20_000 }))
    expect(late.actions.map(brief)).toEqual(['stop web 30s'])
    expect(late.failure).toEqual({
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    })
  })

  it('holds no deadline against a pod that has ended before it', () => {
    const pod = testPod({ activeDeadlineSeconds: 20 }, { status: { phase: 'Succeeded' } })
    expect(planPod(observe({ pod, nowMs: startMs + 60_000 })).failure).toBeUndefined()
  })
})
