import { formatTime, type Pod } from '@coracle/api'
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
    monotonicMs: 0,
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
      'tries a failed init container again before the next one',
      {
        pod: testPod({ initContainers: [init(), init({ name: 'init2' })] }),
        runs: [testRun({ name: 'init', exitCode: 1 })],
      },
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
      'stops containers that outlive their sandbox before it makes the next one',
      { sandboxes: [testSandbox({ ready: false })], runs: [testRun()] },
      ['stop web 30s'],
    ],
    [
      'stops what is left in a former sandbox, and starts it again in the one that is there',
      {
        sandboxes: [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })],
        runs: [testRun()],
      },
      ['stop web 30s'],
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
    [
      'keeps the last two runs beside it',
      {
        runs: [
          ...[0, 1].map((attempt) => testRun({ id: `c${attempt}`, attempt, exitCode: 1 })),
          testRun({ id: 'c2', attempt: 2, state: 'created' }),
        ],
      },
      ['remove-container c2', 'start web#3'],
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
    [
      'runs once, whatever others do',
      {
        pod: {
          ...testPod({ ephemeralContainers: [testContainer({ name: 'debug' }), testContainer({ name: 'debug2' })] }),
          status: { ephemeralContainerStatuses: [{ name: 'debug', state: { terminated: { exitCode: 1 } } }] },
        } as never,
        runs: [testRun()],
      },
      ['start debug2#0'],
    ],
    [
      'does not run again beside another that is new',
      {
        pod: testPod({ ephemeralContainers: [testContainer({ name: 'debug' }), testContainer({ name: 'debug2' })] }),
        runs: [testRun(), ended],
      },
      ['start debug2#0'],
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
    [
      'finishes a pod whose sandbox has ended',
      { pod: testPod({}, deleted), sandboxes: [testSandbox({ ready: false })] },
      ['finish'],
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
    ['kills and forgets a pod that is gone from the API, at once', { gone: true, runs: [testRun()] }, ['stop web 2s']],
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

  const evicted = { reason: 'Evicted', message: 'it is too large' }

  it('ends a pod that takes more of its node than it may, and waits for nothing', () => {
    const plan = planPod(observe({ evicted, preempted: true, runs: [testRun()] }))
    expect([plan.actions.map(brief), plan.failure]).toEqual([['stop web 2s'], evicted])
    expect(plan.actions[0]?.because).toBe('its node does not keep it')
  })

  it.each([
    [5_000, 'stop web 5s'],
    [60_000, 'stop web 30s'],
    [0, 'stop web 2s'],
  ])('has so long to end as its node gives it, and no longer than it says: %d ms', (graceMaxMs, stop) => {
    const plan = planPod(observe({ evicted: { ...evicted, graceMaxMs }, runs: [testRun()] }))
    expect(plan.actions.map(brief)).toEqual([stop])
  })

  it('evicts no pod that has ended by itself', () => {
    const pod = testPod({}, { status: { phase: 'Succeeded' } })
    expect(planPod(observe({ evicted, pod })).failure).toBeUndefined()
  })

  it('holds no deadline against a pod that has ended before it', () => {
    const pod = testPod({ activeDeadlineSeconds: 20 }, { status: { phase: 'Succeeded' } })
    expect(planPod(observe({ pod, nowMs: startMs + 60_000 })).failure).toBeUndefined()
  })
})

describe('what a plan says', () => {
  const gone = testRun({ exitCode: 143 })
  it.each<[string, Partial<PodObservation>, readonly string[]]>([
    ['of the first sandbox', { sandboxes: [] }, ['the pod is new on this node']],
    ['of the next one', { sandboxes: [testSandbox({ ready: false })] }, ['its sandbox has ended']],
    ['of a first start', {}, ['it has yet to run']],
    [
      'of a start that came to nothing',
      { runs: [testRun({ state: 'created' })] },
      ['newer runs are kept', 'it has yet to run'],
    ],
    ['of a restart', { runs: [testRun({ exitCode: 3 })] }, ['it ended with exit code 3']],
    ['of a restart with another image', { runs: [testRun({ exitCode: 3, image: 'x' })] }, ['it has another image']],
    ['of what is gone from the API', { gone: true, runs: [testRun()] }, ['the pod is gone from the API']],
    ['of a deletion', { pod: testPod({}, deleted), runs: [testRun()] }, ['the pod is being deleted']],
    ['of a refused pod', { refused: true, runs: [testRun()] }, ['the node has not taken the pod on']],
    [
      'of a deadline',
      { pod: testPod({ activeDeadlineSeconds: 1 }), runs: [testRun()] },
      ['its active deadline has passed'],
    ],
    ['of the end', { pod: testPod({}, { status: { phase: 'Failed' } }), runs: [testRun()] }, ['the pod has ended']],
    [
      'of its containers’ end',
      { pod: testPod({ restartPolicy: 'Never', initContainers: [sidecar] }), runs: [gone] },
      ['its containers have ended'],
    ],
    [
      'of old runs and sandboxes',
      {
        sandboxes: [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })],
        runs: [testRun({ state: 'created' }), testRun({ id: 'c1', sandboxId: 's1', attempt: 1 })],
      },
      ['newer runs are kept', 'a newer sandbox is in use'],
    ],
  ])('of why: %s', (_, fields, because) => {
    expect(planPod(observe(fields)).actions.map((action) => action.because)).toEqual(because)
  })

  it.each<[string, Partial<PodObservation>, { readonly terminal: boolean; readonly ended: boolean }]>([
    ['runs', { runs: [testRun()] }, { terminal: false, ended: false }],
    ['has yet to run', { sandboxes: [] }, { terminal: false, ended: false }],
    [
      'has done its work, and stops',
      { pod: testPod({ restartPolicy: 'Never' }), runs: [gone] },
      { terminal: true, ended: false },
    ],
    ['is deleted, and still runs', { pod: testPod({}, deleted), runs: [testRun()] }, { terminal: true, ended: false }],
    ['is deleted, and runs no more', { pod: testPod({}, deleted), runs: [gone] }, { terminal: true, ended: true }],
  ])('of the end, of a pod that %s', (_, fields, expected) => {
    expect(planPod(observe(fields))).toMatchObject(expected)
  })

  const deadline = {
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  }
  const late = (status: Pod['status'] = {}, metadata = {}) => ({
    pod: testPod({ activeDeadlineSeconds: 1 }, { status, metadata }),
    runs: [testRun()],
  })
  it.each<[string, Partial<PodObservation>, object | undefined]>([
    ['none within the deadline', { ...late(), nowMs: startMs + 999 }, undefined],
    ['the deadline, once it is reached', { ...late(), nowMs: startMs + 1000 }, deadline],
    ['the deadline, while the pod is deleted', late({}, deleted.metadata), deadline],
    ['none where the pod is gone', { ...late(), gone: true }, undefined],
    ['none where the node has not taken the pod on', { ...late(), refused: true }, undefined],
    ['none where the pod had ended', late({ phase: 'Failed' }), undefined],
    [
      'what it was before, in the words of then',
      late({ phase: 'Failed', reason: 'DeadlineExceeded', message: 'of then' }, deleted.metadata),
      { reason: 'DeadlineExceeded', message: 'of then' },
    ],
    [
      'what it was before, without words',
      { pod: testPod({}, { status: { reason: 'DeadlineExceeded' } }), runs: [testRun()] },
      { reason: 'DeadlineExceeded', message: '' },
    ],
  ])('of the failure: %s', (_, fields, failure) => {
    expect(planPod(observe(fields)).failure).toEqual(failure)
  })
})

