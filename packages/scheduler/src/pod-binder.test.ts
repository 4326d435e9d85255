import { ApiError, notFound, type Pod, pods } from '@coracle/api'
import type { Client } from '@coracle/client'
import { createLogger, type LogLine, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { Framework } from './framework.ts'
import type { NodeInfo } from './node-info.ts'
import type { ClusterPlugin } from './plugins/plugin.ts'
import { PodBinder } from './pod-binder.ts'
import type { PodReporter } from './pod-reporter.ts'
import { SchedulerCache } from './scheduler-cache.ts'
import { makeNode, makePod } from './testing/objects.ts'

const pod = makePod({}, 'p')

let cache: SchedulerCache
let logged: LogLine[]
let done: string[]
/** What binding the pod is answered with. */
let refusal: Error | undefined

beforeEach(() => {
  cache = new SchedulerCache()
  cache.setNode(makeNode({ name: 'n' }))
  logged = []
  done = []
  refusal = undefined
})

const node = () => cache.node('n') as NodeInfo

function binderWith(plugin: Partial<ClusterPlugin> = {}): PodBinder {
  const client = {
    async createSubresource(_: unknown, key: object, name: string, body: object, cause: object) {
      done.push('post')
      expect([key, name, cause]).toEqual([{ namespace: 'default', name: 'p' }, 'binding', { because: 'it is best' }])
      expect(body).toEqual({
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p', namespace: 'default', uid: 'uid-p' },
        target: { kind: 'Node', name: 'n' },
      })
      if (refusal !== undefined) throw refusal
    },
  }
  const reporter = {
    causeOf: (_: Pod, because: string) => ({ because }),
    bound: (_: Pod, name: string) => void done.push(`bound to ${name}`),
    expected: async (_: Pod, name: string) => void done.push(`expected on ${name}`),
    unbound: async ({ status }: Pod, reason: string, message: string, nominated: string) =>
      void done.push(`unbound from ${status?.nominatedNodeName}: ${reason} ${message} ${JSON.stringify(nominated)}`),
  }
  const log: Partial<ClusterPlugin> = {
    reserve: () => void done.push('reserve'),
    unreserve: () => void done.push('unreserve'),
  }
  const framework = new Framework([{ name: 'P', scope: 'cluster', signature: () => undefined, ...log, ...plugin }])
  const environment = { ...virtualEnvironment(), logger: createLogger((line) => logged.push(line)) }
  return new PodBinder(client as unknown as Client, environment, framework, cache, reporter as unknown as PodReporter)
}

describe('binding a pod', () => {
  it('counts it as placed at once, and until the API shows it', async () => {
    const binder = binderWith()
    const binding = binder.bind(pod, node(), 'it is best')
    expect([node().podCount, binder.isAssumed('uid-p')]).toEqual([1, true])
    expect(await binding).toBe(true)
    expect(done).toEqual(['reserve', 'post', 'bound to n'])
    expect([node().podCount, binder.isAssumed('uid-p'), binder.preparing]).toEqual([1, true, 0])
    expect([binder.confirm('uid-p'), binder.confirm('uid-p'), binder.isAssumed('uid-p')]).toEqual([true, false, false])
    expect(logged).toEqual([])
  })

  it('is prepared first, and says where the pod will be', async () => {
    let prepare = () => {}
    const binder = binderWith({
      preBind: () =>
        new Promise<void>((resolve) => {
          prepare = resolve
        }),
    })
    const binding = binder.bind(pod, node(), 'it is best')
    expect([binder.preparing, done]).toEqual([1, ['reserve', 'expected on n']])
    prepare()
    expect(await binding).toBe(true)
    expect([binder.preparing, done.slice(2)]).toEqual([0, ['post', 'bound to n']])
  })

  const errors = 'unbound from n: SchedulerError running'
  it.each<[string, Partial<ClusterPlugin>, readonly string[]]>([
    ['is reserved', { reserve: () => 'there is none' }, [`${errors} Reserve plugin "P": there is none ""`]],
    [
      'is prepared',
      { preBind: () => Promise.reject(new Error('not ready')) },
      ['expected on n', `${errors} PreBind plugin "P": not ready ""`],
    ],
    [
      'is prepared, as a volume has changed,',
      { preBind: () => Promise.reject(new ApiError(409, 'Conflict', 'the volume has changed')) },
      ['expected on n', `${errors} PreBind plugin "P": the volume has changed ""`],
    ],
    [
      'is prepared, as a claim is gone,',
      { preBind: () => Promise.reject(new ApiError(404, 'NotFound', 'the claim is gone')) },
      ['expected on n', `${errors} PreBind plugin "P": the claim is gone ""`],
    ],
  ])('is taken back where it fails before the pod %s', async (_, plugin, told) => {
    const binder = binderWith(plugin)
    expect(await binder.bind(pod, node(), 'it is best')).toBe(false)
    const isTold = (each: string) => /expected|unbound/.test(each)
    expect([done.filter(isTold), done.includes('unreserve'), done.includes('post')]).toEqual([told, true, false])
    expect([node().podCount, binder.isAssumed('uid-p'), binder.preparing]).toEqual([0, false, 0])
  })

  it.each<[Error, boolean]>([
    [new ApiError(500, 'InternalError', 'not today'), true],
    [notFound(pods, 'p'), false],
    [new ApiError(409, 'Conflict', 'it is bound'), false],
  ])('is taken back, and logged, where the server answers: %s; users are told: %s', async (answer, isTold) => {
    refusal = answer
    const binder = binderWith()
    expect(await binder.bind(pod, node(), 'it is best')).toBe(false)
    const message = `${errors} Bind plugin "DefaultBinder": ${answer.message} ""`
    expect(done).toEqual(['reserve', 'post', 'unreserve', ...(isTold ? [message] : [])])
    expect(node().podCount).toBe(0)
    expect(logged).toMatchObject([
      { level: 'warn', message: 'binding failed', fields: { pod: 'default/p', node: 'n', error: { cause: answer } } },
    ])
  })

  it('is given up without a word where the scheduler stops while it is prepared', async () => {
    let giveUp = (_: Error) => {}
    const binder = binderWith({
      preBind: () =>
        new Promise<void>((_, reject) => {
          giveUp = reject
        }),
    })
    const binding = binder.bind(pod, node(), 'it is best')
    binder.stop()
    giveUp(new Error('the scheduler is stopped'))
    expect(await binding).toBe(false)
    expect(done).toEqual(['reserve', 'expected on n', 'unreserve'])
    expect([logged, node().podCount]).toEqual([[], 0])
  })

  it('takes nothing back of a pod that the API shows meanwhile', async () => {
    refusal = new ApiError(500, 'InternalError', 'not today')
    const binder = binderWith()
    const binding = binder.bind(pod, node(), 'it is best')
    binder.confirm('uid-p')
    expect(await binding).toBe(false)
    expect(node().podCount).toBe(1)
  })
})
