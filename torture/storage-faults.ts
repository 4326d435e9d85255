import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Random } from '@coracle/environment'
import { Api } from '../conformance/support/api.ts'
import { Program, ProgramEndedError } from '../conformance/support/program.ts'
import { type Damage, type Donors, damages } from '../packages/store/test/damages.ts'
import { serverArgs } from './kill-cycles.ts'
import type { Result } from './support/result.ts'
import { WriteLog } from './support/write-log.ts'
import { audit, auditHistory, writeUntilGone } from './support/writing.ts'

export interface FaultOptions {
  readonly random: Random
  readonly faults: number
  /** The program's file; absent: that of the source tree. */
  readonly file?: string
  readonly onFault?: (faults: number, problems: number) => void
}

/** A data directory as `kill -9` left it, and what was acknowledged. */
interface Victim {
  readonly dataDir: string
  readonly log: WriteLog
}

type Outcome = 'whole' | 'refused at start' | 'refused when read' | 'wrong'

const writesPerLife = 200
const storeDirectory = 'store'

/**
 * Damages the store of a killed program in every way there is, each time a fresh copy, and starts the program on it. It
 * must serve exactly what was acknowledged, or end and say what is damaged.
 */
export async function storageFaults({ random, faults, file, onFault }: FaultOptions): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'coracle-faults-'))
  const problems: string[] = []
  const outcomes = new Map<Outcome, number>()
  try {
    const older = join(home, 'older')
    const foreign = join(home, 'foreign')
    await liveOnce({ dataDir: foreign, log: new WriteLog() }, 'foreign', random, file)
    const victim = await leaveKilled(join(home, 'victim'), random, file, older)
    const donors = { older: join(older, storeDirectory), foreign: join(foreign, storeDirectory) }
    const kinds = Object.entries(damages)
    for (let index = 0; index < faults; index++) {
      const [name, damage] = kinds[index % kinds.length] ?? []
      if (name === undefined || damage === undefined) break
      const dataDir = join(home, `fault-${index}`)
      await cp(victim.dataDir, dataDir, { recursive: true })
      const what = damageCertainly(damage, join(dataDir, storeDirectory), random, donors)
      const { outcome, details } = await judge({ dataDir, log: victim.log.copy() }, `fault-${index}`, file)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      if (outcome === 'wrong') problems.push(...details.map((detail) => `${name}: ${what}: ${detail}`))
      await rm(dataDir, { recursive: true, force: true })
      onFault?.(index + 1, problems.length)
    }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
  const figures = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`)
  return { what: 'storage damage', figures: `${faults} faults: ${figures.join(', ')}`, problems }
}

/** Starts the program, writes to it, and kills it. */
async function liveOnce({ dataDir, log }: Victim, prefix: string, random: Random, file?: string): Promise<void> {
  const program = await start(dataDir, file)
  const api = await Api.of(program)
  await audit(api, log)
  const enough = Promise.withResolvers<void>()
  const end = log.acknowledgedCount + writesPerLife
  const onAcknowledged = () => log.acknowledgedCount >= end && enough.resolve()
  const writing = writeUntilGone(api, log, { prefix, random, onAcknowledged })
  await Promise.race([enough.promise, writing])
  await program.end('SIGKILL')
  await writing
  api.close()
}

/** Leaves a directory after two lives; the store of the first is the older one to take files from. */
async function leaveKilled(dataDir: string, random: Random, file: string | undefined, older: string): Promise<Victim> {
  const log = new WriteLog()
  await liveOnce({ dataDir, log }, 'first', random, file)
  await cp(dataDir, older, { recursive: true })
  await liveOnce({ dataDir, log }, 'second', random, file)
  // What was unanswered stays open: a write that the kill met on its way may be whole on disk, and go with the damage.
  return { dataDir, log }
}

/** Some damages find nothing to damage at the place they choose: they are tried again. */
function damageCertainly(damage: Damage, directory: string, random: Random, donors: Donors): string {
  for (;;) {
    const what = damage(directory, random, donors)
    if (what !== undefined) return what
  }
}

async function judge(
  { dataDir, log }: Victim,
  label: string,
  file?: string,
): Promise<{ readonly outcome: Outcome; readonly details: readonly string[] }> {
  let program: Program | undefined
  let api: Api | undefined
  try {
    program = await start(dataDir, file)
    api = await Api.of(program)
    const before = log.highest
    await audit(api, log)
    await auditHistory(api, log, before, label)
    return { outcome: log.problems.length === 0 ? 'whole' : 'wrong', details: log.problems }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const output = error instanceof ProgramEndedError ? error.output : [...(program?.output ?? []), message]
    const detail = `${message}\n${output.join('\n')}`
    if (!saysWhatIsDamaged(output)) return { outcome: 'wrong', details: [`no word of what is damaged: ${detail}`] }
    return { outcome: program === undefined ? 'refused at start' : 'refused when read', details: [detail] }
  } finally {
    api?.close()
    await program?.end('SIGKILL')
  }
}

/** Whether the program names the store and what is wrong with it, without the stack trace of a surprise. */
const saysWhatIsDamaged = (output: readonly string[]): boolean =>
  output.some((line) => /\bstore\b.* is (damaged|missing)|holds a store of format/.test(line)) &&
  !output.some((line) => /^\s+at .*:\d+:\d+/.test(line))

const start = (dataDir: string, file?: string): Promise<Program> =>
  Program.start({ dataDir, args: serverArgs, ...(file === undefined ? {} : { file }) })