describe('what waits', () => {
  const failure = { reason: 'ErrImagePull', message: 'no', image: 'nginx:1', retryAtMs: startMs + 10_000 }
  const failures = new Map([['web', failure]])
  const crash = { ...testRun({ attempt: 1, exitCode: 1, finishedAtMs: startMs + 4000 }) }
  const backOffs = new Map([['web', { delayMs: 10_000, updatedAtMs: startMs }]])
  const waits = (fields: Partial<PodObservation>) => {
    const { waiting, wakeAtMs, actions: planned } = planPod(observe(fields))
    const reasons = [...waiting].map(([name, { reason }]) => `${name} ${reason}`)
    return [...reasons, ...(wakeAtMs === undefined ? [] : [`until ${wakeAtMs - startMs}`]), ...planned.map(brief)]
  }

  it.each<[string, Partial<PodObservation>, readonly string[]]>([
    ['nothing of a pod that runs', { runs: [testRun()], failures }, []],
    ['nothing, where nothing has failed', {}, ['start web#0']],
    ['a container whose start has failed', { failures }, ['web ErrImagePull', 'until 10000']],
    ['no longer than it has to', { failures, nowMs: startMs + 10_000 }, ['web ErrImagePull', 'start web#0']],
    [
      'not for an image that is no longer wanted',
      { failures, pod: testPod({ containers: [testContainer({ image: 'nginx:2' })] }) },
      ['web ErrImagePull', 'start web#0'],
    ],
    ['a container that crashed', { runs: [crash], backOffs }, ['web CrashLoopBackOff', 'until 14000']],
    [
      'a crashed container no longer than it has to',
      { runs: [crash], backOffs, nowMs: startMs + 14_000 },
      ['start web#2'],
    ],
    [
      'no init container that has done its work',
      {
        pod: testPod({ initContainers: [init()] }),
        runs: [testRun(), testRun({ id: 'i', name: 'init', exitCode: 0 })],
        failures: new Map([['init', failure]]),
      },
      [],
    ],
    [
      'a container that crashed, whatever failed before',
      { runs: [crash], backOffs, failures, nowMs: startMs + 12_000 },
      ['web CrashLoopBackOff', 'until 14000'],
    ],
    [
      'for the earliest of all',
      {
        pod: testPod({ activeDeadlineSeconds: 8, containers: [testContainer(), testContainer({ name: 'two' })] }),
        failures: new Map([...failures, ['two', { ...failure, retryAtMs: startMs + 9000 }]]),
      },
      ['web ErrImagePull', 'two ErrImagePull', 'until 8000'],
    ],
    [
      'a pod for its volumes, before it has a sandbox',
      { sandboxes: [], volumesRetryAtMs: startMs + 7000 },
      ['until 7000'],
    ],
    ['its containers for its volumes', { volumesRetryAtMs: startMs + 7000 }, ['until 7000']],
    ['nothing of a pod that is deleted', { pod: testPod({}, deleted), failures }, ['stop-sandbox s0', 'finish']],
    ['nothing of a pod that is gone', { gone: true, failures }, ['stop-sandbox s0', 'remove-sandbox s0', 'finish']],
    ['what failed in a pod that is over', { refused: true, failures }, ['web ErrImagePull', 'stop-sandbox s0']],
    [
      'init and ephemeral containers',
      {
        pod: testPod({ initContainers: [init()], ephemeralContainers: [testContainer({ name: 'debug' })] }),
        failures: new Map([
          ['init', { ...failure, retryAtMs: startMs + 9000 }],
          ['debug', failure],
        ]),
      },
      ['init ErrImagePull', 'debug ErrImagePull', 'until 9000'],
    ],
  ])('%s', (_, fields, expected) => {
    expect(waits(fields)).toEqual(expected)
  })
})

