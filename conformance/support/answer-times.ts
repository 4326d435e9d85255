import { readFileSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Program } from './program.ts'
import { RawConnection } from './raw-connection.ts'

/** What came of asking one program for `/readyz` again and again. */
export interface AnswerTimes {
  /** Codes that there were. */
  readonly codes: readonly (number | undefined)[]
  /** The longest that the program's main thread has worked between a question and its answer, in milliseconds. */
  readonly longestMs: number
}

type Asked = Pick<Program, 'address' | 'pid'>

/**
 * Asks a program for `/readyz` over a connection of its own, each time as soon as it has its answer, until `work` has ended. A thread asks
 * that does nothing else: in one that floods the program, an answer would lie while the flood is made, and the program's work
 * meanwhile would count as time until the answer.
 */
export async function answerTimesDuring({ address, pid }: Asked, work: () => Promise<void>): Promise<AnswerTimes> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { address, pid } satisfies Asked })
  const answered = Promise.withResolvers<void>()
  const result = Promise.withResolvers<AnswerTimes>()
  const fail = (error: unknown) => {
    answered.reject(error)
    result.reject(error)
  }
  result.promise.catch(() => {}) // it is awaited later
  thread.on('error', fail)
  thread.on('exit', () => fail(new Error('the thread that asks has ended')))
  thread.on('message', (message: 'answered' | AnswerTimes) => {
    if (message === 'answered') answered.resolve()
    else result.resolve(message)
  })
  try {
    await answered.promise
    await work()
    thread.postMessage('enough')
    return await result.promise
  } finally {
    await thread.terminate()
  }
}

/** What the thread does. */
async function ask(program: Asked): Promise<AnswerTimes> {
  const connection = await RawConnection.overTls(program)
  const codes = new Set<number | undefined>()
  let longestMs = 0
  let isOver = false
  parentPort?.once('message', () => {
    isOver = true
  })
  do {
    const before = mainThreadCpuMs(program.pid)
    connection.send('GET /readyz HTTP/1.1\nHost: localhost\n\n')
    codes.add((await connection.answer())?.code)
    longestMs = Math.max(longestMs, mainThreadCpuMs(program.pid) - before)
    parentPort?.postMessage('answered')
  } while (!isOver && !connection.socket.destroyed)
  connection.close()
  return { codes: [...codes], longestMs }
}

/**
 * The time that the program's main thread has worked, in milliseconds, as Linux has it. What passes of it until an answer
 * comes is how long the program let somebody wait, however much else this machine has to do.
 */
function mainThreadCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  const [userTicks, systemTicks] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return ((userTicks ?? 0) + (systemTicks ?? 0)) * 10
}

if (!isMainThread) parentPort?.postMessage(await ask(workerData as Asked))
