import { Worker } from 'node:worker_threads'
import type { Program } from '../../conformance/support/program.ts'

/** How `/readyz` was answered while a probe asked. */
export interface Readiness {
  readonly answers: number
  /** The longest that an answer took, a connection and its TLS handshake included. */
  readonly worstMs: number
  /**
   * The same without the time in which the server, or who asks, was ready to go on and the machine had no processor for it, where the system
   * tells (Linux), and at least what the server's main thread has worked meanwhile: what others do on the machine is not its fault.
   */
  readonly worstOwnMs: number
  /** What was answered otherwise than with 200 `ok`. */
  readonly failures: readonly string[]
}

/**
 * Asks for `/readyz` as an anonymous stranger, on a new connection each time, all the while that `work` takes. The probe
 * has a thread of its own: what keeps the client busy is not measured.
 */
export async function probeReadiness(program: Program, work: () => Promise<void>): Promise<Readiness> {
  const worker = new Worker(new URL('./readiness-probe-worker.ts', import.meta.url), {
    workerData: { address: program.address, pid: program.pid },
  })
  try {
    await nextMessage(worker)
    await work()
    worker.postMessage('stop')
    return (await nextMessage(worker)) as Readiness
  } finally {
    await worker.terminate()
  }
}

export const showReadiness = ({ answers, worstMs, worstOwnMs }: Readiness): string => {
  const [worst, own] = [Math.round(worstMs), Math.round(worstOwnMs)]
  return `/readyz ${worst === own ? worst : `${worst} (${own})`} ms at worst of ${answers}`
}

function nextMessage(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
}