describe('what is kept of a pod', () => {
  const newer = testSandbox({ id: 's1', attempt: 1 })
  const old = testSandbox({ ready: false })
  const here = { sandboxId: 's1' }
  it.each<[string, Partial<PodObservation>, readonly string[]]>([
    [
      'its latest sandbox, in whatever order they come',
      { sandboxes: [newer, old], runs: [testRun(here)] },
      ['remove-sandbox s0'],
    ],
    [
      'the sandbox of a run that is kept',
      { sandboxes: [old, newer], runs: [testRun({ id: 'a', exitCode: 1 }), testRun({ ...here, attempt: 1 })] },
      [],
    ],
    ['a sandbox that is not yet stopped', { sandboxes: [testSandbox(), newer], runs: [testRun(here)] }, []],
    [
      'no sandbox whose runs all go',
      {
        sandboxes: [old, newer],
        runs: [
          testRun({ id: 'a', exitCode: 1 }),
          testRun({ id: 'b', ...here, attempt: 1, exitCode: 1 }),
          testRun({ id: 'c', ...here, attempt: 2 }),
        ],
      },
      ['remove-container a', 'remove-sandbox s0'],
    ],
    [
      'of each container two runs, init and ephemeral ones, too',
      {
        pod: testPod({ initContainers: [init()], ephemeralContainers: [testContainer({ name: 'debug' })] }),
        runs: [
          ...['init', 'debug'].flatMap((name) =>
            [0, 1, 2].map((attempt) => testRun({ id: `${name}${attempt}`, name, attempt, exitCode: 0 })),
          ),
          testRun({ id: 'w' }),
        ],
      },
      ['remove-container init0', 'remove-container debug0'],
    ],
    ['every run that goes on', { runs: [0, 1, 2].map((attempt) => testRun({ id: `c${attempt}`, attempt })) }, []],
  ])('%s', (_, fields, expected) => {
    expect(actions(fields)).toEqual(expected)
  })
})

