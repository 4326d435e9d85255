import { type Event, events, formatTime, type Lifecycle, type Pod, type Probe, pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { type Clock, sleep, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKubelet } from './kubelet.ts'
import { ImagePullError, type Runtime } from './runtimes/runtime.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { testContainer, testPod } from './testing/pods.ts'

/**
 * A node agent whose containers are simulated but can be asked things: a command's name is looked up in `answers`, and
 * its first argument is the seconds it takes. `tellsFractions`: of milliseconds, as the monotonic clock of a host does, where its wall clock tells whole ones.
 */
async function startedKubelet(answers: Record<string, boolean> = {}, { tellsFractions = false } = {}) {
  const environment = virtualEnvironment()
  const { clock } = environment
  const startMs = clock.now()
  const log: string[] = []
  const cutShort: string[] = []
  const created: string[] = []
  let failingStops = 0
  const listeners = new Set<Parameters<Runtime['subscribe']>[0]>()
  const note = (text: string) => log.push(`${(clock.now() - startMs) / 1000} ${text}`)
  const simulated = createSimulatedRuntime({ environment })
  const nameOf = async (id: string) => (await simulated.listContainers()).find((run) => run.id === id)?.name
  const overrides: Partial<Runtime> = {
    runsProcesses: true,
    async execSync(_, [name = '', seconds = '0'], signal) {
      note(name)
      await sleep(clock, Number(seconds) * 1000, signal).catch((error: unknown) => {
        cutShort.push(name)
        throw error
      })
      return { exitCode: (answers[name] ?? true) ? 0 : 1, output: `${name} says no` }
    },
    async createContainer(sandboxId, config) {
      created.push(config.name)
      if (config.image === 'far.example/away:1') {
        note('pull')
        await sleep(clock, 60_000)
        throw new ImagePullError('i/o timeout')
      }
      return simulated.createContainer(sandboxId, config)
    },
    async startContainer(id, signal) {
      if ((await nameOf(id)) === 'slow') await sleep(clock, 20_000, signal)
      await simulated.startContainer(id, signal)
    },
    subscribe(listener) {
      listeners.add(listener)
      const unsubscribe = simulated.subscribe(listener)
      return () => {
        listeners.delete(listener)
        unsubscribe()
      }
    },
    async stopContainer(id, timeoutMs) {
      note(`stop ${await nameOf(id)} ${Math.round(timeoutMs) / 1000}s`)
      if (failingStops > 0) {
        failingStops -= 1
        throw new Error('the runtime does not stop it')
      }
      await simulated.stopContainer(id, timeoutMs)
    },
  }
  const runtime = new Proxy<Runtime>(simulated, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in overrides ? overrides : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const client = createFakeClient(environment)
  let readings = 0
  const finer: Clock = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() + (tellsFractions ? ++readings / 1_000 : 0),
    setTimer: (delayMs, callback, options) => clock.setTimer(delayMs, callback, options),
    defer: (callback) => clock.defer(callback),
    hold: (work) => clock.hold(work),
    catchUp: () => clock.catchUp(),
  }
  const start = async () => {
    const kubelet = createKubelet({
      client,
      environment: { ...environment, clock: finer },
      nodeName: 'node-a',
      runtime,
    })
    const started = kubelet.start()
    await clock.settle()
    await started
    return kubelet
  }
  let kubelet = await start()
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  const create = async (pod: Pod) => {
    const { uid: _, ...metadata } = pod.metadata
    await client.create(pods, { ...pod, metadata: { ...metadata, finalizers: ['test/grace'] } })
    await clock.settle()
  }
  return {
    clock,
    answers,
    log,
    /** Commands that were ended before they had done their work. */
    cutShort,
    /** The containers that were made, by name. */
    created,
    create,
    /** Tells of all containers, as runtimes do when one is ready, or they have been away. */
    async tellOfAll() {
      for (const { podUid, id } of await simulated.listContainers())
        for (const listener of listeners) listener({ podUid, containerId: id })
    },
    failStops(count: number) {
      failingStops = count
    },
    endAll: async () => {
      for (const { id } of await simulated.listContainers()) await simulated.stopContainer(id, 0)
    },
    /** Ends the agent, and starts another that finds the containers of the first. */
    async restart() {
      const stopped = kubelet.stop({ containers: 'keep' })
      await clock.settle()
      await stopped
      kubelet = await start()
    },
    /** Marks the pod as the API does when it is deleted with the usual grace period. The clock of the node may be ahead of the API's. */
    async remove({ aheadMs = 0 } = {}) {
      const pod = await client.get(pods, { namespace: 'default', name: 'web' })
      const deletionTimestamp = formatTime(clock.now() + 30_000 - aheadMs)
      const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 }
      await client.update(pods, { ...pod, metadata })
    },
    status: async () => (await client.get(pods, { namespace: 'default', name: 'web' })).status,
    told: () => client.stored<Event>(events).map(({ reason, message }) => `${reason} ${message}`),
  }
}

