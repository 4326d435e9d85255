import { expect, it, vi } from 'vitest'
import { parseYamlInThread } from './yaml-thread.ts'

const { failures } = vi.hoisted(() => ({ failures: { left: 0 } }))

vi.mock('node:worker_threads', async (importOriginal) => {
  const threads = await importOriginal<typeof import('node:worker_threads')>()
  class Worker extends threads.Worker {
    constructor(...args: ConstructorParameters<typeof threads.Worker>) {
      failures.left -= 1
      if (failures.left >= 0) throw new Error('Worker initialization failure: EAGAIN')
      super(...args)
    }
  }
  return { ...threads, Worker }
})

it('reads what comes after a text for which no thread could be started', async () => {
  failures.left = 1
  await expect(parseYamlInThread('a: 1')).rejects.toThrow('EAGAIN')
  expect(await parseYamlInThread('a: 1')).toMatchObject({ value: { a: 1 } })
})