describe('initialization', () => {
  const first = init()
  const second = init({ name: 'init2' })
  const done = testRun({ id: 'i', name: 'init', exitCode: 0 })
  it.each<[string, Partial<PodObservation>, readonly string[]]>([
    [
      'is behind a pod whose container has been created, though an init run is lost',
      { pod: testPod({ initContainers: [first] }), runs: [testRun()] },
      [],
    ],
    [
      'is behind a pod of whose containers one has been created',
      {
        pod: testPod({ initContainers: [first], containers: [testContainer(), testContainer({ name: 'two' })] }),
        runs: [testRun()],
      },
      ['start two#0'],
    ],
    [
      'begins anew in a new sandbox',
      {
        pod: testPod({ initContainers: [first] }),
        sandboxes: [testSandbox({ id: 's1', attempt: 1 })],
        runs: [done, testRun({ exitCode: 1 })],
      },
      ['start init#1'],
    ],
    [
      'starts no second init container while the first runs, whatever its checks say',
      {
        pod: testPod({ initContainers: [first, second] }),
        runs: [testRun({ name: 'init' })],
        probes: new Map([['c0', { started: true, ready: true }]]),
      },
      [],
    ],
    [
      'goes on beside a sidecar that has started',
      {
        pod: testPod({ initContainers: [sidecar, second] }),
        runs: [testRun({ id: 'l', name: 'log' })],
        probes: new Map([['l', { started: true, ready: false }]]),
      },
      ['start init2#0'],
    ],
    [
      'starts a sidecar again in a pod that runs, beside another that has yet to start',
      {
        pod: testPod({ initContainers: [testContainer({ name: 'proxy', restartPolicy: 'Always' }), sidecar] }),
        runs: [testRun(), testRun({ id: 'p', name: 'proxy' }), testRun({ id: 'l', name: 'log', exitCode: 0 })],
        probes: new Map([['p', { started: false, ready: false }]]),
      },
      ['start log#1'],
    ],
    [
      'goes on with the next init container though a sidecar before has to start again',
      {
        pod: testPod({ initContainers: [sidecar, first, second] }),
        runs: [testRun({ id: 'l', name: 'log', exitCode: 1 }), testRun({ id: 'i', name: 'init', exitCode: 0 })],
      },
      ['start log#1', 'start init2#0'],
    ],
    [
      'goes on with the containers though a sidecar before the last init container has yet to start again',
      {
        pod: testPod({ initContainers: [sidecar, first] }),
        runs: [testRun({ id: 'l', name: 'log', attempt: 1 }), testRun({ id: 'i', name: 'init', exitCode: 0 })],
        probes: new Map([['l', { started: false, ready: false }]]),
      },
      ['start web#0'],
    ],
    [
      'starts a sidecar and its containers again together, once it has run',
      {
        pod: testPod({ initContainers: [sidecar] }),
        runs: [testRun({ exitCode: 1 }), testRun({ id: 'l', name: 'log', exitCode: 1 })],
      },
      ['start log#1', 'start web#1'],
    ],
    [
      'makes a failed init container wait',
      {
        pod: testPod({ initContainers: [first] }),
        runs: [testRun({ id: 'i', name: 'init', attempt: 1, exitCode: 1, finishedAtMs: startMs + 4000 })],
        backOffs: new Map([['init', { delayMs: 10_000, updatedAtMs: startMs }]]),
      },
      [],
    ],
  ])('%s', (_, fields, expected) => {
    expect(actions(fields)).toEqual(expected)
  })
})

