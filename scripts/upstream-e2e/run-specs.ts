import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { focusOf } from './choose.ts'
import type { Generation } from './generation.ts'
import type { SpecResult } from './reports.ts'

export interface SpecRun {
  readonly binary: string
  readonly generation: Generation
  readonly kubectl: string | undefined
  readonly kubeconfig: string
  readonly nodes: number
  /** Where processes keep what they write for themselves. */
  readonly directory: string
  /** Where their output goes; undefined: nowhere. */
  readonly logs: string | undefined
  /** Told of each spec when it is over. */
  readonly onResult: (result: SpecResult) => void
}

/** Runs the groups, so many of them at a time, each in a process of its own. */
export async function runGroups(
  groups: readonly (readonly string[])[],
  workers: number,
  label: string,
  run: SpecRun,
): Promise<void> {
  const waiting = groups.entries()
  const work = async (): Promise<void> => {
    for (const [index, names] of waiting) await runGroup(names, `${label}-${index}`, run)
  }
  await Promise.all(Array.from({ length: Math.min(workers, groups.length) }, work))
}

async function runGroup(names: readonly string[], label: string, run: SpecRun): Promise<void> {
  const { binary, generation, kubectl, kubeconfig, nodes, directory, logs } = run
  const child = spawn(
    binary,
    [
      ...generation.runFlags,
      `--ginkgo.focus=${focusOf(names)}`,
      `--kubeconfig=${kubeconfig}`,
      '--provider=skeleton',
      `--num-nodes=${nodes}`,
      '--disable-log-dump',
      '--dump-logs-on-failure=false',
      ...(kubectl === undefined ? [] : [`--kubectl-path=${kubectl}`]),
    ],
    { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: directory } },
  )
  const log = logs === undefined ? undefined : createWriteStream(join(logs, `${label}.log`))
  child.stderr.on('data', (data: Buffer) => log?.write(data))
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  const reader = generation.readerOf(names)
  const left = new Set(names)
  for await (const line of createInterface({ input: child.stdout })) {
    // A letter for each spec that is passed over, thousands of them.
    log?.write(`${line.replace(/S{20,}/g, '')}\n`)
    const result = reader.read(line)
    if (result === undefined) continue
    left.delete(result.name)
    run.onResult(result)
  }
  await ended
  log?.end()
  for (const name of left) run.onResult({ name, outcome: 'failed', reason: 'was skipped, or its process ended before' })
}
