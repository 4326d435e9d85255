import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { realEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testPod } from '../testing/pods.ts'
import { createLocalAgent } from './local-agent.ts'
import type { ServedNode } from './served-node.ts'

const environment = realEnvironment()

/** The agent of a node with a pod, and a way to ask it. */
function created(node: Partial<ServedNode> = {}) {
  const runtime = createSimulatedRuntime({ environment })
  onTestFinished(() => runtime.close())
  const served = { nodeName: 'node-a', nodeAddress: '127.8.8.8', runtime, pods: () => [testPod()], ...node }
  const configuration = { kind: 'KubeletConfiguration' }
  const agent = createLocalAgent({ environment, node: served as ServedNode, configuration })
  onTestFinished(agent.close)
  const ask = async (path: string, method = 'GET') => {
    const request = httpRequest({ path, method, createConnection: () => agent.connect() as never }).end()
    const [response] = await once(request, 'response')
    return { code: response.statusCode as number, body: await text(response) }
  }
  return { agent, ask }
}

it('answers as a kubelet does, without asking who asks', async () => {
  const { ask } = created()
  expect(await ask('/healthz')).toEqual({ code: 200, body: 'ok' })
  expect(JSON.parse((await ask('/pods')).body).items).toEqual([testPod()])
  expect(JSON.parse((await ask('/configz')).body)).toEqual({ kubeletconfig: { kind: 'KubeletConfiguration' } })
  expect(await ask('/nothing')).toEqual({ code: 404, body: '404 page not found\n' })
  expect(await ask('/pods', 'POST')).toEqual({ code: 405, body: '405: Method Not Allowed\n' })
})

it('shows the logs of its containers as a host keeps them', async () => {
  const asked: unknown[] = []
  const { metadata, spec, ...rest } = testPod()
  const container = spec.containers[0]?.name ?? ''
  const containerStatuses = [
    { name: container, state: { running: {} }, ready: true, restartCount: 0, image: 'x', imageID: 'x' },
  ]
  const { ask } = created({
    pods: () => [{ ...rest, metadata, spec, status: { phase: 'Running', containerStatuses } }],
    async *logs(_pod, options) {
      asked.push(options)
      yield Buffer.from('line\n')
    },
  })
  const read = async (path: string) => (await ask(path)).body
  expect(await read('/logs/')).toBe('<pre>\n<a href="pods/">pods/</a>\n</pre>\n')
  const [, directory = ''] =
    new RegExp(`href="(${metadata.namespace}_${metadata.name}_[^"]+)/"`).exec(await read('/logs/pods/')) ?? []
  expect(await read(`/logs/pods/${directory}/`)).toContain(`<a href="${container}/">${container}/</a>`)
  expect(await read(`/logs/pods/${directory}/${container}/0.log`)).toBe('line\n')
  expect(asked).toMatchObject([{ container, previous: false, timestamps: true, follow: false }])
  expect(await ask('/logs/syslog')).toEqual({ code: 404, body: '404 page not found\n' })
})

it('ends what is under way when it closes', async () => {
  const [begun, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { agent, ask } = created({
    async *logs(_pod, _options, signal) {
      signal.addEventListener('abort', () => stopped.resolve())
      begun.resolve()
      yield Buffer.from('line\n')
      await stopped.promise
    },
  })
  const pod = testPod()
  const asked = ask(
    `/containerLogs/${pod.metadata.namespace}/${pod.metadata.name}/${pod.spec.containers[0]?.name}?follow=true`,
  )
  asked.catch(() => {})
  await begun.promise
  agent.close()
  await stopped.promise
  await expect(asked).rejects.toThrow()
})