describe('an attempt', () => {
  const status = (state: object) => ({ name: 'web', ready: false, restartCount: 4, image: '', imageID: '', state })
  it.each<[string, Pod['status'], readonly string[]]>([
    [
      'is the first where nothing is known',
      { containerStatuses: [{ ...status({ running: {} }), name: 'x' }] },
      ['start web#0'],
    ],
    ['is the one told of, where that has not run', { containerStatuses: [status({ waiting: {} })] }, ['start web#4']],
    ['follows one that ran', { containerStatuses: [status({ running: {} })] }, ['start web#5']],
    ['follows one that ended', { containerStatuses: [status({ terminated: { exitCode: 0 } })] }, ['start web#5']],
  ])('%s', (_, podStatus, expected) => {
    expect(actions({ pod: testPod({}, { status: podStatus as never }) })).toEqual(expected)
  })

  it('of an init container follows what its status tells', () => {
    const initContainerStatuses = [{ ...status({ terminated: { exitCode: 1 } }), name: 'init' }]
    const pod = testPod({ initContainers: [init()] }, { status: { initContainerStatuses } as never })
    expect(actions({ pod })).toEqual(['start init#5'])
  })
})

describe('a back-off', () => {
  const crashed = testRun({ attempt: 2, exitCode: 1, startedAtMs: startMs, finishedAtMs: startMs + 1000 })
  const planOf = (fields: Partial<PodObservation>) => planPod(observe({ runs: [crashed], ...fields }))

  it('is presumed where the agent knows of none', () => {
    const plan = planOf({})
    expect(plan.wakeAtMs).toBe(startMs + 21_000)
    expect(plan.waiting.get('web')?.message).toMatch(/^back-off 20s /)
  })

  it('is presumed in a later sandbox, too', () => {
    const sandboxes = [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })]
    const runs = [testRun({ exitCode: 1 }), { ...crashed, id: 'c1', sandboxId: 's1' }]
    expect(planOf({ sandboxes, runs }).wakeAtMs).toBe(startMs + 21_000)
  })

  it('is held against no container that ended with its sandbox', () => {
    expect(planOf({ sandboxes: [testSandbox({ id: 's1', attempt: 1 })] }).actions).toMatchObject([{ attempt: 3 }])
    const stopped = [testSandbox({ ready: false }), testSandbox({ id: 's1', attempt: 1 })]
    expect(planOf({ sandboxes: stopped }).actions.map(brief)).toEqual(['start web#3'])
  })

  it('doubles with a restart, and is remembered from then', () => {
    const backOffs = new Map([['web', { delayMs: 10_000, updatedAtMs: startMs }]])
    const nowMs = startMs + 30_000
    expect(planOf({ backOffs, nowMs }).actions).toMatchObject([{ backOff: { delayMs: 20_000, updatedAtMs: nowMs } }])
  })

  it('is left as it is by a stop for a check, where nothing ended before', () => {
    const backOff = { delayMs: 40_000, updatedAtMs: startMs }
    const plan = planOf({ backOffs: new Map([['web', backOff]]), restarting: new Set(['c0']) })
    expect(plan.actions).toMatchObject([{ backOff }])
  })

  it('is none at a first start', () => {
    expect(planPod(observe()).actions).toMatchObject([{ backOff: undefined, sandboxId: 's0' }])
  })
})
