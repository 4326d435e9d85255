import { formatTime, type Pod } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSimulatedRuntime, type SimulatedRuntime } from './simulated-runtime.ts'

let environment: VirtualEnvironment
let runtime: SimulatedRuntime
let ended: string[]

beforeEach(() => {
  environment = virtualEnvironment()
  runtime = createSimulatedRuntime({ environment })
  ended = []
  runtime.subscribe(({ podUid }) => void ended.push(podUid))
})

/** The id of the container that a simulated runtime makes as its so many-th. */
const simulatedId = (count: number) => count.toString(16).padStart(64, '0')

/** A pod that runs for ten seconds, as its status tells of it. */
function running(uid: string, id: string, startedAtMs: number): Pod {
  const container = { name: 'main', image: 'i', env: [{ name: 'SIMULATED_RUN', value: '10s' }] }
  const startedAt = formatTime(startedAtMs)
  const state = { running: { startedAt } }
  const containerID = `simulated://${id}`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, namespace: 'default', uid },
    spec: { nodeName: 'n', containers: [container] },
    status: {
      phase: 'Running',
      startTime: startedAt,
      containerStatuses: [{ name: 'main', image: 'i', imageID: 'i', ready: true, restartCount: 0, state, containerID }],
    },
  }
}

describe('pods that are taken over', () => {
  const foreign = (digit: string) => digit.repeat(64)

  it.each<[string, readonly (readonly [uid: string, id: string, startedAgoMs: number])[], readonly string[]]>([
    [
      'by the seconds of their starts',
      [
        ['late', simulatedId(1), 3_000],
        ['early', simulatedId(9), 4_000],
      ],
      ['early', 'late'],
    ],
    [
      'by their ids within a second',
      [
        ['third', simulatedId(16), 4_000],
        ['second', simulatedId(10), 4_000],
        ['first', simulatedId(9), 4_000],
      ],
      ['first', 'second', 'third'],
    ],
    [
      'as they are given where other runtimes made them',
      [
        ['b', foreign('b'), 4_000],
        ['a', foreign('a'), 4_000],
        ['own', simulatedId(1), 4_000],
      ],
      ['own', 'b', 'a'],
    ],
  ])('end %s', async (_, adopted, order) => {
    const nowMs = environment.clock.now()
    runtime.adopt(adopted.map(([uid, id, startedAgoMs]) => running(uid, id, nowMs - startedAgoMs)))
    await environment.clock.advance('1m')
    expect(ended).toEqual(order)
  })

  it('have begun before what starts later, by its id too', async () => {
    runtime.adopt([running('adopted', simulatedId(40), environment.clock.now())])
    const sandbox = await runtime.runPodSandbox({
      podUid: 'new',
      podName: 'new',
      podNamespace: 'default',
      attempt: 0,
      hostname: 'new',
      hostNetwork: false,
    })
    expect(sandbox.id > simulatedId(40)).toBe(true)
  })
})
