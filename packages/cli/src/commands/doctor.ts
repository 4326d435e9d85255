import { join, resolve } from 'node:path'
import { examineStore, lockDirectory, repairStore, type StoreReport } from '@coracle/store'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'

export interface DoctorFlags {
  readonly dataDir: string
  readonly repair?: boolean
}

/** `coracle doctor`: says whether what a cluster has stored is whole, and goes on without what is not when it is told to. */
export async function doctor(host: Host, { dataDir, repair = false }: DoctorFlags): Promise<void> {
  const directory = resolve(host.workingDirectory, dataDir)
  const store = join(directory, 'store')
  const lock = lockDirectory(directory)
  try {
    const report = repair ? await repairStore(store) : await examineStore(store)
    host.stdout.write(describe(store, report))
    if (report.problems.length === 0) return
    if (repair) host.stdout.write('Repaired: the cluster goes on without what is damaged.\n')
    else throw new CliError(`restore ${store} from a backup, or go on without what is damaged: coracle doctor --repair`)
  } finally {
    lock.release()
  }
}

function describe(store: string, { problems, safeRevision, isEndLost, highestRevision }: StoreReport): string {
  if (problems.length === 0) return `the store in ${store} is whole, up to revision ${safeRevision}\n`
  const end = isEndLost ? `; what came after is lost, ${highestRevision} is the last revision there is a trace of` : ''
  const lines = [
    `the store in ${store} is damaged:`,
    ...problems.map((problem) => `  ${problem}`),
    `everything else up to revision ${safeRevision} is whole${end}`,
  ]
  return `${lines.join('\n')}\n`
}
