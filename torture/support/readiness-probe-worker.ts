// The thread of a readiness probe: tells its parent after the first answer that it is there, and what it measured when told to stop.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'

const { address, pid } = workerData as { readonly address: string; readonly pid: number }
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
  const workedBefore = workedMs()
  const answer = await readyz().catch((error: unknown) => String(error))
  const tookMs = performance.now() - started
  if (answers++ === 0) parentPort?.postMessage('probing')
  else {
    worstMs = Math.max(worstMs, tookMs)
    worstOwnMs = Math.max(worstOwnMs, workedBefore === undefined ? tookMs : (workedMs() ?? 0) - workedBefore)
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

/** How long the server's main thread has worked since it was started; undefined where the system does not tell. */
function workedMs(): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return undefined
  }
}
