import { ApiError, notFound, type Pod, type PodDisruptionBudget, pods } from '@coracle/api'
import type { Client, Informer } from '@coracle/client'
import { createLogger, type LogLine, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Diagnosis } from '../fit-error.ts'
import { Framework } from '../framework.ts'
import { defaultPlugins } from '../plugins/index.ts'
import type { PodReporter } from '../pod-reporter.ts'
import { schedule } from '../schedule.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import { makeNode, makePod } from '../testing/objects.ts'
import { preemptionReason } from './preempt.ts'
import { Preemptor } from './preemptor.ts'

const framework = new Framework(defaultPlugins)
const urgent = makePod({ priority: 10, requests: { cpu: '4' } }, 'urgent')
const victim = makePod({ priority: 1, requests: { cpu: '4' } }, 'victim')

let cache: SchedulerCache
let preemptor: Preemptor
let logged: LogLine[]
/** What was asked of the server, and told to users. */
let done: string[]
/** The patches and deletions that were asked for, with their options. */
let written: object[]
/** What the server answers a deletion with. */
let refusal: Error | undefined

beforeEach(() => {
  cache = new SchedulerCache()
  cache.setNode(makeNode({ name: 'n' }))
  cache.place(victim, 'n')
  logged = []
  done = []
  written = []
  refusal = undefined
  const client = {
    async patch(
      _: unknown,
      { name }: { name: string },
      patch: { body: { status: { conditions: object[] } } },
      options: object,
    ) {
      const { body } = patch
      done.push(`patch ${name}`)
      written.push({ ...patch, options })
      expect(body.status.conditions).toMatchObject([{ type: 'DisruptionTarget', reason: preemptionReason }])
    },
    async delete(_: unknown, { name }: { name: string }, options: { preconditions?: { uid: string } }) {
      if (refusal !== undefined) throw refusal
      done.push(`delete ${name} ${options.preconditions?.uid}`)
      written.push({ options })
    },
  }
  const reporter = {
    causeOf: (_: Pod, because: string) => ({ because }),
    preempted: (pod: Pod, by: Pod, node: string) =>
      void done.push(`${pod.metadata.name} left ${node} for ${by.metadata.name}`),
    unnominated: async (pod: Pod, because: string) => void done.push(`${pod.metadata.name}: ${because}`),
  }
  const environment = { ...virtualEnvironment(), logger: createLogger((line) => logged.push(line)) }
  preemptor = new Preemptor(
    client as unknown as Client,
    environment,
    { list: () => [] } as unknown as Informer<PodDisruptionBudget>,
    cache,
    reporter as unknown as PodReporter,
  )
})

const refused = (wanting = urgent) => {
  const decision = schedule(wanting, cache, framework)
  if (decision.type === 'fits') throw new Error('there is room')
  return decision
}
const plan = (change: Partial<Diagnosis> = {}, wanting = urgent) => {
  const { prepared, diagnosis } = refused(wanting)
  return preemptor.plan(prepared, { ...diagnosis, ...change })
}
const preempt = async () => {
  const planned = plan()
  if (planned?.type !== 'preempts') throw new Error('nobody is to leave')
  await preemptor.preempt(urgent, planned.victims)
}
const waiting = { type: 'not-eligible', message: 'waiting for the preemption for this pod to be finished.' }