const probe = (name: string, more: Partial<Probe> = {}): Probe => ({
  exec: { command: [name] },
  periodSeconds: 10,
  failureThreshold: 1,
  ...more,
})
const before = (seconds: number): Lifecycle => ({ preStop: { exec: { command: ['hook', String(seconds)] } } })

describe('probes', () => {
  it('restart a container that fails, whatever it makes of being stopped', async () => {
    const answers: Record<string, boolean> = { alive: true }
    const { clock, create, log, status, told } = await startedKubelet(answers)
    const livenessProbe = probe('alive', { failureThreshold: 2, terminationGracePeriodSeconds: 7 })
    await create(testPod({ restartPolicy: 'OnFailure', containers: [testContainer({ livenessProbe })] }))
    await clock.advance('5s')
    answers.alive = false
    await clock.advance('15s')
    answers.alive = true
    await clock.advance('5s')
    expect(await status()).toMatchObject({
      phase: 'Running',
      containerStatuses: [{ restartCount: 1, state: { running: {} }, lastState: { terminated: { exitCode: 0 } } }],
    })
    expect(log).toContain('20 stop web 7s')
    expect(told()).toContain('Killing Container web failed liveness probe, will be restarted')
    expect(told()).toContain('Unhealthy Liveness probe failed: alive says no')
  })

  it('wait for the startup probe, and then do not wait for their period', async () => {
    const answers: Record<string, boolean> = { up: false, ready: true }
    const { clock, create, log, status } = await startedKubelet(answers)
    const startupProbe = probe('up', { periodSeconds: 7, failureThreshold: 10 })
    const readinessProbe = probe('ready', { periodSeconds: 60 })
    await create(testPod({ containers: [testContainer({ startupProbe, readinessProbe })] }))
    await clock.advance('10s')
    expect((await status())?.containerStatuses?.[0]).toMatchObject({ started: false, ready: false })
    answers.up = true
    await clock.advance('5s')
    expect((await status())?.containerStatuses?.[0]).toMatchObject({ started: true, ready: true })
    expect(log).toEqual(['0 up', '7 up', '14 up', '14 ready'])
  })

  it('are given the variables that the container spells out', async () => {
    const { create, log } = await startedKubelet()
    const container = testContainer({ env: [{ name: 'CHECK', value: 'alive' }], livenessProbe: probe('$(CHECK)') })
    await create(testPod({ containers: [container] }))
    expect(log).toEqual(['0 alive'])
  })

  it.each([true, false])(
    'go on after a restart of the agent, from what was known before: ready %s',
    async (isReady) => {
      const { answers, clock, create, restart, status } = await startedKubelet({ ready: isReady })
      const readiness = async () => (await status())?.containerStatuses?.[0]?.ready
      // An answer takes a second: until then only what was known before can be told.
      const readinessProbe = probe('ready', {
        exec: { command: ['ready', '1'] },
        timeoutSeconds: 5,
        failureThreshold: 1,
      })
      await create(testPod({ containers: [testContainer({ readinessProbe })] }))
      await clock.advance('11s')
      expect(await readiness()).toBe(isReady)
      await restart()
      expect(await readiness()).toBe(isReady)
      answers.ready = !isReady
      await clock.advance('20s')
      expect(await readiness()).toBe(!isReady)
    },
  )

  it('leave a container in peace that is ending', async () => {
    const answers: Record<string, boolean> = { alive: true }
    const { clock, create, remove, told } = await startedKubelet(answers)
    const container = testContainer({ livenessProbe: probe('alive'), lifecycle: before(25) })
    await create(testPod({ containers: [container] }))
    await remove()
    answers.alive = false
    await clock.advance('1m')
    expect(told().filter((text) => text.startsWith('Unhealthy'))).toEqual([])
  })
})

describe('preStop hooks', () => {
  const sidecar = testContainer({ name: 'log', restartPolicy: 'Always', lifecycle: before(1) })

  it('of sidecars run at once, but sidecars stop after the containers they serve', async () => {
    const { clock, create, remove, log } = await startedKubelet()
    await create(testPod({ initContainers: [sidecar], containers: [testContainer({ lifecycle: before(5) })] }))
    await clock.advance('10s')
    await remove()
    await clock.advance('1m')
    expect(log).toEqual(['10 hook', '10 hook', '15 stop web 25s', '15 stop log 25s'])
  })

  it.each([3600, -3600])(
    'have their time whatever the clock of the API says: the node is %i s ahead',
    async (seconds) => {
      const { clock, create, remove, log } = await startedKubelet()
      await create(testPod({ initContainers: [sidecar], containers: [testContainer({ lifecycle: before(5) })] }))
      await remove({ aheadMs: seconds * 1000 })
      await clock.advance('1m')
      expect(log).toEqual(['0 hook', '0 hook', '5 stop web 25s', '5 stop log 25s'])
    },
  )

  it('are left to their end, however often the pod is looked at meanwhile', async () => {
    const { clock, create, remove, tellOfAll, log, cutShort } = await startedKubelet({}, { tellsFractions: true })
    await create(testPod({ containers: [testContainer({ lifecycle: before(5) })] }))
    await remove()
    await clock.advance('1s')
    await tellOfAll()
    await clock.advance('5s')
    expect([log, cutShort]).toEqual([['0 hook', '5 stop web 25s'], []])
  })

  it('that take the whole grace period leave 2 s to stop', async () => {
    const { clock, create, remove, log } = await startedKubelet()
    await create(testPod({ containers: [testContainer({ lifecycle: before(1000) })] }))
    await remove()
    await clock.advance('1m')
    expect(log).toEqual(['0 hook', '30 stop web 2s'])
  })
})

