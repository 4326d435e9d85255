import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEnvironment, silentLogger } from '@coracle/environment'
import { createAuthority } from '@coracle/environment/certificates'
import { expect, it, onTestFinished } from 'vitest'
import { startAgent } from './agent.ts'

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
  await expect.poll(() => existsSync(proof), { timeout: 20_000 }).toBe(true)
  interrupted.abort(new Error('interrupted'))
  await ended
}, 30_000)
