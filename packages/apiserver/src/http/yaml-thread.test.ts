import { syncBuiltinESMExports } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import { parseYamlInThread } from './yaml-thread.ts'

/** Has no thread start until the returned function is called, as where the host has no room for one. */
function withoutThreads(): () => void {
  const threads = process.getBuiltinModule('node:worker_threads')
  const { Worker } = threads
  const set = (now: unknown): void => {
    Object.assign(threads, { Worker: now })
    syncBuiltinESMExports()
  }
  set(
    class {
      constructor() {
        throw new Error('Worker initialization failure: EAGAIN')
      }
    },
  )
  return () => set(Worker)
}

it('reads what comes after a text for which no thread could be started', async () => {
  const giveBack = withoutThreads()
  onTestFinished(giveBack)
  await expect(parseYamlInThread('a: 1')).rejects.toThrow('EAGAIN')
  giveBack()
  expect(await parseYamlInThread('a: 1')).toMatchObject({ value: { a: 1 } })
})
