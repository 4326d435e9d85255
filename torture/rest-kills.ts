import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@coracle/environment'
import { Api, post } from '../conformance/support/api.ts'
import { configMap, paths } from '../conformance/support/objects.ts'
import { Program } from '../conformance/support/program.ts'
import { reopenBytesMin } from '../packages/store/src/limits.ts'
import { environmentEndingAt, reopeningMoments } from '../packages/store/test/end-at-reopening.ts'
import { type KillOptions, serverArgs } from './kill-cycles.ts'
import type { Result } from './support/result.ts'
import { WriteLog } from './support/write-log.ts'
import { audit, auditHistory, watchInto, writeUntilGone } from './support/writing.ts'

/** So many programs come to rest beside each other: most of the time they wait. */
const lanesMax = 4
/** After the start a program looks every two seconds whether it is at rest; the first look still sees the start. */
const restMs = 5000
/** At rest it opens its database again so long after a collection (`releaseMs` of `environment`); writes come in a little before. */
const collectedMs = 1100
/** How long the writes then go on, unless it is gone: longer, and it would be at rest no more. */
const burstMs = 400
/** How often a program is waited for that does not come to rest: others may be busy on the machine. */
const attemptsMax = 12
/** Each of the twelve writers pauses for so long on average while the program comes to rest. */
const pauseMs = 1500
/** Enough of these for the database to be worth opening again. */
const ballastBytes = 900_000
const ballastCount = Math.ceil(reopenBytesMin / ballastBytes) + 1

interface Figures {
  kills: number
  acknowledged: number
  histories: number
  readonly problems: string[]
}

/**
 * Ends a program with `kill -9` at each of the moments at which it closes its database at rest and opens it again, under
 * concurrent writers and a watch. What must hold is the same as after any other kill.
 */
export async function restKills(options: KillOptions): Promise<Result> {
  const { kills, random } = options
  const figures: Figures = { kills: 0, acknowledged: 0, histories: 0, problems: [] }
  const lanes = Math.min(lanesMax, kills)
  const startOf = (lane: number): number => Math.round((kills * lane) / lanes)
  await Promise.all(
    Array.from({ length: lanes }, (_, lane) => killAtRest(options, startOf(lane), startOf(lane + 1), figures, random)),
  )
  const { problems, acknowledged, histories } = figures
  return {
    what: 'kill -9 at rest',
    figures: `${figures.kills} kills while the database was closed and opened again; ${acknowledged} writes acknowledged, ${histories} histories complete`,
    problems,
  }
}

/** The kills `start` to `end`, one after the other on a directory of their own. */
async function killAtRest(
  { file, onKill }: KillOptions,
  start: number,
  end: number,
  figures: Figures,
  random: Random,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'coracle-rests-'))
  const log = new WriteLog()
  try {
    let earlier: number | undefined
    for (let nth = start; nth <= end; nth++) {
      // After the last kill there is one more life, for the audit.
      const moment = nth < end ? reopeningMoments[nth % reopeningMoments.length] : undefined
      const program = await Program.start({
        dataDir,
        args: serverArgs,
        ...(file === undefined ? {} : { file }),
        ...(moment === undefined ? {} : { env: environmentEndingAt(moment) }),
      })
      const api = await Api.of(program)
      try {
        const revision = await audit(api, log)
        if (earlier !== undefined && (await auditHistory(api, log, earlier, `rest-${nth}`))) figures.histories++
        if (moment === undefined) break
        if (earlier === undefined) await addBallast(api)
        earlier = revision
        const watching = await watchInto(api, log, revision)
        await liveUntilKilled(program, api, log, `rest-${nth}`, random)
        await watching.done
      } finally {
        await program.end('SIGKILL')
        api.close()
      }
      figures.kills++
      onKill?.(figures.kills, figures.problems.length + log.problems.length)
    }
  } catch (error) {
    log.report(error instanceof Error ? error.message : String(error))
  }
  figures.acknowledged += log.acknowledgedCount
  figures.problems.push(...log.problems)
  // What failed stays to be looked at.
  if (log.problems.length > 0) figures.problems.push(`its data directory is ${dataDir}`)
  else await rm(dataDir, { recursive: true, force: true })
}

async function addBallast(api: Api): Promise<void> {
  const text = 'x'.repeat(ballastBytes)
  for (let nth = 0; nth < ballastCount; nth++) {
    await api.object(paths.configMaps, post(configMap(`ballast-${nth}`, { text })))
  }
}

/** Writes now and then until the program is at rest, and much at the moment at which it opens its database again. */
async function liveUntilKilled(program: Program, api: Api, log: WriteLog, prefix: string, random: Random) {
  let isGone = false
  let isOver = false
  const ended = program.ended().then((code) => {
    isGone = true
    if (code !== null) log.report(`it ended with ${code} and not by the kill: ${program.output.join('\n')}`)
  })
  const pause = () => sleep(2 * pauseMs * random.next())
  const now = writeUntilGone(api, log, { prefix: `${prefix}-calm`, random, pause, isOver: () => isOver || isGone })
  for (let attempt = 0; attempt < attemptsMax && !isGone; attempt++) {
    await Promise.race([sleep(restMs), ended])
    if (isGone) break
    process.kill(program.pid, 'SIGUSR2')
    await Promise.race([sleep(collectedMs), ended])
    const until = performance.now() + burstMs
    const isOverNow = () => isGone || performance.now() > until
    await writeUntilGone(api, log, { prefix: `${prefix}-${attempt}`, random, isOver: isOverNow })
  }
  isOver = true
  await now
  if (!isGone) log.report(`the program did not open its database again in ${attemptsMax} attempts`)
}