describe('who leaves for a pod', () => {
  it('is decided among the nodes that were looked at, and not at all where none was', () => {
    expect(plan()).toMatchObject({ type: 'preempts', victims: { pods: [victim] } })
    const rejection = { plugin: 'P', reasons: ['no claim'], isHelpedByEviction: false }
    for (const change of [{ nodeCount: 0 }, { rejection }, { isContradictory: true }]) {
      expect(plan(change)).toBeUndefined()
    }
  })

  it('is told to, deleted by its uid, and users hear of it', async () => {
    await preempt()
    expect(done).toEqual(['patch victim', 'delete victim uid-victim', 'victim left n for urgent'])
    expect(logged).toEqual([])
  })

  it('is told why, and so is whoever reads why it left', async () => {
    await preempt()
    const because = 'pod default/urgent of priority 10 needs room on n, this one has 1'
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: preemptionReason,
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
      observedGeneration: undefined,
      lastTransitionTime: expect.any(String),
    }
    expect(written).toEqual([
      {
        type: 'strategic',
        body: { metadata: { uid: 'uid-victim' }, status: { conditions: [condition] } },
        options: { subresource: 'status', because },
      },
      { options: { preconditions: { uid: 'uid-victim' }, because } },
    ])
  })

  it('is not decided anew while one of several is not seen to leave', async () => {
    const halves = ['first', 'second'].map((name) => makePod({ priority: 1, requests: { cpu: '2' } }, name))
    cache.remove('uid-victim')
    for (const half of halves) cache.place(half, 'n')
    await preempt()
    const [first, second] = halves.map((half) => ({
      ...half,
      metadata: { ...half.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }))
    if (first === undefined || second === undefined) throw new Error('unreachable')
    cache.place(first, 'n')
    expect(plan()).toEqual(waiting)
    cache.place(second, 'n')
    expect(plan()).not.toEqual(waiting)
  })

  it('is not decided anew until all are seen to leave', async () => {
    await preempt()
    expect([plan(), plan()]).toEqual([waiting, waiting])
    const leaving = { ...victim, metadata: { ...victim.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    cache.place(leaving, 'n')
    expect(plan()).toMatchObject({ type: 'preempts' })
    // Once they have been seen to leave, that is settled.
    cache.place(victim, 'n')
    expect(plan()).toMatchObject({ type: 'preempts' })
  })

  it('is decided anew where the node is gone', async () => {
    await preempt()
    cache.removeNode('n')
    cache.setNode(makeNode({ name: 'other', allocatable: { cpu: '1' } }))
    expect(plan()).toMatchObject({ type: 'hopeless' })
  })

  it('is decided anew for a pod that had stopped waiting', async () => {
    await preempt()
    preemptor.forget('uid-urgent')
    expect(plan()).toMatchObject({ type: 'preempts' })
  })

  it('is decided anew, and logged, where the server refuses', async () => {
    refusal = new ApiError(500, 'InternalError', 'not today')
    await preempt()
    expect(logged).toMatchObject([
      { level: 'warn', message: 'preempting a pod failed', fields: { for: 'urgent', error: refusal } },
    ])
    expect(plan()).toMatchObject({ type: 'preempts' })
    expect(done).toEqual(['patch victim'])
  })

  it.each([notFound(pods, 'victim'), new ApiError(409, 'Conflict', 'another pod')])(
    'has left where the server answers: %s',
    async (answer) => {
      refusal = answer
      await preempt()
      expect([logged, done]).toEqual([[], ['patch victim']])
      expect(plan()).toEqual(waiting)
    },
  )

  it('is left alone where it leaves already', async () => {
    const planned = plan()
    if (planned?.type !== 'preempts') throw new Error('nobody is to leave')
    const leaving = { ...victim, metadata: { ...victim.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    await preemptor.preempt(urgent, { ...planned.victims, pods: [leaving] })
    expect(done).toEqual([])
  })

  it('makes those look elsewhere that were to come there and are less important', async () => {
    const planned = plan()
    if (planned?.type !== 'preempts') throw new Error('nobody is to leave')
    const uids = [9, 10].map((priority) => {
      const pod = makePod({ priority }, `of-${priority}`)
      cache.nominations.set(pod, 'n')
      return pod.metadata.uid ?? ''
    })
    await preemptor.preempt(urgent, planned.victims)
    expect(uids.map((uid) => cache.nominatedNode(uid))).toEqual([undefined, 'n'])
    const told = done.filter((each) => each.startsWith('of-'))
    expect(told).toEqual(['of-9: pod default/urgent, which is more important, comes to n'])
  })
})
