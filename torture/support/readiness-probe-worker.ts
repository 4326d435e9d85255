// The thread of a readiness probe: tells its parent after the first answer that it is there, and what it measured when told to stop.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'

const { address, pid } = workerData as { readonly address: string; readonly pid: number }
/** The server's main thread, and this one. */
const serverThread = `/proc/${pid}/task/${pid}`
const ownThread = '/proc/thread-self'
const intervalMs = 20
const failuresMax = 5

let stopped = false
parentPort?.once('message', () => {
  stopped = true
})

let answers = 0
let worstMs = 0
let worstOwnMs = 0
const failures: string[] = []
do {
  const started = performance.now()
  const before = [timesOf(serverThread), timesOf(ownThread)] as const
  const answer = await readyz().catch((error: unknown) => String(error))
  const tookMs = performance.now() - started
  if (answers++ === 0) parentPort?.postMessage('probing')
  else {
    worstMs = Math.max(worstMs, tookMs)
    const waitedMs = sinceMs(before[0], 'waitedMs', serverThread) + sinceMs(before[1], 'waitedMs', ownThread)
    // Both may have waited at once, and one while the other worked: it is never less than what the server has worked.
    worstOwnMs = Math.max(worstOwnMs, sinceMs(before[0], 'workedMs', serverThread), tookMs - waitedMs)
  }
  if (answer !== '200 ok' && failures.length < failuresMax) failures.push(answer)
  await new Promise((resolve) => setTimeout(resolve, intervalMs))
} while (!stopped)
parentPort?.postMessage({ answers, worstMs, worstOwnMs, failures })

function readyz(): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${address}/readyz`,
      { agent: false, rejectUnauthorized: false, timeout: 30_000 },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('end', () => resolve(`${answer.statusCode} ${text}`)).on('error', reject)
      },
    )
    call.on('timeout', () => call.destroy(new Error('no answer within 30 s'))).on('error', reject)
    call.end()
  })
}

/** What Linux tells of a thread since it was started; nothing where the system does not tell. */
interface ThreadTimes {
  readonly workedMs: number
  /** How long it was ready to go on, and the machine had no processor for it. */
  readonly waitedMs: number
}

function timesOf(thread: string): ThreadTimes {
  try {
    const [worked, waited] = readFileSync(`${thread}/schedstat`, 'utf8').split(' ')
    return { workedMs: Number(worked) / 1e6, waitedMs: Number(waited) / 1e6 }
  } catch {
    return { workedMs: 0, waitedMs: 0 }
  }
}

function sinceMs(before: ThreadTimes, which: keyof ThreadTimes, thread: string): number {
  return timesOf(thread)[which] - before[which]
}
