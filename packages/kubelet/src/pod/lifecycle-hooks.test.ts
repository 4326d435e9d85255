import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { realEnvironment, TurnLimiter } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { NodeAdmission } from '../admission/node-admission.ts'
import { apiSources } from '../env/api-sources.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { runPostStart } from './lifecycle-hooks.ts'
import type { PodContext } from './pod-context.ts'

function contextOf(): PodContext {
  const environment = realEnvironment()
  const client: Client = createFakeClient(environment)
  const admission = new NodeAdmission({
    clock: environment.clock,
    allocatable: {},
    operatingSystem: 'linux',
    strictGroups: false,
    others: () => [],
    known: () => undefined,
    read: () => Promise.reject(new Error('no node')),
  })
  const runtime = Object.assign(createSimulatedRuntime({ environment }), { runsProcesses: true })
  const node = { nodeName: 'node-a', nodeAddress: '127.0.0.1', allocatable: {} }
  const turns = new TurnLimiter(environment.clock, 1)
  const mountVolumes = async () => new Map()
  return { client, environment, runtime, sources: apiSources(client), mountVolumes, turns, admission, ...node }
}

it('is content when a hook has been heard, whatever the server makes of it', async () => {
  const seen: unknown[] = []
  const server = createServer(({ url, headers }, response) => {
    seen.push([url, headers['user-agent']])
    response.writeHead(500).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const start = (port: number) => {
    const container = testContainer({ lifecycle: { postStart: { httpGet: { port, path: '/hello' } } } })
    const patient = new AbortController().signal
    return runPostStart(contextOf(), testPod(), '127.0.0.1', 'c0', container, patient)
  }
  expect(await start(port)).toBeUndefined()
  expect(seen).toEqual([['/hello', 'kube-lifecycle/1.36']])
  await new Promise((resolve) => server.close(resolve))
  expect(await start(port)).toMatch(
    /^HTTP lifecycle hook \(\/hello\) for Container "web" in Pod "web_default\(\S+\)" failed - error: Get "http:.*: dial tcp/,
  )
})

it('asks a server that speaks no TLS again without it, and tells of that', async () => {
  const seen: unknown[] = []
  const server = createServer(({ headers }, response) => {
    seen.push([headers.authorization, headers['x-hook']])
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const httpHeaders = [
    { name: 'Authorization', value: 'secret' },
    { name: 'X-Hook', value: 'yes' },
  ]
  const container = testContainer({ lifecycle: { postStart: { httpGet: { port, scheme: 'HTTPS', httpHeaders } } } })
  const told: string[] = []
  const recorder = { event: (_pod: unknown, ...event: string[]) => void told.push(event.slice(0, 3).join(' ')) }
  const context = { ...contextOf(), recorder } as PodContext
  const patient = new AbortController().signal
  expect(await runPostStart(context, testPod(), '127.0.0.1', 'c0', container, patient)).toBeUndefined()
  expect([seen, told]).toEqual([
    [[undefined, 'yes']],
    [
      `Warning LifecycleHTTPFallback request to HTTPS lifecycle hook 127.0.0.1:${port} got HTTP response, retry with HTTP succeeded`,
    ],
  ])
})
