import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@coracle/environment'
import { Api } from '../conformance/support/api.ts'
import { paths } from '../conformance/support/objects.ts'
import { eventually, Program } from '../conformance/support/program.ts'
import { RawConnection } from '../conformance/support/raw-connection.ts'
import { serverArgs } from './kill-cycles.ts'
import type { Result } from './support/result.ts'
import { WriteLog } from './support/write-log.ts'
import { audit, writersCount, writeUntilGone } from './support/writing.ts'

export interface StarvationOptions {
  readonly random: Random
  /** The program's file; absent: that of the source tree. */
  readonly file?: string
  readonly onStarvation?: (what: string) => void
}

interface Starvation {
  readonly what: string
  /** Starves a program that keeps its data in a directory, and says how it took it. Nothing may still run. */
  starve(victim: Victim): Promise<string>
}

interface Victim {
  readonly dataDir: string
  readonly log: WriteLog
  readonly random: Random
  start(limits?: string): Promise<Program>
}

/** Files may have so many blocks of 512 bytes: the program starts, and its store soon grows beyond. */
const fileBlocksMax = 3000
const diskBytes = 6 * 1024 * 1024
const descriptorsMax = 96
/** How long it is without descriptors at least: long enough for whatever looks at files now and then. */
const starvedMs = 1200
const slowReadersCount = 50
const writesUnderStarvation = 300
/** By then each of the writers has a connection. */
const writesWhenConnected = 10 * writersCount

const starvations: readonly Starvation[] = [
  { what: 'files that may not grow', starve: withFileLimit },
  { what: 'disk full', starve: onSmallDisk },
  { what: 'few file descriptors', starve: withFewDescriptors },
  { what: 'slow clients', starve: withSlowClients },
]

/**
 * Lets the program want for something while writers are at work. It may refuse, or end and say why; started again with
 * enough of it, everything acknowledged must be there.
 */
export async function starveAll({ random, file, onStarvation }: StarvationOptions): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const { what, starve } of starvations) {
    onStarvation?.(what)
    const dataDir = await mkdtemp(join(tmpdir(), 'coracle-starved-'))
    const log = new WriteLog()
    const start = (limits?: string): Promise<Program> => {
      const optional = { ...(file === undefined ? {} : { file }), ...(limits === undefined ? {} : { limits }) }
      return Program.start({ dataDir, args: serverArgs, ...optional })
    }
    let figures = 'failed'
    try {
      figures = await starve({ dataDir, log, random, start })
    } catch (error) {
      log.report(error instanceof Error ? error.message : String(error))
    }
    await rm(dataDir, { recursive: true, force: true })
    results.push({ what, figures: `${figures}; ${log.acknowledgedCount} writes acknowledged`, problems: log.problems })
  }
  return results
}

/** Writes until the program ends or refuses. Resolves with how that was. */
async function writeUntilItEnds(program: Program, { log, random }: Victim): Promise<string> {
  const api = await Api.of(program)
  await writeUntilGone(api, log, { prefix: 'starving', random })
  api.close()
  const isStillThere = await Promise.race([program.ended().then(() => false), sleep(2000).then(() => true)])
  if (isStillThere) {
    await program.end('SIGKILL')
    return 'went on, refusing'
  }
  const code = await program.ended()
  const reason = program.output.find((line) => /too large|no space|full|has failed/i.test(line))
  if (code === 0 || reason === undefined)
    log.report(`it ended with ${code} and no reason: ${program.output.join('\n')}`)
  return 'ended with a message'
}

async function auditAgain({ log, start }: Victim): Promise<void> {
  const program = await start()
  try {
    const api = await Api.of(program)
    await audit(api, log)
    api.close()
  } finally {
    await program.end('SIGKILL')
  }
}

async function withFileLimit(victim: Victim): Promise<string> {
  const outcome = await writeUntilItEnds(await victim.start(`-f ${fileBlocksMax}`), victim)
  await auditAgain(victim)
  return outcome
}

/** On a file system of its own, in memory; only root may mount one. */
async function onSmallDisk(victim: Victim): Promise<string> {
  const mount = (options: string): void => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', victim.dataDir], { stdio: 'ignore' })
  }
  try {
    mount(`size=${diskBytes}`)
  } catch {
    return 'skipped: it takes root to mount a small disk'
  }
  try {
    const outcome = await writeUntilItEnds(await victim.start(), victim)
    mount(`remount,size=${diskBytes * 10}`)
    await auditAgain(victim)
    return outcome
  } finally {
    execFileSync('umount', [victim.dataDir])
  }
}

async function withFewDescriptors(victim: Victim): Promise<string> {
  const { log, random } = victim
  const program = await victim.start(`-n ${descriptorsMax}`)
  const api = await Api.of(program)
  const connected = Promise.withResolvers<void>()
  const enough = Promise.withResolvers<void>()
  const writing = writeUntilGone(api, log, {
    prefix: 'starving',
    random,
    onAcknowledged: () => {
      if (log.acknowledgedCount >= writesWhenConnected) connected.resolve()
      if (log.acknowledgedCount >= writesWhenConnected + writesUnderStarvation) enough.resolve()
    },
  })
  // Those who are connected go on; a connection that is asked for now may be closed at once.
  await Promise.race([connected.promise, writing])
  const attempts = Array.from({ length: 2 * descriptorsMax }, () => RawConnection.withoutTls(program))
  const connections = (await Promise.allSettled(attempts)).flatMap((attempt) =>
    attempt.status === 'fulfilled' ? [attempt.value] : [],
  )
  const [wroteNoMore] = await Promise.all([
    Promise.race([enough.promise.then(() => false), writing.then(() => true)]),
    sleep(starvedMs),
  ])
  if (wroteNoMore) log.report('those who were connected before could not write')
  for (const connection of connections) connection.close()
  const other = await Api.of(program)
  try {
    await eventually('an answer on a new connection', async () => (await other.call('/readyz')).text === 'ok')
  } catch (error) {
    log.report(`${error}; the program printed: ${program.output.join('\n')}`)
  }
  other.close()
  await program.end('SIGKILL')
  await writing
  api.close()
  await auditAgain(victim)
  return `${descriptorsMax} descriptors, ${attempts.length} connections asked for; new ones are answered afterwards`
}

/** Each asks for lists and a watch and reads nothing, while others write. */
async function withSlowClients(victim: Victim): Promise<string> {
  const { dataDir, log, random } = victim
  const program = await victim.start()
  const api = await Api.of(program)
  const token = (await readFile(join(dataDir, 'token'), 'utf8')).trim()
  const auth = `Host: localhost\nAuthorization: Bearer ${token}`
  const readers = await Promise.all(Array.from({ length: slowReadersCount }, () => RawConnection.overTls(program)))
  for (const reader of readers) {
    reader.socket.pause()
    reader.send(`GET ${paths.configMaps} HTTP/1.1\n${auth}\n\nGET ${paths.configMaps}?watch=1 HTTP/1.1\n${auth}\n\n`)
  }
  const enough = Promise.withResolvers<void>()
  const writing = writeUntilGone(api, log, {
    prefix: 'beside',
    random,
    onAcknowledged: () => log.acknowledgedCount >= 3 * writesUnderStarvation && enough.resolve(),
  })
  await Promise.race([enough.promise, writing])
  await program.end('SIGKILL')
  await writing
  for (const reader of readers) reader.close()
  api.close()
  await auditAgain(victim)
  return `${slowReadersCount} connections that ask and do not read`
}
