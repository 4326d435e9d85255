import { type Container, type Job, jobs, type Pod, pods } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'
import { asSpecified, endingTasks } from '../src/simulated.ts'

describe('simulated containers that are there to end', () => {
  const namespace = 'default'
  const environment = virtualEnvironment({ seed: 5 })
  let cluster: Cluster
  beforeEach(async () => {
    cluster = await startCluster({ environment, behaviour: asSpecified(endingTasks(2_000)) })
  })
  afterEach(() => cluster.stop())

  const container = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'i', ...more })
  const pod = (spec: Partial<Pod['spec']>): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace },
    spec: { containers: [container('main')], ...spec },
  })
  const start = async (spec: Partial<Pod['spec']>): Promise<void> => {
    await cluster.client.create(pods, pod(spec))
    await environment.clock.settle()
  }
  const phaseAfter = async (time: string): Promise<string | undefined> => {
    await environment.clock.advance(time)
    return (await cluster.client.get(pods, { namespace, name: 'a' })).status?.phase
  }

  it('init containers end one after the other, and the others run on', async () => {
    await start({ initContainers: [container('first'), container('second')] })
    expect(await phaseAfter('3s')).toBe('Pending')
    expect(await phaseAfter('2s')).toBe('Running')
    expect(await phaseAfter('1h')).toBe('Running')
  })

  it('a sidecar runs on', async () => {
    await start({ initContainers: [container('proxy', { restartPolicy: 'Always' })] })
    expect(await phaseAfter('1h')).toBe('Running')
    const { status } = await cluster.client.get(pods, { namespace, name: 'a' })
    expect(status?.initContainerStatuses?.[0]?.state?.running).toBeDefined()
  })

  it('pods that are not always restarted end well', async () => {
    await start({ restartPolicy: 'OnFailure' })
    expect(await phaseAfter('1s')).toBe('Running')
    expect(await phaseAfter('1s')).toBe('Succeeded')
  })

  it('what the environment of a container says goes first', async () => {
    const env = [{ name: 'SIMULATED_RUN', value: '1m' }]
    await start({ restartPolicy: 'Never', containers: [container('main', { env })] })
    expect(await phaseAfter('30s')).toBe('Running')
    expect(await phaseAfter('30s')).toBe('Succeeded')
  })

  it('a command that tells how it ends goes before the usual time', async () => {
    const args = ['-c', 'sleep 10; exit 3']
    await start({ restartPolicy: 'Never', containers: [container('main', { command: ['sh'], args })] })
    expect(await phaseAfter('9s')).toBe('Running')
    expect(await phaseAfter('1s')).toBe('Failed')
    const { status } = await cluster.client.get(pods, { namespace, name: 'a' })
    expect(status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: 'Error' })
  })

  it('the environment of a container goes before its command', async () => {
    const env = [{ name: 'SIMULATED_RUN', value: '1m' }]
    await start({ restartPolicy: 'Never', containers: [container('main', { env, command: ['false'] })] })
    expect(await phaseAfter('59s')).toBe('Running')
    expect(await phaseAfter('1s')).toBe('Succeeded')
  })

  it('one that sleeps for ever runs on', async () => {
    await start({ restartPolicy: 'Never', containers: [container('main', { command: ['sleep', 'infinity'] })] })
    expect(await phaseAfter('1h')).toBe('Running')
  })

  it.each(['registry.k8s.io/pause:3.10', 'pause', `local/pause@sha256:${'1234'.repeat(16)}`])(
    'one of %s runs on, whatever its pod is for',
    async (image) => {
      await start({ restartPolicy: 'Never', containers: [container('main', { image })] })
      expect(await phaseAfter('1h')).toBe('Running')
    },
  )

  it('one of the image that waits ends as its command tells', async () => {
    await start({
      restartPolicy: 'Never',
      containers: [container('main', { image: 'pause:3', command: ['sleep', '5'] })],
    })
    expect(await phaseAfter('6s')).toBe('Succeeded')
  })

  it('one that is always restarted and ends backs off', async () => {
    await start({ containers: [container('main', { command: ['/bin/false'] })] })
    await phaseAfter('5m')
    const { status } = await cluster.client.get(pods, { namespace, name: 'a' })
    expect(status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 5,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1 } },
    })
  })

  it('containers are ready when their probes can say so at the soonest', async () => {
    const startupProbe = { tcpSocket: { port: 80 }, initialDelaySeconds: 5 }
    const readinessProbe = { httpGet: { port: 80 }, initialDelaySeconds: 10, periodSeconds: 3, successThreshold: 3 }
    await start({ containers: [container('main', { startupProbe, readinessProbe })] })
    await environment.clock.advance('20s')
    expect(await isReady()).toBe(false)
    await environment.clock.advance('1s')
    expect(await isReady()).toBe(true)
  })

  it('one whose probe can only fail is never ready', async () => {
    await start({ containers: [container('main', { readinessProbe: { exec: { command: ['/bin/false'] } } })] })
    expect(await phaseAfter('1h')).toBe('Running')
    expect(await isReady()).toBe(false)
  })

  const isReady = async (): Promise<boolean | undefined> =>
    (await cluster.client.get(pods, { namespace, name: 'a' })).status?.containerStatuses?.[0]?.ready

  it('so an Indexed Job fails at the indexes whose script says so', async () => {
    const script = `if [ $(expr \${JOB_COMPLETION_INDEX} % 2) -ne 0 ]; then exit 1; else exit 0; fi`
    const template = {
      spec: { restartPolicy: 'Never', containers: [container('main', { command: ['sh', '-c', script] })] },
    }
    const spec = { completionMode: 'Indexed', completions: 4, parallelism: 2, backoffLimitPerIndex: 0, template }
    await cluster.client.create(jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', namespace },
      spec,
    } as Job)
    await environment.clock.advance('1m')
    const { status } = await cluster.client.get(jobs, { namespace, name: 'j' })
    expect(status).toMatchObject({ completedIndexes: '0,2', failedIndexes: '1,3', succeeded: 2, failed: 2 })
  })

  it('so Jobs complete', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [container('main')] } }
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace }, spec: { template } }
    await cluster.client.create(jobs, job as Job)
    await environment.clock.advance('10s')
    const { status } = await cluster.client.get(jobs, { namespace, name: 'j' })
    expect(status).toMatchObject({
      succeeded: 1,
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Complete' })]),
    })
  })
})
