import { type Job, jobs, type Pod, type PodStatus, pods } from '@coracle/api'
import { beforeEach, expect, it } from 'vitest'
import { type AtWork, atWork } from '../testing/at-work.ts'
import { job } from '../testing/jobs.ts'
import { createJobController } from './controller.ts'

let work: AtWork

const settle = () => work.environment.clock.settle()
const onlyPod = (): Pod => work.client.stored(pods)[0] as Pod
const onlyJob = (): Job => work.client.stored(jobs)[0] as Job

/** How often Jobs are looked at because of a change. */
async function looksAfter(change: () => Promise<unknown>): Promise<number> {
  const before = work.looks()
  await change()
  await settle()
  return work.looks() - before
}

const becomes = (status: Partial<PodStatus>) =>
  work.client.update<Pod>(
    pods,
    { ...onlyPod(), status: { ...onlyPod().status, ...status } as PodStatus },
    { subresource: 'status' },
  )

const patchPod = (body: object) =>
  work.client.patch(pods, { namespace: 'default', name: onlyPod().metadata.name ?? '' }, { type: 'merge', body })

const createJob = async () => {
  const { metadata, status: _status, ...rest } = job({ selector: { matchLabels: { app: 'sum' } } })
  const template = { ...rest.spec.template, metadata: { labels: { app: 'sum' } } }
  const { uid: _uid, ...named } = metadata
  await work.client.create<Job>(jobs, { ...rest, metadata: named, spec: { ...rest.spec, template } } as Job)
}

const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } as Partial<PodStatus>

beforeEach(async () => {
  work = await atWork(() => [createJobController()])
})

it('looks at a Job when something of its pod is counted, and not when that gets a node', async () => {
  // Its pod is made; the pod is there.
  expect(await looksAfter(createJob)).toBe(2)
  expect(await looksAfter(() => patchPod({ spec: { nodeName: 'n' } }))).toBe(0)
  expect(await looksAfter(() => becomes({ conditions: [{ type: 'PodScheduled', status: 'True' }] }))).toBe(0)
  expect(await looksAfter(() => becomes(running))).toBe(1)
  expect(onlyJob().status).toMatchObject({ active: 1, ready: 1 })
  const restarted = { containerStatuses: [{ name: 'main', restartCount: 1 }] } as unknown as Partial<PodStatus>
  expect(await looksAfter(() => becomes(restarted))).toBe(1)
  expect(await looksAfter(() => patchPod({ metadata: { labels: { app: 'other' } } }))).toBeGreaterThan(0)
  expect(onlyPod().metadata.ownerReferences ?? []).toEqual([])
})

it('leaves the pods of a Job alone that is over and has counted them', async () => {
  await createJob()
  await settle()
  await becomes(running)
  await settle()
  // It is named; it has lost its finalizer, and is counted.
  expect(await looksAfter(() => becomes({ phase: 'Succeeded' }))).toBe(2)
  expect(onlyJob().status).toMatchObject({
    succeeded: 1,
    conditions: [{ type: 'SuccessCriteriaMet' }, { type: 'Complete' }],
  })
  const { name = '' } = onlyPod().metadata
  expect(await looksAfter(() => patchPod({ metadata: { labels: { seen: 'yes' } } }))).toBe(0)
  expect(await looksAfter(() => work.client.delete(pods, { namespace: 'default', name }))).toBe(0)
})

it('takes the finalizer off a pod whose Job is gone, whenever it hears of it', async () => {
  await createJob()
  await settle()
  await work.client.delete(jobs, { namespace: 'default', name: 'sum' }, { propagationPolicy: 'Orphan' })
  await settle()
  expect(work.client.stored(jobs)).toEqual([])
  expect(onlyPod().metadata.finalizers ?? []).toEqual([])
})
