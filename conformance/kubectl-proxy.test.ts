import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { Kubectl, pod } from './support/kubectl.ts'
import { coracleFile, eventually, Program } from './support/program.ts'
import { tools } from './support/tools.ts'

/** A small site: a page with a link, a redirect, what it was asked, and an echo over WebSocket. */
const site = `
  const { createHash } = require('node:crypto')
  const server = require('node:http').createServer((request, response) => {
    if (request.url === '/') return response.setHeader('content-type', 'text/html').end('<a href="/next">next</a>')
    if (request.url === '/moved') return response.writeHead(302, { location: '/next' }).end()
    const body = []
    response.setHeader('content-type', 'application/json')
    request.on('data', (chunk) => body.push(chunk)).on('end', () =>
      response.end(JSON.stringify({ method: request.method, url: request.url, body: String(Buffer.concat(body)), authorization: request.headers.authorization ?? 'none' })))
  })
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
    socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from('hello')]))
  })
  server.listen(8080, process.env.POD_IP)`

/** A pod of it, which listens at its own address. */
const serving = {
  terminationGracePeriodSeconds: 1,
  containers: [
    {
      name: 'main',
      image: 'x',
      command: [process.execPath, '-e', site],
      env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
      ports: [{ containerPort: 8080 }],
      readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1, timeoutSeconds: 30 },
    },
  ],
}

let program: Program
let kubectl: Kubectl
beforeAll(async () => {
  program = await Program.start({ args: ['--runtime', 'process', '--memory'] })
  kubectl = await Kubectl.in(program)
  await kubectl.create('pods', pod('web', {}, serving))
  await kubectl.ok(['label', 'pod', 'web', 'app=web'])
  await kubectl.ok(['expose', 'pod', 'web', '--port=80', '--target-port=8080'])
  await kubectl.ok(['wait', '--for=condition=Ready', 'pod/web', '--timeout=50s'])
})
afterAll(() => program[Symbol.asyncDispose]())

const raw = async (path: string) => JSON.parse(await kubectl.ok(['get', '--raw', path]))
const base = '/api/v1/namespaces/default'

describe('kubectl get --raw', () => {
  it.each(['pods/web/proxy/x?q=1', 'pods/web:8080/proxy/x?q=1', 'pods/http:web:8080/proxy/x?q=1'])(
    'reads from a pod: %s',
    async (path) => {
      expect(await raw(`${base}/${path}`)).toEqual({ method: 'GET', url: '/x?q=1', body: '', authorization: 'none' })
    },
  )

  it.each(['services/web/proxy/x', 'services/web:80/proxy/x', 'services/http:web:80/proxy/x'])(
    'reads from a pod behind a service: %s',
    async (path) => {
      const answer = await eventually('an endpoint', async () => {
        const { code, stdout } = await kubectl.run(['get', '--raw', `${base}/${path}`])
        return code === 0 ? JSON.parse(stdout) : undefined
      })
      expect(answer.url).toBe('/x')
    },
  )

  it('asks the agent of a node', async () => {
    const [node] = (await kubectl.ok(['get', 'nodes', '-o', 'name'])).trim().split('\n')
    const name = node?.replace('node/', '')
    expect(await kubectl.ok(['get', '--raw', `/api/v1/nodes/${name}/proxy/healthz`])).toBe('ok')
    expect(await kubectl.ok(['get', '--raw', `/api/v1/nodes/${name}:10250/proxy/containerLogs/default/web/main`])).toBe(
      '',
    )
    const asked = (path: string) => kubectl.ok(['get', '--raw', `/api/v1/nodes/${name}/proxy/${path}`])
    const names = (list: { items: { metadata: { name: string } }[] }) => list.items.map(({ metadata }) => metadata.name)
    expect(names(JSON.parse(await asked('pods')))).toEqual(['web'])
    expect(names(JSON.parse(await asked('runningpods/')))).toEqual(['web'])
    const summary = JSON.parse(await asked('stats/summary'))
    expect([summary.node.nodeName, summary.pods[0].podRef.name]).toEqual([name, 'web'])
    expect(await asked('metrics/resource')).toMatch(
      /container_memory_working_set_bytes\{container="main",namespace="default",pod="web"\} \d+/,
    )
    expect(await asked('metrics')).toContain('kubelet_running_pods 1\n')
    expect(JSON.parse(await asked('configz')).kubeletconfig.kind).toBe('KubeletConfiguration')
    expect(await asked('logs/pods/')).toContain('default_web_')
    const { stderr } = await kubectl.run(['get', '--raw', `/api/v1/nodes/${name}/proxy/nothing`])
    expect(stderr).toContain('the server could not find the requested resource')
  })

  it('runs a command by the agent of a node', async () => {
    const [node] = (await kubectl.ok(['get', 'nodes', '-o', 'name'])).trim().split('\n')
    const path = `/api/v1/nodes/${node?.replace('node/', '')}/proxy/run/default/web/main?cmd=echo%20hello`
    expect(await kubectl.ok(['create', '--raw', path, '-f', '/dev/null'])).toBe('hello\n')
  })

  it.each([
    [
      'a port on which nothing listens',
      'pods/web:1/proxy/',
      /error trying to reach service: dial tcp \S+:1: connect: connection refused/,
    ],
    ['a service without endpoints', 'services/web:other/proxy/', /no endpoints available for service "web:other"/],
    ['a pod that is not there', 'pods/nobody/proxy/', /pods "nobody" not found/],
  ])('says what is wrong with %s', async (_what, path, message) => {
    const { code, stderr } = await kubectl.run(['get', '--raw', `${base}/${path}`])
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
  })

  it('is listed by discovery, and explained by OpenAPI', async () => {
    const { resources } = await raw('/api/v1')
    const listed = resources.filter(({ name }: { name: string }) => name.endsWith('/proxy'))
    expect(listed.map(({ name, kind, verbs }: Record<string, unknown>) => [name, kind, verbs])).toEqual([
      ['nodes/proxy', 'NodeProxyOptions', ['create', 'delete', 'get', 'patch', 'update']],
      ['pods/proxy', 'PodProxyOptions', ['create', 'delete', 'get', 'patch', 'update']],
      ['services/proxy', 'ServiceProxyOptions', ['create', 'delete', 'get', 'patch', 'update']],
    ])
    const { paths } = await raw('/openapi/v3/api/v1')
    const { head } = paths['/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}']
    expect([head.operationId, head['x-kubernetes-action']]).toEqual([
      'connectCoreV1HeadNamespacedPodProxyWithPath',
      'connect',
    ])
  })
})

