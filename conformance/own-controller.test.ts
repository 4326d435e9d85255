/** A controller of one's own outlives its API server: it says that it is gone, tries again, and goes on when it is back. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ownPorts } from '../packages/store/src/testing/own-ports.ts'
import { type Line, startController } from './support/controller-process.ts'
import { configMap, Kubectl } from './support/kubectl.ts'
import { Program } from './support/program.ts'

const script = join(import.meta.dirname, 'support', 'own-controller.ts')

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'coracle-'))
})

afterEach(() => rm(dataDir, { recursive: true, force: true }))

it('goes on trying while its API server is away', async () => {
  const [port] = await ownPorts(1)
  const args = ['--nodes', '0', '--port', String(port)]
  const first = await Program.start({ dataDir, args })
  await using own = startController(script, { KUBECONFIG: join(dataDir, 'kubeconfig') })
  await own.until(({ message }) => message === 'started')
  await first.end('SIGKILL')
  const isRetry = ({ message, retryInMs }: Line) =>
    message === 'watch failed, resuming' && typeof retryInMs === 'number'
  expect(await own.until(isRetry)).toMatchObject({ level: 'warn', resource: 'configmaps' })
  await own.until(isRetry)
  expect(own.exitCode).toBeNull()
  await using again = await Program.start({ dataDir, args })
  await own.until(({ message }) => message === 'watching again')
  const kubectl = await Kubectl.in(again)
  await kubectl.create('configmaps', configMap('after', {}, { labels: { mark: 'yes' } }))
  await own.until(({ message, name }) => message === 'seen' && name === 'after')
})
