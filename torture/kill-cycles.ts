import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@coracle/environment'
import { Api } from '../conformance/support/api.ts'
import { coracleFile, Program } from '../conformance/support/program.ts'
import type { Result } from './support/result.ts'
import { WriteLog } from './support/write-log.ts'
import { audit, auditHistory, watchInto, writeUntilGone } from './support/writing.ts'

export interface KillOptions {
  readonly random: Random
  readonly kills: number
  /** The program's file; absent: that of the source tree. */
  readonly file?: string
  readonly onKill?: (kills: number, problems: number) => void
}

/** What the program is started with: an API server and its store do the writing that counts here. */
export const serverArgs = ['--runtime', 'simulated', '--nodes', '0'] as const

/** After this many kills a new directory is begun: its first start is killed, too. */
const killsPerDirectory = 50
/** Share of the kills that come while the program starts, and until when. */
const killsAtStart = 0.15
const startMsMax = 800
/** A kill comes so many milliseconds after the first acknowledgement at the latest. */
const writingMsMax = 250

interface Figures {
  kills: number
  atStart: number
  acknowledged: number
  histories: number
  expired: number
}

/**
 * Ends the program with `kill -9` again and again: while it starts, and under concurrent writers and a watch. After each
 * start everything that was acknowledged must be there with its content, the history must hold it, too, no revision may be
 * given twice, and nothing that a watch delivered may be gone.
 */
export async function killCycles(options: KillOptions): Promise<Result> {
  const figures: Figures = { kills: 0, atStart: 0, acknowledged: 0, histories: 0, expired: 0 }
  const problems: string[] = []
  while (figures.kills < options.kills) {
    const dataDir = await mkdtemp(join(tmpdir(), 'coracle-kills-'))
    const log = new WriteLog()
    try {
      await killRepeatedly(dataDir, log, Math.min(options.kills, figures.kills + killsPerDirectory), figures, {
        ...options,
        onKill: (kills) => options.onKill?.(kills, problems.length + log.problems.length),
      })
    } catch (error) {
      log.report(error instanceof Error ? error.message : String(error))
    }
    figures.acknowledged += log.acknowledgedCount
    problems.push(...log.problems)
    // What failed stays to be looked at.
    if (log.problems.length > 0) problems.push(`its data directory is ${dataDir}`)
    else await rm(dataDir, { recursive: true, force: true })
    if (log.problems.length > 0) break
  }
  const { kills, atStart, acknowledged, histories, expired } = figures
  return {
    what: 'kill -9',
    figures: `${kills} kills, ${atStart} of them at start; ${acknowledged} writes acknowledged, ${histories} histories complete, ${expired} expired`,
    problems,
  }
}

async function killRepeatedly(
  dataDir: string,
  log: WriteLog,
  killsEnd: number,
  figures: Figures,
  { random, file, onKill }: KillOptions,
): Promise<void> {
  const killed = (): void => onKill?.(++figures.kills, 0)
  let earlier: number | undefined
  for (let isFirst = true; figures.kills < killsEnd; isFirst = false) {
    while (figures.kills < killsEnd && random.next() < (isFirst ? 0.8 : killsAtStart)) {
      await killAtStart(dataDir, random.next() * startMsMax, file)
      figures.atStart++
      killed()
    }
    if (figures.kills >= killsEnd) break
    const program = await Program.start({ dataDir, args: serverArgs, ...(file === undefined ? {} : { file }) })
    const api = await Api.of(program)
    try {
      const prefix = `${figures.kills}`
      const revision = await audit(api, log)
      if (earlier !== undefined) {
        if (await auditHistory(api, log, earlier, prefix)) figures.histories++
        else figures.expired++
      }
      earlier = revision
      const watching = await watchInto(api, log, revision)
      const first = Promise.withResolvers<void>()
      const writing = writeUntilGone(api, log, { prefix, random, onAcknowledged: first.resolve })
      await Promise.race([first.promise, writing])
      await sleep(random.next() * writingMsMax)
      await program.end('SIGKILL')
      await Promise.all([writing, watching.done])
    } finally {
      await program.end('SIGKILL')
      api.close()
    }
    killed()
  }
  const program = await Program.start({ dataDir, args: serverArgs, ...(file === undefined ? {} : { file }) })
  const api = await Api.of(program)
  try {
    await audit(api, log)
  } finally {
    api.close()
    await program.end('SIGKILL')
  }
}

async function killAtStart(dataDir: string, afterMs: number, file = coracleFile): Promise<void> {
  const child = spawn(process.execPath, [file, 'up', '--port', '0', '--data-dir', dataDir, ...serverArgs], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await Promise.race([sleep(afterMs), ended])
  child.kill('SIGKILL')
  await ended
}
