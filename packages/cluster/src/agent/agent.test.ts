import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEnvironment, silentLogger } from '@coracle/environment'
import { createAuthority, issueClientCertificate, issueServingCertificate } from '@coracle/environment/certificates'
import { expect, it, onTestFinished } from 'vitest'
import { startAgent } from './agent.ts'
import { AgentFiles } from './agent-files.ts'

it('runs the pods of its files while its server is away, and is told to be running', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-agent-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const manifestPath = join(directory, 'manifests')
  mkdirSync(manifestPath)
  const proof = join(directory, 'proof')
  const container = { name: 'main', image: 'host', command: ['sh', '-c', `echo > ${proof}`] }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'own' },
    spec: { restartPolicy: 'Never', containers: [container] },
  }
  writeFileSync(join(manifestPath, 'own.json'), JSON.stringify(pod))
  const environment = realEnvironment(silentLogger)
  const interrupted = new AbortController()
  const running = Promise.withResolvers<void>()
  const started = startAgent(
    {
      environment,
      // Nobody listens at this port, and only root could.
      connection: { server: 'https://127.0.0.1:1', ca: createAuthority(environment).certificatePem },
      nodeName: 'far',
      dataDir: join(directory, 'data'),
      runtime: 'process',
      nodeIp: '127.0.0.1',
      port: 0,
      manifestPath,
      proxiesServices: false,
      onRunning: running.resolve,
    },
    interrupted.signal,
  )
  const ended = expect(started).rejects.toThrow('interrupted')
  await running.promise
  await expect.poll(() => existsSync(proof)).toBe(true)
  interrupted.abort(new Error('interrupted'))
  await ended
})

it('goes to another server at its start where its own is gone, and to nobody who only has a certificate of the address', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'coracle-agent-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const environment = realEnvironment(silentLogger)
  const ca = createAuthority(environment)
  const asked: string[] = []
  const listening = async (name: string, ...hosts: readonly string[]): Promise<string> => {
    const { certificatePem: cert, keyPem: key } = issueServingCertificate(environment, ca, { commonName: name, hosts })
    const server = createServer({ cert, key }, ({ url = '' }, response) => {
      asked.push(`${name} ${url}`)
      response.writeHead(url === '/readyz' ? 200 : 500).end('ok')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const servers = [
    await listening('node', '127.0.0.1', 'near'),
    await listening('server', 'kubernetes', 'kubernetes.default.svc'),
  ]
  const identity = { user: 'system:node:far', groups: ['system:nodes'] }
  await new AgentFiles(dataDir).keepJoined({
    // Nobody listens at this port, and only root could.
    server: 'https://127.0.0.1:1',
    servers,
    caPem: ca.certificatePem,
    nodeName: 'far',
    client: issueClientCertificate(environment, ca, identity),
  })
  const interrupted = new AbortController()
  const options = { environment, nodeName: 'far', dataDir, runtime: 'simulated', port: 0 } as const
  const started = startAgent({ ...options, nodeIp: '127.0.0.1', proxiesServices: false }, interrupted.signal)
  const ended = expect(started).rejects.toThrow('interrupted')
  await expect.poll(() => asked).toContain('server /api/v1/nodes')
  expect(asked.filter((each) => !each.startsWith('server '))).toEqual([])
  interrupted.abort(new Error('interrupted'))
  await ended
})
