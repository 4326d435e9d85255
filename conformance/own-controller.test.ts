/** A controller of one's own outlives its API server: it says that it is gone, tries again, and goes on when it is back. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { configMap, Kubectl } from './support/kubectl.ts'
import { Program } from './support/program.ts'

const script = join(import.meta.dirname, 'support', 'own-controller.ts')

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'coracle-'))
})

afterEach(() => rm(dataDir, { recursive: true, force: true }))

it('goes on trying while its API server is away', async () => {
  const first = await Program.start({ dataDir, args: ['--nodes', '0'] })
  const port = new URL(first.address).port
  await using own = start(join(dataDir, 'kubeconfig'))
  await own.until(({ message }) => message === 'started')
  await first.end('SIGKILL')
  const isRetry = ({ message, retryInMs }: Line) =>
    message === 'watch failed, resuming' && typeof retryInMs === 'number'
  expect(await own.until(isRetry)).toMatchObject({ level: 'warn', resource: 'configmaps' })
  await own.until(isRetry)
  expect(own.exitCode).toBeNull()
  await using again = await Program.start({ dataDir, args: ['--nodes', '0', '--port', port] })
  await own.until(({ message }) => message === 'watching again')
  const kubectl = await Kubectl.in(again)
  await kubectl.create('configmaps', configMap('after', {}, { labels: { mark: 'yes' } }))
  await own.until(({ message, name }) => message === 'seen' && name === 'after')
})

type Line = Readonly<Record<string, unknown>>

interface OwnController extends AsyncDisposable {
  /** The next line of its log that is of this kind; rejects if it ends before. */
  until(isWanted: (line: Line) => boolean): Promise<Line>
  readonly exitCode: number | null
}

function start(kubeconfig: string): OwnController {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  return {
    async until(isWanted) {
      for (;;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error(`the controller has ended with code ${child.exitCode}`)
        const line = JSON.parse(value) as Line
        if (isWanted(line)) return line
      }
    },
    get exitCode() {
      return child.exitCode
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}
