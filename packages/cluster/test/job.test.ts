import { type CronJob, cronJobs, events, type Job, type JobSpec, jobs, namespaces, type Pod, pods } from '@coracle/api'
import { createInformer } from '@coracle/client'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../src/index.ts'
import { startCluster } from '../src/index.ts'

const namespace = 'default'
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } }

function job(name: string, spec: Partial<JobSpec> = {}, dependsOn?: string): Job {
  const annotations = dependsOn === undefined ? {} : { annotations: { 'coracle.dev/depends-on': dependsOn } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, ...annotations },
    spec: { template, ...spec },
  } as Job
}

function cronJob(name: string, schedule: string, spec: Partial<CronJob['spec']> = {}): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace },
    spec: { schedule, jobTemplate: { spec: { template } }, ...spec },
  } as CronJob
}

describe('jobs in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 7 })
    // Without nodes pods wait until the test says how they end.
    cluster = await startCluster({ environment, nodes: 0 })
  })

  afterEach(() => cluster.stop())

  const settled = () => environment.clock.settle()
  const create = async (object: Job) => {
    await cluster.client.create(jobs, object)
    await settled()
  }
  const current = (name: string) => cluster.client.get(jobs, { namespace, name })
  const running = async (name?: string) => {
    const { items } = await cluster.client.list(pods, { namespace })
    return items.filter(
      ({ metadata, status }) =>
        status?.phase === 'Pending' && (name === undefined || metadata.labels?.['job-name'] === name),
    )
  }
  const end = async (pod: Pod, phase: 'Succeeded' | 'Failed') => {
    await cluster.client.update<Pod>(pods, { ...pod, status: { ...pod.status, phase } } as Pod, {
      subresource: 'status',
    })
  }
  const endAll = async (phase: 'Succeeded' | 'Failed' = 'Succeeded') => {
    const all = await running()
    for (const pod of all) await end(pod, phase)
    await settled()
    return all.length
  }
  const holding = ({ status }: Job) =>
    (status?.conditions ?? []).filter((each) => each.status === 'True').map(({ type, reason }) => `${type} ${reason}`)

  it('of eight completions, two at a time, run in four waves', async () => {
    await create(job('sum', { completions: 8, parallelism: 2 }))
    const waves: number[] = []
    for (let count = await endAll(); count > 0; count = await endAll()) waves.push(count)
    expect(waves).toEqual([2, 2, 2, 2])
    const { status } = await current('sum')
    expect(status).toMatchObject({ succeeded: 8, uncountedTerminatedPods: {}, ready: 0, terminating: 0 })
    expect(holding(await current('sum'))).toEqual([
      'SuccessCriteriaMet CompletionsReached',
      'Complete CompletionsReached',
    ])
    const { items } = await cluster.client.list(pods, { namespace })
    expect(items.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
  })

  it('go with their namespace, where pods have ended and no others can be made', async () => {
    const { client } = cluster
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
    const inTeam = job('sum', { completions: 4, parallelism: 2 })
    await client.create(jobs, { ...inTeam, metadata: { ...inTeam.metadata, namespace: 'team' } })
    await settled()
    const { items: first } = await client.list(pods, { namespace: 'team' })
    expect(first).toHaveLength(2)
    await cluster.controller('job-controller').stop()
    for (const pod of first) await end(pod, 'Succeeded')
    await client.delete(namespaces, { name: 'team' })
    await settled()
    await cluster.controller('job-controller').start()
    await environment.clock.advance('1m')
    expect((await client.list(pods, { namespace: 'team' })).items).toEqual([])
    const { items } = await client.list(namespaces)
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('team')
  })

  it('go with their namespace, also where they would keep a pod until another takes its place', async () => {
    const { client } = cluster
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
    const limited = job('sum', { completions: 2, completionMode: 'Indexed', backoffLimitPerIndex: 1 })
    await client.create(jobs, { ...limited, metadata: { ...limited.metadata, namespace: 'team' } })
    await settled()
    await client.patch(jobs, { namespace: 'team', name: 'sum' }, { type: 'merge', body: { spec: { parallelism: 0 } } })
    await client.delete(namespaces, { name: 'team' })
    await environment.clock.advance('1m')
    const { items } = await client.list(namespaces)
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('team')
  })

  it('leave pods behind that they give up, which nobody holds back from going', async () => {
    await create(job('sum', { parallelism: 2, completions: 2 }))
    await cluster.client.delete(jobs, { namespace, name: 'sum' }, { propagationPolicy: 'Orphan' })
    await settled()
    const { items: orphans } = await cluster.client.list(pods, { namespace })
    expect(orphans).toHaveLength(2)
    expect(orphans.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([])
    for (const { metadata } of orphans) await cluster.client.delete(pods, { namespace, name: metadata.name ?? '' })
    await settled()
    expect((await cluster.client.list(pods, { namespace })).items).toEqual([])
  })

  describe('that say themselves which pods are theirs', () => {
    const labels = { job: 'sum' }
    const own = (spec: Partial<JobSpec> = {}) =>
      job('sum', {
        completions: 2,
        manualSelector: true,
        selector: { matchLabels: labels },
        template: { ...template, metadata: { labels } } as JobSpec['template'],
        ...spec,
      })
    const orphan = (name: string) =>
      cluster.client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, labels },
        spec: template.spec,
      } as Pod)
    const find = (name: string) => cluster.client.get(pods, { namespace, name })

    it('adopt pods that are nobody’s, hold them and count what they did', async () => {
      await orphan('waits')
      await end(await orphan('done'), 'Succeeded')
      await create(own())
      expect((await current('sum')).status).toMatchObject({ succeeded: 1, active: 1 })
      expect((await find('waits')).metadata).toMatchObject({
        finalizers: ['batch.kubernetes.io/job-tracking'],
        ownerReferences: [{ kind: 'Job', name: 'sum', controller: true }],
      })
      expect((await find('done')).metadata.finalizers).toBeUndefined()
      expect((await cluster.client.list(pods, { namespace })).items).toHaveLength(2)
    })

    it('adopt one that appears later, and remove what is then too much', async () => {
      await create(own({ completions: 1 }))
      const [first] = await running()
      await environment.clock.advance('5s')
      await orphan('late')
      await settled()
      expect((await running()).map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name])
    })

    it('let go of a pod that no longer matches, which nothing holds any more, and make another', async () => {
      await create(own({ completions: 1 }))
      const [first] = await running()
      await cluster.client.patch(
        pods,
        { namespace, name: first?.metadata.name ?? '' },
        { type: 'merge', body: { metadata: { labels: { job: 'aside' } } } },
      )
      await settled()
      const aside = await find(first?.metadata.name ?? '')
      expect([aside.metadata.ownerReferences, aside.metadata.finalizers]).toEqual([undefined, undefined])
      expect(await running()).toHaveLength(2)
      expect((await current('sum')).status).toMatchObject({ active: 1 })
    })

    it('leave pods behind without a word of theirs, which nobody holds back either', async () => {
      await create(own())
      await cluster.client.delete(jobs, { namespace, name: 'sum' }, { propagationPolicy: 'Orphan' })
      await settled()
      const { items } = await cluster.client.list(pods, { namespace })
      expect(items.map(({ metadata }) => [metadata.ownerReferences, metadata.finalizers])).toEqual([
        [undefined, undefined],
      ])
    })

    it('leave the finalizer of pods alone that others of their name control', async () => {
      await cluster.controller('generic-garbage-collector').stop()
      const finalizers = ['batch.kubernetes.io/job-tracking']
      const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Job', name: 'sum', uid: 'u', controller: true }]
      const metadata = { name: 'theirs', namespace, finalizers, ownerReferences }
      await cluster.client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec } as Pod)
      await settled()
      expect((await find('theirs')).metadata.finalizers).toEqual(finalizers)
    })

    it('adopt nothing any more when they are over', async () => {
      await create(own({ completions: 1 }))
      await endAll()
      await orphan('late')
      await settled()
      expect((await find('late')).metadata.ownerReferences).toBeUndefined()
    })
  })

  it('leave pods behind while nobody runs them, which are let go later', async () => {
    await create(job('sum', { parallelism: 2, completions: 2 }))
    await cluster.controller('job-controller').stop()
    await cluster.client.delete(jobs, { namespace, name: 'sum' }, { propagationPolicy: 'Orphan' })
    await settled()
    await cluster.controller('job-controller').start()
    await settled()
    const { items: orphans } = await cluster.client.list(pods, { namespace })
    expect(orphans.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined])
  })

  it('run each index once, and try those again that fail', async () => {
    await create(job('part', { completionMode: 'Indexed', completions: 3, parallelism: 3 }))
    const all = await running()
    expect(all.map(({ spec }) => spec.hostname).sort()).toEqual(['part-0', 'part-1', 'part-2'])
    for (const pod of all) await end(pod, pod.spec.hostname === 'part-1' ? 'Failed' : 'Succeeded')
    await settled()
    expect((await current('part')).status).toMatchObject({ completedIndexes: '0,2', failed: 1 })
    await environment.clock.advance('10s')
    const again = await running()
    expect(again.map(({ spec }) => spec.hostname)).toEqual(['part-1'])
    await endAll()
    expect((await current('part')).status).toMatchObject({ completedIndexes: '0-2', succeeded: 3 })
    expect(holding(await current('part'))).toContain('Complete CompletionsReached')
  })

  it('fail after so many failures, each later than the one before', async () => {
    await create(job('bad', { backoffLimit: 2 }))
    const waits = ['0s', '10s', '20s']
    for (const wait of waits) {
      await environment.clock.advance(wait)
      expect(await endAll('Failed')).toBe(1)
    }
    expect((await current('bad')).status).toMatchObject({ failed: 3 })
    expect(holding(await current('bad'))).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'])
    const { items } = await cluster.client.list(events, { namespace })
    expect(items.map(({ reason }) => reason)).toContain('BackoffLimitExceeded')
  })

  it('end at their deadline, and take their pods with them', async () => {
    await create(job('slow', { activeDeadlineSeconds: 30, backoffLimit: 100 }))
    await environment.clock.advance('29s')
    expect(await running('slow')).toHaveLength(1)
    await environment.clock.advance('2s')
    await settled()
    expect(await running('slow')).toEqual([])
    expect(holding(await current('slow'))).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded'])
  })

  it('stop while they are suspended, and go on when they are resumed', async () => {
    await create(job('nap', { completions: 2, parallelism: 2 }))
    const suspend = (value: boolean) =>
      cluster.client.patch(jobs, { namespace, name: 'nap' }, { type: 'merge', body: { spec: { suspend: value } } })
    await suspend(true)
    await settled()
    expect(await running()).toEqual([])
    expect(holding(await current('nap'))).toEqual(['Suspended JobSuspended'])
    expect((await current('nap')).status?.failed).toBeUndefined()
    await suspend(false)
    await environment.clock.advance('1m')
    expect(await endAll()).toBe(2)
    expect(holding(await current('nap'))).toContain('Complete CompletionsReached')
  })

  it('leave no pod behind when they are deleted', async () => {
    await create(job('gone', { completions: 3, parallelism: 3 }))
    await cluster.client.delete(jobs, { namespace, name: 'gone' }, { propagationPolicy: 'Background' })
    await environment.clock.advance('1m')
    expect((await cluster.client.list(pods, { namespace })).items).toEqual([])
  })

  it('go by themselves so long after their end as they say', async () => {
    await create(job('brief', { ttlSecondsAfterFinished: 20 }))
    await endAll()
    await environment.clock.advance('19s')
    expect(holding(await current('brief'))).toContain('Complete CompletionsReached')
    await environment.clock.advance('30s')
    expect((await cluster.client.list(jobs, { namespace })).items).toEqual([])
    expect((await cluster.client.list(pods, { namespace })).items).toEqual([])
  })

  describe('that depend on each other', () => {
    it('start when those they name are complete', async () => {
      await create(job('report', {}, 'extract, load'))
      expect((await current('report')).status?.conditions).toMatchObject([
        {
          type: 'coracle.dev/Waiting',
          message: 'Waiting for Jobs to complete: extract (does not exist), load (does not exist)',
        },
      ])
      await create(job('load', {}, 'extract'))
      await create(job('extract'))
      expect((await running()).map(({ metadata }) => metadata.labels?.['job-name'])).toEqual(['extract'])
      await endAll()
      expect((await running()).map(({ metadata }) => metadata.labels?.['job-name'])).toEqual(['load'])
      await endAll()
      await endAll()
      expect(holding(await current('report'))).toContain('Complete CompletionsReached')
    })

    it('fail with them, and say why', async () => {
      await create(job('extract', { backoffLimit: 0 }))
      await create(job('load', {}, 'extract'))
      await create(job('report', {}, 'load'))
      await endAll('Failed')
      const condition = (await current('report')).status?.conditions?.find(({ type }) => type === 'Failed')
      expect(condition?.reason).toBe('DependencyFailed')
      expect(condition?.message).toBe(
        'Job load failed: DependencyFailed: Job extract failed: BackoffLimitExceeded: Job has reached the specified backoff limit',
      )
      expect(await running()).toEqual([])
    })

    it('are refused where they would wait for themselves', async () => {
      await create(job('a', {}, 'b'))
      await create(job('b', {}, 'c'))
      await expect(cluster.client.create(jobs, job('c', {}, 'a'))).rejects.toThrow(
        'metadata.annotations[coracle.dev/depends-on]: Invalid value: "a": must not depend on itself: c -> a -> b -> c',
      )
    })
  })

  it('of every minute are made at their times, and only the last are kept', async () => {
    const informer = createInformer(cluster.client, pods, {}, environment)
    informer.addHandler({ add: (pod) => void end(pod, 'Succeeded') })
    informer.start()
    await cluster.client.create(cronJobs, cronJob('tick', '*/1 * * * *'))
    await settled()
    await environment.clock.advance('5m')
    const { items: seen } = await cluster.client.list(events, { namespace })
    expect(seen.some(({ reason }) => reason === 'SawCompletedJob')).toBe(true)
    await environment.clock.advance('115m')
    const { items } = await cluster.client.list(jobs, { namespace })
    expect(items).toHaveLength(3)
    const { status } = await cluster.client.get(cronJobs, { namespace, name: 'tick' })
    expect(status?.lastScheduleTime).toBe('2026-01-01T02:00:00Z')
    await informer.stop()
  })
})
