import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod, testRun } from '../testing/pods.ts'
import { ContainerStops } from './container-stops.ts'
import type { PodObservation } from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { gracePeriodMinMs } from './stop-containers.ts'

/** The stops of a pod with a sidecar, and how long each container is given to end. */
function stopping() {
  const environment = virtualEnvironment()
  const asked: (readonly [id: string, graceMs: number])[] = []
  const runtime = { stopContainer: async (id: string, graceMs: number) => void asked.push([id, graceMs]) }
  const stops = new ContainerStops(
    { environment, runtime } as unknown as PodContext,
    () => '10.0.0.1',
    () => {},
  )
  const pod = testPod({ initContainers: [testContainer({ name: 'proxy', restartPolicy: 'Always' })] })
  const observation = () => ({ pod, gone: false, monotonicMs: environment.clock.monotonicMs() }) as PodObservation
  const action = (name: string, gracePeriodMs: number) => ({
    ...{ run: testRun({ id: name, name }), gracePeriodMs, message: '', restart: false, because: '' },
    type: 'stop-container' as const,
  })
  return {
    asked,
    clock: environment.clock,
    stop: (name: string, graceMs: number) => stops.stop(action(name, graceMs), observation()),
    prepare: (name: string, graceMs: number) =>
      void stops.prepare({ ...action(name, graceMs), type: 'prepare-stop' }, observation()),
  }
}

describe('a container that is to stop', () => {
  it('has all of the time where its turn comes at once', async () => {
    const { asked, clock, stop } = stopping()
    stop('web', 30_000)
    await clock.settle()
    expect(asked).toEqual([['web', 30_000]])
  })

  it.each([
    ['what is left of it where its turn comes later', 10_000, 20_000],
    ['a moment where none is left', 45_000, gracePeriodMinMs],
  ])('has %s', async (_, waitedMs, graceMs) => {
    const { asked, clock, stop, prepare } = stopping()
    prepare('proxy', 30_000)
    await clock.advance(waitedMs)
    stop('proxy', 30_000)
    await clock.settle()
    expect(asked).toEqual([['proxy', graceMs]])
  })

  it('has no more than is asked for in the end', async () => {
    const { asked, clock, stop, prepare } = stopping()
    prepare('proxy', 30_000)
    stop('proxy', 5_000)
    await clock.settle()
    expect(asked).toEqual([['proxy', 5_000]])
  })
})