it('other methods bring their bodies along: create --raw and @kubernetes/client-node', async () => {
  const { stdout } = await kubectl.run(['create', '--raw', `${base}/pods/web/proxy/x`, '-f', '-'], { input: 'hello' })
  expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', body: 'hello' })
  const config = new KubeConfig()
  config.loadFromFile(program.kubeconfig)
  const api = config.makeApiClient(CoreV1Api)
  const answer = await api.connectPutNamespacedPodProxyWithPath({ name: 'web', namespace: 'default', path: 'y' })
  expect(answer).toMatchObject({ method: 'PUT', url: '/y' })
})

describe.each(['kubectl', 'coracle'])('%s proxy', (which) => {
  let server: ChildProcess
  let url: string
  beforeAll(async () => {
    const [file, ...first] = which === 'kubectl' ? [(await tools()).kubectl] : [process.execPath, coracleFile]
    const args = [...first, '--kubeconfig', program.kubeconfig, 'proxy', '--port=0']
    server = spawn(file ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    if (server.stdout === null) throw new Error('no output')
    const [line] = await once(createInterface(server.stdout), 'line')
    url = `http://${/127\.0\.0\.1:\d+/.exec(line)?.[0]}${base}/pods/web/proxy`
  })
  afterAll(async () => {
    server.kill()
    await once(server, 'exit')
  })

  it('shows a page whose links lead through it', async () => {
    const answer = await fetch(url)
    expect(answer.url).toBe(`${url}/`)
    const page = await answer.text()
    expect(page).toBe(`<a href="${base}/pods/web/proxy/next">next</a>`)
    const next = await fetch(new URL(/href="([^"]*)"/.exec(page)?.[1] ?? '', url))
    expect(await next.json()).toMatchObject({ url: '/next', authorization: 'none' })
  })

  it('follows redirects', async () => {
    expect(await (await fetch(`${url}/moved`)).json()).toMatchObject({ url: '/next' })
  })

  it('opens WebSockets', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket`)
    const [message] = await once(socket, 'message')
    expect(String(message)).toBe('hello')
    socket.terminate()
  })
})

it('cluster-info gives addresses that lead to services', async () => {
  const system = await Kubectl.in(program, 'kube-system')
  await system.create('pods', pod('dash', { labels: { app: 'dash' } }, serving))
  await system.ok(['expose', 'pod', 'dash', '--port=80', '--target-port=8080'])
  await system.ok(['label', 'service', 'dash', 'kubernetes.io/cluster-service=true', 'kubernetes.io/name=Dash'])
  const info = stripVTControlCharacters(await kubectl.ok(['cluster-info']))
  const path = /Dash is running at https:\/\/[^/]+(\S+)/.exec(info)?.[1] ?? ''
  expect(path).toBe('/api/v1/namespaces/kube-system/services/dash/proxy')
  const page = await eventually('the page', async () => {
    const { code, stdout } = await kubectl.run(['get', '--raw', `${path}/`])
    return code === 0 ? stdout : undefined
  })
  expect(page).toBe(`<a href="${path}/next">next</a>`)
})