describe('a postStart hook that fails', () => {
  it('has its container killed, after its own preStop hook and with the time its pod gives, and says why', async () => {
    const { clock, create, log, status, told } = await startedKubelet({ start: false })
    const lifecycle = { postStart: { exec: { command: ['start'] } }, ...before(5) }
    await create(testPod({ containers: [testContainer({ lifecycle })], terminationGracePeriodSeconds: 20 }))
    await clock.advance('5s')
    expect(log.slice(0, 3)).toEqual(['0 start', '0 hook', '5 stop web 15s'])
    expect(told()).toContain('FailedPostStartHook PostStartHook failed')
    expect(told()).toContain('Killing FailedPostStartHook')
    await clock.advance('10s')
    const waiting = (await status())?.containerStatuses?.[0]?.state?.waiting
    expect(log.filter((line) => line.endsWith('start')).length).toBeGreaterThan(1)
    expect(waiting?.reason).toBe('CrashLoopBackOff')
  })
})

describe('a postStart hook', () => {
  const containers = [
    testContainer({ name: 'first' }),
    testContainer({ name: 'proxy', lifecycle: { postStart: { exec: { command: ['start', '10'] } } } }),
    testContainer({ name: 'app' }),
  ]

  it('holds up the containers that come after its own in the list', async () => {
    const { clock, create, created } = await startedKubelet()
    await create(testPod({ containers }))
    await clock.advance('9s')
    expect(created).toEqual(['first', 'proxy'])
    await clock.advance('2s')
    expect(created).toEqual(['first', 'proxy', 'app'])
  })

  it('holds up nothing any more once it has failed', async () => {
    const { clock, create, created } = await startedKubelet({ start: false })
    await create(testPod({ containers }))
    await clock.advance('11s')
    expect(created.slice(0, 3)).toEqual(['first', 'proxy', 'app'])
  })

  it('holds up none any more once the pod is to end', async () => {
    const { clock, create, created, remove } = await startedKubelet()
    await create(testPod({ containers }))
    await clock.advance('5s')
    await remove()
    await clock.advance('1m')
    expect(created).toEqual(['first', 'proxy'])
  })
})

describe('hooks', () => {
  const lifecycle = { postStart: { exec: { command: ['start', '20'] } }, ...before(20) }

  it('go on where there is something else to tell of their container than its end', async () => {
    const { clock, create, remove, tellOfAll, cutShort } = await startedKubelet()
    await create(testPod({ containers: [testContainer({ lifecycle })] }))
    await clock.advance('5s')
    await tellOfAll()
    await clock.advance('20s')
    await remove()
    await clock.advance('5s')
    await tellOfAll()
    await clock.advance('20s')
    expect(cutShort).toEqual([])
  })

  it('end with their container', async () => {
    const { clock, create, endAll, cutShort, told } = await startedKubelet()
    await create(testPod({ restartPolicy: 'Never', containers: [testContainer({ lifecycle })] }))
    await clock.advance('5s')
    await endAll()
    await clock.advance('5s')
    expect(cutShort).toEqual(['start'])
    expect(told().filter((text) => text.startsWith('Failed'))).toEqual([])
  })
})

describe('a stop that fails', () => {
  it('is tried again after a while, with what is left of the time, and without another hook', async () => {
    const { clock, create, remove, log, failStops } = await startedKubelet()
    await create(testPod({ containers: [testContainer({ lifecycle: before(1) })] }))
    failStops(3)
    await remove()
    await clock.advance('1m')
    expect(log).toEqual(['0 hook', '1 stop web 29s', '2 stop web 28s', '3 stop web 27s', '4 stop web 26s'])
  })
})

describe('a start that goes wrong beyond what a container can be blamed for', () => {
  it('leaves the starts beside it to come to their end', async () => {
    const { clock, create, created, failStops, status } = await startedKubelet({ start: false })
    const lifecycle = { postStart: { exec: { command: ['start'] } } }
    failStops(1)
    await create(testPod({ containers: [testContainer({ lifecycle }), testContainer({ name: 'slow' })] }))
    await clock.advance('25s')
    expect(created.filter((name) => name === 'slow')).toEqual(['slow'])
    expect((await status())?.containerStatuses?.[0]).toMatchObject({ name: 'slow', state: { running: {} } })
  })
})

describe('an image that takes long to fail', () => {
  it('is tried again a while after that', async () => {
    const { clock, create, log } = await startedKubelet()
    await create(testPod({ containers: [testContainer({ image: 'far.example/away:1' })] }))
    await clock.advance('6m')
    expect(log).toEqual(['0 pull', '70 pull', '150 pull', '250 pull'])
  })
})
