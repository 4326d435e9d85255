import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { NodeObserver, runtimeAnswerMaxMs } from './node-observer.ts'

function observed() {
  const environment = virtualEnvironment()
  const runtime = createSimulatedRuntime({ environment })
  const hanging: (() => void)[] = []
  let asked = 0
  let hangs = false
  runtime.status = async () => {
    asked += 1
    if (hangs) await new Promise<void>((resolve) => hanging.push(resolve))
    return { problems: [] }
  }
  const observer = new NodeObserver(runtime, environment.clock)
  const { clock } = environment
  const problems = async () => {
    const beganMs = clock.monotonicMs()
    const observation = observer.observe()
    await clock.advance(runtimeAnswerMaxMs)
    const { problems: found } = await observation
    expect(clock.monotonicMs() - beganMs).toBeLessThanOrEqual(runtimeAnswerMaxMs)
    return found
  }
  const hang = () => {
    hangs = true
  }
  const answer = () => {
    hangs = false
    for (const resolve of hanging.splice(0)) resolve()
  }
  return { clock, problems, hang, answer, asked: () => asked }
}

it('says of a runtime that hangs what it has said before, and that it is down when that is half a minute old', async () => {
  const { clock, problems, hang, answer, asked } = observed()
  expect(await problems()).toEqual([])
  hang()
  await clock.advance('8s')
  expect(await problems()).toEqual([])
  await clock.advance('20s')
  expect(await problems()).toEqual(['container runtime is down'])
  // Another question would hang as well.
  expect(asked()).toBe(2)
  answer()
  expect(await problems()).toEqual([])
})

it('says of a runtime that has yet to answer that it is not known to run containers', async () => {
  const { problems, hang, answer } = observed()
  hang()
  expect(await problems()).toEqual(['container runtime status check may not have completed yet'])
  answer()
  expect(await problems()).toEqual([])
})
